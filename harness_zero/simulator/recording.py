"""A recording behind the offline API: the real SDK is given what was answered then.

A cassette gives its answers verbatim, with their status and headers; a recording of
our own (`models.recorded`) gives replies, which the API wraps. Both answer in order, and
only what was asked then.
"""

from collections import deque
from collections.abc import Sequence
from pathlib import Path

from harness_zero.faults import SetupFault
from harness_zero.messages import Reply
from harness_zero.models.recorded import RecordingEnded, Replay, ended, hold, replay
from harness_zero.models.tape import START
from harness_zero.prefix import SECTIONS
from harness_zero.simulator.exchange import Answer, Body, Source
from harness_zero.traces.cassettes import Exchange, exchanges


class CannotAnswer(SetupFault):
    """A recorded call cannot be played back through the API: which one, and what can be done."""


def recording(recorded: Sequence[Exchange] | str | Path) -> Source:
    """What answers a request with what was answered when it was recorded, in that order.

    Exchanges, or a file: a cassette, or a recording of our own.
    """
    if not isinstance(recorded, str | Path):
        return of_exchanges(list(recorded))
    file = Path(recorded)
    return of_replay(replay(file)) if is_ours(file) else of_exchanges(exchanges(file))


def is_ours(file: Path) -> bool:
    """Whether a file begins as our recordings do. One that is not there is nobody's."""
    try:
        with file.open("rb") as content:
            begins = content.read(len(START))
    except OSError:
        return False
    return START.startswith(begins)


def of_exchanges(recorded: list[Exchange]) -> Source:
    """A source that gives the recorded answers, as they were."""
    for number, exchange in enumerate(recorded, start=1):
        if exchange.streams:
            raise CannotAnswer(streaming(number))
    left = deque(recorded)

    def answer(body: Body) -> Answer:
        made = len(recorded) - len(left)
        if not left:
            raise RecordingEnded(ended(made))
        hold(made + 1, unstreamed(left[0].request), unstreamed(body))
        exchange = left.popleft()
        return Answer(exchange.answer, exchange.status, exchange.headers)

    return answer


def of_replay(model: Replay) -> Source:
    """A source that gives the recorded replies.

    What a client adds of its own to a request (a model's name, max_tokens) was not recorded,
    so it is not compared; tools, system and messages always are.
    """

    def answer(body: Body) -> Reply:
        known = {*model.upcoming(), *SECTIONS}
        if failure := model.calls[model.made].outcome.get("failure"):
            raise CannotAnswer(failing(model.made + 1, failure))
        return model({name: value for name, value in body.items() if name in known})

    return answer


def unstreamed(request: Body) -> Body:
    """A request without the field that says no to streaming, which is what silence says."""
    return {name: value for name, value in request.items() if (name, value) != ("stream", False)}


def streaming(number: int) -> str:
    """A sentence about an exchange that came as events."""
    why = "this one streams; a recording gives whole answers"
    return f"exchange {number} cannot be given back: {why}. Leave it out (`not exchange.streams`)."


def failing(number: int, failure: dict[str, str]) -> str:
    """A sentence about a call for which the API's own answer was not recorded."""
    failed = f"call {number} failed with {failure['kind']} ({failure['words']})"
    return (
        f"{failed}; what the API answered was not recorded. models.recorded.replay fails as it did."
    )
