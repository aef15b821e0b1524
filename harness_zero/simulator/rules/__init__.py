"""The rules of the Messages API, each once, in the order in which they are asked."""

from harness_zero.simulator.rule import Rule
from harness_zero.simulator.rules import array, content, pairs, request, thinking, tools

RULES: tuple[Rule, ...] = (
    *request.RULES,
    *tools.RULES,
    *content.MESSAGE_RULES,
    *content.BLOCK_RULES,
    *array.RULES,
    *pairs.RULES,
    *array.ONCE,
    *thinking.RULES,
)
