"""Cases of what is sent: two requests compared, marks placed, news and cuts in an array."""

from collections.abc import Callable
from copy import deepcopy
from itertools import pairwise
from typing import Any

from harness_zero.grading.lab07 import marks_as_text
from harness_zero.grading.lab07_requests import MARK, growing, marks, served, tool
from harness_zero.grading.record.hidden.drawing import Chance
from harness_zero.grading.record.hidden.forms import alike, holds
from harness_zero.grading.record.hidden.results import results
from harness_zero.messages import (
    Message,
    blocks,
    merge,
    reply,
    request_fault,
    said,
    text,
    tool_results,
    user,
)
from harness_zero.prefix import first_difference

EPHEMERAL = {"type": "ephemeral"}


def rounds(chance: Chance, most: int, least: int = 0) -> list[Message]:
    """An array of some rounds, which begins with a prompt."""
    array = [user(chance.word())]
    for _ in range(chance.randint(least, most)):
        spoken = chance.asking(chance.word(), most=3)
        array += [said(spoken), user(*results(chance, spoken))]
    return array


def compared(chance: Chance, answer: Callable) -> Any:
    """Which block of a request another one does not keep."""
    tools = [tool(name, *chance.words(2)) for name in chance.words(4)]
    before = {"system": chance.word(), "tools": tools, "messages": rounds(chance, 4, least=1)}
    after = deepcopy({**before, "messages": [*before["messages"], *rounds(chance, 2)]})
    for _ in range(chance.randint(0, 2)):
        chance.choice(CHANGES)(chance, after)
    lent = deepcopy((before, after))
    return answer(before, after), (before, after) == lent


def another_prompt(chance: Chance, request: dict) -> None:
    """Another system prompt."""
    request["system"] = chance.word()


def other_tools(chance: Chance, request: dict) -> None:
    """The tools in another order, or one more."""
    request["tools"] = chance.choice([request["tools"][::-1], [*request["tools"], tool("more")]])


def another_word(chance: Chance, request: dict) -> None:
    """Another block somewhere in the array."""
    at = chance.randrange(len(request["messages"]))
    request["messages"][at]["content"][-1] = text(chance.word())


def one_less(chance: Chance, request: dict) -> None:
    """A message taken out."""
    request["messages"].pop(chance.randrange(len(request["messages"])))


def marked_somewhere(chance: Chance, request: dict) -> None:
    """A mark, which is no change."""
    chance.choice(request["messages"])["content"][0][MARK] = EPHEMERAL


CHANGES = (another_prompt, other_tools, another_word, one_less, marked_somewhere)


def a_round(chance: Chance) -> Callable[[int], list[Message]]:
    """A round of a run that grows, long enough to be kept in a cache."""
    most, salt, size = chance.choice([1, 2, 12]), chance.word(), chance.randint(60, 300)

    def of(number: int) -> list[Message]:
        calls = [chance.call(salt) for _ in range(most)]
        spoken = [each for call in calls for each in (text(f"{salt} {number}"), call)]
        come = [{**each, "content": f"{salt} " * size} for each in results(chance, reply(*calls))]
        return [{"role": "assistant", "content": spoken}, user(*come)]

    return of


def read_from_the_cache(chance: Chance, answer: Callable) -> Any:
    """A run that grows: whether each request reads all of the one before, and nothing changed."""
    requests = [*growing(chance.randint(3, 12), of=a_round(chance))]
    sent = [answer(deepcopy(each)) for each in requests]
    counted = served(sent)
    read = [other.read == one.total for one, other in pairwise(counted)]
    same = [first_difference(one, other) is None for one, other in zip(requests, sent, strict=True)]
    return read, same, [len(marks(each)) <= 4 for each in sent]


def head_read(chance: Chance, answer: Callable) -> Any:
    """Another run with the same head: whether it reads that."""
    (first,) = growing(1)
    first["system"] = f"{chance.word()} " * chance.randint(2_000, 3_000)
    second = {**first, "messages": [user(chance.word())]}
    _, counted = served([answer(first), answer(second)])
    return bool(counted.read)


def marked_anew(chance: Chance, answer: Callable) -> Any:
    """A request that comes with marks, or ends with a thought: where it is marked at its end."""
    request = [*growing(chance.randint(2, 6), of=a_round(chance))][-1]
    for message in chance.sample(request["messages"], chance.randint(0, 3)):
        message["content"][-1][MARK] = EPHEMERAL
    before = marks_as_text(request)
    thought = {"type": "thinking", "thinking": chance.word(), "signature": chance.word()}
    if chance.random() < 0.4:
        content = [text(chance.word()), thought]
        request["messages"].append({"role": "assistant", "content": content})
        before = marks_as_text(request)
    found = answer(request)
    ends = [MARK in block for block in found["messages"][-1]["content"]]
    form = all(each[MARK].get("type") == "ephemeral" for each in marks(found))
    return ends[-2:], len(marks(found)) <= 4, form, before == marks_as_text(request)


def told_news(chance: Chance, answer: Callable) -> Any:
    """News for an array that ends with results, with a prompt or with an answer."""
    array = rounds(chance, 4)
    result = chance.choice([None, [text(chance.word())], []])
    if result is not None and tool_results(array[-1]):
        array[-1]["content"][-1] = {**array[-1]["content"][-1], "content": result}
    array += chance.choice([[], [said(reply(chance.word()))]])
    news, lent = chance.choice(["", f"{chance.word()} {chance.word()}"]), deepcopy(array)
    found = answer(array, news)
    if not news or not tool_results(lent[-1]):
        return alike(merge(found)), array == lent
    *_, last = merge(found)
    inside = str(last["content"][-1]["content"])
    kept = alike(found[:-1]), alike([user(*last["content"][:-1])] if last["content"][1:] else [])
    before = str(lent[-1]["content"][-1]["content"]).strip("[]")
    return (
        kept,
        len(last["content"]),
        holds(inside, before, news),
        request_fault(found),
        array == lent,
    )


def cut_down(chance: Chance, answer: Callable) -> Any:
    """An array with a summary and the last of its messages."""
    array = rounds(chance, 6)
    if chance.random() < 0.4:
        array += [said(reply(chance.word())), user(chance.word()), *rounds(chance, 2)[1:]]
    lent, summary = deepcopy(array), chance.word()
    found = answer(array, summary, chance.randint(0, len(array) + 2))
    return alike(found), array == lent, [len(blocks(each)) for each in found]
