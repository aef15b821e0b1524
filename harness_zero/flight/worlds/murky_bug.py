"""Wednesday: the same failure whatever is tried. Some give in at the n-th try, some never."""

import re

from harness_zero.flight.luck import Luck
from harness_zero.flight.place import RETRIES, Place, file_tools
from harness_zero.flight.seen import Seen
from harness_zero.flight.steps import DONE, GAVE_UP, Step


def murky_bug(luck: Luck) -> Place:
    """Half of them can be mended, by a try between the first and the sixtieth."""
    solvable = luck.chance(50, "solvable")
    right = f"try {luck.tail(1, 60, 'solved by')}" if solvable else ""
    timed, runs = luck.chance(50, "timed"), [0]
    files = {"README.md": "hello", "auth.py": "try 0"}

    def edit(path: str, new: str) -> str:
        """Replace a whole file."""
        files[path] = new
        return "ok"

    def run_tests() -> str:
        """Run the tests; half of the runners tell how long they took."""
        runs[0] += 1
        took = f" in 0.{luck.whole(10, 99, 'took', runs[0])}s" if timed else ""
        return f"{int(files['auth.py'] != right)} failed{took}"

    return Place(
        task="Make the tests pass.",
        tools={**file_tools(files), "edit": edit, "run_tests": run_tests},
        goal=lambda: files["auth.py"] == right,
        length=8,
        skill=skill,
        solvable=solvable,
    )


def skill(seen: Seen, luck: Luck) -> Step:
    """Try one thing after the other, as long as stamina lasts."""
    last = seen.last("edit", "run_tests")
    if last is None or (last.name == "edit" and not last.error):
        return [("run_tests", {})]
    if last.error and last.tries >= RETRIES:
        return GAVE_UP
    if last.error and last.name == "run_tests":
        return [("run_tests", {})]
    if not last.error and not last.text.startswith("1"):
        return DONE
    tried = number(seen) - last.error
    if tried >= luck.tail(4, 100, "stamina") or (seen.told and luck.chance(50, "heed")):
        return GAVE_UP
    return [("edit", {"path": "auth.py", "new": f"try {tried + 1}"})]


def number(seen: Seen) -> int:
    """The number of the newest try."""
    tries = (re.match(r"try (\d+)", str(call.input.get("new"))) for call in seen.all("edit")[::-1])
    return next((int(found[1]) for found in tries if found), 0)
