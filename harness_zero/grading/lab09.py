"""Lab 09, what survives a crash: its exercises and what an answer to each one promises."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import chdir, contextmanager
from copy import deepcopy
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness_zero import policy
from harness_zero.brief import brief, cut, plural
from harness_zero.desk import Broken, instead, result_fault
from harness_zero.grading.diagnosis import Case
from harness_zero.grading.exercise import Exercise, Lab, Piece
from harness_zero.loop import turn
from harness_zero.messages import (
    Block,
    Reply,
    array_fault,
    reply,
    tool_result,
    tool_results,
    tool_use,
    tool_uses,
)
from harness_zero.models.recorded import Diverged
from harness_zero.ports import Model, Policy, Request, Tool
from harness_zero.run import Clock, Run
from harness_zero.toolbox import toolbox
from harness_zero.view import plain

Line = dict[str, Any]  # {"step": 1, "begun": what was asked}, or {"step": 1, "done": the outcome}
Effect = Callable[[], Any]
Step = Callable[..., Any]  # step(asked, effect, in_doubt=None)
Entries = Callable[[Path], list[Line]]
Journal = Callable[[Path], Step]
InDoubt = Callable[..., Block]  # in_doubt(call, tool, safe)
Journaled = Callable[..., tuple[Model, Tool, Clock]]


# ours, until a learner has written theirs


def append(path: Path, line: Line) -> None:
    """Write a line behind the others. The file is closed, so a killed process does not lose it."""
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def entries(path: Path) -> list[Line]:
    """The whole lines of a journal; a torn last line is cut off."""
    if not Path(path).exists():
        return []
    with Path(path).open("rb+") as file:
        content = file.read()
        sound = content.rfind(b"\n") + 1
        file.truncate(sound)
    return [json.loads(line) for line in content[:sound].split(b"\n")[:-1]]


def journal_of(entries: Entries) -> Journal:
    """A journal that reads its file with these entries."""

    def journal(path: Path) -> Step:
        lines, numbers = entries(path), count(1)
        begun = {line["step"]: line["begun"] for line in lines if "begun" in line}
        done = {line["step"]: line["done"] for line in lines if "done" in line}

        def step(asked: Any, effect: Effect, in_doubt: Effect | None = None) -> Any:
            number = next(numbers)
            if number in begun and begun[number] != asked:
                then, now = brief(begun[number]), brief(asked)
                raise Diverged(f"step {number} was {then}, and now it is {now}")
            if number in done:
                return done[number]
            if number in begun:
                effect = in_doubt or effect
            else:
                append(path, {"step": number, "begun": asked})
            outcome = effect()
            append(path, {"step": number, "done": outcome})
            return outcome

        return step

    return journal


def in_doubt(call: Block, tool: Tool, safe: Collection[str] = ()) -> Block:
    """The result of a call that was begun before a crash, and of which nobody knows more."""
    if call["name"] in safe:
        return tool(call)
    return tool_result(call["id"], "outcome unknown, check first", is_error=True)


def journaling(journal: Journal, in_doubt: InDoubt) -> Journaled:
    """The three wrappers, around this journal and this way to answer what is in doubt."""

    def journaled(
        path: Path, model: Model, tool: Tool, clock: Clock, safe: Collection[str] = ()
    ) -> tuple[Model, Tool, Clock]:
        step = journal(path)
        return (
            lambda request: step("model", lambda: model(request)),
            lambda call: step(call, lambda: tool(call), lambda: in_doubt(call, tool, safe)),
            lambda: step("clock", clock),
        )

    return journaled


# entries


@contextmanager
def a_file(content: bytes | None = None) -> Iterator[Path]:
    """The path of a journal with this in it, or of one that is not there yet."""
    with TemporaryDirectory() as folder, chdir(folder):  # whatever an answer writes elsewhere, too
        path = Path(folder) / "journal.jsonl"
        if content is not None:
            path.write_bytes(content)
        yield path


def as_lines(*lines: Line) -> bytes:
    """Lines as they stand in a file, with every character written as itself."""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


ASKED: Line = {"step": 1, "begun": "model"}
SAID: Line = {"step": 1, "done": "It costs 5 €."}
CALLED: Line = {"step": 2, "begun": {"name": "send_mail", "input": {"to": "zoë"}}}


def expect_entries(answer: Entries, path: Path, wanted: list[Line], when: str, why: str) -> None:
    """These lines must be read from the file."""
    try:
        got = answer(path)
    except (FileNotFoundError, ValueError) as error:
        said = type(error).__name__ + (f": {error}" if isinstance(error, ValueError) else "")
        raise Broken(f"{brief(wanted, 160)} {when}", said, why) from None
    if not isinstance(got, list):
        raise Broken(f"a list of lines {when}", instead(got), why)
    if got != wanted:
        raise Broken(f"{brief(wanted, 160)} {when}", brief(got, 160), why)


def where_there_is_no_file_nothing_was_written(answer: Entries) -> None:
    """A journal begins with the first line that is appended to it."""
    why = "before its first step a run has no journal yet"
    with a_file() as path:
        expect_entries(answer, path, [], "where there is no file", why)
    with a_file(b"") as path:
        expect_entries(answer, path, [], "of an empty file", why)


def whole_lines_come_back_in_their_order(answer: Entries) -> None:
    """Each as what was written."""
    lines = [ASKED, SAID, CALLED]
    with a_file(as_lines(*lines)) as path:
        expect_entries(answer, path, lines, "of a file with three lines", "one line, one JSON")


def a_torn_last_line_is_left_out(answer: Entries) -> None:
    """Wherever it was torn: also in the middle of a letter, and right before its end."""
    sound, last = as_lines(ASKED), as_lines(SAID)
    for torn in range(1, len(last)):
        with a_file(sound + last[:torn]) as path:
            when = f"where the last line is {last[:torn]!r}"
            why = "a line is whole when its end is there: the process died while it wrote this one"
            expect_entries(answer, path, [ASKED], when, why)
    with a_file(last[:5]) as path:
        expect_entries(answer, path, [], "where the first line was torn", "then nothing is whole")


def the_next_line_gets_a_line_of_its_own(answer: Entries) -> None:
    """What is torn has to go from the file, or it would tear the next line as well."""
    with a_file(as_lines(ASKED) + b'{"step": 1, "do') as path:
        answer(path)
        append(path, SAID)
        expected = as_lines(ASKED).decode() + json.dumps(SAID) + "\n"
        if (got := path.read_text("utf-8")) != expected:
            why = "the next line is written behind what stands there: a torn line has to be cut off"
            raise Broken(f"the file to be {expected!r} after the next append", repr(got), why)


def what_is_whole_stays_as_it_is(answer: Entries) -> None:
    """A journal is only ever appended to."""
    content = as_lines(ASKED, SAID)
    with a_file(content) as path:
        for _ in range(2):
            answer(path)
            if (got := path.read_bytes()) != content:
                why = "it was whole, and reading changes nothing of that"
                raise Broken(f"the file to stay {content!r}", repr(got), why)


def a_text_may_hold_any_character(answer: Entries) -> None:
    """Only the end of a line is the end of a line."""
    said = {"step": 1, "done": "one\u2028two\x85three\r\nfour"}
    with a_file(as_lines(ASKED, said)) as path:
        when = "where a text holds characters that Python's splitlines takes for ends of a line"
        why = "split the bytes at b'\\n': JSON never writes that one inside a text"
        expect_entries(answer, path, [ASKED, said], when, why)


def what_is_damaged_is_not_passed_over(answer: Entries) -> None:
    """A whole line that is no JSON was not torn by a crash."""
    for content in (as_lines(ASKED) + b"{oops}\n" + as_lines(SAID), as_lines(ASKED) + b"oops\n"):
        with a_file(content) as path:
            try:
                got = answer(path)
            except Exception:
                continue
            why = "a crash tears the last line alone; whoever skips others replays another run"
            raise Broken(f"an error for the file {content!r}", brief(got, 120), why)


# journal


def opened(answer: Journal, path: Path) -> Step:
    """The step function of an answer, once it is one at all."""
    step = answer(path)
    if not callable(step):
        why = "journal(path) is called once, what it gives back at every step"
        raise Broken("a function step(asked, effect, in_doubt=None)", instead(step), why)
    return step


def in_file(path: Path) -> list[Line]:
    """What stands in a journal now, read without anybody's help."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def expect_file(path: Path, wanted: list[Line], when: str, why: str) -> None:
    """The journal must hold these lines."""
    got = in_file(path) if path.exists() else []
    if got != wanted:
        raise Broken(f"in the file {when}: {told(wanted)}", told(got), why)


