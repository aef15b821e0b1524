"""Signatures on thinking blocks: they come back as they were given out, or not at all.

The real ones are secret. These are digests: of the thought, and on models that bind a block to
its conversation also of all that stood before it.
"""

from hashlib import sha256
from json import dumps
from typing import Any

from harness_zero.messages import Block, Message, blocks
from harness_zero.prefix import listed
from harness_zero.simulator.exchange import Body

THOUGHTS = ("thinking", "redacted_thinking")
SEALED = {"thinking": "signature", "redacted_thinking": "data"}


def is_thought(block: Block) -> bool:
    """Whether a block holds what the model thought."""
    return block["type"] in THOUGHTS


def apart(content: list[Block]) -> tuple[str, str]:
    """What a message says and does, and what it thinks, each as a digest."""
    spoken = [plain(block) for block in content if not is_thought(block)]
    return digest(spoken), digest([seal(block) for block in content if is_thought(block)])


def waiting(content: list[Block]) -> str:
    """A reply that waits to go on, as a digest; it may come back with a mark."""
    return digest([plain(block) for block in content])


def signed(block: Block, chain: str) -> Block:
    """A thinking block with its signature."""
    return {**block, SEALED[block["type"]]: f"{seal(block)}.{chain}"}


def seal(block: Block) -> str:
    """The part of a signature that stands for the thought itself."""
    return digest(block.get("thinking", ""))


def genuine(block: Block, chain: str) -> bool:
    """Whether a signature is the one given out; a chain is asked for where both sides have one."""
    own, _, bound = str(block.get(SEALED[block["type"]])).partition(".")
    return own == seal(block) and (not chain or not bound or bound == chain)


def digest(*values: Any) -> str:
    """A few characters that are others if a value is another."""
    return sha256(dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def plain(block: Any) -> Any:
    """A block without its cache mark, which may move, and without fields that are null."""
    if not isinstance(block, dict):
        return block
    fields = {n: v for n, v in block.items() if n != "cache_control" and v is not None}
    if isinstance(fields.get("content"), list):
        fields["content"] = [plain(inner) for inner in fields["content"]]
    return fields


def unmarked(message: Any) -> Any:
    """A message without cache marks on its blocks."""
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        return message
    return {**message, "content": [plain(block) for block in message["content"]]}


def start(body: Body) -> str:
    """The chain before the first message: what system and tools are. Words are one block."""
    parts = (body.get("system"), body.get("tools"))
    return digest(*([plain(block) for block in listed(part)] for part in parts))


def link(chain: str, message: Message) -> str:
    """The chain after one message more.

    Thoughts may be left out, so they do not count; nor does it count whether neighbours
    of one role came as one message.
    """
    for block in blocks(message):
        if not is_thought(block):
            chain = digest(chain, message["role"], plain(block))
    return chain
