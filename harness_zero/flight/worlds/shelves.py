"""Many calls in one reply: whoever mixes their results up reads the wrong shelf."""

import re

from harness_zero.flight.luck import Luck
from harness_zero.flight.place import Place, answer, answered, file_tools
from harness_zero.flight.seen import Seen
from harness_zero.flight.steps import GAVE_UP, Step


def shelves(luck: Luck) -> Place:
    """Read three to eight shelves at once; name the fullest."""
    names = [f"shelf{n}.txt" for n in range(luck.whole(3, 8, "shelves"))]
    counts = {name: 10 * luck.whole(1, 9, name) + n for n, name in enumerate(names)}
    files = {"README.md": "hello", **{name: f"{counts[name]} books" for name in names}}
    return Place(
        task=f"There are {', '.join(names)}: write the name of the fullest into answer.txt.",
        tools=file_tools(files),
        goal=lambda: files.get("answer.txt") == max(names, key=lambda name: counts[name]),
        length=len(names) + 1,
        skill=skill,
    )


def skill(seen: Seen, luck: Luck) -> Step:
    """Read all that is not read, in one reply; compare; write."""
    if end := answered(seen):
        return end
    names = [f"shelf{n}.txt" for n in range(luck.whole(3, 8, "shelves"))]
    looks = {name: seen.looks[name] for name in names if name in seen.looks}
    unread = [name for name in names if name not in looks or looks[name].error]
    if unread:
        worn = seen.failed > 2 * len(names)
        return GAVE_UP if worn else [("read_file", {"path": name}) for name in unread]
    found = {name: re.match(r"(\d+) books", look.text) for name, look in looks.items()}
    counts = {name: int(count[1]) for name, count in found.items() if count}
    fullest = max(names, key=lambda name: counts.get(name, 0))
    return answer(fullest)