def told(lines: list[Line]) -> str:
    """Lines in few words."""
    return brief(lines, 200) if lines else "no line"


class Made:
    """Effects that note that they were made."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def effect(self, name: str, outcome: Any = "ok") -> Effect:
        """An effect with this outcome."""

        def make() -> Any:
            self.names.append(name)
            return outcome

        return make

    def expect(self, names: list[str], when: str, why: str) -> None:
        """These effects must have been made, and no others."""
        if self.names != names:
            raise Broken(
                f"effects made {when}: {', '.join(names) or 'none'}",
                ", ".join(self.names) or "none",
                why,
            )


def expect_outcome(got: Any, wanted: Any, when: str, why: str) -> None:
    """A step must give back this."""
    if got != wanted or type(got) is not type(wanted):
        raise Broken(f"{wanted!r} back {when}", brief(got, 120), why)


BEFORE = "who dies in the middle of the effect has to leave a line that says that it was begun"
AFTER = "the outcome is recorded before the next step begins, or the next crash loses it"
ONCE = "what has an outcome in the journal is not made again: that is what the journal is for"


def a_line_stands_before_the_effect_and_one_after(answer: Journal) -> None:
    """Begun, effect, done."""
    with a_file() as path:
        step, seen = opened(answer, path), []

        def effect() -> str:
            seen.extend(in_file(path) if path.exists() else [])
            return "hello"

        got = step("model", effect)
        begun, done = {"step": 1, "begun": "model"}, {"step": 1, "done": "hello"}
        if seen != [begun]:
            raise Broken(f"in the file while the effect is made: {[begun]}", told(seen), BEFORE)
        expect_file(path, [begun, done], "after the step", AFTER)
        expect_outcome(got, "hello", "from the step", "whoever makes a step wants its outcome")


def steps_are_numbered_from_one(answer: Journal) -> None:
    """Whatever is asked for, a text or a call."""
    with a_file() as path:
        step, made = opened(answer, path), Made()
        call = tool_use("c1", "read_file", path="a")
        step("model", made.effect("first", 1))
        step(call, made.effect("second", 2))
        wanted: list[Line] = [
            {"step": 1, "begun": "model"},
            {"step": 1, "done": 1},
            {"step": 2, "begun": call},
            {"step": 2, "done": 2},
        ]
        expect_file(path, wanted, "after two steps", "by its number a step is found again")
        made.expect(["first", "second"], "in two steps", "each step makes its effect once")


RECORD: tuple[Line, ...] = (
    {"step": 1, "begun": "model"},
    {"step": 1, "done": "hello"},
    {"step": 2, "begun": "tool"},
    {"step": 2, "done": "five"},
)


def what_is_recorded_is_not_made_again(answer: Journal) -> None:
    """The next process gets the recorded outcomes, in their order."""
    with a_file(as_lines(*RECORD)) as path:
        step, made = opened(answer, path), Made()
        for asked, outcome in (("model", "hello"), ("tool", "five")):
            got = step(asked, made.effect(asked, "another outcome"))
            made.expect([], f"for {asked}, which is recorded", ONCE)
            expect_outcome(got, outcome, f"for {asked}, as it is recorded", ONCE)
        expect_file(path, [*RECORD], "after a replay", "a replay has nothing new to write")


def behind_the_record_it_goes_on(answer: Journal) -> None:
    """New steps, new numbers."""
    with a_file(as_lines(*RECORD)) as path:
        step, made = opened(answer, path), Made()
        for asked in ("model", "tool", "model"):
            step(asked, made.effect(asked, "new"))
        made.expect(["model"], "in the third step, the first that is new", ONCE)
        more = [{"step": 3, "begun": "model"}, {"step": 3, "done": "new"}]
        expect_file(path, [*RECORD, *more], "after the third step", "the numbers go on")


def nothing_is_an_outcome_too(answer: Journal) -> None:
    """None, False, 0 and an empty text."""
    for outcome in (None, False, 0, ""):
        with a_file(as_lines(RECORD[0], {"step": 1, "done": outcome})) as path:
            made = Made()
            got = opened(answer, path)("model", made.effect("model", "again"))
            when = f"for a step whose outcome is recorded as {outcome!r}"
            why = "whether there is an outcome is another question than what it is"
            made.expect([], when, why)
            expect_outcome(got, outcome, when, why)


def what_was_begun_and_has_no_outcome_is_in_doubt(answer: Journal) -> None:
    """Then `in_doubt` is called in the place of the effect, and what it brings is the outcome."""
    for torn in (b"", b'{"step": 1, "do'):
        with a_file(as_lines(ASKED) + torn) as path:
            step, made = opened(answer, path), Made()
            got = step("model", made.effect("the effect"), made.effect("in_doubt", "unknown"))
            why = "it was begun, and nobody knows whether it was made"
            made.expect(["in_doubt"], "for a step in doubt", why)
            expect_outcome(got, "unknown", "for a step in doubt", "what in_doubt brings counts")
            wanted = [ASKED, {"step": 1, "done": "unknown"}]
            expect_file(path, wanted, "afterwards", "it is begun already, and its outcome is new")


def without_in_doubt_the_effect_is_made(answer: Journal) -> None:
    """Some effects may be made again: to read a clock, to ask a model."""
    with a_file(as_lines(ASKED)) as path:
        step, made = opened(answer, path), Made()
        got = step("model", made.effect("the effect", "hello"))
        why = "whoever gives no in_doubt says that the effect may be made again"
        made.expect(["the effect"], "for a step in doubt without in_doubt", why)
        expect_outcome(got, "hello", "for it", why)


def in_doubt_is_for_doubt_alone(answer: Journal) -> None:
    """A new step makes its effect, a recorded one makes nothing."""
    with a_file(as_lines(*RECORD[:2])) as path:
        step, made = opened(answer, path), Made()
        step("model", made.effect("effect 1"), made.effect("in_doubt 1"))
        step("tool", made.effect("effect 2"), made.effect("in_doubt 2"))
        why = "step 1 has its outcome, step 2 was never begun: nothing is in doubt"
        made.expect(["effect 2"], "for a recorded step and a new one", why)


def another_step_than_the_recorded_one_diverges(answer: Journal) -> None:
    """Before anything is made, whether the recorded one has an outcome or not."""
    for lines in (RECORD, RECORD[:3]):
        with a_file(as_lines(*lines)) as path:
            step, made = opened(answer, path), Made()
            step("model", made.effect("model"))
            why = "step 2 was another one: whoever goes on gives it an outcome that is not its own"
            expected = "Diverged, where clock is asked for and the journal has tool"
            try:
                got = step("clock", made.effect("clock"), made.effect("in_doubt"))
            except Diverged:
                made.expect([], "by a step that diverges", why)
                expect_file(path, [*lines], "afterwards", "a step that diverges writes nothing")
            except (ValueError, LookupError, AssertionError, RuntimeError) as error:
                named = f"{type(error).__name__}: {error}"
                raise Broken(expected, named, "by its name it is told from a bug") from None
            else:
                raise Broken(expected, f"{brief(got)} back", why)


def an_effect_that_raises_has_no_outcome(answer: Journal) -> None:
    """Its exception goes on to whoever asked."""

    def fail() -> None:
        raise OSError("the line is dead")

    with a_file() as path:
        step = opened(answer, path)
        try:
            got = step("model", fail)
        except OSError:
            pass
        else:
            why = "whoever asked for the step has to hear that it failed"
            raise Broken("the effect's own OSError", f"{brief(got)} back", why)
        expect_file(path, [ASKED], "after an effect that raised", "it was begun, and no more")
        step("clock", lambda: 5)
        more: list[Line] = [{"step": 2, "begun": "clock"}, {"step": 2, "done": 5}]
        expect_file(path, [ASKED, *more], "after the next step", "the next one has its own number")


# in_doubt


MAIL = tool_use("c7", "send_mail", to="ana@example.org", body="241")
LOOK = tool_use("c3", "read_file", path="report.txt")
SAFE = ("read_file", "list_sent")


class Hand:
    """A tool port that notes which calls were made."""

    def __init__(self) -> None:
        self.calls: list[Block] = []

    def __call__(self, *given: Any, **named: Any) -> Block:
        if named or len(given) != 1 or not isinstance(given[0], dict) or "id" not in given[0]:
            said = ", ".join([*map(brief, given), *(f"{name}=..." for name in named)])
            why = "the tool port takes the tool_use itself, and finds the arguments in it"
            raise Broken("the tool asked by tool(call)", f"tool({said})", why)
        self.calls.append(deepcopy(given[0]))
        return tool_result(given[0]["id"], "figure = 241")


def a_safe_tool_is_called_again(answer: InDoubt) -> None:
    """Once, and what it says is the result."""
    for safe in (SAFE, {*SAFE}, ["read_file"]):
        hand = Hand()
        got = answer(deepcopy(LOOK), hand, safe)
        if hand.calls != [LOOK]:
            why = "a second look harms nobody, and a result that is known is better than none"
            said = plural(len(hand.calls), "call")
            raise Broken("read_file called again, once, with the call as it is", said, why)
        if got != tool_result("c3", "figure = 241"):
            raise Broken("the tool's own result", instead(got), "it is known now")


def what_is_not_safe_is_not_called(answer: InDoubt) -> None:
    """A mail that may be out already is not sent again."""
    for safe in (SAFE, ()):
        hand = Hand()
        answer(deepcopy(MAIL), hand, safe)
        if hand.calls:
            when = "with read_file and list_sent safe" if safe else "with nothing named as safe"
            why = "it may have been sent before the crash; nobody can take a mail back"
            raise Broken(f"send_mail not called {when}", plural(len(hand.calls), "call"), why)


def the_model_is_told_that_the_outcome_is_unknown(answer: InDoubt) -> None:
    """A result with the call's id, marked as an error."""
    got = answer(deepcopy(MAIL), Hand(), SAFE)
    if not isinstance(got, dict) or got.get("type") != "tool_result" or result_fault(got):
        why = "every call is answered, also where nobody knows what became of it"
        raise Broken("a tool_result", instead(got), why)
    if got.get("tool_use_id") != "c7":
        why = "a result answers the call whose id it carries"
        raise Broken("the result of c7", f"that of {got.get('tool_use_id')}", why)
    if got.get("is_error") is not True:
        raise Broken("is_error to be True", brief(got), "nothing says that the call went well")
    said = str(got.get("content", "")).lower()
    if "outcome unknown" not in said:
        why = "'not executed' would be a guess, and so would be 'sent'"
        raise Broken("a content that says: outcome unknown", brief(got.get("content")), why)


