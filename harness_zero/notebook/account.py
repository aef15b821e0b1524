"""What is known of a run, whatever kind of run it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness_zero.faults import SetupFault
from harness_zero.messages import Message, Reply
from harness_zero.run import Run
from harness_zero.watch import Recording

if TYPE_CHECKING:
    from harness_zero.follow import Followed


class NothingToStep(SetupFault):
    """What was handed to the stepper is no run."""


@dataclass(frozen=True)
class Account:
    """What can be told of a run, whichever loop played it."""

    messages: list[Message]
    head: list[Message] = field(default_factory=list)  # system and tools, if a request was given
    replies: list[Reply] = field(default_factory=list)
    spoken: list[tuple[int, str]] | None = None  # nothing if the loop does not tell
    limits: dict[str, float] = field(default_factory=dict)
    asides: list[tuple[int, Reply]] = field(default_factory=list)  # at how many messages
    label: Any = None
    why: str = ""
    fault: str = ""
    under_way: bool = False  # calls of the last message may still wait
    followed: "Followed | None" = None  # the lines of its code, if they were followed


def account(run: Any) -> Account:
    """Any run, told in one way; NothingToStep if it is none."""
    if isinstance(run, Run):
        asides = [(at, reply) for at, _, reply in run.asides]
        told = (run.replies, run.spoken, run.limits, asides, run.label, run.why)
        return Account(checked(run.messages, run), [], *told)
    if isinstance(run, Recording):
        ended = (run.label, run.why, run.fault)
        messages = checked(run.messages, run)
        return Account(
            messages, [], run.replies, None, {}, [], *ended, run.under_way, followed=run.followed
        )
    if isinstance(run, tuple) and len(run) == 2 and not is_message(run[0]):
        inner = account(run[0])
        return Account(**{**vars(inner), "label": run[1] if run[1] is not None else inner.label})
    if isinstance(run, dict) and "messages" in run:
        return Account(checked(run["messages"], run), head(run))
    if not isinstance(run, list | tuple) and isinstance(getattr(run, "messages", None), list):
        label, why = getattr(run, "label", None), getattr(run, "why", "")
        return Account(checked(run.messages, run), label=label, why=str(why or ""))
    return Account(checked(run, run))


def checked(messages: Any, run: Any) -> list[Message]:
    """The messages, if that is what they are."""
    if isinstance(messages, list | tuple) and all(is_message(each) for each in messages):
        return list(messages)
    wanted = (
        "step() shows a Run, a Recording, a list of messages, or (messages, label); "
        f"this is {described(run)}."
    )
    if run is None:
        wanted += " Does the loop return its messages?"
    elif isinstance(messages, list | tuple):
        wanted += " A message is a dict with a role and its content."
    elif callable(run):
        wanted += " Hand it what the loop gave back, not the loop."
    raise NothingToStep(wanted)


def is_message(given: Any) -> bool:
    """Whether this looks like a message, be it a sound one or not."""
    return isinstance(given, Mapping) and isinstance(given.get("role"), str)


def described(run: Any) -> str:
    """What was given instead, in a few words that are the same on every machine."""
    if run is None:
        return "None"
    if isinstance(run, list | tuple):
        odd = next((each for each in run if not is_message(each)), None)
        return f"a {type(run).__name__} with {an(type(odd).__name__)} in it"
    return an(type(run).__name__)


def an(noun: str) -> str:
    """The noun with its article."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def head(request: dict[str, Any]) -> list[Message]:
    """What a request says before its messages, as two that have no number: tools and system."""
    tools = [{"type": "tool", **tool} for tool in request.get("tools") or []]
    parts = {"tools": tools, "system": request.get("system")}
    return [{"role": role, "content": content} for role, content in parts.items() if content]
