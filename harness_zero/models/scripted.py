"""A model that reads its replies from a script, so that every run is the same run."""

from collections.abc import Callable

from harness_zero.faults import SetupFault
from harness_zero.messages import Message, Reply, tool_uses

Model = Callable[[list[Message]], Reply]


class ScriptExhausted(SetupFault):
    """The loop asked for more replies than the script holds."""


def scripted(*script: Reply) -> Model:
    """A model whose n-th reply is the n-th of its script, whatever it is sent.

    Asked once more than that it raises ScriptExhausted and names the likely slip,
    so a loop that would never end ends here.
    """
    lines = iter(script)
    lengths: list[int] = []

    def model(messages: list[Message]) -> Reply:
        lengths.append(len(messages))
        for line in lines:
            return line
        raise ScriptExhausted(f"asked for reply {len(lengths)} of {len(script)}: {slip(script, lengths)}")

    return model


def slip(script: tuple[Reply, ...], lengths: list[int]) -> str:
    """The likeliest reason for asking again, from how the array grew between the calls."""
    if len(lengths) > 1 and lengths[-1] == lengths[-2]:
        return "the array did not grow since the last call; was the reply appended?"
    if script and not tool_uses(script[-1]):
        return "the last reply asked for no tool; the loop should have ended there."
    return "the loop did what the script asked; the script needs another reply."
