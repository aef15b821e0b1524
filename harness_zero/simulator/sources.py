"""What answers behind the API: a script, or a model with a fault at a call of your choice."""

from collections.abc import Callable, Mapping
from typing import Any

from harness_zero.faults import SetupFault
from harness_zero.messages import Message, Reply, merge, said
from harness_zero.prefix import first_difference
from harness_zero.simulator.exchange import Answer, Body, Source
from harness_zero.simulator.signature import is_thought, plain


class Strayed(SetupFault):
    """A request does not go on from the script; the sentence says where it strays."""


class Script:
    """The n-th request is answered by the n-th entry, if it goes on from the one before.

    It goes on if its array holds all that was sent before, and the reply to it. After a
    call that failed, an empty reply and one that was cut off, the same array may come again.
    """

    def __init__(self, *entries: Reply | Answer) -> None:
        self.entries, self.asked = entries, 0
        self.told: list[list[Message]] = [[]]  # what the next array may begin with

    def __call__(self, body: Body) -> Reply | Answer:
        strays = [stray(told, body["messages"]) for told in self.told]
        if all(strays):
            raise Strayed(f"request {self.asked + 1}: {strays[0]}")
        if self.asked == len(self.entries):
            raise Strayed(f"the script has {self.asked} entries, and here is one request more")
        self.asked += 1
        self.told = [body["messages"]]
        return self.entries[self.asked - 1]

    def heard(self, reply: Reply) -> None:
        """What the API made of the entry is part of the array from now on."""
        again = self.told[-1]
        message = said(reply)
        if message["content"]:
            self.told = [[*again, message]]
            unheard = isinstance(self.entries[self.asked - 1], Answer)  # it may have been lost
            if unheard or reply.get("stop_reason") == "max_tokens":
                self.told.append(again)


def script(*entries: Reply | Answer) -> Script:
    """A script of replies, and of failures from `on_demand`."""
    return Script(*entries)


def stray(expected: list[Message], messages: list[Message]) -> str | None:
    """Where an array does not begin with these messages, in words; None if it does.

    They are compared as the API reads them: neighbours of one role are one message, cache
    marks may move, and what was thought may be left out where the rules let it.
    """
    was = read(expected)
    sent = read(messages)[: len(was)]
    if was and len(sent) == len(was):  # the last message may have gone on
        count = len(was[-1]["content"])
        sent[-1] = {**sent[-1], "content": sent[-1]["content"][:count]}
    found = first_difference({"messages": was}, {"messages": sent}, loose=True)
    if not found:
        return None
    then, now = found.around()
    if not found.other:
        return f"{found.block} is missing; was the reply appended? It was {then}"
    return f"{found.block} is not what it was: sent is {now}, and it was {then or 'not there'}"


def read(messages: list[Message]) -> list[Message]:
    """An array as the API reads it, without what was thought."""
    return [
        {**m, "content": [plain(b) for b in m["content"] if not is_thought(b)]}
        for m in merge(messages)
    ]


def with_faults(model: Callable[[Any], Reply], faults: Mapping[int, Reply | Answer]) -> Source:
    """A model of requests whose n-th call, counted from 1, ends as `faults` says.

    A connection that breaks after the effect lets the model speak first, if the fault
    has no reply of its own.
    """
    calls = [0]

    def source(body: Body) -> Reply | Answer:
        calls[0] += 1
        fault = faults.get(calls[0])
        if fault is None:
            return model(body)
        if isinstance(fault, Answer) and fault.lost == "after" and fault.body is None:
            return Answer(model(body), lost="after")
        return fault

    return source
