"""Steps: each is done once and written down, and running again reads what was written.

An intent is written before the effect and the outcome after it. While lines are left that were
recorded, a step has to be the recorded one, and its outcome stands in place of the effect.
"""

from collections.abc import Callable
from os import urandom
from pathlib import Path
from threading import Lock, get_ident
from typing import Any

from harness_zero.faults import SetupFault
from harness_zero.journal_clock import Ticking
from harness_zero.journal_file import VERSION, JournalFile, Line, NoJournal, Sync, encoded
from harness_zero.journal_words import Doubt, cut_off, diverged, told
from harness_zero.keys import Kept, within
from harness_zero.labels import Label
from harness_zero.models.recorded import Diverged, as_error, as_failure
from harness_zero.past import Entry, Past

Effect = Callable[[], Any]
Settle = Callable[[Entry], Any]  # what becomes of a step in doubt
Tell = Callable[[str], None]


class Scribe:
    """The file, how far a replay has come in it, and the time of the run."""

    def __init__(self, path: Path, sync: Sync, run: str, tell: Tell, place: str = "") -> None:
        self.path, self.sync, self.run, self.tell, self.place = path, sync, run, tell, place
        self.file: JournalFile | None = None
        self.past = Past()
        self.clock = Ticking()
        self.doubts: list[Doubt] = []
        self.note = ""  # what of the file was left out
        self.in_vain = 0  # how often since the last line somebody looked and nothing had arrived
        self.inside: list[int] = []  # the steps under way, the innermost last
        self.thread, self.beginning = 0, Lock()  # in which they are
        self.kept, self.secrets = Kept(), list[str]()

    def open(self) -> None:
        """Take the file and read it. Busy if another run has it, NoJournal if it is none."""
        if self.file is not None:
            return
        self.file = JournalFile(self.path, self.sync)
        self.look_up_keys()
        if note := cut_off(self.file.cut):
            self.note = f"{self.path}: {note}"
            self.tell(self.note)
        head, *lines = self.file.lines or [self.begin()]
        self.file.lines = []
        self.run, self.place, self.past = head["run"], head.get("place", ""), Past.of(lines)

    def begin(self) -> Line:
        """Write the head of a new journal."""
        place = {"place": self.place} if self.place else {}
        head = self.write({"journal": VERSION, "run": self.run or urandom(8).hex(), **place})
        if self.file:
            self.file.settle_name()
        return head

    def close(self) -> None:
        """Let the file go."""
        if self.file:
            self.file.close()

    def look_up_keys(self) -> None:
        """Know the keys of the environment as it is now."""
        self.secrets = self.kept.now()

    def without_keys(self, value: Any) -> Any:
        """JSON as it is written down: where a key stands there is a mask."""
        try:
            return within(value, self.secrets)
        except RecursionError as error:
            raise NoJournal(f"a value cannot be written, it is no JSON: {error}") from error

    def write(self, line: Line) -> Line:
        """Append a line that holds no key."""
        if self.file is None:
            raise SetupFault(f"the journal {self.path} is not open: use it in a `with`")
        try:
            self.file.append(encoded(line))
        except (TypeError, ValueError, RecursionError) as error:
            what = f"the outcome of step {line['end']}" if "end" in line else told(line)
            raise NoJournal(f"{what} cannot be written, it is no JSON: {error}") from error
        return line

    def write_place(self, line: Line) -> Line:
        """Append a line that stands for a place in the run, with the step that it is made in."""
        return self.write_timed({**line, **self.where()})

    def write_timed(self, line: Line) -> Line:
        """Append a line with the time."""
        self.in_vain = 0
        return self.write({**line, "at": self.clock.stamp()})

    def passed(self, entry: Entry) -> Line:
        """Pass an entry of the recorded run."""
        self.past.cursor += 1
        self.clock.at, self.in_vain = entry.line["at"], 0
        return entry.line

    def perform(
        self, asks: Line, effect: Effect, doubt: Callable[[Entry], Any], **more: Any
    ) -> Any:
        """One step: its recorded outcome, or the effect between its intent and its outcome."""
        entry, asks = self.past.next, self.without_keys(asks)
        if entry is None:
            return self.carry_out(self.begin_step({**asks, **more}), effect)
        self.hold(entry, asks)
        self.passed(entry)
        if entry.outcome is None:
            return self.settle(entry, doubt)
        self.past.cursor, self.clock.at = entry.behind, entry.outcome["at"]
        return recalled(entry.outcome)

    def begin_step(self, asks: Line) -> int:
        """Write an intent, and note that the step is under way; gives back its number."""
        with self.beginning:
            if self.inside and self.thread != get_ident():
                now = f"step {self.inside[-1]} is under way in another thread"
                raise SetupFault(f"{self.path} takes one step after the other, and {now}")
            number = self.past.steps = self.past.steps + 1
            self.write_place({"begin": number, **asks})
            self.inside.append(number)
            self.thread = get_ident()
        return number

    def hold(self, entry: Entry, asks: Line) -> None:
        """Diverged unless this is the recorded step. A recorded interrupt comes again."""
        if entry.line.get("ended") == Label.INTERRUPTED:
            raise KeyboardInterrupt
        if entry.kind != "begin" or entry.asks != asks:
            raise Diverged(diverged(self.path, entry.line, asks))

    def carry_out(self, number: int, effect: Effect) -> Any:
        """Let the effect of the step that is under way happen, and write down what came of it."""
        try:
            outcome = effect()
        except Exception as error:
            self.write_timed({"end": number, "failed": as_failure(error)})
            raise
        finally:
            self.inside.pop()
        self.put_down(number, outcome)
        return outcome

    def put_down(self, number: int, outcome: Any, **more: Any) -> Line:
        """Write an outcome down; where a key was masked in it, that is said."""
        gave = self.without_keys(outcome)
        masked = {"masked": True} if gave != outcome else {}
        return self.write_timed({"end": number, "gave": gave, **masked, **more})

    def settle(self, entry: Entry, doubt: Settle) -> Any:
        """What is done about a step in doubt. An interrupt that ended its turn comes again."""
        if self.past.to_interrupt(self.where()):
            raise KeyboardInterrupt
        return doubt(entry)

    def where(self) -> Line:
        """The step inside of which something is done, if it is inside of one."""
        return {"in": self.inside[-1]} if self.inside else {}

    def again(self, entry: Entry, effect: Effect, done: str) -> Any:
        """Make a step in doubt once more."""
        number = self.note_doubt(entry, done)
        self.clock.start()
        self.write({"again": number})
        self.inside.append(number)
        self.thread = get_ident()
        return self.carry_out(number, effect)

    def leave(self, entry: Entry, outcome: Any, done: str, **more: Any) -> Any:
        """Give a step in doubt an outcome without making it again."""
        number = self.note_doubt(entry, done)
        self.past.cursor = entry.behind  # what was done inside of it is known to nobody
        entry.outcome = self.put_down(number, outcome, **more)
        return outcome

    def note_doubt(self, entry: Entry, done: str) -> int:
        """Say what is in doubt and what is done about it; gives back the number of the step."""
        doubt = Doubt(entry.line["begin"], told(entry.line), done)
        self.doubts.append(doubt)
        self.tell(str(doubt))
        return doubt.number

    def look(self, kind: str, arrived: Callable[[], Line | None]) -> Line | None:
        """Look whether something has arrived; a replay finds it at the same look as then."""
        if entry := self.past.next:
            if entry.kind == kind and entry.line["after"] == self.in_vain:
                return self.passed(entry)
        elif line := arrived():
            return self.write_place({**self.without_keys(line), "after": self.in_vain})
        self.in_vain += 1
        return None


def recalled(outcome: Line) -> Any:
    """A recorded outcome; a failure is raised again."""
    if "failed" in outcome:
        raise as_error(outcome["failed"]["kind"], outcome["failed"]["words"])
    return outcome["gave"]
