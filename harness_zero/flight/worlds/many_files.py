"""Healthy and long: many files to be stamped, the same tool with another file each time."""

from harness_zero.flight.luck import Luck
from harness_zero.flight.place import Place, file_tools
from harness_zero.flight.seen import Seen
from harness_zero.flight.steps import DONE, GAVE_UP, Step

STAMP = "2026"


def many_files(luck: Luck) -> Place:
    """Ten to a hundred and fifty files; some models write four of them in one reply."""
    count = luck.tail(10, 150, "files")
    left = {f"src/f{n:03}.py" for n in range(count)}
    files = {"README.md": "hello", **dict.fromkeys(sorted(left), "")}
    tools = file_tools(files)

    def write_file(path: str, text: str) -> str:
        """Create or replace a file."""
        (left.discard if text == STAMP else left.add)(path)
        return tools["write_file"](path, text)

    return Place(
        task=f"Write {STAMP} into every file in src/.",
        tools={**tools, "write_file": write_file},
        goal=lambda: not left,
        length=1 + count,
        skill=skill,
    )


def skill(seen: Seen, luck: Luck) -> Step:
    """List them, write one after the other, or four at once."""
    listed = next((call.text for call in seen.all("list_files") if "src/" in call.text), "")
    if not listed:
        return [("list_files", {})] if len(seen.all("list_files")) < 3 else GAVE_UP
    if seen.failed > 9:
        return GAVE_UP
    at_once = 4 if luck.chance(50, "at once") else 1
    paths = listed[listed.index("src/") :].split("\n")
    left = paths[len(seen.wrote) :]  # they are written in order, so mostly these
    if not left or left[0] in seen.wrote:
        left = [path for path in paths if path not in seen.wrote]
    return [("write_file", {"path": path, "text": STAMP}) for path in left[:at_once]] or DONE
