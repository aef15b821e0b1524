"""One to four bugs, of which each test run shows the first: an experiment, and no repetition."""

import re

from harness_zero.flight.luck import Luck
from harness_zero.flight.place import RETRIES, Place, file_tools
from harness_zero.flight.seen import Seen
from harness_zero.flight.steps import DONE, GAVE_UP, Step


def login_bug(luck: Luck) -> Place:
    """Edit, run the tests, edit, run the tests; each run shows one failure."""
    bugs = luck.whole(1, 4, "bugs")
    files = {"README.md": "hello", "auth.py": "\n".join(f"bad{n}" for n in range(bugs))}

    def edit(path: str, old: str, new: str) -> str:
        """Replace a text in a file."""
        if old not in files.get(path, ""):
            raise ValueError(f"text not found in {path}")
        files[path] = files[path].replace(old, new)
        return "ok"

    def run_tests() -> str:
        """Run the tests."""
        bad = re.findall(r"bad\d", files["auth.py"])
        shown = f": auth.py has <{bad[0]}>, wanted <good{bad[0][-1]}>" if bad else ""
        return f"{len(bad)} failed{shown}"

    return Place(
        task="Make the tests pass.",
        tools={**file_tools(files), "edit": edit, "run_tests": run_tests},
        goal=lambda: files["auth.py"] == "\n".join(f"good{n}" for n in range(bugs)),
        length=2 * bugs + 1,
        skill=skill,
    )


def skill(seen: Seen, luck: Luck) -> Step:
    """Test, mend what the test shows, test again."""
    last, test = seen.last("edit", "run_tests"), seen.last("run_tests")
    if last is not None and last.error and last.tries >= RETRIES:
        return GAVE_UP
    settled = last is None or not last.error or "not found" in last.text
    if last is None or test is None or test.error or (last.name == "edit" and settled):
        return [("run_tests", {})]
    if wanted := re.search(r"<(\w+)>, wanted <(\w+)>", test.text):
        return [("edit", {"path": "auth.py", "old": wanted[1], "new": wanted[2]})]
    unclear = "failed" not in test.text and luck.chance(50, "care")
    return [("run_tests", {})] if unclear and len(seen.all("run_tests")) < 10 else DONE
