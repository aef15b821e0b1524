"""Cache marks: they belong to a request and not to a run, so old ones come off before new ones."""

from harness_zero.messages import Block, Message

MARK = "cache_control"  # says what to cache, and is no part of it
LIVES = ("5m", "1h")  # how long what is marked is kept


def unmarked(message: Message) -> Message:
    """The same message without marks; the very same one if it has none, or is none."""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list) or not any(map(has_mark, content)):
        return message
    return {**message, "content": [without_mark(block) for block in content]}


def without_mark(block: Block) -> Block:
    """A block without its mark, and without those of the blocks inside it."""
    if not has_mark(block):
        return block
    plain = {name: value for name, value in block.items() if name != MARK}
    if isinstance(plain.get("content"), list):
        plain["content"] = [without_mark(inner) for inner in plain["content"]]
    return plain


def has_mark(block: Block) -> bool:
    """Whether there is a mark on a block, or inside it."""
    if not isinstance(block, dict):
        return False
    inner = block.get("content")
    return MARK in block or (isinstance(inner, list) and any(map(has_mark, inner)))
