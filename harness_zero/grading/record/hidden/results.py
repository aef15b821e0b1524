"""Cases of one reply or one call: what tools were asked, and what comes back for it."""

from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from inspect import Parameter, Signature
from threading import Barrier, BrokenBarrierError
from typing import Any

from harness_zero.desk import as_text
from harness_zero.grading.lab03_answer import PYTHONS
from harness_zero.grading.lab03_excerpt import digits, ends
from harness_zero.grading.lab03_read_file import miscount
from harness_zero.grading.lab03_report import named_place
from harness_zero.grading.record.hidden.drawing import Chance, asking
from harness_zero.grading.record.hidden.forms import alike, plain
from harness_zero.messages import Block, Reply, said, tool_result, tool_uses, user

ROOM = 20_000  # characters of an output in the harness of lab 03
ERRORS = (ValueError, KeyError, RuntimeError, LookupError, PermissionError, TimeoutError)


class Kit:
    """Tools of which one is asked for; each notes what it was called with, in its own way."""

    def __init__(self, chance: Chance, outputs: Callable[[], Any] | None = None) -> None:
        self.chance, self.outputs = chance, outputs
        self.asked: list[Any] = []
        first, self.name, last = chance.words(3, least=3)
        self.takes, self.salt = chance.words(3), chance.word()
        self.form = Signature([Parameter(name, Parameter.KEYWORD_ONLY) for name in self.takes])
        self.tools = {name: self.tool(name) for name in (first, self.name, last)}

    def tool(self, name: str) -> Callable[..., Any]:
        """A tool that says what it was given, and a word of its own."""

        def tell(**given: Any) -> Any:
            self.form.bind(**given)
            self.asked.append((name, given))
            return self.outputs() if self.outputs else f"{sorted(map(str, given))} {self.salt}"

        tell.__signature__ = self.form  # type: ignore[attr-defined]
        return tell

    def call(self) -> Block:
        """A call of the one that is asked for."""
        return self.chance.call(self.name, **{name: self.chance.value() for name in self.takes})

    def asking(self, most: int = 4, least: int = 1, **more: Any) -> Reply:
        """A reply with some calls of it."""
        return asking(self.chance, self.call, most, least, **more)


def answered(chance: Chance, answer: Callable) -> Any:
    """One call answered."""
    odd = f' {chance.word()}\'s "{chance.word()}"\n\n\t{chance.word()}\n', chance.word() * 400
    output = chance.choice([chance.randint(0, 999), f"{chance.word()}\n", 2.5, *odd])
    kit = Kit(chance, lambda: output)
    got = answer(kit.call(), kit.tools)
    whole = {*got} <= {*tool_result("", "", is_error=True)}
    return plain(got), whole, type(got.get("is_error", False)) is bool, kit.asked


def error_said(call: dict, got: dict, *needles: str) -> Any:
    """What a result says of a failure, whatever else it says."""
    id, text, is_error = plain(got)
    return id == call["id"], is_error, [needle in str(text) for needle in needles]


def some_error(chance: Chance) -> Exception:
    """An error of some kind, some of them of a kind that nobody knows."""
    own = type(chance.word().title(), (Exception,), {})
    return chance.choice([*ERRORS, own])(f"{chance.word()}\n{chance.word()} {chance.word()}")


def failing(chance: Chance, answer: Callable) -> Any:
    """A call whose tool raises."""
    error = some_error(chance)

    def fail() -> Any:
        raise error

    kit = Kit(chance, fail)
    call = kit.call()
    got = answer(call, kit.tools)
    return error_said(call, got, type(error).__name__, str(error)), kit.asked


def unknown_tool(chance: Chance, answer: Callable) -> Any:
    """A call of a tool that is not there."""
    kit = Kit(chance)
    call = {**kit.call(), "name": chance.choice([kit.name[:-1], f"{kit.name}s", chance.word()])}
    got = answer(call, kit.tools)
    return error_said(call, got, call["name"], *kit.tools), kit.asked


def misfit(chance: Chance, answer: Callable) -> Any:
    """A call with an argument too few or too many."""
    kit = Kit(chance)
    call, wrong = kit.call(), chance.choice([chance.word(), kit.takes[0]])
    call["input"] = {**call["input"], wrong: chance.value()}
    if wrong in kit.takes:
        del call["input"][wrong]
    got = answer(call, kit.tools)
    return error_said(call, got, wrong), bool(PYTHONS.search(str(as_text(got)))), kit.asked


def long_output(chance: Chance, answer: Callable) -> Any:
    """A tool that says more than there is room for."""
    output = letters(chance, chance.randint(ROOM + 2_000, 2 * ROOM))
    kit = Kit(chance, lambda: output)
    got = answer(kit.call(), kit.tools)
    return cut_as_it_should_be(output, ROOM, as_text(got)), bool(got.get("is_error"))


def letters(chance: Chance, size: int) -> str:
    """So many letters, no long stretches of them alike."""
    return "".join(chance.choices("♠♥♦♣", k=size))