def it_is_told_to_check_first(answer: InDoubt) -> None:
    """What to do now is the model's, who has tools to look."""
    got = answer(deepcopy(MAIL), Hand(), SAFE)
    if "check" not in str(got.get("content", "")).lower():
        why = "who reads only that it failed sends again; say that it has to look first: check"
        raise Broken("a content that says: check first", brief(got.get("content")), why)


# journaled


class Killed(BaseException):
    """The process is gone; whoever called it does not hear of that."""


class World:
    """An office that outlives its processes: two reports, and the mails that went out.

    The model reads what it is given, so it does not matter how often it was begun again.
    """

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.log: list[str] = []  # what was done in the process that is running now
        self.kill: tuple[int, str] | None = None  # at which effect, and before or after it
        self.now = 0.0
        files = {"may.txt": "figure = 241", "june.txt": "figure = 307"}
        self.tools: dict[str, Callable[..., Any]] = {
            "read_file": lambda path: files[path],
            "send_mail": self.send_mail,
            "list_sent": lambda: "\n".join(self.sent) or "none",
        }

    def send_mail(self, to: str, body: str) -> str:
        """Send a mail."""
        self.sent.append(f"{to}: {body}")
        return "sent"

    def effect(self, name: str, make: Effect) -> Any:
        """Make an effect, unless the process dies before; or die right after it."""
        at = len(self.log) + 1
        if self.kill == (at, "before"):
            raise Killed
        self.log.append(name)
        outcome = make()
        if self.kill == (at, "after"):
            raise Killed
        return outcome

    def tool(self, call: Block) -> Block:
        """The tool port."""
        return self.effect(call["name"], lambda: toolbox(self.tools)(call))

    def model(self, request: Request) -> Reply:
        """The model port."""
        return self.effect("model", lambda: office(request["messages"]))

    def clock(self) -> float:
        """Ten seconds pass whenever somebody looks."""
        self.now += 10
        return self.now


