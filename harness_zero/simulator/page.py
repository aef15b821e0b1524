"""docs/messages_api.md: the rules of the Messages API, as the offline one obeys them.

`python -m harness_zero.simulator.page` writes it; a test refuses one that is stale.
"""

import json
from pathlib import Path

from harness_zero.messages import reply
from harness_zero.simulator.api import VERSIONS, Api, Call
from harness_zero.simulator.examples import Example, examples
from harness_zero.simulator.exchange import Answer
from harness_zero.simulator.invalidation import CHANGES, lost
from harness_zero.simulator.rule import Rule
from harness_zero.simulator.rules import RULES

PAGE = Path(__file__).parents[2] / "docs" / "messages_api.md"
HEAD = """# The rules of the Messages API

The real `anthropic` client of this course talks to an offline Messages API when there is no key.
It is strict: a request that the real API refuses is refused here, as far as we know the rules.
This page lists them. It is made from `harness_zero/simulator/` by
`python -m harness_zero.simulator.page`; the same table is what the tests send, and what
`make conformance` sends to the real API where you have a key.

**No request of ours was ever answered by the real API.** The rules come from the documentation,
from the SDK's source and from public reports of real answers, each with its date. Where a
refusal's words are *known*, someone has published them; they may have changed since, and a
program should not depend on them. Where they are *ours*, only the rule is known.

- *documented*: the provider's documentation or SDK says so
- *reported*: seen in public reports of real answers
- *assumed*: nobody we know of has seen it, and it would be odd otherwise

Token counts are estimates: 2.5 characters a token, 3.4 on models before Opus 4.7 (Claude
documentation, context windows, 2026-08-21). No tokenizer of the current models is public.
"""
TAIL = """
## What is not a rule

- Neighbours of one role are one message: two messages of the user in a row are accepted.
- Results may stand in another order than their calls. The course keeps the order all the same.
- `count_tokens` answers with an estimate. `models` lists the names of the SDK's own list.
- Streaming is not offered yet: `stream` is refused. Threads are refused in the way on which the
  SDK's tool runner sends the whole array instead.
- What the model says is held to the request: cut at `max_tokens` and at a stop sequence, and
  without the calls that `tool_choice` forbids.
- Where it is not known whether a model accepts something, it is accepted here: a forced
  `tool_choice` on Fable 5.2 and Haiku 5.5, a system message inside the array on Sonnet 5.5,
  Haiku 5.5 and Fable 5.2.
- `max_tokens` 0 fills the cache and says nothing; the model behind the API is not asked.

## How the cache counts

Nothing is cached unless a request is marked. What the offline API does then, by Claude's
documentation (prompt caching, 2026-08-21 to 2026-10):

- The prefix is tools, then system, then messages. It is written where it is marked, and nowhere
  else. Each mark looks back for an earlier write, over 20 positions, its own among them; a run of
  `tool_use` blocks is one position, and so is a run of `tool_result` blocks.
- A prefix of fewer tokens than the model's minimum is not cached, and nobody says so.
- A write lives for 5 minutes or for an hour, counted from the start of the request that wrote or
  last read it, on the clock that the `Api` was given. Keys, workspaces and models are apart.
- The counters are disjoint: read up to the longest hit, written for an hour from there to the last
  mark of an hour, written for 5 minutes from there to the last mark, `input_tokens` after it.
- `diagnostics` names the first change since the message that it is told.

| change | tools | system | messages |
|---|---|---|---|
ROWS

What was not known was decided so:

- A change of `thinking` or of the effort costs the messages alone; on some models it costs more.
  Effort `high` is the same as none. A first image costs the messages written before it, and those
  that follow do not; so it is with a first document to be cited, which costs the system prompt too.
- Where a model's minimum is not known (Fable 5.2, Mythos 5.2) it is 512 tokens here.
- A mark on a block inside a result counts as one of the four, and stands where the result ends.
- A mark of an hour on what is cached for five minutes reads it, and leaves it at five minutes.
- `max_tokens`, `stream`, stop sequences and metadata are no part of what is cached (inferred).
- Not done: the mark that the API itself sets after results of tools that the server runs.
"""


def page() -> str:
    """The whole page."""
    table = examples()
    rules = "".join(section(rule, table) for rule in RULES)
    return HEAD + rules + TAIL.replace("ROWS", "\n".join(map(row, CHANGES)))


def row(change: str) -> str:
    """What one change costs at each level, tried out."""
    cells = ("lost" if gone else "kept" for gone in lost(CHANGES[change]).values())
    return f"| {change} | {' | '.join(cells)} |"


def section(rule: Rule, table: tuple[Example, ...]) -> str:
    """One rule: how sure it is, and what is refused and accepted near it."""
    words = "words known" if rule.wording == "known" else "words ours"
    first = rule.name.split()[0]
    title = rule.name if "_" in first else rule.name[0].upper() + rule.name[1:]
    lines = [f"*{rule.confidence}, {words}* · {rule.source} · {rule.date}", ""]
    lines += [f"- {line(example)}" for example in table if example.rule is rule]
    return "\n".join(["", f"## {title}", "", *lines, ""])


def line(example: Example) -> str:
    """One request, and how the offline API answers it."""
    answer = answered(example)
    version = "" if example.version == VERSIONS[-1] else f", in version {example.version}"
    if answer.status == 200:
        return f"{example.what}{version}: accepted"
    return f"{example.what}{version}: {answer.status} ``{answer.body['error']['message']}``"


def answered(example: Example) -> Answer:
    """What the offline API answers."""
    headers = {"x-api-key": "none", "anthropic-version": example.version}
    content = json.dumps(example.body).encode()
    return Api(lambda body: reply("ok"))(Call("POST", "/v1/messages", content, "", headers))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
