"""`harness-zero run`: play one turn on a real folder, and print it as it happens."""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from rich.console import Console

from harness_zero.assembly import COST_CAP, USUAL, accounted, assemble, of_messages
from harness_zero.brief import plural
from harness_zero.compaction import compacted
from harness_zero.containment import contained
from harness_zero.contracts import Hook, command, stop_hook, verifier
from harness_zero.contracts.verifier import TESTS, Files, fingerprints
from harness_zero.doubt import reads, runs_again
from harness_zero.faults import SetupFault
from harness_zero.flight.personas import fixer
from harness_zero.flight.worlds import WORLDS, world, world_in
from harness_zero.full import when_full
from harness_zero.journal import Busy, Diverged, Journal
from harness_zero.keys import masked
from harness_zero.labels import End, Label, Say
from harness_zero.loop import ModelFailed
from harness_zero.messages import Block, Message, Reply
from harness_zero.models import claude
from harness_zero.models.more_room import more_room
from harness_zero.models.prices import cost_usd
from harness_zero.models.told_full import told_full
from harness_zero.permission import Ask, Rule, denials
from harness_zero.policy import nudge, recover, structural_stop
from harness_zero.ports import Model, Policy
from harness_zero.repetition import repetition
from harness_zero.resume import NothingToResume, resume
from harness_zero.run import Run
from harness_zero.runner import sandboxed
from harness_zero.stages import stage
from harness_zero.summary import written_by
from harness_zero.tools import schemas
from harness_zero.view import cached, plain
from harness_zero.watch import Tools, Watch, counted, printable, shown
from harness_zero.workspace import workspace

Loop = Callable[..., Any]  # (model, tools, prompt): whatever a stage or the library gives back

STYLES = {"you": "bold", "call": "cyan", "error": "red", "says": "bold", "veto": "yellow"}
ROOM = (20_000,)  # tokens of a reply that was cut off; more wants a stream
KEPT = ".harness_zero"  # in the workspace
FINISHED = "finished: the model asked for nothing more."
SILENT = "ended. Stages 2 and 3 do not say whether the model was done or a limit held: chapter 04."
CRASHED = "In stages 1 and 2 a tool that fails takes the whole run down: chapter 03."


class NoModel(SetupFault):
    """Nobody is there to speak: no key, no local model, and not a shipped project."""


def play(
    prompt: str,
    folder: Path,
    number: int,
    project: str,
    offline: bool,
    mine: Path | None = None,
    verify: str | None = None,
    untouched: Sequence[str] = (),
    journal: Path | None = None,
    ask: bool = False,
) -> int:
    """Play one turn there; the exit code: 0 finished, 130 interrupted, 1 for every other end.

    `number` is a stage, or 0 for the library with all its parts. With a learner's copy of the
    course in `mine`, their own harness plays. The library's turn ends as finished only once the
    command `verify` passes, for which the `untouched` files have to be what they were. With a
    journal the run can be resumed. With `ask` somebody is asked before what writes or runs.
    """
    lay(project, folder)
    tools = workspace(folder)
    console = Console(highlight=False, markup=False, soft_wrap=True)
    say = partial(aloud, console)
    told = partial(say, style="dim")
    model = choose(folder, offline, told)
    if not sandboxed():
        told("     no bubblewrap here: a command can read and write whatever you can")
    watch = Watch(lambda line, kind: say(line, style=STYLES.get(kind)))
    with ExitStack() as stack:
        written = stack.enter_context(opened(journal, folder, told)) if journal else None
        kept = Kept(folder, [each for each in untouched or TESTS if each], written)
        hook = checked(verify, kept, say, written) if verify else None
        if mine:
            loop, number = own(mine, told), 1
        else:
            start = kept.look if verify else nothing
            ours = library(brakes(offline, told), hook, written, asked(say) if ask else None, start)
            loop = draft(stage(number)) if number else ours
        try:
            code, ending = turn(watch, number, loop, model, tools, prompt)
        finally:
            where = keep(watch, folder)
    say(f"     {printable(ending)}", style="red" if code else "green")
    told(f"     {where}")
    return code


def aloud(console: Console, line: str, style: str | None = None) -> None:
    """Print a line. Where nobody reads any more, the turn still goes on to its end."""
    with suppress(OSError, UnicodeError):
        console.print(line, style=style)


def lay(project: str, folder: Path) -> None:
    """Lay a shipped project into a folder that is missing or empty; refuse another's folder."""
    if not project:
        return
    known = world(project)
    try:
        vacant = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    except OSError:
        vacant = True  # laying it will tell why not
    if vacant:
        known.lay(folder)
    elif not known.fits(folder):
        raise NoModel(f"{folder} holds something else than the project {project}; name another.")