def office(messages: list) -> Reply:
    """Read both reports, mail the sum, and look where nobody knows whether it was sent."""
    calls = {call["id"]: call for each in messages for call in tool_uses(each)}
    told = [
        (calls[result["tool_use_id"]]["name"], result["content"])
        for each in messages
        for result in tool_results(each)
    ]
    number = len(calls) + 1
    mail = tool_use(f"c{number}", "send_mail", to="ana@example.org", body="548")
    names = [name for name, _ in told]
    if "read_file" not in names:
        other = tool_use("c2", "read_file", path="june.txt")
        return reply(tool_use("c1", "read_file", path="may.txt"), other, cost=0.01)
    if "send_mail" not in names:
        return reply(mail, cost=0.01)
    name, content = told[-1]
    if name == "send_mail" and content != "sent":
        return reply(tool_use(f"c{number}", "list_sent"), cost=0.01)
    return reply(mail, cost=0.01) if content == "none" else reply("It is out.", cost=0.01)


USUAL = policy.first_of(policy.structural_stop, policy.max_rounds(10), policy.deadline(600))


def play(answer: Journaled, path: Path, world: World, policies: Policy = USUAL) -> Run:
    """One process: begin the run, from the journal as far as that goes."""
    world.log = []
    given = answer(path, world.model, world.tool, world.clock, SAFE)
    if not isinstance(given, tuple | list) or len(given) != 3 or not all(map(callable, given)):
        why = "each of them keeps its signature, so that it can stand in the place of the old one"
        raise Broken("three functions back: model, tool, clock", instead(given), why)
    model, tool, clock = given
    try:
        run = Run("Mail the sum of both reports to Ana.", clock)
        played = turn(run, policies, plain(), model, tool)
    except Diverged as error:
        why = "one journal counts the steps of all three, so journal(path) is called once"
        got = f"Diverged: {error}"
        raise Broken("the same steps in the same order as before", got, why) from None
    except TypeError as error:
        if not is_no_function(str(error)):
            raise
        raise no_function(str(error)) from None
    if played.label == "model_error" and is_no_function(played.why):
        raise no_function(played.why)
    return played


