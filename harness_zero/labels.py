"""Labels: every way a turn can end, each with a name of its own; and what a policy may say."""

from dataclasses import dataclass
from enum import StrEnum


class Label(StrEnum):
    """Why the harness ended the turn. Exactly one."""

    FINISHED = "finished"  # the model asked for nothing more; never "did the work"
    MAX_ROUNDS = "max_rounds"
    COST_CAP = "cost_cap"
    DEADLINE = "deadline"
    STUCK = "stuck"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    EMPTY_REPLY = "empty_reply"
    MODEL_ERROR = "model_error"
    INTERRUPTED = "interrupted"
    BUSY = "busy"
    VETO_CAP = "veto_cap"
    CONTEXT_EXHAUSTED = "context_exhausted"
    UNKNOWN_STOP = "unknown_stop"


@dataclass(frozen=True)
class Say:
    """A policy's words to the model. The turn goes on."""

    text: str


@dataclass(frozen=True)
class End:
    """A policy's verdict: the turn ends here, and this is why."""

    label: Label
    why: str = ""
