"""The cache lens: each request of a run under the one before it, and what the cache makes of it.

Bytes are exact, of the canonical rendering. Tokens are estimates, unless the run has what the
API declared. Shown beside the run is the same run busted in each way that loses the prefix.
"""

from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from html import escape
from typing import TYPE_CHECKING, Any

from harness_zero.brief import brief, plural, told_by
from harness_zero.busters import LIFETIME
from harness_zero.notebook.step import CELL, STATIC
from harness_zero.ports import Request
from harness_zero.watch import clipped, printable

if TYPE_CHECKING:
    from harness_zero.notebook.priced import Course, Priced

LINES, ROWS = 20, 40  # rounds that the text face and the HTML face show at most
HEAD = ("round", "bytes", "shared", "tokens", "read", "written", "fresh", "cost", "")
WIDTHS = (5, 10, 10, 8, 8, 8, 8, 9)
WAYS = ("the same run", "tokens", "read", "cost", "against", "first lost in round")


def cache_lens(
    requests: Any,
    model: str = "",
    times: Sequence[float] | None = None,
    mark: Callable[[Request], Request] | None = None,
) -> "Lens":
    """Show a run's requests, each under the one before: what is shared, read, written, and paid.

    `requests` is a list of them, a Run, a Recording, or the file that `recorded` wrote. The
    model is the one that they name, else the course's. `times` are the seconds at which each
    was sent; twenty apart unless given. Where none is marked, `mark` shows how they could be.
    """
    from harness_zero.notebook.priced import priced  # every kernel imports this module
    from harness_zero.notebook.sent import NothingToCompare, sent
    from harness_zero.view import placed

    if not isinstance(model, str | None):
        raise NothingToCompare(f"the model is a name, and not {brief(model)}")
    found = sent(requests)
    if times is not None and not (isinstance(times, list | tuple) and all(map(is_time, times))):
        wanted = "times are a list of seconds, one for each request"
        raise NothingToCompare(f"{wanted}, and not {brief(times)}")
    if times is not None and len(times) != len(found.requests):
        counted = f"{plural(len(times), 'time')} for {plural(len(found.requests), 'request')}"
        raise NothingToCompare(f"{counted}: the lens takes one for each")
    named = next((str(r["model"]) for r in found.requests if r.get("model")), "")
    try:
        return Lens(
            priced(found, model or named or usual(), times, mark or partial(placed, ttl="5m"))
        )
    except (TypeError, ValueError, RecursionError) as error:
        what = "a request is JSON, and something in these is not"
        raise NothingToCompare(f"{what}: {told_by(str, error)}") from error


def is_time(given: Any) -> bool:
    """Whether this is a number of seconds that a clock could show."""
    return isinstance(given, int | float) and abs(given) < 1e12


def usual() -> str:
    """The model of the course."""
    from harness_zero.models.claude import DEFAULT_MODEL

    return DEFAULT_MODEL


class Lens:
    """A run under the lens: a widget where there can be one, else tables or lines of text."""

    module = "cache_lens"  # the widget's files under static/

    def __init__(self, run: "Priced") -> None:
        self.run = run

    def __repr__(self) -> str:
        """The run as text: a line a round, then a line for each way to have sent it."""
        rounds = [in_columns(row) for row in few(self.rounds, LINES)]
        ways = [way_in_columns(row) for row in self.ways]
        head = [*map(clipped, self.opening), in_columns(HEAD)]
        return "\n".join([*head, *rounds, *map(clipped, [way_in_columns(WAYS), *ways])])

    def page(self) -> str:
        """The run as tables that need no script and no styles."""
        said = "".join(f"<p>{escape(line)}</p>" for line in self.opening)
        return f"<div>{said}{table(HEAD, few(self.rounds, ROWS))}{table(WAYS, self.ways)}</div>"

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        bundle: dict[str, Any] = {}
        if live := self.live():
            given = live._repr_mimebundle_()
            bundle |= given[0] if isinstance(given, tuple) else given
        return bundle | {"text/plain": repr(self), "text/html": self.page()}

    def live(self) -> Any:
        """The lens as a widget; None where there is no anywidget."""
        try:
            return widget()(payload=self.payload)
        except ImportError:
            return None

    @cached_property
    def payload(self) -> dict[str, Any]:
        """What the widget is sent."""
        from harness_zero.notebook.lens_payload import lens_payload

        return lens_payload(self.run)

    @property
    def opening(self) -> list[str]:
        """What is shown, what cannot be, and which kind of numbers they are."""
        run = self.run
        counted = plural(len(run.courses[0].counted), "request")
        heading = f"{counted} to {run.model}. Bytes are exact; the costs are those of the input."
        return [printable(heading), *run.notes, *(saying(run, each) for each in run.bases)]

    @property
    def rounds(self) -> list[list[str]]:
        """The run as it was sent, a row a round."""
        course = self.run.courses[0]
        return [round_cells(self.run, course, at) for at in range(len(course.counted))]

    @property
    def ways(self) -> list[list[str]]:
        """The run sent well, and sent in each way that loses the prefix."""
        return [way_cells(self.run, each) for each in self.run.courses[self.run.sound :]]


