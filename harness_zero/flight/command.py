"""`harness-zero fly`: one flight told, or many of them in a table.

What is needed is imported when the command runs, so that --help answers at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from harness_zero.flight.fly import Flown
    from harness_zero.flight.outcome import Outcome
    from harness_zero.flight.pilots import Pilot

EVERY = [1, 2, 3, 4, 5, "library"]
AT_ONCE = 40  # flights that a process is given


@click.command()
@click.argument("name", required=False)
@click.option(
    "--stage", "stages", type=click.IntRange(1, 5), multiple=True, help="A stage; may be repeated."
)
@click.option(
    "--blocks", default=4, type=click.IntRange(1), help="How many blocks; 4 unless given."
)
@click.option("--mine", is_flag=True, help="Your own harness, from my_harness/ in your copy.")
@click.option("--step", "stepped", is_flag=True, help="Print the messages of the flight, too.")
@click.option(
    "--page",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write an HTML page in which the flight can be stepped through.",
)
def fly(
    name: str | None,
    stages: tuple[int, ...],
    mine: bool,
    blocks: int,
    stepped: bool,
    page: Path | None,
) -> None:
    """Fly a harness. NAME is one flight, such as stubborn/login-bug/529@3#7.

    Without a NAME all flights of some blocks are flown, and what became of them is a table.
    Without --stage NAME is flown by the library, and the table has all stages and the library.
    Nothing is written but the page that you ask for.
    """
    from harness_zero.faults import SetupFault

    if name is None and (stepped or page):
        raise click.UsageError("--step and --page need the NAME of a flight.")
    try:
        if name is not None:
            for harness in harnesses(stages, mine) or ["library"]:
                tell(name, harness, stepped, page)
        else:
            click.echo(survey(harnesses(stages, mine) or EVERY, blocks))
    except SetupFault as fault:
        raise click.ClickException(str(fault)) from fault
    except OSError as error:
        raise click.ClickException(f"{page} cannot be written: {error.strerror}") from error


def harnesses(stages: Sequence[int], mine: bool) -> list[Any]:
    """What was asked for: a learner's own harness, by the path of their copy, and stages."""
    from harness_zero.cli import copy_at
    from harness_zero.mine import whose

    if not mine:
        return [*stages]
    copy = copy_at(None)
    click.echo("\n".join(whose(copy)), err=True)
    return [copy, *stages]


def at_work(harness: Any) -> Any:
    """A harness, from the path of a learner's copy or as it is."""
    from harness_zero.mine import load

    return load(harness) if isinstance(harness, Path) else harness


def tell(name: str, harness: Any, stepped: bool, page: Path | None) -> None:
    """Fly one flight: what became of it, on request its messages, and how to step through it."""
    from harness_zero.flight import fly as flying
    from harness_zero.notebook.export import page_of
    from harness_zero.notebook.step import step

    harness = at_work(harness)
    flown = flying.fly(harness, name)
    click.echo(f"{flown.harness}, {flown!r}")
    if stepped:
        click.echo(step(flying.flight(name, harness)))
        click.echo(f'in a notebook: step(flight("{name}", {flown.pilot.word}))')
    if page:
        page.write_text(page_of(step(flying.flight(name, harness)), name), encoding="utf-8")
        click.echo(f"{page} steps through it, in any browser.")


def survey(chosen: Sequence[Any], blocks: int) -> str:
    """A table of what became of these harnesses in some blocks."""
    from harness_zero.flight.fly import Flown, limits_of
    from harness_zero.flight.names import block
    from harness_zero.flight.pilots import pilot
    from harness_zero.flight.table import table

    names = [str(flight) for seed in range(blocks) for flight in block(seed)]
    tasks = [
        (each, names[n : n + AT_ONCE]) for each in chosen for n in range(0, len(names), AT_ONCE)
    ]
    outcomes: dict[Any, list[Outcome]] = {each: [] for each in chosen}
    for (harness, _), some in zip(tasks, progress(tasks), strict=True):
        outcomes[harness] += some
    pilots: list[Pilot] = [pilot(at_work(each)) for each in chosen]
    flown: list[Flown] = [
        Flown(each.name, outcomes[harness], limits_of({}), each)
        for each, harness in zip(pilots, chosen, strict=True)
    ]
    return table(flown)


def progress(tasks: Sequence[tuple[Any, list[str]]]) -> Iterator[list[Outcome]]:
    """The outcomes of all tasks in order, flown by as many processes as there are processors."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from rich.console import Console
    from rich.progress import track

    with ProcessPoolExecutor(processors(), get_context("spawn")) as pool:
        done = pool.map(flown, tasks)
        yield from track(done, "flying", len(tasks), console=Console(stderr=True), transient=True)


def flown(task: tuple[Any, list[str]]) -> list[Outcome]:
    """Fly some flights, in a process of its own."""
    from harness_zero.flight.fly import fly

    harness, names = task
    return fly(at_work(harness), names).outcomes


def processors() -> int:
    """How many processors this process may use."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
