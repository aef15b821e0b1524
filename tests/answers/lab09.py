"""Answers to lab 09: right ones of several shapes, and what people get wrong."""

import json
import os
from itertools import count

from harness_zero.grading.lab09 import (
    HARNESSES,
    append,
    entries,
    in_doubt,
    journal_of,
    journaling,
    survived,
)
from harness_zero.messages import not_executed, outcome_unknown, tool_result
from harness_zero.models.recorded import Diverged

# entries


def entries_by_pieces(path):
    if not os.path.exists(path):
        return []
    content = path.read_bytes()
    *whole, torn = content.split(b"\n")
    if torn:
        os.truncate(path, len(content) - len(torn))
    return [json.loads(line) for line in whole]


def entries_line_by_line(path):
    found, sound = [], 0
    with open(path, "ab+") as file:
        file.seek(0)
        for line in file:
            if not line.endswith(b"\n"):
                break
            found.append(json.loads(line.decode()))
            sound += len(line)
        file.truncate(sound)
    return found


def entries_written_anew(path):
    content = path.read_bytes() if path.exists() else b""
    sound = content[: content.rfind(b"\n") + 1]
    if sound != content:
        path.write_bytes(sound)
    return [json.loads(line) for line in sound.split(b"\n") if line]


def reading(
    there=lambda path: path.exists(),
    whole=lambda content: content[: content.rfind(b"\n") + 1],
    lines=lambda content: content.split(b"\n")[:-1],
    load=json.loads,
    cut=lambda path, content, sound: path.write_bytes(sound) if sound != content else None,
):
    """Entries with one thing changed."""

    def entries(path):
        if not there(path):
            return []
        content = path.read_bytes()
        sound = whole(content)
        cut(path, content, sound)
        return [load(line) for line in lines(sound)]

    return entries


def until_json_breaks(path):
    if not path.exists():
        return []
    found = []
    for line in path.read_bytes().split(b"\n"):
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def sound_ones(path):
    content = path.read_bytes() if path.exists() else b""
    path.write_bytes(content[: content.rfind(b"\n") + 1])
    found = []
    for line in path.read_bytes().split(b"\n"):
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


# in_doubt


def in_doubt_backwards(call, tool, safe):
    if call["name"] not in safe:
        known = outcome_unknown(call)
        return {**known, "content": "Outcome unknown: it was begun. Check first, then decide."}
    return tool(call)


def in_doubt_in_blocks(call, tool, safe):
    again = any(call["name"] == name for name in safe)
    words = "The process died; outcome unknown. CHECK before you repeat it."
    unknown = {
        "type": "tool_result",
        "tool_use_id": call["id"],
        "is_error": True,
        "content": [{"type": "text", "text": words}],
    }
    return tool(call) if again else unknown


def doubting(
    again=lambda call, safe: call["name"] in safe,
    said="outcome unknown, check first",
    error=True,
    id=lambda call: call["id"],
):
    """What is done in doubt with one thing changed."""

    def in_doubt(call, tool, safe):
        if again(call, safe):
            return tool(call)
        return tool_result(id(call), said, is_error=error)

    return in_doubt


def looks_twice(call, tool, safe):
    if call["name"] in safe:
        tool(call)
        return tool(call)
    return in_doubt(call, tool, safe)


# journal


journal = journal_of(entries)


def journal_of_records(path):
    known = {}
    for line in entries(path):
        known.setdefault(line["step"], {}).update(line)
    at = 0

    def step(asked, effect, in_doubt=None):
        nonlocal at
        at += 1
        was = known.get(at)
        if was is None:
            append(path, {"step": at, "begun": asked})
        elif was["begun"] != asked:
            raise Diverged(f"{asked} instead of {was['begun']}")
        elif "done" in was:
            return was["done"]
        elif in_doubt is not None:
            effect = in_doubt
        outcome = effect()
        append(path, {"step": at, "done": outcome})
        return outcome

    return step


class Steps:
    def __init__(self, path):
        self.path, self.past, self.number = path, entries(path), 0

    def find(self, kind):
        return [line[kind] for line in self.past if line["step"] == self.number and kind in line]

    def __call__(self, asked, effect, in_doubt=None):
        self.number += 1
        begun, done = self.find("begun"), self.find("done")
        if begun and begun != [asked]:
            raise Diverged(f"step {self.number}: {begun} and {asked}")
        if done:
            return done[0]
        if not begun:
            append(self.path, {"step": self.number, "begun": asked})
            in_doubt = None
        outcome = (in_doubt or effect)()
        append(self.path, {"step": self.number, "done": outcome})
        return outcome


def journal_of_a_class(path):
    return Steps(path)


