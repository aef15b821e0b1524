"""Cases of one value: what an answer says of drawn inputs is what ours says."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from harness_zero.grading.lab02 import worst
from harness_zero.grading.lab04 import THINKING
from harness_zero.grading.record.hidden.drawing import Chance
from harness_zero.loop import ModelFailed
from harness_zero.messages import Reply, reply
from harness_zero.retry import call_failed

VERDICTS = ("deny", "ask", "allow")


def affordable(chance: Chance, answer: Callable) -> Any:
    """Whether a limit is whole, pays for itself and leaves no room, or is 0 where none does."""
    prices = chance.choice([0.1, 0.8, 1.25, 3.0, 5.0]), chance.choice([0.4, 4.0, 10.0, 25.0])
    left, read = chance.randint(-20, 4_000) / 1_000, chance.randint(0, 300_000)
    got = answer(left, read, *prices)
    if worst(1, read, *prices) >= left:
        return got == 0
    room = worst(got + 2, read, *prices) > left
    return type(got) is int, worst(got, read, *prices) <= left + 1e-9, room


def ended_with(*reasons: str | None) -> Callable[[Chance, Callable], Any]:
    """What a reply is called that ended so, or for a reason that nobody has heard of."""

    def case(chance: Chance, answer: Callable) -> Any:
        reason = chance.choice([*reasons]) if reasons else chance.word()
        got = answer({**some_reply(chance), "stop_reason": reason})
        return None if got is None else str(got)

    return case


def some_reply(chance: Chance) -> Reply:
    """A reply with words, calls, both, thoughts or nothing."""
    content = chance.choice(
        [
            reply(chance.word()),
            chance.asking(chance.word()),
            reply(),
            reply(" " * chance.randint(0, 3) + "\n"),
            reply("", chance.word()),
            {**reply(), "content": [THINKING]},
        ]
    )
    return deepcopy(content)


def status_judged(chance: Chance, answer: Callable) -> Any:
    """Whether it is worth asking again after this status, after none, or where nobody tells."""
    of_any = [chance.choice([*range(300, 600)]) for _ in range(8)]
    failures = [call_failed(chance.word(), status) for status in [*of_any, 408, 409, 429, None]]
    return answer(chance.choice([*failures, ModelFailed(chance.word())]))


def ruled(chance: Chance, answer: Callable) -> Any:
    """What some rules say of a call."""
    name = f"{chance.word()}_{chance.word()}"
    return answer(rules_about(chance, name), chance.call(name))


def rules_about(chance: Chance, name: str) -> list[tuple[str, str]]:
    """Rules of which some name this tool."""
    first, _, second = name.partition("_")
    patterns = [name, f"{first}_*", f"*_{second}", first, f"{second}*", chance.word(), "*"]
    return [
        (chance.choice(VERDICTS), chance.choice(patterns[:-1])) for _ in range(chance.randint(0, 4))
    ] + chance.choice([[], [("allow", "*")]])


def sequence(chance: Chance, answer: Callable) -> Any:
    """How often the end of some keys goes round."""
    letters = chance.words(5, least=5)
    lap = letters[: chance.randint(1, 5)]
    keys = [chance.choice(letters) for _ in range(chance.randint(0, 4))]
    keys += (lap * chance.randint(1, 6))[chance.randint(0, len(lap) - 1) :]
    given = chance.choice([keys, [[{"at": each}] for each in keys], keys[: chance.randint(0, 2)]])
    before = deepcopy(given)
    return tuple(answer(given)), given == before


def larger(chance: Chance, answer: Callable) -> Any:
    """A request asked again with more room, while its reply is cut."""
    limits = [chance.randint(50, 9_000) for _ in range(chance.randint(0, 5))]
    cuts = chance.randint(0, 5)
    replies = [
        reply(chance.word(), stop_reason="max_tokens" if at < cuts else "", cost=chance.usd())
        for at in range(6)
    ]
    asked: list[Any] = []

    def model(request: dict) -> Reply:
        asked.append(deepcopy(request))
        return replies[len(asked) - 1]

    given = {"messages": [reply_to(chance)], "system": chance.word(), chance.word(): chance.value()}
    got = answer(model, given, chance.choice([limits, tuple(limits)]))
    return asked, {name: got[name] for name in ("content", "stop_reason", "cost_usd")}, given


def reply_to(chance: Chance) -> dict:
    """A message that opens a turn."""
    return {"role": "user", "content": [{"type": "text", "text": chance.word()}]}