def is_no_function(told: str) -> bool:
    """Whether an error says that a step was handed something which it cannot call."""
    return any(words in told for words in ("not callable", "missing"))


def no_function(told: str) -> Broken:
    """A step was handed what an effect gives, and not the effect."""
    expected = "an effect, and an in_doubt, that the step can call without arguments"
    why = "hand over lambda: model(request), and not what it gives back; in_doubt likewise"
    return Broken(expected, told, why)


def unwrapped(
    path: Path, model: Model, tool: Tool, clock: Clock, safe: Collection[str]
) -> tuple[Model, Tool, Clock]:
    """The three without a journal, to compare with."""
    return model, tool, clock


def die(answer: Journaled, path: Path, world: World, kill: tuple[int, str]) -> None:
    """One process that dies at this effect."""
    world.kill = kill
    try:
        play(answer, path, world)
    except Killed:
        world.kill = None
        return
    why = "the check ends the process there; an exception that is no Exception is nobody's data"
    raise Broken(f"the process to die {at_instant(kill)}", "it went on", why)


def at_instant(kill: tuple[int, str]) -> str:
    """The instant in words."""
    at, when = kill
    return f"{when} effect {at} ({PLAYED[at - 1]})"


PLAYED = ("model", "read_file", "read_file", "model", "send_mail", "model")
INSTANTS = [(at, when) for at in range(1, len(PLAYED) + 1) for when in ("before", "after")]


def without_a_crash_the_run_is_as_it_was(answer: Journaled) -> None:
    """The same effects, each once; the same array, the same label."""
    bare, world = World(), World()
    expected = play(unwrapped, Path(), bare)
    with a_file() as path:
        run = play(answer, path, world)
        if world.log != bare.log:
            raise Broken(
                f"the effects {', '.join(bare.log)}",
                ", ".join(world.log) or "none",
                "a wrapper lets every new effect through, once",
                run.messages,
            )
        if run.messages != expected.messages or run.label != expected.label:
            why = "a wrapper gives back what the effect brought"
            raise Broken("the run that there is without it", brief(run.messages), why, run.messages)
        if not path.exists() or len(in_file(path)) < 2 * len(PLAYED):
            got = told(in_file(path)) if path.exists() else "no file"
            why = "model and tool are steps: one line before, one line after"
            raise Broken(f"two lines in the journal for each of {len(PLAYED)} effects", got, why)


def each_step_says_what_it_asks_for(answer: Journaled) -> None:
    """A word for the model and for the clock, the whole call for the tool."""
    with a_file() as path:
        run = play(answer, path, World())
        calls = [call for each in run.messages for call in tool_uses(each)]
        begun = [line["begun"] for line in in_file(path) if "begun" in line]
        wanted = ["clock", "model", *calls]
        why = "a replay that takes another way is found out by what its steps ask for"
        for each in begun:
            if each not in wanted:
                raise Broken("steps that ask for 'model', 'clock' or a call", brief(each), why)
        for each in wanted:
            if each not in begun:
                asked = f"lines that begin {', '.join(sorted({brief(it, 60) for it in begun}))}"
                raise Broken(f"a step that asks for {brief(each)}", asked, why)


def a_run_that_is_over_is_replayed_without_one_effect(answer: Journaled) -> None:
    """All outcomes come from the journal."""
    with a_file() as path:
        first = play(answer, path, World())
        world = World()
        run = play(answer, path, world)
        if world.log:
            raise Broken("no effect in a replay", ", ".join(world.log), ONCE, run.messages)
        if run.messages != first.messages or run.label != first.label:
            why = "the loop does the same with recorded outcomes as it did with the first ones"
            raise Broken("the same run again", brief(run.messages), why, run.messages)


