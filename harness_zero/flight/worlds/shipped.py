"""Worlds: small failing projects, each with the edits that mend it.

A world knows how to lay itself down in a folder and how to tell, from outside,
whether its goal was reached. What a model would do in it is its skill.
"""

from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from harness_zero.faults import SetupFault
from harness_zero.runner import run

PROJECTS = Path(__file__).parent.parent / "projects"
TESTS = "python -m pytest"
PROMPT = "find out why the tests fail and fix it"


class WorldFault(SetupFault):
    """A world cannot be laid down or found."""


@dataclass(frozen=True)
class World:
    """A failing project: `edits` are the wrong and the right text, file by file."""

    name: str
    edits: dict[str, tuple[str, str]]
    moral: str

    @property
    def files(self) -> dict[str, Path]:
        """The project's files as shipped, by name."""
        paths = sorted((PROJECTS / self.name).iterdir())
        return {path.name: path for path in paths if path.is_file()}

    def lay(self, folder: Path | str) -> Path:
        """Copy the project, still failing, into a folder that is missing or empty."""
        target = Path(folder)
        try:
            if target.exists() and (not target.is_dir() or any(target.iterdir())):
                raise WorldFault(f"{target} is no empty folder; the project {self.name} needs one.")
            target.mkdir(parents=True, exist_ok=True)
            for name, path in self.files.items():
                copyfile(path, target / name)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise WorldFault(
                f"the project {self.name} cannot be laid into {target}: {why}."
            ) from error
        return target

    def fits(self, folder: Path | str) -> bool:
        """Whether the folder holds this project, failing, mended or in between."""
        return all((Path(folder) / name).is_file() for name in self.files)

    def reached(self, folder: Path | str) -> bool:
        """Whether the goal is reached: the shipped tests pass on what stands in the folder.

        The tests run in a fresh copy that takes over nothing but the files to be mended,
        behind the same fence as any command.
        """
        with TemporaryDirectory() as scratch:
            copy = self.lay(Path(scratch) / self.name)
            try:
                for name in self.edits:
                    copyfile(Path(folder) / name, copy / name)
            except OSError:
                return False
            return run(TESTS, copy).startswith("exit code 0\n")


WORLDS = {
    world.name: world
    for world in (
        World(
            "login",
            {"auth.py": ("now - HOUR", "now + HOUR")},
            "log_in set the expiry an hour back instead of an hour ahead.",
        ),
        World(
            "cart",
            {
                "cart.py": ("price(item) for", "price(item) * count for"),
                "prices.py": ("// 1000", "// 100"),
            },
            "total forgot how many of each item there are, and the tax was a tenth of what it is.",
        ),
    )
}


def world(name: str) -> World:
    """The shipped world of this name."""
    if name not in WORLDS:
        raise WorldFault(f"there is no project {name!r}; the shipped ones are {', '.join(WORLDS)}.")
    return WORLDS[name]


def world_in(folder: Path | str) -> World | None:
    """The shipped world that this folder holds, if it holds one."""
    return next((world for world in WORLDS.values() if world.fits(folder)), None)
