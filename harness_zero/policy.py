"""When to stop, and what to say instead. A policy reads the run and keeps no state.

A **stop** names the end by the last reply. A **brake** holds whether or not the
model wants to go on. What softens a stop (`nudge`, `recover`) wraps it: beside it
in `first_of` it would never be heard, since an end outweighs any words.
"""

from itertools import takewhile

from harness_zero.faults import SetupFault
from harness_zero.labels import End, Label, Say
from harness_zero.messages import Reply, said, tool_uses
from harness_zero.ports import Policy, limits
from harness_zero.run import Run

STOPS = {
    "tool_use": None,
    "pause_turn": None,  # the server wants to go on: send the same array again
    "end_turn": Label.FINISHED,
    "stop_sequence": Label.FINISHED,
    "max_tokens": Label.TRUNCATED,
    "model_context_window_exceeded": Label.CONTEXT_EXHAUSTED,
    "refusal": Label.REFUSED,
}


class WrongOrder(SetupFault):
    """Policies were put together in an order in which one of them could not keep its promise."""


def structural_stop(run: Run) -> End | None:
    """End by the shape of the last word, never by its meaning."""
    reply = run.last_word
    if reply is None or run.pending:
        return None
    label = ending(reply)
    return End(label, f"stop_reason {reply['stop_reason']!r}") if label else None


def ending(reply: Reply) -> Label | None:
    """How a reply ends the turn; nothing if it waits for a tool or was only paused."""
    label = STOPS.get(reply["stop_reason"], Label.UNKNOWN_STOP)
    asks = reply["stop_reason"] == "tool_use"
    if asks or label is Label.FINISHED:
        if asks != bool(tool_uses(reply)):  # the reason and the blocks contradict each other
            return Label.UNKNOWN_STOP
        if not asks and all(block["type"] != "text" for block in said(reply)["content"]):
            return Label.EMPTY_REPLY
    return label


def brake(policy: Policy, **held: float) -> Policy:
    """Mark a policy as one that holds whether or not the model wants to go on, and to what."""
    policy.is_brake, policy.limits = True, held  # type: ignore[attr-defined]
    return policy


def is_brake(policy: Policy) -> bool:
    """Whether a policy is marked as a brake, or holds one."""
    return getattr(policy, "is_brake", False) or bool(limits(policy))


def max_rounds(limit: int) -> Policy:
    """The model speaks `limit` times a turn at most; what it asks for last is not run."""
    end = End(Label.MAX_ROUNDS, f"{limit} rounds")
    return brake(lambda run: end if run.rounds >= limit else None, rounds=limit)


def cost_cap(usd: float) -> Policy:
    """Hold once the run has cost `usd`, all its turns together, or once nobody knows what it costs.

    What a call costs is known after it, so a run can pass the cap by one call.
    """
    spent = End(Label.COST_CAP, f"${usd:.2f} spent")
    unknown = End(Label.COST_CAP, "the price of the model is unknown, so no cap in money can hold")

    def policy(run: Run) -> End | None:
        if run.unpriced:
            return unknown
        return spent if run.cost_usd >= usd else None

    return brake(policy, usd=usd)


def deadline(seconds: float) -> Policy:
    """Hold once the turn has taken `seconds`, by the run's own clock."""
    end = End(Label.DEADLINE, f"{seconds:g} s passed")
    return brake(lambda run: end if run.elapsed >= seconds else None, seconds=seconds)


def first_of(*policies: Policy) -> Policy:
    """The first to end the turn decides; if none does, all that speak are heard.

    Stops come before brakes, so that an answer in the last round counts.
    """
    order = [is_brake(policy) for policy in policies]
    if order != sorted(order):
        raise WrongOrder("a stop stands behind a brake: an answer in the last round would be lost")

    def policy(run: Run) -> Say | End | None:
        spoken = []
        for ask in policies:
            if word := ask(run):
                if isinstance(word, End):
                    return word
                spoken.append(word.text)
        return Say("\n\n".join(spoken)) if spoken else None

    policy.limits = {  # type: ignore[attr-defined]
        name: limit for part in policies for name, limit in limits(part).items()
    }
    return policy


def nudge(stop: Policy, limit: int = 2, words: str = "Please continue.") -> Policy:
    """Answer an empty reply with a few words, `limit` times at most until a tool is called."""
    return instead(stop, Label.EMPTY_REPLY, limit, words)


def recover(
    stop: Policy,
    limit: int = 2,
    words: str = "Your reply was cut off and nothing in it was run. Use smaller pieces.",
) -> Policy:
    """Answer a reply that was cut off, `limit` times at most until a tool is called."""
    return instead(stop, Label.TRUNCATED, limit, words)


def instead(stop: Policy, label: Label, limit: int, words: str) -> Policy:
    """Turn this end into words, `limit` times at most until a tool is called."""
    if is_brake(stop):
        raise WrongOrder("a brake cannot be wrapped: wrap the stop, let the brake stand beside it")

    def policy(run: Run) -> Say | End | None:
        word = stop(run)
        if isinstance(word, End) and word.label is label and in_a_row(run, label) <= limit:
            return Say(words)
        return word

    return policy


def in_a_row(run: Run, label: Label) -> int:
    """How many replies ended like this since the model last called a tool in this turn."""
    idle = takewhile(lambda reply: not called(reply), run.backwards())
    return sum(ending(reply) is label for reply in idle)


def called(reply: Reply) -> bool:
    """Whether a reply had its tools run."""
    return reply["stop_reason"] == "tool_use" and bool(tool_uses(reply))
