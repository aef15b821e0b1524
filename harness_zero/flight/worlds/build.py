"""A build that takes its time: waiting is asking the same thing again, and is no repetition."""

import json
import re

from harness_zero.flight.luck import Luck
from harness_zero.flight.place import RETRIES, Place, answer, answered, file_tools
from harness_zero.flight.seen import Seen
from harness_zero.flight.steps import GAVE_UP, Step


def build(luck: Luck) -> Place:
    """Start it, wait for it, write its version down; half of the builds tell how far they are."""
    takes, talks = luck.tail(2, 40, "takes"), luck.chance(50, "talks")
    version = f"v{luck.whole(1, 99, 'version')}"
    files, started, polls = {"README.md": "hello"}, list[str](), [0]

    def start_build() -> str:
        """Start the build."""
        started.append("build")
        return "started"

    def poll_build() -> str:
        """Tell how the build is doing."""
        if not started:
            return json.dumps({"state": "none"})
        polls[0] += 1
        if polls[0] >= takes:
            return json.dumps({"state": "done", "version": version})
        return json.dumps({"state": "running", **({"part": polls[0]} if talks else {})})

    return Place(
        task="Start the build; write its version into answer.txt.",
        tools={**file_tools(files), "start_build": start_build, "poll_build": poll_build},
        goal=lambda: files.get("answer.txt") == version,
        length=takes + 2,
        skill=skill,
        takes={"poll_build": 20},
        effects=started,
    )


def skill(seen: Seen, luck: Luck) -> Step:
    """Start once, poll until it is done, write the version down."""
    if end := answered(seen):
        return end
    start, poll = seen.last("start_build"), seen.last("poll_build")
    if poll and (done := re.search(r'"version": "(\w+)"', poll.text)):
        return answer(done[1])
    idle = poll is not None and '"none"' in poll.text and poll is seen.last()
    unsure = start is not None and start.error and poll is None and not luck.chance(50, "care")
    if start is None or idle or unsure:
        return [("start_build", {})] if len(seen.all("start_build")) < RETRIES else GAVE_UP
    worn = len(seen.all("poll_build")) >= 150 or (poll is not None and poll.tries >= RETRIES)
    return GAVE_UP if worn else [("poll_build", {})]