def wherever_it_is_killed_the_mail_goes_out_once(answer: Journaled) -> None:
    """The process dies before or after any effect; the next one goes on."""
    for kill in INSTANTS:
        with a_file() as path:
            world = World()
            die(answer, path, world, kill)
            run = play(answer, path, world)
            where = f"killed {at_instant(kill)} and begun again"
            if len(world.sent) != 1:
                why = "what was begun and has no outcome is in doubt: neither made nor not made"
                raise Broken(
                    f"one mail, {where}", plural(len(world.sent), "mail"), why, run.messages
                )
            if run.label != "finished" or (fault := array_fault(run.messages)):
                got = f"{run.label}{'; ' + fault if fault else ''}"
                raise Broken(f"finished, with a sound array, {where}", got, "", run.messages)


def nothing_that_is_recorded_is_made_again(answer: Journaled) -> None:
    """The next process makes only what has no outcome yet."""
    for at in range(1, len(PLAYED) + 1):
        with a_file() as path:
            world = World()
            die(answer, path, world, (at, "before"))
            run = play(answer, path, world)
            made = [name for name in world.log if name != "list_sent"]
            most = [*PLAYED[at - 1 :]]
            spare = 2 * (PLAYED[at - 1] == "send_mail")  # the model looks, and sends
            if len(made) > len(most) + spare:
                expected = f"the effects {', '.join(most)}, killed {at_instant((at, 'before'))}"
                raise Broken(expected, ", ".join(made), ONCE, run.messages)


def of_what_is_in_doubt_the_model_is_told(answer: Journaled) -> None:
    """Killed right after the mail: nobody sends again, and the model hears that it is open."""
    with a_file() as path:
        world = World()
        die(answer, path, world, (5, "after"))
        run = play(answer, path, world)
        results = {r["tool_use_id"]: r for each in run.messages for r in tool_results(each)}
        if "outcome unknown" not in str(results.get("c3", {}).get("content")):
            why = "in_doubt(call, tool, safe) is what the step does in the place of the effect"
            expected = "outcome unknown as the result of send_mail, killed right after it"
            raise Broken(expected, brief(results.get("c3")), why, run.messages)


def what_is_safe_is_made_again(answer: Journaled) -> None:
    """Killed while a file is read: it is read again, and the array is as if nothing had been."""
    bare = play(unwrapped, Path(), World())
    for kill in ((2, "before"), (3, "after"), (4, "after"), (1, "before")):
        with a_file() as path:
            world = World()
            die(answer, path, world, kill)
            run = play(answer, path, world)
            if run.messages != bare.messages:
                why = "read_file is safe, and a model may be asked again: no doubt is left"
                expected = f"the array of a run without a crash, killed {at_instant(kill)}"
                raise Broken(expected, brief(run.messages[1:], 300), why, run.messages)


SHORT = policy.first_of(policy.structural_stop, policy.deadline(60))


def the_clock_is_a_step_too(answer: Journaled) -> None:
    """A turn that its deadline ended ends there again, however late it is by now."""
    with a_file() as path:
        first, bare = play(answer, path, World(), SHORT), play(unwrapped, path, World(), SHORT)
        if (first.label, first.rounds) != (bare.label, bare.rounds):
            got = f"{first.label} after {first.rounds} rounds"
            why = "as long as nothing is recorded, each look at the clock is a look at the clock"
            raise Broken(f"{bare.label} after {bare.rounds} rounds", got, why, first.messages)
        world = World()
        world.clock = lambda: 0.0  # type: ignore[method-assign]
        run = play(answer, path, world, SHORT)
        if (run.label, run.messages) != (first.label, first.messages):
            why = "the deadline reads the clock; a recorded run has to read the recorded time"
            got = f"{run.label} after {run.rounds} rounds"
            expected = f"{first.label} after {first.rounds} rounds, as it was recorded"
            raise Broken(expected, got, why, run.messages)


# a diagnosis: which line is missing


def no_step_has_two_outcomes(lines: list[Line]) -> int | None:
    """One effect, one outcome."""
    seen: set[int] = set()
    for at, line in enumerate(lines, 1):
        if "done" in line:
            if line["step"] in seen:
                return at
            seen.add(line["step"])
    return None


def every_step_that_was_begun_has_an_outcome(lines: list[Line]) -> int | None:
    """Nothing is left in doubt at the end."""
    done = {line["step"] for line in lines if "done" in line}
    open_ = (n for n, line in enumerate(lines, 1) if "begun" in line and line["step"] not in done)
    return next(open_, None)


def every_outcome_stands_behind_its_intent(lines: list[Line]) -> int | None:
    """A line before the effect, a line after it."""
    begun: set[int] = set()
    for at, line in enumerate(lines, 1):
        if "begun" in line:
            begun.add(line["step"])
        elif line["step"] not in begun:
            return at
    return None


def the_steps_are_numbered_without_a_gap(lines: list[Line]) -> int | None:
    """One, two, three."""
    highest = 0
    for at, line in enumerate(lines, 1):
        if line["step"] > highest + 1:
            return at
        highest = max(highest, line["step"])
    return None


