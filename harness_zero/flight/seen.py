"""What a persona reads off the messages: calls, results, flags and counts.

It never reads the harness's English. What a tool said is known from outside, so whatever
else stands in a result is words of the harness, and of those a persona sees only that
there are some. Each message is read once, so a flight costs as much as it is long.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness_zero.marks import unmarked
from harness_zero.messages import Block, Message, blocks, request_fault, tool_uses, user, words


@dataclass
class Call:
    """A tool call in the array, and what came back for it."""

    name: str
    input: dict[str, object]
    text: str = ""
    error: bool = False
    tries: int = 0  # how often in a row, up to here, just this was called and failed
    at: int = 0  # its place among the calls

    @property
    def key(self) -> tuple[str, str]:
        """What makes two calls alike."""
        return self.name, repr(self.input)


@dataclass
class Seen:
    """The array as a persona remembers it. Asking it something costs the same at any length."""

    calls: list[Call] = field(default_factory=list)
    named: dict[str, list[Call]] = field(default_factory=dict)
    looks: dict[str, Call] = field(default_factory=dict)  # the last read of each path
    wrote: dict[str, Call] = field(default_factory=dict)  # the last good write of each path
    failed: int = 0  # calls answered with an error
    replies: int = 0  # messages of the model
    told: bool = False  # the harness put in words of its own since the last reply
    ever_told: int = 0  # how often it did
    shown_at: int = 0  # the calls there were when it last showed what it had found out itself
    characters: int = 0  # of everything read

    def all(self, name: str) -> list[Call]:
        """The calls of one tool, in order."""
        return self.named.get(name, [])

    def last(self, *names: str) -> Call | None:
        """The last call of any of these tools; of all tools if none is named."""
        if not names:
            return self.calls[-1] if self.calls else None
        found = [self.named[name][-1] for name in names if name in self.named]
        return max(found, key=lambda call: call.at, default=None)


class Reader:
    """Reads what a harness sends: what is new since the last time, or all if it was changed."""

    def __init__(
        self,
        output: Callable[[Call], str | None] = lambda call: None,
        found: Sequence[str] = (),
    ) -> None:
        self.output = output  # what the tool itself said to this call last
        self.found = found  # what tools said to the harness, after an answer and unasked
        self.forget()

    def forget(self) -> None:
        """Begin again."""
        self.known: list[Message] = []
        self.turn = 0  # where the model's last word begins
        self.asked: dict[str, Call] = {}
        self.seen = Seen()

    def read(self, messages: list[Message]) -> str | None:
        """Take in the messages; in words why the API would refuse them, if it would."""
        if not self.goes_on(messages):
            messages = [unmarked(m) for m in messages] if isinstance(messages, list) else messages
            if not self.goes_on(messages):
                self.forget()
        if fault := self.fault(messages):
            return fault
        for message in messages[len(self.known) :]:
            self.take(message)
        return None

    def goes_on(self, messages: list[Message]) -> bool:
        """Whether these messages begin with the ones that are known."""
        return isinstance(messages, list) and messages[: len(self.known)] == self.known

    def fault(self, messages: list[Message]) -> str | None:
        """What is wrong with the array. Its settled part was looked at before, so not again."""
        if not self.turn:
            return request_fault(messages)
        tail = [user("settled"), *messages[self.turn :]]
        if request_fault(tail) or self.asks_again(messages[len(self.known) :]):
            return request_fault(messages)  # the whole of it, so that messages are numbered right
        return None

    def asks_again(self, new: list[Message]) -> bool:
        """Whether a call has an id that an earlier one had."""
        return any(call["id"] in self.asked for message in new for call in tool_uses(message))

    def take(self, message: Message) -> None:
        """Read one message."""
        seen, new = self.seen, len(self.known)
        self.known.append(unmarked(message))  # the marks move, the messages do not
        if message["role"] == "assistant":
            self.turn = new if seen_user(self.known, new) else self.turn
            seen.replies, seen.told = seen.replies + 1, False
        for block in blocks(message):
            self.take_block(block, by_harness=message["role"] == "user" and new > 0)

    def take_block(self, block: Block, by_harness: bool) -> None:
        """Read one block."""
        if block["type"] == "tool_use":
            self.ask(block)
        elif block["type"] == "tool_result":
            self.hear(self.asked[block["tool_use_id"]], block)
        elif block["type"] == "text":
            self.seen.characters += len(block["text"])
            self.tell(by_harness)
            if by_harness and any(each in block["text"] for each in self.found):
                self.seen.shown_at = len(self.seen.calls)

    def ask(self, block: Block) -> None:
        """A call enters the array."""
        seen, input = self.seen, block["input"] if isinstance(block["input"], dict) else {}
        call = Call(block["name"], input, at=len(seen.calls))
        self.asked[block["id"]] = call
        seen.calls.append(call)
        seen.named.setdefault(call.name, []).append(call)
        seen.characters += 20 + sum(len(str(value)) for value in input.values())

    def hear(self, call: Call, result: Block) -> None:
        """A call is answered; what the harness added to the tool's own words is set aside."""
        seen, content = self.seen, result.get("content") or ""
        text = content if isinstance(content, str) else words({"content": content})
        call.error = bool(result.get("is_error"))
        call.text, added = apart(text, self.output(call) or "")
        seen.characters += len(text)
        self.tell(added)
        if call.error:
            before = seen.calls[call.at - 1] if call.at else call
            call.tries = 1 + (before.tries if before.key == call.key else 0)
            seen.failed += 1
        elif isinstance(path := call.input.get("path"), str) and call.name == "write_file":
            seen.wrote[path] = call
        if call.name == "read_file" and isinstance(path := call.input.get("path"), str):
            seen.looks[path] = call

    def tell(self, spoken: bool) -> None:
        """Note that the harness spoke, once between two replies."""
        if spoken and not self.seen.told:
            self.seen.told, self.seen.ever_told = True, self.seen.ever_told + 1


def apart(text: str, own: str) -> tuple[str, bool]:
    """What the tool itself said in a result, and whether the harness said something after it."""
    _, found, after = text.partition(own) if own else (text, "", "")
    return (found, bool(after.strip())) if found else (text, False)


def seen_user(known: list[Message], at: int) -> bool:
    """Whether the message before this one is the user's."""
    return at > 0 and known[at - 1]["role"] == "user"


def read(messages: list[Message]) -> Seen:
    """An array read at once."""
    reader = Reader()
    for message in messages:
        reader.take(message)
    return reader.seen
