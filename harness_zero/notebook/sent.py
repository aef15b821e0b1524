"""What a run sent, request by request, out of whatever is at hand: requests, a run, a recording."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness_zero.brief import brief, plural
from harness_zero.faults import SetupFault
from harness_zero.messages import block_fault, shape_fault
from harness_zero.models.recorded import Recorded, Replay
from harness_zero.models.tape import Call, read
from harness_zero.notebook.account import account, an
from harness_zero.notebook.stepping import steps
from harness_zero.ports import Request
from harness_zero.prefix import MARK, frozen, is_request
from harness_zero.run import Run
from harness_zero.simulator.rules.caching import control_fault
from harness_zero.watch import Recording

Usage = Mapping[str, Any]


class NothingToCompare(SetupFault):
    """These are not the requests of a run; the sentence says what is missing."""


@dataclass(frozen=True)
class Sent:
    """The requests of a run in order, and what the API declared of each, where that is known."""

    requests: list[Request]
    usages: list[Usage | None]
    notes: list[str] = field(default_factory=list)  # what is not there to be shown


def sent(given: Any) -> Sent:
    """The requests in what was handed over. NothingToCompare if they cannot be compared."""
    found = collected(given)
    seen = Messages()
    for at, each in enumerate(found.requests):
        if fault := request_fault(each, seen):
            raise NothingToCompare(f"item {at} is no request: {fault}")
    if not found.requests:
        raise NothingToCompare("there is no request in this: the lens compares those of a run")
    if len(found.requests) == 1:
        alone = "this is one request, and the lens shows each under the one before"
        raise NothingToCompare(f"{alone}: give it those of two rounds or more")
    models = sorted({str(r["model"]) for r in found.requests if r.get("model")})
    if len(models) > 1:
        own = "and a cache is each model's own: give the lens those of one model"
        raise NothingToCompare(f"these requests go to {' and '.join(models)}, {own}")
    return replace(found, requests=[*map(seen.once, found.requests)])


class Messages:
    """The messages of a run, each looked at once, however often it was copied."""

    def __init__(self) -> None:
        self.by_id: dict[int, Any] = {}  # the first that is equal; the requests hold them all
        self.alike: dict[bytes, Any] = {}

    def fault(self, message: Any) -> str | None:
        """What is wrong with one that is new; None if nothing is."""
        try:
            first = self.by_id[id(message)] = self.alike.setdefault(frozen(message), message)
        except (RecursionError, ValueError):
            return "holds itself, or something that is nested too deeply"
        if first is not message:
            return None
        return shape_fault(as_users(message)) or mark_fault(message["content"])

    def once(self, request: Request) -> Request:
        """A request whose equal messages are the same objects as those of the others."""
        return {**request, "messages": [self.by_id[id(m)] for m in request["messages"]]}


def collected(given: Any) -> Sent:
    """The requests, whatever holds them."""
    if isinstance(given, str | Path):
        return of_calls(read(Path(given)).calls)
    if isinstance(given, Recorded):
        return of_calls(read(given.file).calls)
    if isinstance(given, Replay):
        return of_calls(given.calls)
    if isinstance(given, Run | Recording):
        return of_run(given)
    if is_request(given):
        return of_requests([given])
    if isinstance(given, list | tuple):
        return of_requests(given)
    wanted = "the lens takes a list of requests, a Run, a Recording, or a file of `recorded`"
    raise NothingToCompare(f"{wanted}; this is {an(type(given).__name__)}")


def of_requests(given: Any) -> Sent:
    """A list of requests, of which nothing more is known."""
    return Sent([*given], [None] * len(given))


def request_fault(given: Any, seen: Messages) -> str:
    """Why this is no request, in words; nothing if it is one, as far as a cache looks at it."""
    if isinstance(given, Mapping) and "role" in given:
        return "it is a message; a request has a list of them under `messages`"
    if not is_request(given):
        return f"expected a dict with a list of messages, got {brief(given)}"
    for at, message in enumerate(given["messages"]):
        if id(message) not in seen.by_id and (fault := seen.fault(message)):
            return f"message {at} {fault}"
    return field_fault(given) if given["messages"] else "its list of messages is empty"


def field_fault(request: Request) -> str:
    """What is wrong with the fields beside the messages that a cache looks at."""
    tools, system = request.get("tools"), request.get("system")
    if not is_list_of_dicts(tools):
        return f"tools are a list of dicts, and not {brief(tools)}"
    if not isinstance(system, str) and not is_list_of_dicts(system):
        return f"a system prompt is words or a list of blocks, and not {brief(system)}"
    for block in system if isinstance(system, list | tuple) else ():
        if fault := block_fault(block):
            return f"its system prompt {fault}"
    for name in ("tool_choice", "thinking", "output_config"):
        if not isinstance(request.get(name), dict | None):
            return f"{name} is a dict, and not {brief(request[name])}"
    if not isinstance(request.get("model"), str | None):
        return f"its model is no name but {brief(request['model'])}"
    head = [*(tools or ()), *(system if isinstance(system, list | tuple) else ())]
    fault = mark_fault([{MARK: request.get(MARK)}, *head])
    return fault and f"it {fault}"


def is_list_of_dicts(given: Any) -> bool:
    """Whether this is nothing, or a list in which every item is a dict."""
    return given is None or (
        isinstance(given, list | tuple) and all(isinstance(each, dict) for each in given)
    )


def mark_fault(content: Any) -> str:
    """What is wrong with a mark on some blocks, or inside them; nothing if nothing is."""
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        control = block.get(MARK)
        if control is not None and control_fault(control):
            return f"has the mark {brief(control)}; a mark is {A_MARK}"
        if fault := mark_fault(block.get("content")):
            return fault
    return ""


A_MARK = '{"type": "ephemeral"}, with a ttl of 5m or 1h or without one'


def as_users(message: Any) -> Any:
    """The message as if the user had sent it: a later API may know more roles than two."""
    named = isinstance(message, dict) and isinstance(message.get("role"), str)
    return {**message, "role": "user"} if named else message


def of_run(run: Any) -> Sent:
    """What was sent before each reply of a run, as far as the run itself has kept it."""
    requests: list[Request] = []
    usages: list[Usage | None] = []
    so_far: list[Any] = []
    for step in steps(account(run)):
        if step.message is None or step.message["role"] == "assistant":
            requests.append({"messages": [*so_far]})
            usages.append(usage_of(step.reply))
        if step.message is not None:
            so_far.append(step.message)
    without = "A run keeps its messages alone: the system prompt and the tools are not counted."
    return Sent(requests, usages, [without])


def of_calls(calls: list[Call]) -> Sent:
    """What `recorded` wrote. A call that failed declares nothing, and is left out."""
    requests, usages, failed = [], [], 0
    for request, call in zip(rebuilt(calls), calls, strict=True):
        if "failure" in call.outcome:
            failed += 1
            continue
        requests.append(request)
        usages.append(usage_of(call.outcome["reply"]))
    return Sent(requests, usages, [*notes(requests, usages, failed)])


def rebuilt(calls: list[Call]) -> Iterator[Request]:
    """The requests of a recording, each with a list of its own."""
    request: Request = {}
    for call in calls:
        request = call.after(request)
        yield {**request, "messages": [*request["messages"]]}


def notes(requests: list[Request], usages: list[Usage | None], failed: int) -> Iterator[str]:
    """What cannot be shown, in plain sentences."""
    if failed:
        one = failed == 1
        yield f"{plural(failed, 'call')} that failed {'is' if one else 'are'} left out."
    if streamed := sum(bool(request.get("stream")) for request in requests):
        kept = "what a stream declared in its events is shown as far as the reply kept it"
        yield f"{plural(streamed, 'request')} asked for a stream: {kept}."
    unknown = sum(usage is None for usage in usages)
    if 0 < unknown < len(usages):
        yield f"{plural(unknown, 'reply', 'replies')} declared no usage: all figures are estimates."


def usage_of(reply: Any) -> Usage | None:
    """What the API declared of a request; None if it declared nothing of its input."""
    usage = reply.get("usage") if isinstance(reply, Mapping) else None
    return usage if isinstance(usage, Mapping) and any(parts(usage)) else None


def parts(usage: Usage) -> tuple[int, int, int, int]:
    """Read, written for five minutes, written for an hour, and fresh, of a usage."""
    read_, written = count(usage, "cache_read_input_tokens"), count(usage, WRITTEN)
    inside = usage.get("cache_creation")
    hour = count(inside, "ephemeral_1h_input_tokens") if isinstance(inside, Mapping) else 0
    hour = min(hour, written)
    return read_, written - hour, hour, count(usage, "input_tokens")


WRITTEN = "cache_creation_input_tokens"


def count(usage: Usage, name: str) -> int:
    """One counter; what is absent, no number, or less than nothing counts as nothing."""
    value = usage.get(name)
    return max(0, value) if isinstance(value, int) and not isinstance(value, bool) else 0