def stepping(
    known=lambda number, done: number in done,
    held=True,
    before=True,
    first=1,
    open_=lambda effect, in_doubt: in_doubt or effect,
    again=False,
    catches=False,
    after=True,
    record=lambda outcome: outcome,
    gives=lambda outcome: outcome,
    diverges=Diverged,
    only_done=False,
    writes_first=False,
):
    """A journal with one thing changed."""

    def journal(path):
        lines, numbers = entries(path), count(first)
        begun = {line["step"]: line["begun"] for line in lines if "begun" in line}
        done = {line["step"]: line["done"] for line in lines if "done" in line}

        def step(asked, effect, in_doubt=None):
            number = next(numbers)
            if writes_first:
                append(path, {"step": number, "begun": asked})
            if held and number in (done if only_done else begun) and begun[number] != asked:
                raise diverges(f"step {number} was {begun[number]}, and now it is {asked}")
            if known(number, done):
                return gives(done[number])
            if number in begun:
                effect = open_(effect, in_doubt)
            if before and not writes_first and (again or number not in begun):
                append(path, {"step": number, "begun": asked})
            try:
                outcome = effect()
            except OSError as error:
                if not catches:
                    raise
                outcome = str(error)
            if not before:
                append(path, {"step": number, "begun": asked})
            if after:
                append(path, {"step": number, "done": record(outcome)})
            return outcome

        return step

    return journal


def journal_without_a_step(path):
    return entries(path)


def journal_that_forgets(path):
    numbers = count(1)

    def step(asked, effect, in_doubt=None):
        number = next(numbers)
        append(path, {"step": number, "begun": asked})
        outcome = effect()
        append(path, {"step": number, "done": outcome})
        return outcome

    return step


def keyed_by_what_was_asked(path):
    lines = entries(path)
    asked_at = {line["step"]: line["begun"] for line in lines if "begun" in line}
    done = {str(asked_at[line["step"]]): line["done"] for line in lines if "done" in line}
    numbers = count(len(asked_at) + 1)

    def step(asked, effect, in_doubt=None):
        if str(asked) in done:
            return done[str(asked)]
        number = next(numbers)
        append(path, {"step": number, "begun": asked})
        outcome = done[str(asked)] = effect()
        append(path, {"step": number, "done": outcome})
        return outcome

    return step


# journaled


journaled = journaling(journal, in_doubt)


def journaled_by_partial(path, model, tool, clock, safe):
    step = journal(path)

    def one(asked, port, given, doubt=None):
        return step(asked, lambda: port(*given), doubt)

    def act(call):
        return one(call, tool, [call], lambda: in_doubt(call, tool, safe))

    return lambda request: one("model", model, [request]), act, lambda: one("clock", clock, [])


class Office:
    def __init__(self, path, model, tool, clock, safe):
        self.step, self.safe = journal(path), safe
        self.ports = model, tool, clock

    def model(self, request):
        return self.step("model", lambda: self.ports[0](request))

    def tool(self, call):
        _, tool, _ = self.ports
        return self.step(call, lambda: tool(call), lambda: in_doubt(call, tool, self.safe))

    def clock(self):
        return self.step("clock", self.ports[2])


def journaled_by_a_class(path, model, tool, clock, safe):
    office = Office(path, model, tool, clock, safe)
    return [office.model, office.tool, office.clock]


def wrapping(
    model=lambda step, model: lambda request: step("model", lambda: model(request)),
    tool=lambda step, tool, safe: (
        lambda call: step(call, lambda: tool(call), lambda: in_doubt(call, tool, safe))
    ),
    clock=lambda step, clock: lambda: step("clock", clock),
    given=lambda model, tool, clock: (model, tool, clock),
    steps=journal,
):
    """The wrappers with one thing changed."""

    def journaled(path, model_, tool_, clock_, safe):
        step = steps(path)
        return given(model(step, model_), tool(step, tool_, safe), clock(step, clock_))

    return journaled


def three_journals(path, model, tool, clock, safe):
    one, two, three = journal(path), journal(path), journal(path)
    return (
        lambda request: one("model", lambda: model(request)),
        lambda call: two(call, lambda: tool(call), lambda: in_doubt(call, tool, safe)),
        lambda: three("clock", clock),
    )


def nothing_is_wrapped(path, model, tool, clock, safe):
    return model, tool, clock


def made_at_once(path, model, tool, clock, safe):
    step = journal(path)

    def act(call):
        result = tool(call)
        return step(call, lambda: result)

    return lambda request: step("model", lambda: model(request)), act, lambda: step("clock", clock)


# the diagnosis, and the judgement


def diagnosed():
    return "d", 9


def diagnosed_aloud():
    return ["D", 9]


