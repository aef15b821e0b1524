"""Cases that nobody has seen: drawn from the instructor's secret, and held against our own answer.

Whoever knows the promises by heart can write an answer that knows their inputs. Here the inputs
are others for each secret. What is told of a case that fails is that one did.
"""

import hmac
from collections.abc import Callable
from copy import deepcopy
from hashlib import sha256
from random import Random
from typing import Any

from harness_zero.desk import as_text
from harness_zero.grading import lab01, lab02
from harness_zero.messages import (
    Block,
    Message,
    blocks,
    reply,
    said,
    tool_result,
    tool_use,
    tool_uses,
    user,
)
from harness_zero.models.scripted import scripted
from harness_zero.stages import s1_structural_stop

CASES = 5  # an exercise
BROKEN = "a case that is not shown comes out otherwise than it should"
Case = Callable[[Random, Callable[..., Any]], Any]  # what an answer does in a case, to be compared


def drawn(secret: bytes, exercise: str, number: int) -> Random:
    """The chance of one case."""
    digest = hmac.new(secret, f"{exercise} {number}".encode(), sha256).digest()
    return Random(int.from_bytes(digest))


def word(chance: Random) -> str:
    """A word that nobody knows."""
    return "".join(chance.choice("abcdefghijklmnoprstuvwxyz") for _ in range(8))


def calls(chance: Random, most: int = 4) -> list[dict]:
    """Some calls of one tool."""
    some = range(chance.randint(1, most))
    return [tool_use(f"toolu_{word(chance)}", "tell", what=word(chance)) for _ in some]


def telling(done: list[str], chance: Random) -> dict[str, Callable[..., str]]:
    """A tool that says a word of its own to what it is given, and notes that it was asked."""
    salt = word(chance)

    def tell(what: str) -> str:
        done.append(what)
        return f"{what} {salt}"

    return {"tell": tell}


def answers(chance: Random, answer: Callable) -> Any:
    """One call answered."""
    done: list[str] = []
    (call,) = calls(chance, most=1)
    return plain(answer(call, telling(done, chance))), done


def acts(chance: Random, answer: Callable) -> Any:
    """All calls of a reply answered."""
    done: list[str] = []
    spoken = reply(word(chance), *calls(chance))
    return alike([answer(spoken, telling(done, chance))]), done


def goes_on(chance: Random, answer: Callable) -> Any:
    """The next array."""
    spoken = reply(*calls(chance))
    results = [tool_result(call["id"], word(chance)) for call in tool_uses(spoken)]
    return alike(answer([user(word(chance))], spoken, results))


def closes(chance: Random, answer: Callable) -> Any:
    """Calls that are not made; the words are the learner's own, the reason is in them."""
    spoken, why = reply(*calls(chance)), word(chance)
    (role, results), *more = alike([answer(spoken, why)])
    told = [(id, why in str(said), is_error) for id, said, is_error in results]
    return role, told, more


def pairs(chance: Random, answer: Callable) -> Any:
    """Whether a fault is found between two messages that may have one."""
    asked = calls(chance)
    results = [tool_result(call["id"], "x") for call in asked]
    for _ in range(chance.randint(0, 1)):
        results.pop(chance.randrange(len(results)))
    answering = user(*results) if results else user("go on")
    return answer(said(reply(*asked)), answering) is None


def plays(chance: Random, answer: Callable) -> Any:
    """A whole turn: what the model was sent, and what tools were asked."""
    done: list[str] = []
    script = [reply(*calls(chance)) for _ in range(chance.randint(0, 4))]
    speak = scripted(*script, reply(word(chance)))
    sent: list[Any] = []

    def model(messages: list[dict]) -> dict:
        sent.append(alike(deepcopy(messages)))
        return speak(messages)

    given = answer(model, telling(done, chance), word(chance))
    return sent, done, alike(given[0] if isinstance(given, tuple) else given)


def alike(messages: list[Message]) -> list[Any]:
    """Messages in one form, whichever of the API's forms they came in."""
    return [(message["role"], [plain(block) for block in blocks(message)]) for message in messages]


def plain(block: Block) -> Any:
    """A block in one form: a result's text may be bare or in a block, and need not say is_error."""
    if block["type"] != "tool_result":
        return block
    return block["tool_use_id"], as_text(block), bool(block.get("is_error"))


def act(spoken: Message, tools: dict[str, Callable]) -> Message:
    """Ours."""
    return user(*[s1_structural_stop.answer(call, tools) for call in tool_uses(spoken)])


HIDDEN: dict[str, tuple[Case, Callable[..., Any]]] = {
    "answer": (answers, s1_structural_stop.answer),
    "next_array": (goes_on, lambda messages, r, results: [*messages, said(r), user(*results)]),
    "act": (acts, act),
    "run": (plays, s1_structural_stop.run),
    "pairing_fault": (pairs, lab01.pairing_fault),
    "close_calls": (closes, lab02.close_calls),
    "run_with_limit": (plays, s1_structural_stop.run),
    "run_with_brakes": (plays, s1_structural_stop.run),
    "labelled": (plays, s1_structural_stop.run),
}


def unlike(exercise: str, answer: Callable[..., Any], secret: bytes) -> bool:
    """Whether an answer does something else than ours in a hidden case."""
    if exercise not in HIDDEN:
        return False
    case, ours = HIDDEN[exercise]
    for number in range(CASES):
        expected = case(drawn(secret, exercise, number), ours)
        if case(drawn(secret, exercise, number), answer) != expected:
            return True
    return False