def cut_as_it_should_be(output: str, limit: int, got: Any) -> Any:
    """Whether both ends are kept, no more than the limit, and the number of what is missing."""
    front, back = ends(output, str(got))
    told = str(got)[front : len(str(got)) - back]
    missing = len(output) - front - back
    kept = min(front, back) >= limit // 2 and front + back <= limit
    return kept, str(missing) in digits(told), told[:1] + told[-1:] == "\n\n"


def cut(chance: Chance, answer: Callable) -> Any:
    """A text and a limit; the text is longer, or just fits."""
    limit = chance.randint(10, 3_000)
    size = chance.choice([limit, chance.randint(1, limit), limit + chance.randint(1, 5_000)])
    output = letters(chance, size)
    got = answer(output, limit)
    return got if size <= limit else cut_as_it_should_be(output, limit, got)


def reported(chance: Chance, answer: Callable) -> Any:
    """An error that was raised and caught."""
    call, error = chance.call(), some_error(chance)
    try:
        raise error
    except Exception as caught:
        got = answer(call, caught)
    more = {*got} - {"type", "tool_use_id", "content", "is_error"}
    told = error_said(call, got, type(error).__name__, str(error))
    return told, bool(named_place(str(as_text(got)), error)), more


def file_read(chance: Chance, answer: Callable) -> Any:
    """A file that is there, or one that is not."""
    names = [f"{name}.txt" for name in chance.words(chance.choice([9, 30, 60, 90]))]
    files = {name: chance.word() for name in names}
    there = chance.choice(names)
    gone = f"{chance.word()}.md"
    return answer(files, there), missing_file(answer, files, gone)


def missing_file(answer: Callable, files: dict[str, str], gone: str) -> Any:
    """What is said of a file that is not there."""
    try:
        answer(files, gone)
    except FileNotFoundError as error:
        told = str(error)
        named = [name for name in files if name in told]
        return gone in told, len(named), miscount(told, named, len(files)) if named else "none"
    return "nothing"


def acted(chance: Chance, answer: Callable) -> Any:
    """All calls of a reply answered."""
    kit = Kit(chance)
    spoken = kit.asking()
    return alike([answer(spoken, kit.tools)]), sorted(map(str, kit.asked))


def in_order(chance: Chance, answer: Callable) -> Any:
    """The same, and in which order the calls were made."""
    kit = Kit(chance)
    return alike([answer(kit.asking(), kit.tools)]), kit.asked


def at_once(chance: Chance, answer: Callable) -> Any:
    """Calls that wait for each other."""
    met, meeting = list[int](), Barrier(most := chance.randint(2, 5), timeout=1.0)

    def meet() -> str:
        with suppress(BrokenBarrierError):
            meeting.wait()
            met.append(1)
        return "met"

    kit = Kit(chance, meet)
    return alike([answer(kit.asking(most, most), kit.tools)]), len(met)


def closed(chance: Chance, answer: Callable) -> Any:
    """Calls that are not made, and why."""
    why = f"{chance.word()} {chance.word()}"
    spoken = chance.asking(chance.word())
    spoken["content"] += [{**spoken["content"][-1], "id": f"toolu_{chance.word()}"}]
    before = deepcopy(spoken)
    return alike([answer(spoken, why)]), spoken == before


def goes_on(chance: Chance, answer: Callable) -> Any:
    """The next array."""
    so_far = [user(chance.word())]
    for _ in range(chance.randint(0, 12)):
        before = chance.asking(chance.word())
        so_far += [said(before), user(*results(chance, before))]
    spoken = chance.asking(chance.word())
    came = results(chance, spoken)
    as_lent: Any = deepcopy([so_far, spoken, came])
    longer = answer(so_far, spoken, came)
    bare = all({*message} == {"role", "content"} for message in longer)
    return alike(longer), bare, [so_far, spoken, came] == as_lent


def results(chance: Chance, spoken: dict) -> list[dict]:
    """What came back for the calls of a reply."""
    return [tool_result(call["id"], chance.word()) for call in tool_uses(spoken)]


def paired(chance: Chance, answer: Callable) -> Any:
    """Two messages between which there may be a fault: whether one is found, and its id named."""
    spoken = chance.asking(chance.word(), most=5)
    answering, at_fault = spoilt(chance, results(chance, spoken))
    message = user(*answering) if answering else chance.choice([None, user("go on")])
    found = answer(said(spoken), message)
    if found is None or not at_fault:
        return found is None
    return isinstance(found, str) and any(id in found for id in at_fault)


def spoilt(chance: Chance, whole: list[dict]) -> tuple[list[dict], list[str]]:
    """Results with at most one fault, and the ids that it is about, where it is about some."""
    ids = [each["tool_use_id"] for each in whole]
    at = chance.randrange(len(whole))
    stranger = tool_result(f"toolu_{chance.word()}", "x")
    kinds = [
        (whole, []),
        (whole[:at] + whole[at + 1 :], [ids[at]]),
        ([*whole[:at], stranger, *whole[at:]], [stranger["tool_use_id"]]),
        ([*whole[: at + 1], *whole[at:]], [ids[at]]),
        (whole[::-1], []),
    ]
    return chance.choice(kinds)
