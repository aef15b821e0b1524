"""A run that stands on the other side: it is read and written from afar.

What was read once is kept until somebody else had a turn. What was changed meanwhile in what was
read is written back, so that a policy that changes the run changes the run. A run's lists only
grow, so of a list that was read before its end alone crosses again.
"""

from typing import Any

from harness_zero.grading.record.lending import restore
from harness_zero.grading.record.peer import Peer
from harness_zero.grading.record.protocol import Crossing, Garbled
from harness_zero.run import Run

READ = {"elapsed", "text", "paused"}  # what a run tells beside what it holds
METHODS = {name for name, each in vars(Run).items() if callable(each) and name[0] != "_"}
HERE = {"last", "backwards"}  # methods that only read lists, so that the mirror has them itself
LATE = 4  # the last parts of a list cross again; words can enter a result that is there already


class Mirror:
    """What stands for a run."""

    def __init__(self, peer: Peer, number: int) -> None:
        vars(self).update(peer_=peer, number_=number, seen_={}, lists_={})

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
            self.read_(name)
            self.peer_.touched[self.number_] = self
        return self.seen_[name][0]

    def __setattr__(self, name: str, value: Any) -> None:
        self.peer_.touched[self.number_] = self
        self.seen_[name] = value, None

    def read_(self, name: str) -> None:
        """Read from the run what it holds under a name, and what was read of runs before."""
        names = [name, *(each for each in self.peer_.names if each not in {name, *self.seen_})]
        have = {each: len(self.lists_.get(each, [])) for each in names}
        answer = self.peer_.ask("read", of=self.number_, have=have)
        for each, part in answer["is"].items():
            value = self.peer_.crossing.take(part["is"])
            if isinstance(value, list):
                self.lists_[each] = value = self.lists_.get(each, [])[: part.get("from", 0)] + value
            self.seen_[each] = value, self.peer_.crossing.exactly(value)
        if name not in READ:
            self.peer_.names[name] = True

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
        for name, (value, before) in seen.items():
            if before != self.peer_.crossing.exactly(value):
                self.lists_.pop(name, None)
                now = self.peer_.crossing.send(value)
                self.peer_.ask("write", of=self.number_, name=name, value=now)


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
        have = frame["have"].items()
        return {"is": {n: told(getattr(run, n), (frame["of"], n), k, crossing) for n, k in have}}
    if what == "method" and name in METHODS:
        args, named = crossing.take(frame["args"]), crossing.take(frame["named"])
        return {"is": crossing.send(getattr(run, name)(*args, **named))}
    if what == "write" and name in vars(run):
        crossing.told.clear()
        write(run, name, crossing.take(frame["value"]))
        return {"is": None}
    name = next(iter(frame.get("have") or [name]))
    raise AttributeError(f"'Run' object has no attribute {name!r}")


def told(value: Any, which: tuple[int, str], have: Any, crossing: Crossing) -> dict:
    """What a run holds; of a list that the mirror has already, the end alone."""
    if type(value) is not list:
        return {"is": crossing.send(value)}
    before = crossing.told.get(which, [])
    pairs = enumerate(zip(before, value, strict=False))
    same = next((at for at, (old, new) in pairs if old is not new), min(len(before), len(value)))
    start = max(0, min(same - LATE, have if type(have) is int else 0))
    crossing.told[which] = [*value]
    return {"is": crossing.send(value[start:]), "from": start}


def write(run: Run, name: str, value: Any) -> None:
    """Change what a run holds, in place where it can be."""
    if not restore(getattr(run, name), value):
        setattr(run, name, value)
