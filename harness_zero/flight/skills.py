"""The skill of mending a shipped project: the next sensible step, read off what came back."""

import re

from harness_zero.flight.luck import Luck
from harness_zero.flight.seen import Call, Seen
from harness_zero.flight.steps import GAVE_UP, Ask, Skill, Step

TESTS = "python -m pytest"
PASS_ALREADY = "The tests pass already."
NOTHING = (
    f"{GAVE_UP} The tests still fail, and I see nothing in these files that I know how to mend."
)


def repair(edits: dict[str, tuple[str, str]], moral: str) -> Skill:
    """Run the tests, read what they point at, edit what is wrong, and run them again."""

    def skill(seen: Seen, luck: Luck) -> Step:
        since_edit = after_last_edit(seen.calls)
        reports = [call.text for call in since_edit if call.name == "run_command"]
        if not reports:
            return [("run_command", {"command": TESTS})]
        if reports[-1].startswith("exit code 0"):
            return f"The tests pass. {moral}" if seen.calls != since_edit else PASS_ALREADY
        read = {str(c.input["path"]): c.text for c in since_edit if c.name == "read_file"}
        if unread := [path for path in pointed_at(reports[-1], read) if path not in read]:
            return [("read_file", {"path": path}) for path in unread]
        return [*mend(read, edits)] or NOTHING

    return skill


def mend(read: dict[str, str], edits: dict[str, tuple[str, str]]) -> list[Ask]:
    """Write the files again in which the text to be edited was read."""
    whole = {path: text for path, text in read.items() if "\n[... cut: " not in text}
    mended = {path: whole[path].replace(*edits[path]) for path in edits if path in whole}
    changed = {path: text for path, text in mended.items() if text != read[path]}
    return [("write_file", {"path": path, "content": text}) for path, text in changed.items()]


def after_last_edit(calls: list[Call]) -> list[Call]:
    """What was learned since the files last changed; older readings may be out of date."""
    edits = [call.at for call in calls if call.name == "write_file"]
    return calls[edits[-1] + 1 :] if edits else calls


def pointed_at(report: str, read: dict[str, str]) -> list[str]:
    """The files a test report names, and the modules that the files read so far import."""
    named = re.findall(r"^(\w+\.py):\d+: ", report, re.MULTILINE)
    imported = re.findall(r"^from (\w+) import", "\n".join(read.values()), re.MULTILINE)
    return list(dict.fromkeys([*named, *(f"{module}.py" for module in imported)]))
