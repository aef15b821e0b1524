"""Cases of a detector: what it knows again, and what it says to work and to going in circles."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from harness_zero.flight.place import POLLERS
from harness_zero.grading.lab06 import expect_no_word, expect_stop, play
from harness_zero.grading.record.hidden.drawing import Chance
from harness_zero.messages import tool_result, with_words

Round = list[tuple[tuple[str, dict[str, Any]], str]]
SOME = 30  # rounds of healthy work
WORD = "Nothing new: "


def known_again(chance: Chance, answer: Callable) -> Any:
    """Which variants of a call and its result have the fingerprint of the first."""
    call, said = chance.call(), f"{chance.word()} {chance.randint(2, 99)} {chance.word()}"
    result = tool_result(call["id"], said)
    noise, name = chance.choice([how_long, when, where]), chance.word()
    call["input"][name] = noise(chance)
    turned = {name: call["input"][name] for name in reversed(call["input"])}
    changed = {**call["input"], chance.choice([*call["input"]]): chance.word()}
    variants = [
        ({**call, "id": f"toolu_{chance.word()}"}, result),
        ({**call, "input": turned}, result),
        ({**call, "input": changed}, result),
        ({**call, "name": chance.word()}, result),
        (call, tool_result(call["id"], f"{said} {chance.word()}")),
        (call, tool_result(call["id"], said, is_error=True)),
        (call, with_words(result, WORD + chance.word())),
        (call, tool_result(call["id"], said.upper())),
        (call, {**result, "content": [{"type": "text", "text": said}]}),
        (call, {**tool_result(call["id"], said), "is_error": False}),
        ({**call, "input": {**call["input"], name: noise(chance)}}, result),
    ]
    lent = deepcopy([(call, result), *variants])
    first, *others = [answer(*each) for each in lent]
    same, stays = [each == first for each in others], lent == [(call, result), *variants]
    noisy = [answer(call, tool_result(call["id"], f"{said} {noise(chance)}")) for _ in range(2)]
    return same, noisy[0] == noisy[1], stays


def how_long(chance: Chance) -> str:
    """Noise: how long it took."""
    return f"in 0.{chance.randint(10, 99)}s"


def when(chance: Chance) -> str:
    """Noise: when it was."""
    return f"2026-{chance.randint(10, 12)}-{chance.randint(10, 28)}T{chance.randint(10, 23)}:15:02Z"


def where(chance: Chance) -> str:
    """Noise: where in memory it stood."""
    return f"at 0x7f{chance.randint(10**5, 10**6):x}"


def steps(chance: Chance, most: int) -> list[tuple[tuple[str, dict[str, Any]], str]]:
    """Some calls, and what always comes back for each."""
    return [((chance.word(), chance.input()), chance.word()) for _ in range(most)]


def edits(chance: Chance) -> Callable[[int], tuple[tuple[str, dict[str, Any]], str]]:
    """An edit a round, none like another."""
    name, path, salt = chance.words(3, least=3)
    return lambda n: ((name, {path: f"{salt} {n}"}), "ok")


def works(chance: Chance, make: Callable) -> Any:
    """Work that looks the same from outside: what comes back is new, or what is asked for."""
    edit, (test,) = edits(chance), steps(chance, 1)
    turns, salt = chance.choice([1, 2, 3]), chance.word()

    def does(n: int) -> Round:
        if n > SOME:
            return []
        return [edit(n)] if n % (turns + 1) else [(test[0], f"{SOME - n} {salt}")]

    expect_no_word(play(make(), does), "work", "")


def circles(chance: Chance, make: Callable) -> Any:
    """Some rounds of work, and then the same few calls by turns, for good."""
    edit, before = edits(chance), chance.randint(0, 5)
    lap, noise = steps(chance, chance.randint(1, 4)), chance.choice([how_long, where])

    def does(n: int) -> Round:
        if n <= before:
            return [edit(n)]
        asked, said = lap[(n - before) % len(lap)]
        return [(asked, f"{said} {noise(chance)}")]

    soonest, latest = (9, 20) if len(lap) == 1 else (4 * len(lap), 50)
    expect_stop(play(make(), does), "circles", before + soonest, before + latest, "")


def fails_again(chance: Chance, make: Callable) -> Any:
    """The same test after each of many edits, and always the same failure."""
    edit, (test,) = edits(chance), steps(chance, 1)
    played = play(
        make(), lambda n: [(test[0], f"{test[1]} in 0.{n + 10}s")] if n % 2 else [edit(n)]
    )
    expect_stop(played, "the same failure", 15, 40, "")


def waits(chance: Chance, make: Callable) -> Any:
    """A tool that is asked in order to wait, alone or beside another, says that it still runs."""
    poller, (beside,) = chance.choice([POLLERS[0], chance.word()]), steps(chance, 1)
    both = chance.random() < 0.5
    polled: tuple[tuple[str, dict[str, Any]], str] = (poller, {}), chance.word()
    given = make() if poller in POLLERS else make(pollers=(poller,))
    played = play(given, lambda n: [polled, *([beside] if both else [])] if n <= SOME else [])
    return bool(played.end)
