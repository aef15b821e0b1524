"""A run that stands outside, as the learner's process sees it: it is read and written from afar.

What was read once is kept until somebody else had a turn. What was changed meanwhile in what was
read is written back, so that a policy that changes the run changes the run.
"""

import json
from typing import Any

from harness_zero.grading.record.lending import restore
from harness_zero.grading.record.peer import Peer
from harness_zero.grading.record.protocol import Crossing, Garbled
from harness_zero.run import Run

READ = {"elapsed", "text", "paused"}  # what a run tells beside what it holds
METHODS = {name for name, each in vars(Run).items() if callable(each) and name[0] != "_"}


class Mirror:
    """What stands for a run."""

    def __init__(self, peer: Peer, number: int) -> None:
        vars(self).update(peer_=peer, number_=number, seen_={})

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return Run

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in METHODS:
            return lambda *args, **named: self.call_(name, args, named)
        if name not in self.seen_:
            answer = self.peer_.ask("read", of=self.number_, name=name)
            value = self.peer_.crossing.take(answer["is"])
            self.seen_[name] = value, self.as_sent_(value)
        return self.seen_[name][0]

    def __setattr__(self, name: str, value: Any) -> None:
        self.seen_[name] = value, None

    def call_(self, name: str, args: tuple, named: dict) -> Any:
        """Call a method of the run, which knows by then what was changed in it."""
        send = self.peer_.crossing.send
        self.flush_()
        answer = self.peer_.ask(
            "method", of=self.number_, name=name, args=send([*args]), named=send(named)
        )
        return self.peer_.crossing.take(answer["is"])

    def flush_(self) -> None:
        """Write back what was changed, and read anew from now on."""
        seen = {**self.seen_}
        self.seen_.clear()
        for name, (value, before) in seen.items():
            if before != (now := self.as_sent_(value)):
                self.peer_.ask("write", of=self.number_, name=name, value=json.loads(now))

    def as_sent_(self, value: Any) -> str:
        """A value as it would cross."""
        return json.dumps(self.peer_.crossing.send(value))


def served(run: Any, frame: dict, crossing: Crossing) -> dict:
    """Read or write a run, or call a method of it, as the other side's mirror asks."""
    name, what = frame.get("name"), frame["do"]
    if not isinstance(run, Run) or not isinstance(name, str):
        raise Garbled("this is no run, or nothing of one")
    if what == "method" and name in METHODS:
        args, named = crossing.take(frame["args"]), crossing.take(frame["named"])
        return {"is": crossing.send(getattr(run, name)(*args, **named))}
    if what == "read" and (name in READ or name in vars(run)):
        return {"is": crossing.send(getattr(run, name))}
    if what == "write" and name in vars(run):
        write(run, name, crossing.take(frame["value"]))
        return {"is": None}
    raise AttributeError(f"'Run' object has no attribute {name!r}")


def write(run: Run, name: str, value: Any) -> None:
    """Change what a run holds, in place where it can be."""
    if not restore(getattr(run, name), value):
        setattr(run, name, value)