def judged():
    return {name: survived(name) for name in HARNESSES}


def judged_by_kind():
    once, often = (0, 1), (1, 2)
    return {
        "Codex": [*once, "model"],
        "IronClaw": [*once, "person"],
        "OpenHands SDK": [*often, "nobody"],
        "OpenHarness": [*often, "nobody"],
        "ours": [*once, "model"],
        "ours, with a key": [1, 1, "nobody"],
    }


def judged_in_another_order():
    return dict(sorted(judged().items()))


def but(**changed):
    """The judgement with one harness changed."""
    names = {name.split(" ")[0].lower(): name for name in ("Codex", "IronClaw", "OpenHarness")}
    names |= {"sdk": "OpenHands SDK", "ours": "ours", "key": "ours, with a key"}
    return lambda: judged() | {names[name]: each for name, each in changed.items()}


RIGHT = {
    "entries": [
        entries,
        entries_by_pieces,
        entries_line_by_line,
        entries_written_anew,
        reading(),
    ],
    "in_doubt": [in_doubt, in_doubt_backwards, in_doubt_in_blocks, doubting()],
    "journal": [journal, journal_of_records, journal_of_a_class, stepping()],
    "journaled": [journaled, journaled_by_partial, journaled_by_a_class, wrapping()],
    "missing_line": [diagnosed, diagnosed_aloud, lambda: (" d", 9)],
    "judged": [judged, judged_by_kind, judged_in_another_order],
}