@cache
def widget() -> type:
    """The widget's class; made only when a widget is, since importing anywidget takes its time."""
    import anywidget
    import traitlets

    class CacheLens(anywidget.AnyWidget):
        _esm = STATIC / f"{Lens.module}.js"
        _css = STATIC / f"{Lens.module}.css"
        payload = traitlets.Dict().tag(sync=True)

    return CacheLens


def saying(run: "Priced", course: "Course") -> str:
    """A way to have sent the run, in a sentence: how many tokens, whose figures, what it costs."""
    kind = "as the API declared" if course.declared else "estimated"
    cost = run.usd(course)
    money = "their price is not known" if cost is None else f"{usd(cost)} for them"
    return f"{course.name}: {course.sent:,} tokens, {kind}; {money}."


def round_cells(run: "Priced", course: "Course", at: int) -> list[str]:
    """The figures of a round, and what is to be said of it."""
    change, counted = course.changes[at], course.counted[at]
    cost = usd(run.prices.usd(counted)) if run.prices else "?"
    sizes = change.size, change.shared, counted.total
    numbers = (*sizes, counted.read, counted.written, counted.fresh)
    return [str(at + 1), *(f"{n:,}" for n in numbers), cost, finding(course, at)]


def way_cells(run: "Priced", course: "Course") -> list[str]:
    """A way to have sent the run: what it reads and costs, and where it first loses something."""
    cost, times = run.usd(course), run.against(course)
    against = "" if times is None else f"{times:.2f}x"
    read = sum(each.read for each in course.counted)
    lost = course.broken
    where = f"{lost[0] + 1}: {where_lost(course, lost[0])}" if lost else ""
    told = "?" if cost is None else usd(cost)
    return [course.name, f"{course.sent:,}", f"{read:,}", told, against, where]


def finding(course: "Course", at: int) -> str:
    """Where a round parts from the one before it, or why it found less than was written."""
    change = course.changes[at]
    if change.parts:
        return f"parts at byte {change.parts.byte:,} of {change.parts.block}"
    if change.beside:
        return f"another {change.beside}"
    if not course.lost(at):
        return ""
    waited = course.times[at] - course.times[at - 1]
    return f"{waited:,.0f} s later" if waited >= LIFETIME else "out of sight"


def where_lost(course: "Course", at: int) -> str:
    """The same in fewer words."""
    found = course.changes[at].parts
    return found.block if found else finding(course, at)


def few(rows: list[list[str]], most: int) -> list[list[str]]:
    """The first and the last rows, and how many stand between them."""
    if len(rows) <= most:
        return rows
    half = (most - 1) // 2
    between = f"... {len(rows) - 2 * half:,} more rounds ..."
    return [*rows[:half], ["", between, *[""] * (len(HEAD) - 2)], *rows[-half:]]


def in_columns(cells: Sequence[str]) -> str:
    """A round as a line."""
    if not cells[0]:
        return f"      {cells[1]}"
    told = " ".join(f"{each:>{width}}" for each, width in zip(cells, WIDTHS, strict=False))
    return f"{told}\n       {clipped(printable(cells[-1]))}" if cells[-1] else told


def way_in_columns(cells: Sequence[str]) -> str:
    """A way to have sent the run as a line."""
    name, sent, read, cost, against, where = map(printable, cells)
    return f"{name:<22}{sent:>10}{read:>10}{cost:>10}{against:>8}  {where}".rstrip()


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose cells stand to the left, as JupyterLab's do not."""
    names = "".join(f'<th scope="col" {CELL}>{escape(name)}</th>' for name in head)
    body = "".join(
        f"<tr>{''.join(f'<td {CELL}>{escape(printable(cell))}</td>' for cell in row)}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def usd(amount: float) -> str:
    """An amount of money."""
    return f"${amount:.4f}"
