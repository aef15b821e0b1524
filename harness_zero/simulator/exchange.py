"""What travels between a client and the offline API: a request's body, and what is answered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from harness_zero.messages import Reply

Body = dict[str, Any]  # JSON, as the Messages API takes and gives it


@dataclass(frozen=True)
class Answer:
    """One answer of the API as it goes out, and what the connection does to it."""

    body: Any  # JSON; text if the answer is none
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0  # that the server takes
    lost: Literal["", "before", "after"] = ""  # the connection breaks before or after the effect


# What answers a request that broke no rule: a model of ours, a script, a recording.
Source = Callable[[Body], Reply | Answer]