WRONG = {
    "entries": {
        "no file": (reading(there=lambda path: True), "where there is no file"),
        "whatever can be read": (until_json_breaks, "a line is whole when its end is there"),
        "torn ones stay": (
            reading(cut=lambda path, content, sound: None),
            "a torn line has to be cut off",
        ),
        "never without the last": (
            reading(whole=lambda content: content[: content[:-1].rfind(b"\n") + 1]),
            "of a file with three lines",
        ),
        "as text": (
            reading(lines=lambda content: content.decode().splitlines()),
            "split the bytes at",
        ),
        "the newest first": (
            reading(lines=lambda content: content.split(b"\n")[-2::-1]),
            "of a file with three lines",
        ),
        "text and not JSON": (reading(load=bytes.decode), "one line, one JSON"),
        "emptied": (
            reading(cut=lambda path, content, sound: path.write_bytes(b"")),
            "after the next append",
        ),
        "cut by one": (
            reading(cut=lambda path, content, sound: path.write_bytes(sound[:-1])),
            "expected: the file to be",
        ),
        "an end too many": (
            reading(cut=lambda path, content, sound: path.write_bytes(sound.rstrip() + b"\n\n")),
            "after the next append",
        ),
        "deleted": (
            reading(
                cut=lambda path, content, sound: (
                    path.unlink() if sound == content else (path.write_bytes(sound))
                )
            ),
            "FileNotFoundError",
        ),
        "damaged ones are passed over": (sound_ones, "replays another run"),
        "nothing back": (lambda path: None, "a list of lines"),
    },
    "in_doubt": {
        "again in any case": (doubting(again=lambda call, safe: True), "nobody can take a mail"),
        "all, where none is named": (
            doubting(again=lambda call, safe: not safe or call["name"] in safe),
            "with nothing named as safe",
        ),
        "never again": (doubting(again=lambda call, safe: False), "a second look harms nobody"),
        "twice": (looks_twice, "got:      2 calls"),
        "by its arguments": (
            lambda call, tool, safe: (
                tool(**call["input"]) if call["name"] in safe else in_doubt(call, tool, safe)
            ),
            "the tool port takes the tool_use itself",
        ),
        "no error": (doubting(error=False), "nothing says that the call went well"),
        "not executed": (
            lambda call, tool, safe: (
                tool(call) if call["name"] in safe else not_executed(call, "the process died")
            ),
            "would be a guess",
        ),
        "no advice": (doubting(said="interrupted, outcome unknown"), "a content that says: check"),
        "another id": (doubting(id=lambda call: call["name"]), "the result of c7"),
        "words alone": (
            lambda call, tool, safe: tool(call) if call["name"] in safe else "outcome unknown",
            "a tool_result",
        ),
        "no result": (
            lambda call, tool, safe: tool(call) if call["name"] in safe else None,
            "every call is answered",
        ),
    },
    "journal": {
        "no line before": (stepping(before=False), "in the file while the effect is made"),
        "no line after": (stepping(after=False), "in the file after the step"),
        "from nought": (stepping(first=0), "{'step': 1, 'begun': 'model'}"),
        "never looks": (journal_that_forgets, "got:      model"),
        "whether it is something": (
            stepping(known=lambda number, done: done.get(number) is not None),
            "recorded as None",
        ),
        "a text in any case": (stepping(record=str), "after two steps"),
        "in doubt again": (
            stepping(open_=lambda effect, in_doubt: effect),
            "effects made for a step in doubt: in_doubt",
        ),
        "in doubt alone": (
            stepping(open_=lambda effect, in_doubt: in_doubt),
            "TypeError",
        ),
        "begun twice": (stepping(again=True), "it is begun already"),
        "writes before it looks": (stepping(writes_first=True), "a replay has nothing new"),
        "anything goes": (stepping(held=False), "Diverged, where clock is asked for"),
        "only what is done is held": (
            stepping(only_done=True),
            "Diverged, where clock is asked for and the journal has tool",
        ),
        "another error": (stepping(diverges=ValueError), "by its name it is told from a bug"),
        "an error is an outcome": (stepping(catches=True), "the effect's own OSError"),
        "by what was asked": (keyed_by_what_was_asked, "in the third step"),
        "the lines": (journal_without_a_step, "a function step(asked, effect"),
    },
    "journaled": {
        "nothing": (nothing_is_wrapped, "two lines in the journal"),
        "three journals": (three_journals, "journal(path) is called once"),
        "the model is no step": (
            wrapping(model=lambda step, model: model),
            "a step that asks for 'model'",
        ),
        "the clock is no step": (
            wrapping(clock=lambda step, clock: clock),
            "a step that asks for 'clock'",
        ),
        "in doubt again": (
            wrapping(tool=lambda step, tool, safe: lambda call: step(call, lambda: tool(call))),
            "killed right after it",
        ),
        "nothing is safe": (
            wrapping(
                tool=lambda step, tool, safe: (
                    lambda call: step(call, lambda: tool(call), lambda: in_doubt(call, tool))
                )
            ),
            "read_file is safe",
        ),
        "made before the step": (made_at_once, "got:      read_file"),
        "what it gives, and no function": (
            wrapping(model=lambda step, model: lambda request: step("model", model(request))),
            "hand over lambda: model(request)",
        ),
        "in_doubt as it is": (
            wrapping(
                tool=lambda step, tool, safe: lambda call: step(call, lambda: tool(call), in_doubt)
            ),
            "in_doubt likewise",
        ),
        "the name of the tool": (
            wrapping(
                tool=lambda step, tool, safe: (
                    lambda call: step(
                        call["name"], lambda: tool(call), lambda: in_doubt(call, tool, safe)
                    )
                )
            ),
            "got:      'read_file'",
        ),
        "a clock that is read once": (
            wrapping(
                clock=lambda step, clock: (lambda now: lambda: step("clock", lambda: now))(clock())
            ),
            "a look at the clock",
        ),
        "two of three": (
            wrapping(given=lambda model, tool, clock: (model, tool)),
            "three functions back",
        ),
        "in another order": (
            wrapping(given=lambda model, tool, clock: (tool, model, clock)),
            "the effects model, read_file",
        ),
        "nothing back": (lambda path, model, tool, clock, safe: None, "got:      nothing"),
    },
    "missing_line": {
        "no number": (lambda: "d", "a letter of a, b, c, d, e and a number from 1 to 11"),
        "two outcomes": (lambda: ("a", 9), "the journal knows of one outcome"),
        "no outcome": (lambda: ("b", 7), "look at it the other way round"),
        "a gap": (lambda: ("c", 9), "the steps are numbered"),
        "the line before": (lambda: ("d", 8), "look down"),
        "the last": (lambda: ("d", 11), "look further up"),
    },
    "judged": {
        "a list": (lambda: ["Codex"], "a dict with 'Codex'"),
        "five": (lambda: {n: e for n, e in judged().items() if n != "ours"}, "a dict with 'Codex'"),
        "two of three": (but(codex=(0, 1)), "for Codex two numbers"),
        "another word": (but(ours=(0, 1, "user")), "one of model, person, nobody"),
        "aborted is made": (but(codex=(0, 2, "model")), "never made again"),
        "closed is made": (but(ironclaw=(0, 2, "person")), "fails the run"),
        "without a result is left": (but(sdk=(1, 1, "nobody")), "is made when the run is resumed"),
        "dropped is forgotten": (but(openharness=(0, 1, "nobody")), "does not know of it"),
        "the key sends twice": (but(key=(1, 2, "nobody")), "makes the second one nothing"),
        "unknown is sent": (but(ours=(1, 1, "model")), "if it dies before the mail is sent"),
        "a person for the model": (but(codex=(0, 1, "person")), "who is told"),
        "the model for a person": (but(ironclaw=(0, 1, "model")), "IronClaw: who is told"),
    },
}