def choose(folder: Path, offline: bool, told: Callable[[str], None]) -> Model:
    """The real model where there is a key or an endpoint; else the fixer of a shipped project."""
    if claude.reachable() and not offline:
        told(f"     model: {claude.model_name()}")
        try:
            return claude.claude()
        except ModelFailed as failure:
            raise NoModel(str(failure)) from failure
    if known := world_in(folder):
        told(f"     offline: a rehearsed model, which repairs {known.name} whatever it is asked")
        return of_messages(fixer(known))
    raise NoModel(
        f"{folder} is none of the shipped projects ({', '.join(WORLDS)}), and offline only these"
        " are known. For any other folder set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL to a local"
        " model that speaks the Messages API (and HARNESS_ZERO_MODEL to its name)."
    )


def brakes(offline: bool, told: Callable[[str], None]) -> tuple[Policy, ...]:
    """The usual brakes; without the one in money where nobody knows the price."""
    real = claude.reachable() and not offline
    if not real or cost_usd({"input_tokens": 1, "output_tokens": 1}, claude.model_name()):
        return USUAL
    told("     nobody knows what this model costs, so no cap in money holds")
    return tuple(brake for brake in USUAL if brake is not COST_CAP)


def own(copy: Path, told: Callable[[str], None]) -> Loop:
    """The harness in a learner's copy; what in it is theirs is told."""
    from harness_zero.desk import list_fault
    from harness_zero.mine import HarnessFault, load, whose

    run = load(copy).run
    for line in whose(copy):
        told(f"     {line}")

    def loop(model: Model, tools: Tools, prompt: str) -> Any:
        with contained():
            given = draft(run)(model, tools, prompt)
        messages = given[0] if isinstance(given, tuple) and given else given
        if not isinstance(given, Run) and (fault := list_fault(messages)):
            raise HarnessFault(f"your run gives back no list of messages but {fault}")
        return given

    return loop


def draft(run: Loop) -> Loop:
    """A loop of messages, with the tools' schemas beside the messages that it sends."""

    def loop(model: Model, tools: Tools, prompt: str) -> Any:
        listed = schemas(tools)

        def speak(sent: list[Message]) -> Reply:
            reply = model({"messages": sent, "tools": listed})
            return {**reply, "cost_usd": reply.get("cost_usd") or 0.0}  # no draft knows of None

        return run(speak, tools, prompt)

    return loop


@dataclass
class Kept:
    """The files that a check relies on, as they were when the turn began.

    A look at them is a step: a resumed turn holds them to what its first process saw.
    """

    folder: Path
    patterns: list[str]
    journal: Journal | None
    files: Files = field(default_factory=dict)

    def look(self) -> None:
        """See what they are now, or were."""
        step = self.journal.step("kept files", reads(self.now)) if self.journal else self.now
        self.files = dict(step(*self.patterns))

    def now(self, *patterns: str) -> list[Any]:
        """Their paths, and what stands in each."""
        return [[path, what] for path, what in fingerprints(self.folder, [*patterns]).items()]


def nothing() -> None:
    """Nothing is to be done."""


def from_the_start(stop: Policy, start: Callable[[], None]) -> Policy:
    """The same stop; before the first message of a turn something is done."""

    def policy(run: Run) -> Say | End | None:
        if run.rounds == 0:
            start()
        return stop(run)

    return policy


def checked(
    line: str, kept: Kept, say: Callable[..., None], journal: Journal | None = None
) -> Hook:
    """A hook that runs a command before the turn may end, as a step; what it found is told."""
    stays = f"; {', '.join(kept.patterns)} stay as they are" if kept.patterns else ""
    say(f"     nothing is finished before `{line}` passes{stays}", style="dim")
    for pattern in kept.patterns if kept.patterns != [*TESTS] else ():
        if any(sign in pattern for sign in "*?[/") and not fingerprints(kept.folder, [pattern]):
            say(f"     no file is found by {pattern}, so it keeps none", style=STYLES["veto"])
    check = command(line, kept.folder, kept.patterns, before=lambda: kept.files)
    step = journal.step("verify", reads(check)) if journal else check
    hook = verifier(step, check.__name__)

    def telling(run: Run, again: bool) -> str | None:
        feedback = hook(run, again)
        if feedback is None:
            say(f"     `{line}` passes", style="dim")
        else:
            say(f"     veto: {shown(feedback)}", style=STYLES["veto"])
        return feedback

    telling.__name__ = hook.__name__
    return telling


def library(
    brakes: tuple[Policy, ...],
    hook: Hook | None = None,
    journal: Journal | None = None,
    ask: Ask | None = None,
    start: Callable[[], None] = nothing,
) -> Loop:
    """The library with all its parts; gives back the run."""

    def loop(model: Model, tools: Tools, prompt: str) -> Run:
        stop = recover(nudge(when_full(structural_stop)))
        stop = from_the_start(stop_hook(stop, hook), start) if hook else stop
        speak = accounted(more_room(told_full(model), *ROOM), journal)
        view = cached(compacted(plain(tools=schemas(tools)), written_by(speak)))
        reading = [Rule("allow", name) for name, tool in tools.items() if runs_again(tool)]
        may = {"rules": reading, "ask": ask} if ask else {}
        parts = speak, tools, stop, brakes, view, [repetition(), denials()], journal
        harness = assemble(*parts, **may)  # type: ignore[arg-type]
        return resume(harness, journal, prompt) if journal else harness(Run(prompt))

    return loop


