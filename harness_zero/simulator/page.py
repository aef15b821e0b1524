"""docs/messages_api.md: the rules of the Messages API, as the offline one obeys them.

`python -m harness_zero.simulator.page` writes it; a test refuses one that is stale.
"""

import json
from pathlib import Path

from harness_zero.messages import reply
from harness_zero.simulator.api import VERSIONS, Api, Call
from harness_zero.simulator.examples import Example, examples
from harness_zero.simulator.exchange import Answer
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
- Prompt caching comes with chapter 07.
"""


def page() -> str:
    """The whole page."""
    table = examples()
    return HEAD + "".join(section(rule, table) for rule in RULES) + TAIL


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
