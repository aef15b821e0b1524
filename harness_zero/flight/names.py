"""A flight's name says everything about it: persona/world/fault@n#seed."""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import count

from harness_zero.faults import SetupFault
from harness_zero.flight.faults import BESIDE as RARE
from harness_zero.flight.faults import FAULTS, IN_MODEL
from harness_zero.flight.luck import Luck
from harness_zero.flight.personas import PERSONAS
from harness_zero.flight.place import Place, World
from harness_zero.flight.worlds.big_file import big_file
from harness_zero.flight.worlds.build import build
from harness_zero.flight.worlds.folder import REAL
from harness_zero.flight.worlds.keyed_mail import keyed_mail
from harness_zero.flight.worlds.locked import locked
from harness_zero.flight.worlds.login_bug import login_bug
from harness_zero.flight.worlds.lost_config import lost_config
from harness_zero.flight.worlds.many_files import many_files
from harness_zero.flight.worlds.many_pages import many_pages
from harness_zero.flight.worlds.moved_config import moved_config
from harness_zero.flight.worlds.murky_bug import murky_bug
from harness_zero.flight.worlds.one_mail import one_mail
from harness_zero.flight.worlds.shelves import shelves

SMALL: dict[str, World] = {  # in memory; new ones are added at the end: blocks are dealt in order
    world.__name__.replace("_", "-"): world
    for world in (
        login_bug,
        murky_bug,
        lost_config,
        one_mail,
        build,
        big_file,
        many_files,
        many_pages,
        shelves,
        locked,
    )
}
BESIDE: dict[str, World] = {  # in memory too, and in no block
    "moved-config": moved_config,
    "keyed-mail": keyed_mail,
}
WORLDS: dict[str, World] = {**SMALL, **BESIDE, **REAL}
FAULTY = [name for name in FAULTS if name != "calm"]
DEAL = 2 * len(FAULTY)
SHAPE = re.compile(r"([^/\s]+)/([^/\s]+)/([^/@#\s]+)(?:@(\d+))?#(\d+)")


class NoSuchFlight(SetupFault):
    """There is no flight of this name; the sentence says what there is."""


@dataclass(frozen=True)
class Flight:
    """A persona in a world, with what goes wrong and when, and the seed of all draws."""

    persona: str
    world: str
    fault: str
    at: int
    seed: int

    def __str__(self) -> str:
        moment = f"@{self.at}" if self.at else ""
        return f"{self.persona}/{self.world}/{self.fault}{moment}#{self.seed}"

    @property
    def luck(self) -> Luck:
        """The draws of this flight. What goes wrong has no part in them."""
        return Luck(f"{self.persona}/{self.world}#{self.seed}")

    def lay(self) -> Place:
        """The world, laid down for this flight."""
        return WORLDS[self.world](self.luck)


def named(name: str) -> Flight:
    """The flight of this name; NoSuchFlight says what is wrong with it and what there is."""
    parts = SHAPE.fullmatch(name) if isinstance(name, str) else None
    if parts is None:
        like = "stubborn/login-bug/crash@2#0, or diligent/build/calm#3"
        raise NoSuchFlight(f"a flight has a name such as {like}; this is {name!r:.80}")
    persona, world, fault, at, seed = parts.groups()
    known(persona, "persona", PERSONAS)
    known(world, "world", WORLDS)
    known(fault, "fault", {**FAULTS, **RARE})
    if (fault == "calm") != (at in (None, "0")):
        needs = "has no @n" if fault == "calm" else f"needs to know when: {fault}@2"
        raise NoSuchFlight(f"in {name!r}, {fault} {needs}")
    return Flight(persona, world, fault, int(at or 0), int(seed))


def known(name: str, kind: str, names: dict) -> None:
    """Raise unless there is a persona, a world or a fault of this name."""
    if name not in names:
        near = get_close_matches(name, names, 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise NoSuchFlight(f"there is no {kind} {name!r}; there are {', '.join(names)}{meant}")


def block(seed: int = 0) -> list[Flight]:
    """Every persona in every small world once, half of them calm, each fault as often.

    Over a DEAL of blocks each persona meets each fault in each world.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise NoSuchFlight(f"blocks are numbered 0, 1, 2 and so on; this is {seed!r:.80}")
    turns = count(seed // 2)
    cells = ((row, column) for row in range(len(PERSONAS)) for column in range(len(SMALL)))
    faults = {cell: FAULTY[next(turns) % len(FAULTY)] for cell in cells if (sum(cell) + seed) % 2}
    return [
        dealt(persona, world, faults.get((row, column), "calm"), seed)
        for row, persona in enumerate(PERSONAS)
        for column, world in enumerate(SMALL)
    ]


def dealt(persona: str, world: str, fault: str, seed: int) -> Flight:
    """The flight of a cell, with the moment of its fault drawn from the length of its world."""
    flight = Flight(persona, world, fault, 0, seed)
    if fault == "calm":
        return flight
    last = min(flight.lay().length, 12) + (fault in IN_MODEL)
    return Flight(persona, world, fault, flight.luck.whole(1, last, "when", fault), seed)
