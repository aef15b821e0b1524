"""The page about all personas, worlds and faults, made from what they say of themselves.

python -m harness_zero.flight.page     writes docs/flights.md
"""

from collections.abc import Iterator, Mapping
from inspect import getdoc
from pathlib import Path
from typing import Any

from harness_zero.flight.contracted import typed, verified
from harness_zero.flight.faults import BESIDE as RARE
from harness_zero.flight.fly import Flown, fly
from harness_zero.flight.names import BESIDE, FAULTS, SMALL, WORLDS, named
from harness_zero.flight.outcome import KINDS
from harness_zero.flight.personas import PERSONAS
from harness_zero.flight.table import MIX, table
from harness_zero.flight.worlds.folder import REAL

PAGE = Path(__file__).parent.parent.parent / "docs" / "flights.md"
HARNESSES = (1, 2, 3, 4, 5, "library", typed, verified)
BLOCKS = range(2)
NEEDS = {
    "diligent": "nothing but a sound loop: what is lost here the harness loses by itself",
    "double-checking": "a detector that reads results, if it has one: asking twice is healthy",
    "polling": "a detector that reads results, if it has one: waiting is healthy",
    "stubborn": "brakes (chapter 02), and a word from a detector (06)",
    "alternating": "brakes (02), and a detector that sees cycles of two (06)",
    "hasty": "a verifier, which looks at the work (08); no stage helps, and no output type",
    "rambling": "brakes (02): the goal is reached, only the money goes on",
    "windy": "labels (04) and recovery from a cut reply",
    "silent": "a label of its own for an empty reply, and a nudge",
    "refusing": "labels (04): nothing reaches the goal, and the end has to say so",
    "dreaming": "errors as data (03)",
    "spending": "a cap in money (02)",
    "stuttering": "an act step that answers all calls (01); a window of five takes it for stuck",
    "login-bug": "errors as data (03); a detector that knows an experiment (06)",
    "murky-bug": "brakes (02) and a detector (06): half of them have no solution",
    "lost-config": "true errors (03): the error says where the file is",
    "one-mail": "the journal and idempotency keys (09, 10) once the connection is lost",
    "build": "a detector that reads results (06)",
    "big-file": "recovery from a cut reply, which labels (04) make possible",
    "many-files": "limits that leave room for healthy work (02)",
    "many-pages": "limits that leave room for healthy work (02)",
    "shelves": "results by id, in one message (01)",
    "locked": "errors as data (03) and an honest end (04): it cannot be done",
    "moved-config": "true errors (03): a guess by the name reads a stale file",
    "keyed-mail": "a key (10) that whoever repeats a call gives once more",
    "login": "a loop (01)",
    "cart": "a loop (01) that makes all calls of a reply",
    "calm": "nothing",
    "crash": "errors as data (03)",
    "slow": "a deadline (02); one that is too short takes goals away",
    "lost-before": "errors as data (03): asking again is right",
    "lost-after": "the journal and idempotency keys (09, 10): asking again is wrong",
    "interrupt": "valid exits (05)",
    "killed": "the journal (09); a pilot that does not resume has crashed",
    "529": "a label for a failed model (05), and retries (10)",
    "429": "a label for a failed model (05), and retries that wait (10)",
    "lost-reply": "a label for a failed model (05), and retries (10)",
    "cut": "labels (04): half a call is no call; then recovery",
}


READING = """
`fault@3` is a fault at the third call of a tool or of the model. A *safe end* reached the goal or
stopped honestly, and left an array that can be sent. A *broken array* is one that the API would
refuse. A *lost effect* was said to be done and did not happen. *Wasted* rounds led to no goal, or
came after it.

How to read the table: stages 1 to 3 have no labels, so they cannot lie, and what they do not say
counts as an end in silence. Stage 2 reaches fewer goals than stage 1, since 50 rounds are too few
for the longest healthy worlds; what it saves is money. Stage 5 stops healthy repetition; the
library's detector, which chapter 06 builds, reads results and does not. In the library the parts
that win goals back stand together. `typed` is the library with an output type: an answer has to
be a report in JSON. `verified` is the library with a verifier: before a turn ends, the tests are
run, or what was to be there is looked at; in `many-files` it has nothing to look at. A form
brings no goal and ends no lie, and the round that it takes is one too many in a few flights. The
check turns most lies into honest stops, and two flights into goals; a model that gives up is sent
back as well, so it ends under the label `veto_cap`."""


def page() -> str:
    """The page, as it has to stand in docs/."""
    flown = [fly(harness, BLOCKS) for harness in HARNESSES]
    return "\n".join([*opening(flown), *sections(flown)]) + "\n"


def opening(flown: list[Flown]) -> Iterator[str]:
    """What a flight is, and what became of two blocks of them."""
    yield "# Flights\n"
    yield "This page is made by `python -m harness_zero.flight.page`; a test holds it current.\n"
    yield (
        "A flight is a persona in a world, with what goes wrong and when, under one seed. Its name"
        " says all of it, `stubborn/login-bug/529@3#7`, and who flies that name again sees the same"
        " messages. A block has every persona in every small world once; half of its flights are"
        " calm. How to add your own: [writing flights](writing_flights.md).\n"
    )
    yield f"Two blocks, with every stage and the library:\n\n```\n{table(flown)}\n```\n"
    yield "What the endings mean:\n"
    yield from (f"- **{kind}**: {meaning}." for kind, meaning in KINDS.items())
    yield READING
    yield f"\nBelow, goals reached in these two blocks. {MIX}"


def sections(flown: list[Flown]) -> Iterator[str]:
    """A section for each persona, world and fault."""
    small = {name: world for name, world in WORLDS.items() if name in SMALL}
    yield from part("Personas", "persona", PERSONAS, flown)
    yield from part("Worlds", "world", small, flown)
    yield "\n## Worlds of a chapter\n\nFlown by name only, so that blocks stay as they are."
    yield from listed(BESIDE)
    yield "\n## Worlds with real commands\n\nFlown by name only: a block would take too long."
    yield from listed(REAL)
    yield from part("Faults", "fault", FAULTS, flown)
    yield "\n## Faults of a chapter\n\nFlown by name only, so that blocks stay as they are."
    yield from listed(RARE)


def listed(members: Mapping[str, Any]) -> Iterator[str]:
    """The sections of what no block holds."""
    for name, member in members.items():
        yield f"\n### {name}\n\n{getdoc(member)}\nNeeds: {NEEDS[name]}."


def part(title: str, kind: str, members: Mapping[str, Any], flown: list[Flown]) -> Iterator[str]:
    """The sections of one kind."""
    yield f"\n## {title}"
    for name, member in members.items():
        yield f"\n### {name}\n\n{getdoc(member)}\nNeeds: {NEEDS[name]}.\n"
        goals = []
        for each in flown:
            own = [o for o in each if getattr(named(o.flight), kind) == name]
            goals.append(f"{each.harness} {sum(o.reached for o in own)}")
        yield f"Goals of {len(own)}: {', '.join(goals)}."


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
