"""A desk to try a loop at: tools that note what they did, and a model whose requests are kept."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from typing import Any

from harness_zero.brief import brief, cut
from harness_zero.messages import (
    Block,
    Message,
    Reply,
    block_fault,
    blocks,
    reply,
    said,
    shape_fault,
    tool_results,
    tool_use,
)
from harness_zero.models.scripted import scripted

LONGEST = 400  # characters of what came instead
Play = Callable[..., Any]  # (model, tools, prompt, **limits): messages, or messages and a label


class Broken(AssertionError):
    """A promise that was not kept: what was expected, what came instead, and why it matters.

    `case` is the array or the run that shows it, where no desk was used that would know.
    """

    def __init__(self, expected: str, got: str, why: str, case: Any = None) -> None:
        got = cut(got, LONGEST)
        super().__init__(f"expected {expected}; got {got}; {why}")
        self.expected, self.got, self.why, self.case = expected, got, why, case


DESKS: ContextVar[list["Desk"] | None] = ContextVar("desks", default=None)


@contextmanager
def desks() -> Iterator[list["Desk"]]:
    """The desks that are set up meanwhile, in order."""
    used: list[Desk] = []
    token = DESKS.set(used)
    try:
        yield used
    finally:
        DESKS.reset(token)


class Desk:
    """Tools that note what they did, and a model whose requests are kept as they were sent."""

    def __init__(self, *script: Reply) -> None:
        if (used := DESKS.get()) is not None:
            used.append(self)
        self.done: list[str] = []
        self.label: str | None = None  # how the last turn ended, if the loop tells
        self.form = ""  # in which the last turn came back
        self.sent: list[list[Message]] = []
        self.replies: list[Reply] = []
        self.given_back: list[Message] | None = None
        self.misused: Broken | None = None  # a harness can turn what the model raises into a label
        self.script = scripted(*deepcopy(script))
        self.tools: dict[str, Callable[..., Any]] = {
            "note": self.note,
            "add": lambda a, b: a + b,
            "divide": lambda a, b: a / b,
            "press": self.press,
        }

    def model(self, messages: list[Message]) -> Reply:
        """The next reply of the script; the request is kept."""
        if fault := list_fault(messages):
            why = "the model is a function from the list of all messages to a reply"
            self.misused = Broken("the model called with the list of messages", fault, why)
            raise self.misused
        self.sent.append(deepcopy(messages))
        spoken = self.script(messages)
        self.replies.append(deepcopy(spoken))
        return spoken

    def note(self, what: str) -> str:
        """A tool that leaves a trace."""
        self.done.append(what)
        return f"noted {what}"

    def press(self) -> None:
        """A tool in the middle of which somebody presses Ctrl+C."""
        raise KeyboardInterrupt

    def clock(self) -> float:
        """A minute passes whenever the model speaks."""
        return 60.0 * len(self.sent)

    def play(self, play: Play, **limits: Any) -> list[Message]:
        """One turn at this desk; the messages it gives back, alone or with its label."""
        if "seconds" in limits:
            limits["clock"] = self.clock
        given = play(self.model, self.tools, "go", **limits)
        if self.misused:
            raise self.misused
        paired = isinstance(given, tuple) and len(given) == 2
        messages, self.label = given if paired else (given, None)
        self.form = "a pair (messages, label)" if paired else "the messages alone"
        if fault := list_fault(messages):
            raise Broken("the list of messages back", fault, "whoever called the loop reads it")
        self.given_back = messages
        return messages

    def array(self) -> list[Message]:
        """The array as it came back; of a turn that was lost, as it was last sent and answered."""
        if self.given_back is not None:
            return self.given_back
        if not self.sent:
            return []
        answered = len(self.replies) == len(self.sent)
        return [*self.sent[-1], *([said(self.replies[-1])] if answered else [])]


NOTHING = "nothing: None. Is there a return?"


def instead(given: Any, longest: int = 120) -> str:
    """What came back instead; where nothing did, what may be missing."""
    return NOTHING if given is None else brief(given, longest)


def list_fault(given: Any) -> str | None:
    """Why this is no list of messages, in words; None if it is one."""
    if given is None:
        return NOTHING
    if not isinstance(given, list):
        return f"no list but {type(given).__name__}: {brief(given)}"
    for at, message in enumerate(given):
        if fault := message_fault(message):
            return f"a list whose message {at} {fault}"
    return None


def message_fault(given: Any) -> str | None:
    """What is wrong with the form of a message and of the results in it; None if nothing is."""
    if fault := shape_fault(given):
        return fault
    return next((fault for each in tool_results(given) if (fault := result_fault(each))), None)


def no_message_of_the_user(given: Any) -> str | None:
    """What came in the place of a message of the user; None if it is one."""
    if given is None:
        return NOTHING
    if isinstance(given, list):
        return f"a list: {brief(given)}"
    fault = message_fault(given) or ("has the role assistant" if given["role"] != "user" else "")
    return f"something that {fault}" if fault else None


def result_fault(result: Block) -> str | None:
    """What is wrong with the form of the blocks that a result holds; it may hold none."""
    inside = result.get("content")
    faults = map(block_fault, inside if isinstance(inside, list) else [])
    return next((f"holds a result that {fault}" for fault in faults if fault), None)


def surplus(messages: list[Message]) -> str | None:
    """The first message that holds more than a role and its content; None if there is none."""
    for at, message in enumerate(messages):
        if more := sorted(map(str, {*message} - {"role", "content"})):
            return f"message {at} with {', '.join(more)} besides"
    return None


def note(id: str) -> Block:
    """A call that leaves its own id behind."""
    return tool_use(id, "note", what=id)


def asking(*ids: str, **more: Any) -> Reply:
    """A reply that asks for one note an id."""
    return reply(*[note(id) for id in ids], **more)


def results_in(messages: list[Message], at: int = 2) -> dict[str, Any]:
    """What each call was answered with in this message, by id."""
    there = messages[at] if at < len(messages) else None
    return {r["tool_use_id"]: as_text(r) for r in tool_results(there)} if there else {}


def as_text(result: Block) -> Any:
    """A result's content, whether it came bare or as one text block."""
    content = result.get("content")
    if isinstance(content, list) and len(content) == 1 and not block_fault(content[0]):
        return content[0].get("text")
    return content


def as_blocks(messages: list[Message]) -> list[tuple[str, list[Block]]]:
    """Messages in one form, whether their text came bare or in a block."""
    return [(message.get("role", "none"), blocks(message)) for message in messages]


def kinds(messages: list[Message]) -> list[str]:
    """What each message is, in a word or two."""
    return [kind(message) for message in messages] or ["none"]


def kind(message: Message) -> str:
    """A message's role and what is in it: user [tool_result a, tool_result b]."""
    if not blocks(message):
        return f"a message without content ({message.get('role', 'no role')})"
    inside = [
        f"{b['type']} {b.get('tool_use_id') or b.get('id') or ''}".strip() for b in blocks(message)
    ]
    return f"{message.get('role', 'no role')} [{', '.join(inside)}]"
