"""A model that reads its replies from a script, so that every run is the same run."""

from collections.abc import Callable

from harness_zero.faults import SetupFault
from harness_zero.messages import Message, Reply, tool_uses

Model = Callable[[list[Message]], Reply]


class OutOfReplies(SetupFault):
    """The loop asks for another reply and there is none, so it would never end by itself."""


def scripted(*script: Reply) -> Model:
    """A model whose n-th reply is the n-th of its script, whatever it is sent.

    Asked once more it raises OutOfReplies, which names the likely slip: a loop
    that would run for ever ends here instead.
    """
    lines = iter(script)
    lengths: list[int] = []

    def model(messages: list[Message]) -> Reply:
        lengths.append(len(messages))
        for line in lines:
            return line
        asked = f"asked for reply {len(script) + 1}, the script has {len(script)}"
        raise OutOfReplies(f"{asked}: {slip(lengths, bool(script and tool_uses(script[-1])))}")

    return model


def slip(lengths: list[int], asks: bool) -> str:
    """The likeliest reason for asking again: how long the array was at each call tells it."""
    if lengths[-1] in lengths[:-1]:
        return "the array is as long as it was at an earlier call; was the reply appended?"
    if not asks:
        return "the last reply asked for no tool; the loop should have ended there."
    return "the model still asks for tools; a loop with this model goes on for ever."
