"""Exercises in which a run went wrong: which promise broke, and at which message?

The right answer is no constant. Each promise says of any run where it first broke, and of the
promises that a case offers exactly one did. Where a run is told by its requests, or by the
lines of its journal, they are what is counted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from harness_zero.desk import Broken, instead
from harness_zero.messages import said, tool_results, tool_uses
from harness_zero.watch import Recording

Broke = Callable[[Any], int | None]  # the number of the first message that breaks it
Diagnose = Callable[[], tuple[str, int]]


@dataclass(frozen=True)
class Case:
    """A run that went wrong, and the promises to choose from, each under a letter."""

    play: Callable[[], Any]  # the same every time: a Recording, what it sent, or a journal
    choices: dict[str, Broke]
    whys: Mapping[str, str] = field(default_factory=dict)  # why a promise that tempts is kept
    noun: str = "message"  # what is counted
    first: int = 0  # the number of the first: the lines of a file are counted from 1
    counted: Callable[[Any], Sequence[Any]] = lambda run: run.messages
    shown: Callable[[Any], list[str]] = lambda run: []  # lines that stand under the promises

    def numbers(self) -> range:
        """The numbers of all that is counted."""
        return range(self.first, self.first + len(self.counted(self.play())))

    def lines(self) -> list[str]:
        """The promises as the notebook lists them."""
        told = [f"  {letter}  {sentence(broke)}" for letter, broke in self.choices.items()]
        return [f"Which promise broke, and at which {self.noun}?", *told, *self.shown(self.play())]

    def right(self) -> tuple[str, int]:
        """The promise that broke, and the number of the message where it first did."""
        run = self.play()
        broken = {letter: broke(run) for letter, broke in self.choices.items()}
        ((letter, at),) = [(letter, at) for letter, at in broken.items() if at is not None]
        return letter, at

    def promises(self) -> tuple[Callable[[Diagnose], None], ...]:
        """What a diagnosis of this case promises."""

        def it_is_a_letter_and_a_number(diagnose: Diagnose) -> None:
            first, last = self.numbers()[0], self.numbers()[-1]
            if not is_diagnosis(got := read(diagnose()), self.choices, self.numbers()):
                letters = ", ".join(self.choices)
                expected = f"a letter of {letters} and a number from {first} to {last}"
                why = f'a diagnosis looks like this: return "{next(iter(self.choices))}", {first}'
                if got == (self.right()[0], last + 1) and self.right()[1] == last:
                    why = f"right promise; there is no {self.noun} {last + 1}, name the last that"
                    why += " was sent"
                raise Broken(expected, instead(got), why)

        def the_promise_is_the_one_that_broke(diagnose: Diagnose) -> None:
            letter, _ = read(diagnose())
            if letter != self.right()[0]:
                got = f"{letter}: {sentence(self.choices[letter])}"
                kept = f"the run keeps that promise from its first {self.noun} to its last"
                why = self.whys.get(letter, kept)
                raise Broken("the promise that the run broke", got, why)

        def the_place_is_the_one_where_it_broke(diagnose: Diagnose) -> None:
            (_, at), (_, right) = read(diagnose()), self.right()
            if at != right:
                late, early = "it is broken by then; look further up", "so far it holds; look down"
                why = late if at > right else early
                raise Broken(f"the first {self.noun} that breaks it", f"{self.noun} {at}", why)

        it_is_a_letter_and_a_number.__name__ = f"it_is_a_letter_and_the_number_of_a_{self.noun}"
        the_place_is_the_one_where_it_broke.__name__ = f"the_{self.noun}_is_the_one_where_it_broke"
        return (
            it_is_a_letter_and_a_number,
            the_promise_is_the_one_that_broke,
            the_place_is_the_one_where_it_broke,
        )


def read(given: Any) -> Any:
    """A diagnosis as it is meant, also where it is a list or the letter a capital."""
    if isinstance(given, tuple | list) and len(given) == 2 and isinstance(given[0], str):
        return given[0].strip().lower(), given[1]
    return given


def is_diagnosis(given: Any, choices: dict[str, Broke], numbers: range) -> bool:
    """Whether this is a letter of the list and a number of these."""
    if not isinstance(given, tuple) or len(given) != 2:
        return False
    letter, at = given
    return isinstance(letter, str) and letter in choices and type(at) is int and at in numbers


def sentence(promise: Callable) -> str:
    """A promise in words."""
    return promise.__name__.replace("_", " ")


def the_roles_take_turns(run: Recording) -> int | None:
    """No two messages of the same role in a row."""
    roles = [message["role"] for message in run.messages]
    return next((at for at, (one, next_) in enumerate(pairwise(roles), 1) if one == next_), None)


def the_last_word_is_an_answer(run: Recording) -> int | None:
    """The run goes on until the model asks for nothing."""
    last = run.messages[-1]
    return None if last["role"] == "assistant" and not tool_uses(last) else len(run.messages) - 1


def every_call_is_answered_in_the_next_message(run: Recording) -> int | None:
    """No call without a result, no result without a call."""
    return first_odd(run, lambda asked, answered: sorted(asked) == sorted(answered))


def results_stand_in_the_order_of_their_calls(run: Recording) -> int | None:
    """First asked, first in the message."""
    return first_odd(run, lambda asked, answered: asked == answered)


def first_odd(run: Recording, fits: Callable[[list[str], list[str]], bool]) -> int | None:
    """The first message whose results do not fit the calls of the one before."""
    for at, (asking, answering) in enumerate(pairwise(run.messages), 1):
        asked = [call["id"] for call in tool_uses(asking)]
        if not fits(asked, [result["tool_use_id"] for result in tool_results(answering)]):
            return at
    return None


def the_array_holds_what_the_model_said(run: Recording) -> int | None:
    """Every reply, whole."""
    spoken = iter(map(said, run.replies))
    for at, message in enumerate(run.messages):
        if message["role"] == "assistant" and message != next(spoken, None):
            return at
    return None
