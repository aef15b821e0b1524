"""When the context is full: words that a compacted view takes as its sign to cut.

A model that fills its window while it speaks says so by its stop_reason; of a request that does
not even fit, `models/told_full.py` makes the same.
"""

from harness_zero.labels import End, Label, Say
from harness_zero.messages import Block, Message, blocks, text
from harness_zero.policy import WrongOrder, ending, is_brake
from harness_zero.ports import Policy
from harness_zero.run import Run

FULL = "The context was full. What lies further back is now a summary; go on from where you were."


def when_full(stop: Policy, limit: int = 2) -> Policy:
    """Have the view compacted instead of ending, `limit` times a turn at most."""
    if is_brake(stop):
        raise WrongOrder("a brake cannot be wrapped: wrap the stop, let the brake stand beside it")

    def policy(run: Run) -> Say | End | None:
        word = stop(run)
        if not isinstance(word, End) or word.label is not Label.CONTEXT_EXHAUSTED:
            return word
        times = sum(ending(reply) is Label.CONTEXT_EXHAUSTED for reply in run.backwards())
        if times <= limit:
            return Say(FULL)
        return End(word.label, f"{word.why}, and {limit} compactions did not help")

    return policy


def says_full(message: Message) -> bool:
    """Whether the harness said here that the context was full."""
    return any(FULL in said_in(block) for block in blocks(message))


def only_says_full(message: Message) -> bool:
    """Whether it said nothing else in this message."""
    return blocks(message) == [text(FULL)]


def said_in(block: Block) -> str:
    """Where the harness's words can stand: in a text, or in the result of a call not made."""
    if block["type"] == "text":
        return block["text"]
    return str(block.get("content")) if block.get("is_error") else ""