def no_tool_is_begun_that_the_model_did_not_ask_for(lines: list[Line]) -> int | None:
    """A call's id stands in a reply before it."""
    asked: set[str] = set()
    for at, line in enumerate(lines, 1):
        outcome, begun = line.get("done"), line.get("begun")
        if isinstance(outcome, dict) and "stop_reason" in outcome:
            asked |= {call["id"] for call in tool_uses(outcome)}
        if isinstance(begun, dict) and begun["id"] not in asked:
            return at
    return None


def two_mails() -> list[Line]:
    """The journal of a harness that writes no intent for a mail, killed after one and resumed."""
    with a_file() as path:
        world = World()
        die(without_intent, path, world, (5, "after"))
        play(without_intent, path, world)
        assert len(world.sent) == 2
        return [line for line in in_file(path) if not is_mail(line.get("begun"))]


def without_intent(
    path: Path, model: Model, tool: Tool, clock: Clock, safe: Collection[str]
) -> tuple[Model, Tool, Clock]:
    """Wrappers that write nothing of a mail until it is out."""
    step = journal_of(entries)(path)

    def late(call: Block) -> Block:
        if not is_mail(call):
            return step(call, lambda: tool(call))
        result = tool(call)
        return step(call, lambda: result)

    return lambda request: step("model", lambda: model(request)), late, clock


def is_mail(asked: Any) -> bool:
    """Whether this is a call that sends a mail."""
    return isinstance(asked, dict) and asked["name"] == "send_mail"


WIDTH = 84  # of a line of a journal, as it is printed


def numbered(journal: list[Any]) -> list[str]:
    """The lines of a journal under their numbers."""
    written = [cut(json.dumps(line), WIDTH) for line in journal]
    return ["", *(f"{number:>3}  {line}" for number, line in enumerate(written, 1))]


MISSING_LINE_CASE = Case(
    two_mails,
    {
        "a": no_step_has_two_outcomes,
        "b": every_step_that_was_begun_has_an_outcome,
        "c": the_steps_are_numbered_without_a_gap,
        "d": every_outcome_stands_behind_its_intent,
        "e": no_tool_is_begun_that_the_model_did_not_ask_for,
    },
    whys={
        "a": "the mail went out twice, and the journal knows of one outcome: that is the trouble",
        "b": "each begun has its done further down; look at it the other way round",
    },
    noun="line",
    first=1,
    counted=lambda lines: lines,
    shown=numbered,
)


# judging harnesses by their facts


class Closed(Exception):
    """The run is over; a person has to look."""


InFlight = Callable[[Block, Tool], Block | None]  # what stands in the array afterwards


def aborted(call: Block, tool: Tool) -> Block:
    """Never made again; the model is told that it was aborted."""
    return tool_result(call["id"], "aborted", is_error=True)


def closed(call: Block, tool: Tool) -> Block:
    """The run fails closed."""
    raise Closed


def made_again(call: Block, tool: Tool) -> Block:
    """It has no result, so it is made."""
    return tool(call)


def dropped(call: Block, tool: Tool) -> None:
    """It is taken out of the array; the model goes on from what was before."""


def unknown(call: Block, tool: Tool) -> Block:
    """Ours, of a tool that is not declared as safe."""
    return in_doubt(call, tool)


def keyed(call: Block, tool: Tool) -> Block:
    """Ours, of a tool that goes by a key: made again, and the same key does nothing twice."""
    return in_doubt(call, tool, safe=("send_mail",))


HARNESSES: dict[str, tuple[InFlight, str]] = {
    "Codex": (aborted, "the call gets the result 'aborted', and is never made again"),
    "IronClaw": (closed, "it wrote 'before a side effect', so on resuming it fails the run"),
    "OpenHands SDK": (made_again, "a call without a result is made when the run is resumed"),
    "OpenHarness": (dropped, "it is taken out of the array, so the model does not know of it"),
    "ours": (unknown, "the model is told: outcome unknown, check first"),
    "ours, with a key": (keyed, "the call is made again, and the key makes the second one nothing"),
}
WHO = ("model", "person", "nobody")
Judgement = dict[str, tuple[Any, Any, Any]]  # mails, mails, and who
Judged = Callable[[], Judgement]


def survived(name: str) -> tuple[Any, Any, Any]:
    """Mails after a kill before the effect, mails after one behind it, and who is told."""
    before, _ = resumed(name, already=False)
    after, who = resumed(name, already=True)
    return before, after, who


def resumed(name: str, already: bool) -> tuple[int, str]:
    """How many mails there are in the end, and who is told that one was cut off."""
    sent = [MAIL["id"]] if already else []

    def send(call: Block) -> Block:
        if name != "ours, with a key" or call["id"] not in sent:
            sent.append(call["id"])
        return tool_result(call["id"], "sent")

    try:
        result = HARNESSES[name][0](MAIL, send)
    except Closed:
        return len(sent), "person"
    if result is None:  # the model does not know of it, and asks for what is still to be done
        result = send({**MAIL, "id": "c8"})
    return len(sent), "model" if result.get("is_error") else "nobody"


