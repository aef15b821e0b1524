"""A file that is not where the task says, in half of the cases; the error says where it is."""

import re

from harness_zero.flight.luck import Luck
from harness_zero.flight.place import RETRIES, Place, answer, answered, file_tools
from harness_zero.flight.seen import Seen
from harness_zero.flight.steps import GAVE_UP, Step

TASK = "Write the port from settings.ini into answer.txt."


def lost_config(luck: Luck) -> Place:
    """Read a port, write it down."""
    port = str(luck.whole(2000, 9999, "port"))
    name = "settings.ini" if luck.chance(50, "in place") else "conf/app.ini"
    files = {"README.md": "hello", name: f"port = {port}"}
    return Place(TASK, file_tools(files), lambda: files.get("answer.txt") == port, 3, skill)


def skill(seen: Seen, luck: Luck) -> Step:
    """Read where the task says, then where an error or a listing says; write what was found."""
    if end := answered(seen):
        return end
    reads = seen.all("read_file")
    ports = [port for call in reads if not call.error for port in re.findall(r"= (\d+)", call.text)]
    if ports:
        return answer(ports[-1])
    look = seen.looks.get("settings.ini")
    if look is None:
        return [("read_file", {"path": "settings.ini"})]
    return elsewhere(seen, luck) if len(seen.calls) < 20 else GAVE_UP


def elsewhere(seen: Seen, luck: Luck) -> Step:
    """The file is not there: look where the world's own words point."""
    known = {path for path, look in seen.looks.items() if not look.error} | {"settings.ini"}
    shown = [path for call in seen.calls for path in re.findall(r"[\w/]+\.\w+", call.text)]
    if left := sorted({*shown} - known, key=lambda path: (not path.endswith(".ini"), path)):
        return [("read_file", {"path": left[0]})]
    look = seen.looks["settings.ini"]
    if look.error and look.tries < RETRIES:
        return [("read_file", {"path": "settings.ini"})]
    if luck.chance(50, "care") and not seen.all("list_files"):
        return [("list_files", {})]
    return GAVE_UP if look.error else answer("8080")
