"""Signatures on thinking blocks: they come back as they were given out, or not at all.

The real ones are secret. These are digests: of the thought, and on models that bind a block to
its conversation also of all that stood before it.
"""

from hashlib import sha256
from json import dumps
from typing import Any

from harness_zero.messages import Block, Message, blocks
from harness_zero.simulator.exchange import Body

THOUGHTS = ("thinking", "redacted_thinking")
SEALED = {"thinking": "signature", "redacted_thinking": "data"}


def is_thought(block: Block) -> bool:
    """Whether a block holds what the model thought."""
    return block["type"] in THOUGHTS


def signed(block: Block, chain: str) -> Block:
    """A thinking block with its signature."""
    name = SEALED[block["type"]]
    return {**block, name: f"{digest(block.get('thinking', ''))}.{chain}"}


def digest(*values: Any) -> str:
    """A few characters that are others if a value is another."""
    return sha256(dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def bare(value: Any) -> Any:
    """A value without cache marks, which may move."""
    if isinstance(value, dict):
        return {name: bare(inner) for name, inner in value.items() if name != "cache_control"}
    return [bare(inner) for inner in value] if isinstance(value, list) else value


def start(body: Body) -> str:
    """The chain before the first message: what system and tools are."""
    return digest(bare(body.get("system")), bare(body.get("tools")))


def link(chain: str, message: Message) -> str:
    """The chain after one message more. Thoughts may be left out, so they do not count."""
    kept = [bare(block) for block in blocks(message) if not is_thought(block)]
    return digest(chain, message["role"], kept)
