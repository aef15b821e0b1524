"""The table of examples against a real Messages API: `make conformance` says what disagrees.

A request that is refused costs nothing; those that are accepted ask for 16 tokens each
(two of them for 1,025 and 2,000 at most).
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from harness_zero.simulator.examples import Example, examples


@dataclass(frozen=True)
class Disagreement:
    """What our table says of a request, and what the API says."""

    example: Example
    ours: str
    theirs: str

    def __str__(self) -> str:
        return f"{self.example.name}\n    ours    {self.ours}\n    theirs  {self.theirs}"


def disagreements(client: Any, table: Iterable[Example]) -> Iterator[Disagreement]:
    """Send each example, and give back those that are answered otherwise than the table says."""
    for example in table:
        status, words = answered(client, example)
        expected = 200 if example.accepted else example.status
        same = status == expected and example.says in words
        alike = status == expected and example.rule.wording == "ours"  # nobody knows the words
        if not (same or alike):
            ours = f"{expected} {example.says or 'a message'}"
            yield Disagreement(example, ours, f"{status} {words}")


def answered(client: Any, example: Example) -> tuple[int, str]:
    """The status and the words with which the API answers an example."""
    options = {"headers": {"anthropic-version": example.version}}
    try:
        client.post("/v1/messages", body=example.body, cast_to=object, options=options)
    except Exception as error:
        if not hasattr(error, "status_code"):
            raise
        return error.status_code, str(getattr(error, "api_message", None) or error)
    return 200, ""


def main() -> int:
    """Compare with the real API, if there is a key; 0 if nothing disagrees, 2 if none was asked."""
    from harness_zero.models.claude import REACH, connect, masked, reachable

    if not reachable():
        print(f"Nothing was compared: set {REACH[0]}, or {REACH[2]}, to ask a Messages API.")
        return 2
    table = examples()
    client = connect(None).with_options(max_retries=2)
    found = [*disagreements(client, table)]
    for disagreement in found:
        print(masked(str(disagreement)))
    print(f"{len(table)} requests, {len(found)} answered otherwise than docs/messages_api.md says")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