def asked(say: Callable[..., None]) -> Ask:
    """Whoever sits at the terminal is asked before a call; what they write goes to the model."""

    def ask(call: Block) -> bool | str:
        named = printable(call["name"])
        say(f"     may it? {named}({json.dumps(call['input'])})", style=STYLES["veto"])
        say("     y for yes; anything else is no, and the model reads it", style="dim")
        try:
            answer = input("     > ").strip()
        except (EOFError, RuntimeError):  # the input is at its end, or closed
            return "nobody is there to be asked"
        except UnicodeDecodeError:
            return "the user said no, in an encoding that is not the terminal's"
        if answer.lower() in ("y", "yes"):
            return True
        answer = answer.encode(errors="backslashreplace").decode()
        return "the user said no" + (f": {answer}" if answer.lower() not in ("", "n", "no") else "")

    return ask


def opened(file: Path, folder: Path, told: Callable[[str], None]) -> Journal:
    """A journal, opened; what is resumed with it is told. A fault is a sentence."""
    journal = Journal(file, tell=lambda sentence: told(f"     {sentence}"), place=folder.resolve())
    try:
        journal.open()
    except Busy as busy:
        raise NoModel(f"busy: {busy}. Nothing was touched.") from busy
    if fault := elsewhere(journal.place, folder):
        journal.close()
        raise NoModel(f"{file} {fault}")
    if steps := journal.steps:
        told(f"     {file} holds {plural(steps, 'step')}; what is recorded is not done again")
    if file.resolve().is_relative_to(folder.resolve()):
        told(f"     {file} lies in the workspace, where the model's commands can change it")
    return journal


def elsewhere(place: str, folder: Path) -> str | None:
    """Why a journal of what was done in one folder is not gone on with in this one."""
    there, here = Path(place or folder), folder.resolve()
    if not there.is_dir() or there.samefile(here):  # what is gone may have been moved here
        return None
    cure = "Name that folder with --workspace, or begin another journal."
    return f"tells of what was done in {there}, and this is {here}. {cure}"


def turn(
    watch: Watch, number: int, loop: Loop, model: Model, tools: Tools, prompt: str
) -> tuple[int, str]:
    """Play it under watch: the exit code, and in a sentence how it ended."""
    try:
        code, ending = outcome(watch.play(loop, model, tools, prompt), number)
        return code, f"{ending} {counted(watch)}."
    except KeyboardInterrupt:
        return 130, f"interrupted by you. {counted(watch)}."
    except NothingToResume as over:
        return int(over.label != Label.FINISHED), f"{over}."
    except Diverged as fault:
        return 1, f"diverged: {fault}"
    except ModelFailed as failure:
        return 1, f"the model gave no reply: {str(failure).rstrip('.')}."
    except SetupFault as fault:
        return 1, f"the harness is at fault: {fault}"
    except Exception as error:
        lesson = f"\n     {CRASHED}" if number in (1, 2) else ""
        return 1, f"stopped: {type(error).__name__}: {error}{lesson}"


def outcome(given: Any, number: int) -> tuple[int, str]:
    """What a loop gave back, as an exit code and a sentence."""
    if isinstance(given, Run):
        money = "an unknown price" if given.unpriced else f"${given.cost_usd:.4f}"
        spent = f" {plural(given.tokens, 'token')}, {money}," if given.tokens else ""
        code = {Label.FINISHED: 0, Label.INTERRUPTED: 130}.get(given.label or Label.BUSY, 1)
        return code, f"{given.label}: {given.why.rstrip('.')}.{spent}"
    if isinstance(given, tuple):
        return int(given[1] != Label.FINISHED), f"{given[1]}."
    return 0, FINISHED if number == 1 else SILENT


def keep(watch: Watch, folder: Path) -> str:
    """Write the array into the workspace, and say where, and which calls have no answer."""
    array = watch.array()
    if not array:
        return "nothing was sent, so there is nothing to keep."
    try:
        path = kept(array, folder)
    except OSError as error:
        return f"the messages could not be kept in {folder / KEPT}: {error.strerror or error}."
    lost = [call["id"] for call in watch.unanswered()]
    without = f"; {', '.join(lost)} without a result, so the API would refuse it" if lost else ""
    return f"{plural(len(array), 'message')} kept in {path}{without}."


def kept(array: list[Message], folder: Path) -> Path:
    """Where the array now is, without keys; earlier ones stay. A link could lead out of here."""
    home = folder / KEPT
    if home.is_symlink():
        raise OSError(f"{home} is a link")
    home.mkdir(exist_ok=True)
    for number in count(1):
        path = home / f"messages-{number}.json"
        try:
            with open(path, "x", encoding="utf-8") as file:
                json.dump(masked(array), file, indent=1)
        except FileExistsError:
            continue
        return path
    raise AssertionError
