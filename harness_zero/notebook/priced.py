"""A run's requests priced: what each read, wrote and sent afresh, and what that costs.

The tokens are those that the API declared where a run has them all, else the estimates of the
offline API's cache. The prices are those of the package genai-prices, as old as its version.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from harness_zero.busters import BUSTERS, at_pace
from harness_zero.messages import Message
from harness_zero.notebook.compared import Change, Lines, Rows, changes
from harness_zero.notebook.sent import (
    Messages,
    NothingToCompare,
    Sent,
    Usage,
    parts,
    request_fault,
)
from harness_zero.ports import Request
from harness_zero.prefix import MARK
from harness_zero.simulator.cache import Cache, Counted
from harness_zero.simulator.catalogue import MODELS, Facts

MILLION = 1_000_000
MOST = 100  # rounds that are busted: what is lost in each round is worked out anew in each


@dataclass(frozen=True)
class Prices:
    """What a model's input costs, USD a million tokens; the last tier that a prompt is above."""

    tiers: list[tuple[int, float, float, float, float]]  # above, fresh, 5 min, 1 h, read

    def tier(self, tokens: int) -> tuple[float, float, float, float]:
        """The four prices for a prompt of so many tokens."""
        return [prices for above, *prices in self.tiers if tokens > above or not above][-1]  # type: ignore[return-value]

    def usd(self, counted: Counted) -> float:
        """What the input of one request costs."""
        fresh, five, hour, read = self.tier(counted.total)
        paid = counted.fresh * fresh + counted.written_5m * five
        return (paid + counted.written_1h * hour + counted.read * read) / MILLION


def prices(model: str) -> Prices | None:
    """The prices of a model's input; None if nobody knows them."""
    from genai_prices import data_snapshot

    try:
        _, found = data_snapshot.get_snapshot().find_provider_model(model, None, "anthropic", None)
    except LookupError:
        return None
    price: Any = found.get_prices(datetime.now(UTC))  # as `cost_usd` counts
    written = [price.cache_write_mtok, price.cache_write_1h_mtok]
    kinds = [price.input_mtok, *written, price.cache_read_mtok]
    if None in kinds:
        return None
    starts = sorted({0, *(tier.start for kind in kinds for tier in getattr(kind, "tiers", ()))})
    return Prices([(start, *(at_tier(kind, start) for kind in kinds)) for start in starts])


def at_tier(price: Any, start: int) -> float:
    """A price in the tier that begins above so many tokens."""
    if not hasattr(price, "tiers"):
        return float(price)
    reached = [tier.price for tier in price.tiers if tier.start <= start and start]
    return float(reached[-1] if reached else price.base)


@dataclass
class Course:
    """One way to have sent the same run, request by request."""

    name: str
    does: str
    cure: str
    requests: Sequence[Request]
    times: Sequence[float]
    rows: list[Rows]
    changes: list[Change]
    counted: list[Counted]
    declared: bool = False  # whether the API has said so; else they are estimates
    marked: bool = True  # whether anything asks to be cached

    @property
    def sent(self) -> int:
        """All tokens that the model read."""
        return sum(each.total for each in self.counted)

    def lost(self, at: int) -> bool:
        """Whether a request read less than the one before it had read and written."""
        if not at or not self.marked:
            return False
        before = self.counted[at - 1]
        return self.counted[at].read < before.read + before.written

    @property
    def broken(self) -> list[int]:
        """The requests that lost what was cached."""
        return [at for at in range(len(self.counted)) if self.lost(at)]


@dataclass
class Priced:
    """A run as it was sent, and all that the lens holds beside it."""

    model: str
    prices: Prices | None
    notes: list[str]
    lines: Lines
    courses: list[Course]
    sound: int  # which of them the others are held against

    @cached_property
    def bases(self) -> list[Course]:
        """The run as it was sent, as declared, estimated or marked."""
        return self.courses[: self.sound + 1]

    def usd(self, course: Course, rounds: int | None = None) -> float | None:
        """What a course costs, or its first rounds."""
        return sum(map(self.prices.usd, course.counted[:rounds])) if self.prices else None

    def against(self, course: Course) -> float | None:
        """What a course costs against the sound one, over the rounds that both have."""
        rounds = len(course.counted)
        cost, sound = self.usd(course), self.usd(self.courses[self.sound], rounds)
        return cost / sound if cost is not None and sound else None


