"""Rules on thinking blocks: they come back as they were, on the newest models with all before."""

from collections.abc import Iterator

from harness_zero.messages import blocks, tool_results
from harness_zero.simulator.rule import ALIKE, Asked, Refusal, Rule, rule
from harness_zero.simulator.signature import apart, genuine, is_thought, link

EXTENDED = "Claude documentation, extended thinking"
UNCHANGED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
    "These blocks must remain as they were in the original response."
)


@rule("while tools are at work, thinking blocks come back as they were", "array", EXTENDED)
def thoughts_come_back(asked: Asked, new: int) -> Iterator[Refusal]:
    for at in range(len(asked.messages) - 1, new - 1, -1):
        message = asked.messages[at]
        if message["role"] == "user" and not tool_results(message):
            return  # here the turn began; what was thought before may be left out
        spoken, thought = apart(blocks(message))
        given = asked.served.thoughts.get(spoken, []) if message["role"] == "assistant" else []
        if 0 < len(given) < ALIKE and thought not in given:
            mend = f"Message {at} had other thinking blocks when it came"
            said = f"messages.{at}.content.0: {UNCHANGED}"
            yield Refusal(said, f"{mend}: append the whole content of a reply, untouched.")
            return


@rule(
    "a thinking block bears the signature that it was given, on the newest models in its own place",
    "array",
    "Claude documentation, model pages of Fable 5.1, Opus 5.5 and Sonnet 5.5",
    "2026-09",
)
def thoughts_are_signed(asked: Asked, new: int) -> Iterator[Refusal]:
    chain = asked.chain
    for at in range(new, len(asked.messages)):
        for index, block in enumerate(blocks(asked.messages[at])):
            if is_thought(block) and not genuine(block, chain):
                said = f"messages.{at}.content.{index}: Invalid `signature` in `thinking` block."
                bound = f" {BOUND}" if asked.model.binds else ""
                yield Refusal(f"{said}{bound}", MEND.format(at=at))
                return
        if asked.model.binds:
            chain = link(chain, asked.messages[at])


BOUND = (
    "The block is bound to a different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
MEND = (
    "A thinking block in message {at} is not the one that was given out, or something before it "
    "was changed. Append only; what was said stays as it is."
)

RULES: tuple[Rule, ...] = (thoughts_come_back, thoughts_are_signed)
