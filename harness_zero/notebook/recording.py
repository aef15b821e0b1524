"""What `recorded` wrote, stepped through or under the cache lens."""

from pathlib import Path

from harness_zero.models.tape import NoRecording, read
from harness_zero.notebook.cache_lens import Lens, cache_lens
from harness_zero.notebook.sent import rebuilt
from harness_zero.notebook.step import Steps, step
from harness_zero.notebook.stepping import kept
from harness_zero.watch import Recording


def stepped(file: Path) -> Steps:
    """The run in a recording, as far as it went: the last request, and what came of it."""
    calls = read(file).calls
    if not calls:
        raise NoRecording(f"{file} is empty: no call has been recorded in it")
    *_, last = rebuilt(calls)
    outcomes = [call.outcome.get("reply") for call in calls]
    replies = [reply for reply in outcomes if isinstance(reply, dict)]  # a model may say anything
    failure = calls[-1].outcome.get("failure")
    words = kept(outcomes[-1]) if isinstance(outcomes[-1], dict) else []
    answer = [{"role": "assistant", "content": words}] if words else []
    messages = [*last["messages"], *answer]
    fault = f"{failure['kind']}: {failure['words']}" if failure else ""
    return step(Recording(messages, replies, None, fault=fault))


def under_the_lens(file: Path) -> Lens:
    """The requests of a recording, each under the one before."""
    return cache_lens(file)