def priced(
    found: Sent, model: str, times: Sequence[float] | None, mark: Callable[[Request], Request]
) -> Priced:
    """A run's requests priced as they were sent, and busted in each way that changes them."""
    facts = MODELS.get(model) or Facts(model)
    when = at_pace(found.requests) if times is None else times
    lines = Lines()

    def course(name: str, does: str, cure: str, sent: tuple[Any, Any], **more: Any) -> Course:
        requests, then = sent
        held = [*changes(lines, requests)]
        counted = more.pop("counted", None) or served(requests, then, facts)
        rows, changed = [r for r, _ in held], [c for _, c in held]
        return Course(name, does, cure, requests, then, rows, changed, counted, **more)

    own = any(map(is_marked, found.requests)) or any(map(is_marked, distinct(found.requests)))
    sound = found.requests, when
    bases = []
    if declared := counted_by(found.usages):
        told = "The tokens are those that the API declared."
        known = {"counted": declared, "declared": True, "marked": own or any_cached(declared)}
        bases.append(course("as sent, declared", told, "", sound, **known))
    if own or not declared:
        told = "Every request as it was sent." if own else UNMARKED
        name = "as sent, estimated" if declared else "as sent"
        bases.append(course(name, told, "", sound, marked=own))
    if not own:
        seen = Messages()
        sound = [given_back(mark, request, seen) for request in found.requests], when
        bases.append(course("with marks", "The same requests, marked for caching.", "", sound))
    first = sound[0][:MOST], sound[1][:MOST]
    busted = [course(b.name, b.does, b.cure, b.bust(*first)) for b in BUSTERS]
    notes = [*found.notes, *why_nothing(own, bases[0])]
    if len(found.requests) > MOST:
        notes.append(f"Sent otherwise are the first {MOST} rounds.")
    courses = [*bases, *busted]
    return Priced(model, prices(model), notes, lines, courses, len(bases) - 1)


UNMARKED = "No request is marked with cache_control, so nothing is cached: caching is opt-in."
UNDER = (
    "Nothing is cached though it is marked: a prefix below a model's minimum is left out silently."
)


def why_nothing(marked: bool, course: Course) -> list[str]:
    """Why nothing at all was cached, if nothing was."""
    if any_cached(course.counted):
        return []
    return [UNDER if marked else UNMARKED]


def served(requests: Sequence[Request], times: Sequence[float], facts: Facts) -> list[Counted]:
    """What the offline API's cache says of each request, at its time."""
    cache = Cache()
    served_at = zip(requests, times, strict=True)
    return [cache.serve(request, facts, at=at) for request, at in served_at]


def counted_by(usages: Sequence[Usage | None]) -> list[Counted]:
    """What the API declared of each request; nothing unless it did so of all."""
    known = [parts(usage) for usage in usages if usage is not None]
    if len(known) < len(usages):
        return []
    return [Counted(fresh, read, five, hour) for read, five, hour, fresh in known]


def any_cached(counted: Sequence[Counted]) -> bool:
    """Whether anything was read or written."""
    return any(each.read or each.written for each in counted)


def distinct(requests: Sequence[Request]) -> Collection[Message]:
    """The messages of a run, each once."""
    return {
        id(message): message for request in requests for message in request["messages"]
    }.values()


def is_marked(given: Any) -> bool:
    """Whether a block, or one inside it, asks to be cached; or a request's tools, or its system."""
    if not isinstance(given, dict):
        return False
    inside = (
        inner for name in ("tools", "system", "content") for inner in as_list(given.get(name))
    )
    return given.get(MARK) is not None or any(map(is_marked, inside))


def given_back(mark: Callable[[Request], Request], request: Request, seen: Messages) -> Request:
    """A request as it is marked. NothingToCompare if what comes back is none."""
    found = mark(request)
    if fault := request_fault(found, seen):
        raise NothingToCompare(f"`mark` gives a request back, and this is none: {fault}")
    return found


def as_list(content: Any) -> list[Any]:
    """A list if it is one, else nothing: bare words bear no mark."""
    return [*content] if isinstance(content, list | tuple) else []
