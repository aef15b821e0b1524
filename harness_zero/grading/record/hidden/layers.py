"""Cases of layers around a port: who may, and who pays."""

from collections.abc import Callable
from typing import Any

from harness_zero.grading.lab11 import Door
from harness_zero.grading.record.hidden.drawing import Chance
from harness_zero.grading.record.hidden.forms import plain
from harness_zero.grading.record.hidden.values import rules_about
from harness_zero.messages import Reply, reply, tool_result


def permitted(chance: Chance, answer: Callable) -> Any:
    """Some calls behind a layer that may say no, with somebody to be asked or nobody."""
    name = f"{chance.word()}_{chance.word()}"
    rules = rules_about(chance, name)
    door = Door(chance.choice([True, True, False, None, 1, 1.0, chance.word()]))
    ask = chance.choice([door.ask, door.ask, None])
    layer = answer(door.tool, rules, ask)
    calls = [chance.call(chance.choice([name, name, chance.word()])) for _ in range(3)]
    told = [said_of(call, layer(call), door.said if ask else None) for call in calls]
    return told, door.made, door.asked


def said_of(call: dict, got: dict, why: Any) -> Any:
    """A result: the tool's own, or a denial, with the reason if words were given."""
    id, text, is_error = plain(got)
    if got == tool_result(call["id"], f"made {call['id']}"):
        return id, "made"
    told = str(text).startswith("not executed")
    return id, told, is_error, isinstance(why, str) and why in str(text)


def paid_from(chance: Chance, answer: Callable) -> Any:
    """Calls of some models out of one purse, until nothing is left; some of them fail."""
    cap, most = chance.usd(24), chance.usd()
    paid, left = answer(cap, most)
    costs = [chance.choice([chance.usd(), None, most]) for _ in range(14)]
    fails, asked, got = chance.randint(0, 20), list[int](), list[Any]()

    def model(request: Any) -> Reply:
        asked.append(len(asked))
        if len(asked) == fails:
            raise ConnectionError("lost")
        return {**reply("hello"), "cost_usd": costs[len(asked) - 1]}

    speakers = [paid(model) for _ in range(chance.randint(1, 3))]
    for _ in range(12):
        try:
            chance.choice(speakers)({"messages": []})
            got.append("made")
        except Exception:
            got.append("refused")
        got.append(round(left(), 6))
    return got, len(asked)
