"""The cache lens: each request of a run under the one before it, and what the cache makes of it.

Bytes are exact, of the canonical rendering. Tokens are estimates, unless the run has what the
API declared. Shown beside the run is the same run busted in each way that loses the prefix.
"""

from collections.abc import Callable, Sequence
from typing import Any

from harness_zero.brief import plural
from harness_zero.notebook.priced import Course, Priced, priced
from harness_zero.notebook.sent import NothingToCompare, sent
from harness_zero.notebook.step import middle_out
from harness_zero.ports import Request
from harness_zero.watch import clipped

LINES = 20  # rounds that the text face shows at most
HEAD = ("round", "bytes", "shared", "tokens", "read", "written", "fresh", "cost")


def cache_lens(
    requests: Any,
    model: str = "",
    times: Sequence[float] | None = None,
    mark: Callable[[Request], Request] | None = None,
) -> "Lens":
    """Show a run's requests, each under the one before: what is shared, read, written, and paid.

    `requests` is a list of them, a Run, a Recording, or the file that `recorded` wrote. The
    model is the one that they name, else the course's. `times` are the seconds at which each
    was sent; twenty apart unless given. Where none is marked, `mark` says how to.
    """
    found = sent(requests)
    if times is not None and len(times) != len(found.requests):
        counted = f"{plural(len(times), 'time')} for {plural(len(found.requests), 'request')}"
        raise NothingToCompare(f"{counted}: the lens takes one for each")
    named = next((str(r["model"]) for r in found.requests if r.get("model")), "")
    return Lens(priced(found, model or named or usual(), times, mark or marked))


def usual() -> str:
    """The model of the course."""
    from harness_zero.models.claude import DEFAULT_MODEL

    return DEFAULT_MODEL


def marked(request: Request) -> Request:
    """The request with the one mark that the API places itself."""
    return {**request, "cache_control": {"type": "ephemeral"}}


class Lens:
    """A run under the lens: a widget where there can be one, else tables or lines of text."""

    def __init__(self, run: Priced) -> None:
        self.run = run

    def __repr__(self) -> str:
        """The run as text: a line a round, then what each buster makes of it."""
        run, course = self.run, self.run.courses[0]
        opening = [heading(run), *run.notes, *(saying(run, each) for each in run.bases)]
        rows = [
            Row(row_cells(run, course, at), finding(course, at))
            for at in range(len(course.counted))
        ]
        shown = middle_out(rows, LINES)  # type: ignore[arg-type]
        table = [HEAD_LINE, *(r if isinstance(r, str) else r.line() for r in shown)]
        table = [line.replace("more blocks", "more rounds") for line in table]
        busted = [buster_line(run, each) for each in run.courses[run.sound :]]
        return "\n".join(map(clipped, [*opening, *table, BUSTER_LINE, *busted]))


class Row:
    """A round in the table."""

    def __init__(self, cells: list[str], said: str) -> None:
        self.cells, self.said = cells, said

    def line(self) -> str:
        """The row as text."""
        return f"{aligned(self.cells)}  {self.said}".rstrip()


WIDTHS = (5, 9, 9, 8, 8, 8, 8, 9)
BUSTER_LINE = f"{'the same run':<24}{'tokens':>10}{'read':>10}{'cost':>10}{'against':>9}"


def aligned(cells: Sequence[str]) -> str:
    """Cells in their columns."""
    return " ".join(f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS, strict=True))


HEAD_LINE = aligned(HEAD)


def heading(run: Priced) -> str:
    """What is shown, and what kind of numbers they are."""
    rounds = plural(len(run.courses[0].counted), "request")
    return f"{rounds} to {run.model}; bytes are exact, tokens and costs estimates of the input"


def saying(run: Priced, course: Course) -> str:
    """A base in a line: what was sent, what that cost, and of which kind the figures are."""
    total, cost = course.sent, run.usd(course)
    kind = "declared by the API" if course.declared else "estimated"
    money = f", {usd(cost)} for the input" if cost is not None else ", no price known"
    return f"{course.name}: {total:,} tokens sent ({kind}){money}"


def row_cells(run: Priced, course: Course, at: int) -> list[str]:
    """The figures of a round."""
    change, counted = course.changes[at], course.counted[at]
    cost = usd(run.prices.usd(counted)) if run.prices else "?"
    numbers = (change.size, change.shared, counted.total, counted.read, counted.written)
    return [str(at + 1), *(f"{n:,}" for n in (*numbers, counted.fresh)), cost]


def finding(course: Course, at: int) -> str:
    """What is to be said of a round: where it parts from the one before, or what it lost."""
    change = course.changes[at]
    if change.parts:
        return f"parts: {change.parts.block}, byte {change.parts.byte:,}"
    if change.beside:
        return f"other {change.beside}"
    return "nothing found" if course.lost(at) else ""


def buster_line(run: Priced, course: Course) -> str:
    """A way to have sent the run, in a line."""
    sound, cost = run.usd(run.courses[run.sound]), run.usd(course)
    read = sum(each.read for each in course.counted)
    against = f"{cost / sound:.2f}x" if cost is not None and sound else ""
    told = usd(cost) if cost is not None else "?"
    first = next(iter(course.broken), None)
    where = "" if first is None else f"  from round {first + 1}: {finding(course, first)}"
    return f"{course.name:<24}{course.sent:>10,}{read:>10,}{told:>10}{against:>9}{where}"


def usd(amount: float) -> str:
    """An amount of money."""
    return f"${amount:.4f}"
