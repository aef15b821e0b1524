"""The learner's process: it runs cells, lends what they made, and judges nothing.

Nothing here is trusted by whoever grades: the code that runs here can change all of it.
"""

import ast
import builtins
import json
import linecache
import os
import sys
import types
from functools import partial
from importlib import import_module
from inspect import CO_COROUTINE
from typing import Any

from harness_zero.faults import own_frames
from harness_zero.grading.record.imports import (
    Stand,
    refuse_exit,
    refuse_input,
    refuse_others,
    show,
)
from harness_zero.grading.record.mirror import Mirror, flush, served
from harness_zero.grading.record.peer import Peer
from harness_zero.grading.record.protocol import Crossing
from harness_zero.grading.record.proxies import proxy
from harness_zero.grading.record.scratch import Scratch
from harness_zero.grading.surroundings import called

CHANGING = (list, dict, set, tuple)  # that can be changed, or hold what can
ERRORS = ("faults", "loop", "models.scripted", "run")  # what is raised may be one of theirs


class Worker:
    """The learner's side of the two pipes."""

    def __init__(self, reads: int, writes: int, settings: dict) -> None:
        self.peer = Peer(reads, writes, self.serve, "in")
        self.peer.crossing = self.crossing = Crossing(self.proxy, trusting=True)
        self.crossing.scratch = Scratch(settings["scratch"])
        for name in (*(f"harness_zero.{each}" for each in ERRORS), *settings["shown"]):
            import_module(name)
        self.crossing.modules = dict(sys.modules)
        self.given: list[tuple[int, Any, bytes]] = []  # what the grader's functions gave back
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        self.names = vars(main)
        self.names.update(
            __builtins__=builtins, display=print, get_ipython=lambda: Stand("IPython", None)
        )

    def proxy(self, number: int, kind: str, about: dict) -> Any:
        """What stands here for something that was lent to us."""
        if kind == "run":
            return Mirror(self.peer, number)
        return proxy(about, partial(self.call_out, number))

    def call_out(self, number: int, *args: Any, **named: Any) -> Any:
        """Have the grader call what it has lent."""
        flush(self.peer)
        send = self.crossing.send
        answer = self.peer.ask("call", of=number, args=send([*args]), named=send(named))
        value = self.crossing.take(answer["is"])
        if isinstance(value, list | dict):
            self.given.append((answer["as"], value, self.crossing.exactly(value)))
        return value

    def changed(self) -> list[Any]:
        """What was changed of what the grader's functions gave back, under its numbers."""
        given, self.given = self.given, []
        now = [(number, value) for number, value, was in given if self.differs(value, was)]
        return [[number, self.crossing.send(value)] for number, value in now]

    def differs(self, value: Any, was: bytes) -> bool:
        """Whether a value is something else than it was."""
        return self.crossing.exactly(value) != was

    def serve(self, frame: dict) -> dict:
        """Do what the grader asks for."""
        own = {"call": self.call, "cell": self.cell, "find": self.find}.get(frame["do"])
        if own:
            return own(frame)
        return served(self.crossing.handles.lent[frame["of"]], frame, self.crossing)

    def cell(self, frame: dict) -> dict:
        """Run a cell, which may await at its top as in a notebook."""
        name, source = frame["name"], frame["source"]
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        try:
            code = compile(source, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            waits = eval(code, self.names)
            if code.co_flags & CO_COROUTINE:
                import_module("asyncio").run(waits)
        except BaseException as error:
            return self.failed(error)
        return {"is": None}

    def failed(self, error: BaseException) -> dict:
        """An error, and where in the learner's own code it passed last."""
        at = [[each.name, each.lineno, each.line] for each in own_frames(error)[-1:]]
        if isinstance(error, SyntaxError) and not at:
            at = [["<cell>", error.lineno, (error.text or "").strip()]]
        return {"failed": self.crossing.send(error), "at": at}

    def find(self, frame: dict) -> dict:
        """Lend what has this name, if there is anything."""
        if frame["name"] not in self.names:
            return {"is": None, "missing": True}
        return {"is": self.crossing.send(self.names[frame["name"]])}

    def call(self, frame: dict) -> dict:
        """Call what was lent, and tell what came back and what it changed in what it was given."""
        function = self.crossing.handles.lent[frame["of"]]
        args, named = self.crossing.take(frame["args"]), self.crossing.take(frame["named"])
        for number, parts in frame["news"]:
            self.crossing.handles.borrowed[number]().hear_(parts)
        lent = [each for each in (*args, *named.values()) if isinstance(each, CHANGING)]
        before = self.crossing.exactly(lent)
        try:
            answer = {"is": self.crossing.send(called(function, args, named, frame))}
        except BaseException as error:
            answer = self.failed(error)
        flush(self.peer)
        if changed := self.changed():
            answer["changed"] = changed
        if self.differs(lent, before):
            answer["lent"] = self.crossing.send([args, named])
        del lent  # which holds on to things as well
        self.crossing.forget_frames()
        if held := self.crossing.kept.held([*args, *named.values()], elsewhere=1):
            answer["held"] = held
        return answer


def main() -> None:
    """Serve through what was the standard input and output, which nobody can print into then."""
    settings = json.loads(sys.argv[1])
    worker = Worker(os.dup(0), os.dup(1), settings)
    show(settings)
    refuse_others()
    vars(builtins).update(input=refuse_input, exit=refuse_exit, quit=refuse_exit)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    worker.peer.live()
    os._exit(0)
