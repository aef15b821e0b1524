"""Cases of a whole turn: what the model was sent, what tools were asked, how it ended."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from harness_zero.grading.record.hidden.drawing import Chance
from harness_zero.grading.record.hidden.forms import alike, loosely
from harness_zero.grading.record.hidden.results import Kit
from harness_zero.marks import unmarked
from harness_zero.messages import Block, Message, Reply, reply
from harness_zero.models.scripted import scripted

Script = Callable[[Chance, Kit], list[Reply]]
FOR_GOOD = 9  # replies that ask, where a limit is tried
PAUSED = "pause_turn"
REASONS = ("end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded")


class Stage:
    """A model, tools and a clock, at which one turn is played and noted."""

    def __init__(self, chance: Chance, script: Script) -> None:
        self.kit, self.sent = Kit(chance), list[Any]()
        self.prompt, self.began = chance.word(), chance.randint(0, 9_000)
        self.minute = chance.choice([15, 30, 60])
        self.replies = script(chance, self.kit)
        self.speak = scripted(*self.replies)

    def model(self, messages: list[Message]) -> Reply:
        """The next reply."""
        self.sent.append(deepcopy([*map(unmarked, messages)]))
        return self.speak(messages)

    def clock(self) -> float:
        """Some time passes whenever the model speaks."""
        return float(self.began + self.minute * len(self.sent))

    def play(self, answer: Callable, *more: Any, **limits: Any) -> Any:
        """What became of a turn."""
        given = answer(self.model, self.kit.tools, self.prompt, *more, **limits)
        messages, label = (
            given if isinstance(given, tuple | list) and paired(given) else (given, "")
        )
        sent = [alike(each, self.form) for each in self.sent]
        return sent, self.kit.asked, alike(messages, self.form), str(label)

    def form(self, block: Block) -> Any:
        """A block as far as its words are promised: those of the harness itself are its own."""
        free = block["type"] == "text" and block["text"] not in (self.prompt, *self.said())
        return "words" if free else loosely(block)

    def said(self) -> list[str]:
        """What the model says in words."""
        blocks = [block for each in self.replies for block in each["content"]]
        return [block["text"] for block in blocks if block["type"] == "text"]


def paired(given: Any) -> bool:
    """Whether this is messages and a label."""
    return len(given) == 2 and not isinstance(given[1], dict)


def asks(chance: Chance, kit: Kit) -> list[Reply]:
    """Some rounds, and an answer."""
    rounds = [kit.asking() for _ in range(chance.randint(0, 5))]
    return [*rounds, reply(chance.word())]


def asks_long(chance: Chance, kit: Kit) -> list[Reply]:
    """More rounds than anybody would count."""
    return [*[kit.asking(1) for _ in range(chance.randint(61, 90))], reply(chance.word())]


def asks_on(chance: Chance, kit: Kit) -> list[Reply]:
    """A model that asks and asks, each time at a price."""
    return [kit.asking(cost=chance.usd()) for _ in range(FOR_GOOD)]


def asks_at_a_price(chance: Chance, kit: Kit) -> list[Reply]:
    """Some rounds, and an answer, each at a price."""
    rounds = [kit.asking(cost=chance.usd()) for _ in range(chance.randint(1, 5))]
    return [*rounds, reply(chance.word(), cost=chance.usd())]


def ends_somehow(chance: Chance, kit: Kit) -> list[Reply]:
    """Some rounds, with a pause or without, and then any end."""
    rounds = [kit.asking() for _ in range(chance.randint(0, 3))]
    pause = chance.choice([[], [reply(chance.word(), stop_reason=PAUSED)]])
    return [*rounds, *pause, last(chance, kit), *[reply(chance.word()) for _ in range(3)]]


def last(chance: Chance, kit: Kit) -> Reply:
    """A reply that ends a turn, one way or another."""
    reason = chance.choice([*REASONS, chance.word()])
    odd = kit.asking(stop_reason=reason), reply(chance.word(), stop_reason=reason)
    return chance.choice([*odd, reply(chance.word()), reply(), reply(" \n")])


def lapses(chance: Chance, kit: Kit) -> list[Reply]:
    """Rounds, lapses and pauses in any order, and an answer."""
    moves = [
        lambda: kit.asking(),
        lambda: kit.asking(stop_reason="max_tokens"),
        lambda: reply(chance.word(), stop_reason="max_tokens"),
        lambda: reply(),
        lambda: reply(chance.word(), stop_reason=PAUSED),
    ]
    some = [chance.choice(moves)() for _ in range(chance.randint(2, 12))]
    return [*some, reply(chance.word())]


def plays(script: Script = asks) -> Callable[[Chance, Callable], Any]:
    """A turn without limits."""
    return lambda chance, answer: Stage(chance, script).play(answer)


def played_long(chance: Chance, answer: Callable) -> Any:
    """A turn with more rounds than anybody would count: how many there were."""
    stage, sent = Stage(chance, asks_long), list[int]()

    def model(messages: list[Message]) -> Reply:
        sent.append(len(messages))
        return stage.speak(messages)

    answer(model, stage.kit.tools, stage.prompt)
    return sent, len(stage.kit.asked)


def played_with_limit(chance: Chance, answer: Callable) -> Any:
    """A turn under a limit of rounds."""
    stage = Stage(chance, asks_on)
    return stage.play(answer, max_rounds=chance.randint(1, FOR_GOOD - 1))


def played_with_brakes(chance: Chance, answer: Callable) -> Any:
    """Turns under three limits, of which each once holds first, exactly when it is reached."""
    return [held_by(tight, chance, answer) for tight in chance.shuffled([0, 1, 2])]


def held_by(tight: int, chance: Chance, answer: Callable) -> Any:
    """A turn in which this one of the limits holds first, or the answer comes just before."""
    stage = Stage(chance, chance.choice([asks_on, asks_on, asks_at_a_price]))
    last = min(len(stage.replies), FOR_GOOD - 1)
    holds = [chance.randint(last, FOR_GOOD) for _ in range(3)]
    holds[tight] = chance.randint(1, last)
    return stage.play(
        answer,
        max_rounds=holds[0],
        cap_usd=sum(each["cost_usd"] for each in stage.replies[: holds[1]]) + holds[1] // last,
        seconds=stage.minute * holds[2],
        clock=stage.clock,
    )


def played_patiently(chance: Chance, answer: Callable) -> Any:
    """A turn with lapses, under some patience."""
    stage = Stage(chance, lapses)
    return stage.play(answer, *chance.choice([[], [chance.randint(0, 6)]]))
