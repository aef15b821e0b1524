"""A run that stands on the other side: it is read and written from afar.

What was read once is kept until somebody else had a turn. What was changed meanwhile in what was
read is written back, so that a policy that changes the run changes the run. A run's lists only
grow, so of a list that crossed before its end alone crosses again.

What was read of any run so far comes along with the next call that lends a run, since it is likely
to be read then: so to ask a policy of a run is one way there and one way back.
"""

from collections.abc import Iterable
from copy import deepcopy
from itertools import repeat
from marshal import dumps
from operator import eq, is_
from typing import Any

from harness_zero.grading.record.lending import restore
from harness_zero.grading.record.peer import Peer
from harness_zero.grading.record.protocol import Crossing, Garbled
from harness_zero.run import Run

READ = {"elapsed", "text", "paused"}  # what a run tells beside what it holds
METHODS = {name for name, each in vars(Run).items() if callable(each) and name[0] != "_"}
HERE = {"last", "backwards"}  # methods that only read lists, so that the mirror has them itself
HELD = [*vars(Run("go on"))]  # the names under which a run holds what it holds
LATE = 4  # the last parts of a list may have changed: words can enter a result that is there
ALL = 1 << 60  # however long a list is, it is there


class Mirror:
    """What stands for a run."""

    def __init__(self, peer: Peer, number: int) -> None:
        vars(self).update(peer_=peer, number_=number, come_={}, seen_={}, lists_={})

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return Run

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in HERE:
            return getattr(Run, name).__get__(self)
        if name in METHODS:
            return lambda *args, **named: self.call_(name, args, named)
        if name not in self.seen_:
            if name not in self.come_:
                self.read_(name)
            self.seen_[name] = self.come_.pop(name)
        return self.seen_[name][0]

    def __setattr__(self, name: str, value: Any) -> None:
        self.peer_.touched[self.number_] = self
        self.seen_[name] = value, None

    def __copy__(self) -> Run:
        """A run of one's own, which holds the same."""
        run = Run.__new__(Run)
        vars(run).update({name: getattr(self, name) for name in HELD})
        return run

    def __deepcopy__(self, memo: dict) -> Run:
        """A run of one's own, which shares nothing but the clock."""
        run = Run.__new__(Run)
        held = {name: getattr(self, name) for name in HELD}
        vars(run).update(deepcopy(held, memo))
        return run

    def read_(self, name: str) -> None:
        """Read from the run what it holds under a name, and what was read of runs before."""
        names = [name, *(each for each in self.peer_.names if each not in {name, *self.seen_})]
        have = {each: len(self.lists_[each][0]) if each in self.lists_ else 0 for each in names}
        self.hear_(self.peer_.ask("read", of=self.number_, have=have)["is"])
        if name not in READ:
            self.peer_.names[name] = True

    def hear_(self, parts: dict) -> None:
        """Take what a run holds under some names; until somebody has a turn it is as it is."""
        crossing = self.peer_.crossing
        for name, part in parts.items():
            value = crossing.take(part["is"])
            if not isinstance(value, list):
                self.come_[name] = value, crossing.exactly(value)
                continue
            start, (known, letters) = part["from"], self.lists_.get(name, ([], []))
            if len(known) >= start:  # else another thread was told what is between
                letters = letters[:start] + [crossing.exactly(each) for each in value]
                self.come_[name] = self.lists_[name] = known[:start] + value, letters
        self.peer_.touched[self.number_] = self

    def call_(self, name: str, args: tuple, named: dict) -> Any:
        """Call a method of the run, which knows by then what was changed in it."""
        send = self.peer_.crossing.send
        self.flush_()
        what = {"name": name, "args": send([*args]), "named": send(named)}
        answer = self.peer_.ask("method", of=self.number_, **what)
        return self.peer_.crossing.take(answer["is"])

    def flush_(self) -> None:
        """Write back what was changed, and read anew from now on."""
        seen = {**self.seen_}
        self.seen_.clear()
        self.come_.clear()
        for name, (value, before) in seen.items():
            if not is_still(value, before, self.peer_.crossing):
                self.lists_.pop(name, None)
                now = self.peer_.crossing.send(value)
                self.peer_.ask("write", of=self.number_, name=name, value=now)


def is_still(value: Any, before: Any, crossing: Crossing) -> bool:
    """Whether a value is to the letter what it was; of a list, part by part."""
    if not isinstance(before, list):
        return before == crossing.exactly(value)
    if type(value) is not list or len(value) != len(before):
        return False
    try:
        return all(map(eq, map(dumps, value, repeat(2)), before))
    except ValueError:  # there is more in it than plain values
        return all(map(eq, map(crossing.exactly, value), before))


def flush(peer: Peer) -> None:
    """Write back what was changed in any run that was read."""
    while peer.touched:
        peer.touched.popitem()[1].flush_()


def served(run: Any, frame: dict, crossing: Crossing) -> dict:
    """Read or write a run, or call a method of it, as the other side's mirror asks."""
    name, what = frame.get("name"), frame["do"]
    if not isinstance(run, Run):
        raise Garbled("this is no run")
    if what == "read" and all(each in READ or each in vars(run) for each in frame["have"]):
        crossing.wanted.update({each: ALL for each in frame["have"] if each not in READ})
        return {"is": parts(run, frame["of"], frame["have"], crossing)}
    if what == "method" and name in METHODS:
        args, named = crossing.take(frame["args"]), crossing.take(frame["named"])
        return {"is": crossing.send(getattr(run, name)(*args, **named))}
    if what == "write" and name in vars(run):
        crossing.told.clear()
        write(run, name, crossing.take(frame["value"]))
        return {"is": None}
    name = next(iter(frame.get("have") or [name]))
    raise AttributeError(f"'Run' object has no attribute {name!r}")


def news(given: Iterable[Any], crossing: Crossing) -> list:
    """Of each run that is lent, what was read of runs so far and its mirror does not know."""
    runs = {id(each): each for each in given if type(each) is Run} if crossing.wanted else {}
    found = []
    for run in runs.values():
        names = {name: ALL for name in crossing.wanted if name in vars(run)}
        found.append([number := crossing.handles.number(run), parts(run, number, names, crossing)])
    return found


def parts(run: Run, number: int, names: dict[str, int], crossing: Crossing) -> dict:
    """What a run holds under some names, of which so much is there already if it is a list."""
    return {n: told(getattr(run, n), (number, n), have, crossing) for n, have in names.items()}


def told(value: Any, which: tuple[int, str], have: int, crossing: Crossing) -> dict:
    """What a run holds under a name, from where it differs from what the mirror was told."""
    if type(value) is not list:
        return {"is": crossing.send(value)}
    before, late = crossing.told.get(which, ([], []))
    most, start = min(len(before), len(value), have), max(0, len(before) - len(late))
    there = most if all(map(is_, before, value)) else alike(before, value, most)
    letters = zip(late, value[start:there], strict=False)
    changed = (at for at, (was, now) in enumerate(letters, start) if was != crossing.exactly(now))
    same = next(changed, there)
    crossing.told[which] = [*value], [crossing.exactly(each) for each in value[-LATE:]]
    return {"is": crossing.send(value[same:]), "from": same}


def alike(before: list, now: list, most: int) -> int:
    """How many parts of two lists are the same."""
    return next((at for at in range(most) if before[at] is not now[at]), most)


def write(run: Run, name: str, value: Any) -> None:
    """Change what a run holds, in place where it can be."""
    if not restore(getattr(run, name), value):
        setattr(run, name, value)
