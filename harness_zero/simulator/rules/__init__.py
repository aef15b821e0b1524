"""The rules of the Messages API, each once, in the order in which they are asked."""

from harness_zero.simulator.rule import Rule
from harness_zero.simulator.rules import array, caching, content, pairs, request, thinking, tools

RULES: tuple[Rule, ...] = (
    *request.RULES,
    *caching.FILLING,
    *request.THINKING_RULES,
    *tools.RULES,
    *content.MESSAGE_RULES,
    *content.FORM,
    *caching.BLOCK_RULES,
    *content.SAYING,
    *array.RULES,
    *caching.RULES,
    *pairs.RULES,
    *array.ONCE,
    *thinking.RULES,
)
