"""Rules on thinking blocks: they come back as they were, on the newest models with all before."""

from collections.abc import Iterator

from harness_zero.messages import blocks, tool_uses
from harness_zero.simulator.rule import Asked, Refusal, Rule, rule
from harness_zero.simulator.signature import SEALED, is_thought, link, signed

EXTENDED = "Claude documentation, extended thinking"
UNCHANGED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
    "These blocks must remain as they were in the original response."
)


@rule("while tools are at work, thinking blocks come back as they were", "array", EXTENDED)
def thoughts_come_back(asked: Asked, new: int) -> Iterator[Refusal]:
    last = len(asked.messages) - 1
    at = next((n for n in range(last, -1, -1) if asked.messages[n]["role"] == "assistant"), 0)
    message = asked.messages[at]
    for call in tool_uses(message):
        given = asked.served.thoughts.get(call["id"])
        if given is not None and [b for b in blocks(message) if is_thought(b)] != given:
            mend = f"Message {at} had thinking blocks when it came, and now has others"
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
            name = SEALED.get(block["type"])
            if name and block.get(name) != signed(block, chain)[name]:
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
