"""What was lent as a copy and came back changed: the change is made in what was lent."""

from typing import Any


def restore(there: Any, now: Any) -> bool:
    """Make what is there what it is now, in place; False if it cannot be."""
    if there is now:
        return True
    if isinstance(there, list) and isinstance(now, list):
        there[:] = [kept(*pair) for pair in zip(there, now, strict=False)] + now[len(there) :]
    elif isinstance(there, dict) and isinstance(now, dict):
        kept_now = {key: kept(there.get(key), value) for key, value in now.items()}
        there.clear()
        there.update(kept_now)
    elif isinstance(there, set) and isinstance(now, set):
        there.clear()
        there.update(now)
    else:
        return False
    return True


def kept(there: Any, now: Any) -> Any:
    """A part as it is now, in the place of the one that was there."""
    return there if type(there) is type(now) and restore(there, now) else now
