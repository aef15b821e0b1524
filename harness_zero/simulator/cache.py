"""The prompt cache of the offline API: what was written, until when, and what a request reads of it."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

from harness_zero.simulator.catalogue import Facts
from harness_zero.simulator.exchange import Body
from harness_zero.simulator.speech import tokens


@dataclass(frozen=True)
class Missed:
    """Where a request first differs from the one before it, and what that cost."""

    kind: str  # model_changed, tools_changed, system_changed, messages_changed, unavailable
    where: str  # the block, as `prefix` names it; or the field
    tokens: int  # that would have been read


@dataclass(frozen=True)
class Counted:
    """The tokens of a request, each in one of four places; estimates unless they are declared."""

    fresh: int
    read: int = 0
    written_5m: int = 0
    written_1h: int = 0
    missed: Missed | None = None  # against the request before it, of the same key

    @property
    def written(self) -> int:
        """All that was written."""
        return self.written_5m + self.written_1h

    @property
    def total(self) -> int:
        """All that the model reads."""
        return self.fresh + self.read + self.written

    def usage(self) -> Body:
        """The counters as the API gives them."""
        return {
            "input_tokens": self.fresh,
            "cache_creation_input_tokens": self.written,
            "cache_read_input_tokens": self.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written_5m,
                "ephemeral_1h_input_tokens": self.written_1h,
            },
        }


class Cache:
    """What was written, and until when. `declared` gives a block's tokens instead of an estimate.

    A request is not changed after it was served, and time comes from `clock`, in seconds.
    """

    def __init__(
        self,
        clock: Callable[[], float] = monotonic,
        declared: Callable[[Any], int] | None = None,
    ) -> None:
        self.clock, self.declared = clock, declared

    def serve(
        self, request: Body, facts: Facts, key: str = "", at: float | None = None
    ) -> Counted:
        """What a request that began now, or at this time, reads and writes."""
        return Counted(tokens(len(str(request)), facts))
