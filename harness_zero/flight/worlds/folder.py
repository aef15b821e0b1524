"""The shipped projects as worlds: real files, real commands, and a goal that pytest decides."""

from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from harness_zero.flight.luck import Luck
from harness_zero.flight.place import Place
from harness_zero.flight.place import World as Lay
from harness_zero.flight.skills import repair
from harness_zero.flight.worlds.shipped import PROMPT, WORLDS, World
from harness_zero.workspace import files, workspace


def real(project: World) -> Lay:
    """A shipped project as a world: each flight lays it into a folder of its own."""

    def lay(luck: Luck) -> Place:
        folder = project.lay(Path(mkdtemp(prefix="flight-")))
        (folder / "README.md").write_text("hello", encoding="utf-8")
        return Place(
            task=PROMPT,
            tools=tools_in(folder),
            goal=lambda: project.reached(folder),
            length=4 + len(project.edits),
            skill=repair(project.edits, project.moral),
            takes={"run_command": 2},
            tidy=lambda: rmtree(folder, ignore_errors=True),
            quick=False,
        )

    lay.__doc__ = f"The shipped project {project.name}: {project.moral}"
    return lay


def tools_in(folder: Path) -> dict[str, Callable[..., str]]:
    """The tools of a workspace, as wide as those of the worlds in memory."""
    tools = workspace(folder)

    def read_file(path: str, offset: int = 0) -> str:
        """Read a file, from a character on."""
        return tools["read_file"](path)[offset:]

    def list_files() -> str:
        """List all files."""
        return "\n".join(files(str(folder), folder))

    return {**tools, "read_file": read_file, "list_files": list_files}


REAL = {name: real(project) for name, project in WORLDS.items()}
