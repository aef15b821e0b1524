"""What answers behind the API: a script, or a model with a fault at a call of your choice."""

from collections.abc import Callable, Mapping
from typing import Any

from harness_zero.brief import brief
from harness_zero.faults import SetupFault
from harness_zero.messages import Message, Reply, blocks, said
from harness_zero.simulator.exchange import Answer, Body, Source


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
        faults = [stray(told, body["messages"]) for told in self.told]
        if all(faults):
            raise Strayed(f"request {self.asked + 1}: {faults[0]}")
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
            unheard = isinstance(self.entries[self.asked - 1], Answer)  # perhaps
            if unheard or reply.get("stop_reason") == "max_tokens":
                self.told.append(again)


def script(*entries: Reply | Answer) -> Script:
    """A script of replies, and of failures from `on_demand`."""
    return Script(*entries)


def stray(expected: list[Message], messages: list[Message]) -> str | None:
    """Where an array does not begin with these messages, in words; None if it does."""
    if messages[: len(expected)] == expected:
        return None
    for at, message in enumerate(expected):
        if at >= len(messages):
            return f"message {at} is missing; was the reply appended?"
        sent = messages[at]
        if sent["role"] != message["role"]:
            return f"message {at} is of the {sent['role']}, and was of the {message['role']}"
        one, other = blocks(sent), blocks(message)
        for index, (block, was) in enumerate(zip(one, other, strict=False)):
            if block != was:
                return f"message {at}, block {index} is {brief(block)}, and was {brief(was)}"
        if len(one) != len(other):
            return f"message {at} holds {len(one)} blocks, and held {len(other)}"
    return None


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
