"""A text that may be too long for one reply. Who learns that it was cut writes smaller pieces."""

from harness_zero.flight.luck import Luck
from harness_zero.flight.place import Place, file_tools
from harness_zero.flight.seen import Call, Seen
from harness_zero.flight.steps import DONE, GAVE_UP, Step

PATH = "squares.txt"


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
    """Append piece after piece; each failure halves the piece, and the careful read it again."""
    wanted = lines(luck)
    written, halvings = progress(seen, len(wanted))
    if halvings > 8:
        return GAVE_UP
    if left := wanted[written:]:
        piece = left[: max(1, len(wanted) >> halvings)]
        return [("append_file", {"path": PATH, "text": "".join(piece)})]
    if not luck.chance(50, "care"):
        return DONE
    last = seen.calls[-1]
    if last.name != "read_file" or last.error:
        return [("read_file", {"path": PATH})]
    begin_again = [("write_file", {"path": PATH, "text": ""})]
    return DONE if last.text == "".join(wanted) else [*begin_again]


def progress(seen: Seen, wanted: int) -> tuple[int, int]:
    """How many lines it believes it wrote since it last began, and how often it was cut."""
    written = halvings = 0
    for call in seen.calls:
        if call.name == "append_file" and not call.error:
            written += max(1, wanted >> halvings)
        halvings += is_setback(call)
        written = 0 if call.name == "write_file" and not call.error else written
    return written, halvings


def is_setback(call: Call) -> bool:
    """Whether a piece was too long, or a file that came out wrong is begun again."""
    return call.name == "write_file" or (call.name == "append_file" and call.error)
