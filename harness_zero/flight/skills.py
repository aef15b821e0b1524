"""Skills: the next sensible step in a world, read off what came back so far."""

import re
from collections.abc import Callable

from harness_zero.messages import Block, Message, tool_results, tool_uses, words

Outcome = tuple[Block, str]  # a call, and the text that came back for it
Step = list[tuple[str, dict[str, str]]]  # the tools to call next, with their arguments
Skill = Callable[[list[Outcome]], Step | str]

TESTS = "python -m pytest"
GAVE_UP = "The tests still fail, and I see nothing in these files that I know how to mend."


def outcomes(messages: list[Message]) -> list[Outcome]:
    """Every call so far with what came back for it, matched by id."""
    results = {r["tool_use_id"]: r for m in messages for r in tool_results(m)}
    return [(call, content(results[call["id"]])) for m in messages for call in tool_uses(m)]


def content(result: Block) -> str:
    """A result's text; a result may also hold blocks, or nothing."""
    inner = result.get("content") or ""
    return inner if isinstance(inner, str) else words({"content": inner})


def repair(edits: dict[str, tuple[str, str]], moral: str) -> Skill:
    """Run the tests, read what they point at, edit what is wrong, and run them again."""

    def next_step(so_far: list[Outcome]) -> Step | str:
        since_edit = after_last_edit(so_far)
        reports = [text for call, text in since_edit if call["name"] == "run_command"]
        if not reports:
            return [("run_command", {"command": TESTS})]
        if reports[-1].startswith("exit code 0"):
            return f"The tests pass. {moral}" if so_far != since_edit else "The tests pass already."
        read = {c["input"]["path"]: text for c, text in since_edit if c["name"] == "read_file"}
        if unread := [path for path in pointed_at(reports[-1], read) if path not in read]:
            return [("read_file", {"path": path}) for path in unread]
        return mend(read, edits) or GAVE_UP

    return next_step


def mend(read: dict[str, str], edits: dict[str, tuple[str, str]]) -> Step:
    """Write the files again in which the text to be edited was read."""
    whole = {path: text for path, text in read.items() if "\n[... cut: " not in text}
    mended = {path: whole[path].replace(*edits[path]) for path in edits if path in whole}
    changed = {path: text for path, text in mended.items() if text != read[path]}
    return [("write_file", {"path": path, "content": text}) for path, text in changed.items()]


def after_last_edit(so_far: list[Outcome]) -> list[Outcome]:
    """What was learned since the files last changed; older readings may be out of date."""
    edits = [at for at, (call, _) in enumerate(so_far) if call["name"] == "write_file"]
    return so_far[edits[-1] + 1 :] if edits else so_far


def pointed_at(report: str, read: dict[str, str]) -> list[str]:
    """The files a test report names, and the modules that the files read so far import."""
    named = re.findall(r"^(\w+\.py):\d+: ", report, re.MULTILINE)
    imported = re.findall(r"^from (\w+) import", "\n".join(read.values()), re.MULTILINE)
    return list(dict.fromkeys([*named, *(f"{module}.py" for module in imported)]))