def judgement(answer: Judged) -> Judgement:
    """What was judged, once it has the right form."""
    got = answer()
    why = 'it looks like this: {"Codex": (0, 0, "nobody"), "IronClaw": ...}'
    if not isinstance(got, dict) or {*got} != {*HARNESSES}:
        named = f"a dict with {quoted(got)}" if got and isinstance(got, dict) else instead(got)
        raise Broken(f"a dict with {quoted(HARNESSES)}", named, why)
    for name, each in got.items():
        three = isinstance(each, tuple | list) and len(each) == 3
        if not three or not {*map(type, each[:2])} <= {int} or each[2] not in WHO:
            expected = f"for {name} two numbers and one of {', '.join(WHO)}"
            raise Broken(expected, brief(each), why)
    return got


def quoted(names: Iterable[Any]) -> str:
    """Names that may have a comma in them, so that they can be told apart."""
    return ", ".join(brief(each) for each in names)


def every_harness_is_judged(answer: Judged) -> None:
    """Two numbers and a word for each."""
    judgement(answer)


def expect_judged(answer: Judged, at: int, what: str) -> None:
    """This part of the judgement must be what comes of the facts."""
    for name, each in judgement(answer).items():
        if each[at] != (right := survived(name)[at]):
            more = "" if at == 2 else ": more" if each[at] < right else ": fewer"
            raise Broken(f"{name}: {what}{more}", f"{each[at]}", f"its facts: {HARNESSES[name][1]}")


def mails_after_a_kill_before_the_effect(answer: Judged) -> None:
    """It was begun, and not sent."""
    expect_judged(answer, 0, "the mails there are, if it dies before the mail is sent")


def mails_after_a_kill_after_the_effect(answer: Judged) -> None:
    """It was sent, and not recorded."""
    expect_judged(answer, 1, "the mails there are, if it dies after the mail was sent")


def who_is_told_that_it_was_cut_off(answer: Judged) -> None:
    """Killed after the effect, and resumed."""
    expect_judged(answer, 2, "who is told that the call was cut off")


ENTRIES = Exercise(
    name="entries",
    title="Read a file that was torn",
    minutes=8,
    difficulty="easy",
    lines=7,
    points=3,
    objectives=(5,),
    takes="entries(path)",
    promises=(
        whole_lines_come_back_in_their_order,
        where_there_is_no_file_nothing_was_written,
        a_torn_last_line_is_left_out,
        the_next_line_gets_a_line_of_its_own,
        what_is_whole_stays_as_it_is,
        a_text_may_hold_any_character,
        what_is_damaged_is_not_passed_over,
    ),
    piece=Piece("entries", borrowed=lambda: entries),
)

JOURNAL = Exercise(
    name="journal",
    title="A step that is made once",
    minutes=15,
    difficulty="hard",
    lines=16,
    points=6,
    objectives=(4, 5),
    takes="journal(path)",
    promises=(
        a_line_stands_before_the_effect_and_one_after,
        steps_are_numbered_from_one,
        what_is_recorded_is_not_made_again,
        behind_the_record_it_goes_on,
        nothing_is_an_outcome_too,
        what_was_begun_and_has_no_outcome_is_in_doubt,
        without_in_doubt_the_effect_is_made,
        in_doubt_is_for_doubt_alone,
        another_step_than_the_recorded_one_diverges,
        an_effect_that_raises_has_no_outcome,
    ),
    piece=Piece("journal", borrowed=journal_of, needs=("entries",)),
)

IN_DOUBT = Exercise(
    name="in_doubt",
    title="What to do in doubt",
    minutes=5,
    difficulty="easy",
    lines=3,
    points=3,
    objectives=(4, 5),
    takes="in_doubt(call, tool, safe)",
    promises=(
        what_is_not_safe_is_not_called,
        a_safe_tool_is_called_again,
        the_model_is_told_that_the_outcome_is_unknown,
        it_is_told_to_check_first,
    ),
    piece=Piece("in_doubt", borrowed=lambda: in_doubt),
)

JOURNALED = Exercise(
    name="journaled",
    title="A run that goes on",
    minutes=12,
    difficulty="medium",
    lines=8,
    points=6,
    objectives=(4, 5),
    takes="journaled(path, model, tool, clock, safe)",
    promises=(
        without_a_crash_the_run_is_as_it_was,
        each_step_says_what_it_asks_for,
        a_run_that_is_over_is_replayed_without_one_effect,
        nothing_that_is_recorded_is_made_again,
        of_what_is_in_doubt_the_model_is_told,
        wherever_it_is_killed_the_mail_goes_out_once,
        what_is_safe_is_made_again,
        the_clock_is_a_step_too,
    ),
    piece=Piece("journaled", borrowed=journaling, needs=("journal", "in_doubt")),
)

MISSING_LINE = Exercise(
    name="missing_line",
    title="Which line is missing",
    minutes=5,
    difficulty="easy",
    lines=1,
    points=2,
    objectives=(5,),
    takes="missing_line()",
    promises=MISSING_LINE_CASE.promises(),
    case=MISSING_LINE_CASE,
)

JUDGED = Exercise(
    name="judged",
    title="Judge six harnesses by their facts",
    minutes=10,
    difficulty="medium",
    lines=8,
    points=4,
    objectives=(4, 5),
    takes="judged()",
    promises=(
        every_harness_is_judged,
        mails_after_a_kill_after_the_effect,
        mails_after_a_kill_before_the_effect,
        who_is_told_that_it_was_cut_off,
    ),
)

LAB = Lab(
    "09_what_survives_a_crash",
    "What survives a crash",
    (ENTRIES, IN_DOUBT, JOURNAL, JOURNALED, MISSING_LINE, JUDGED),
)
