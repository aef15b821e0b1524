"""A text that may be too long for one reply. Who learns that it was cut writes smaller pieces."""

import re
from functools import lru_cache

from harness_zero.flight.luck import Luck
from harness_zero.flight.place import Place, file_tools
from harness_zero.flight.seen import Seen
from harness_zero.flight.steps import DONE, GAVE_UP, Step

PATH = "squares.txt"


@lru_cache(8)
def lines(luck: Luck) -> list[str]:
    """The lines that are wanted, twenty to four hundred."""
    return [f"{n} squared is {n * n}\n" for n in range(1, luck.tail(20, 400, "lines") + 1)]


def big_file(luck: Luck) -> Place:
    """Write many lines, by appending."""
    wanted, files = "".join(lines(luck)), {"README.md": "hello", PATH: ""}

    def append_file(path: str, text: str) -> str:
        """Add text to the end of a file."""
        files[path] = files.get(path, "") + text
        return "ok"

    return Place(
        task=f"Write the squares from 1 on into {PATH}, one a line.",
        tools={**file_tools(files), "append_file": append_file},
        goal=lambda: files[PATH] == wanted,
        length=3,
        skill=skill,
    )


def skill(seen: Seen, luck: Luck) -> Step:
    """Append piece after piece; each setback halves the piece, and the careful read it again."""
    wanted, setbacks = lines(luck), seen.failed + len(seen.all("write_file"))
    if setbacks > 9:
        return GAVE_UP
    if left := wanted[written(seen) :]:
        piece = left[: max(1, len(wanted) >> setbacks)]
        return [("append_file", {"path": PATH, "text": "".join(piece)})]
    if not luck.chance(50, "care"):
        return DONE
    last = seen.calls[-1]
    if last.name != "read_file" or last.error or last.input != {"path": PATH}:
        return [("read_file", {"path": PATH})]
    return DONE if last.text == "".join(wanted) else [("write_file", {"path": PATH, "text": ""})]


def written(seen: Seen) -> int:
    """How many lines it believes it wrote since it last began."""
    for call in reversed(seen.all("append_file")):
        begun = seen.wrote.get(PATH)
        if begun and begun.at > call.at:
            return 0
        if not call.error:
            numbers = re.findall(r"^(\d+) squared", str(call.input.get("text")), re.MULTILINE)
            return int(numbers[-1]) if numbers else 0
    return 0
