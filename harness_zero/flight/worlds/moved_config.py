"""A file that has moved, and in a third of the cases an old copy beside its place."""

from harness_zero.flight.luck import Luck
from harness_zero.flight.place import Place, file_tools
from harness_zero.flight.worlds.lost_config import TASK, skill


def moved_config(luck: Luck) -> Place:
    """Read a port that may stand elsewhere; whoever guesses by the name may read a stale one."""
    case = luck.pick(("in its place", "moved", "moved, an old copy left"), "case")
    port, stale = str(luck.whole(2000, 5999, "port")), str(luck.whole(6000, 9999, "stale"))
    name = "settings.ini" if case == "in its place" else "conf/settings.ini"
    files = {"README.md": "hello", name: f"port = {port}"}
    if case == "moved, an old copy left":
        files["settings.ini.bak"] = f"port = {stale}"
    return Place(TASK, file_tools(files), lambda: files.get("answer.txt") == port, 3, skill)
