"""News: what changed while the model worked, a file or a list of things to do.

At the top of a request it would change what every later token stands on, and nothing of the
prefix could be reused. So it enters at the bottom, once per change.
"""

from collections.abc import Callable

from harness_zero.brief import brief
from harness_zero.faults import SetupFault
from harness_zero.labels import Say
from harness_zero.ports import Policy
from harness_zero.run import Run


def news(source: Callable[[], str], title: str, known: str = "") -> Policy:
    """Tell what the source says now, unless it was told last; `known` counts as told already.

    The words enter where a policy's words do: in the last result while the model has not read
    it, else in a message of the user. While calls wait nothing is asked, since they may be
    what changes it. A run that goes on from messages alone is told once more. In `first_of` it
    stands behind the stop and before the brakes.
    """

    def policy(run: Run) -> Say | None:
        if run.pending or run.paused:
            return None
        told = (said for _, said in reversed(run.spoken) if f"<{title}>" in said)
        words = tagged(title, source())
        return None if words in next(told, tagged(title, known)) else Say(words)

    return policy


def tagged(title: str, text: str) -> str:
    """News with its name around it, so that it is told apart from what others say with it."""
    if not isinstance(text, str):
        raise SetupFault(f"news are text, and those of {title!r} are {brief(text)}")
    return f"<{title}>\n{text.strip() or '(nothing)'}\n</{title}>"
