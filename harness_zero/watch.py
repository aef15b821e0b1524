"""Watch a run as it happens: the model and the tools are wrapped, the loop stays as it is.

The printed trace is what a person sees of a run, in the terminal and in a notebook.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, Any

from harness_zero.brief import brief, plural
from harness_zero.containment import contained
from harness_zero.doubt import asked
from harness_zero.faults import SetupFault, hole, place
from harness_zero.loop import ModelFailed
from harness_zero.marks import unmarked
from harness_zero.messages import (
    Block,
    Message,
    Reply,
    reply_fault,
    said,
    shape_fault,
    tool_results,
    tool_uses,
    words,
)
from harness_zero.patience import Alarm, StillRunning
from harness_zero.toolbox import input_fault

if TYPE_CHECKING:
    from harness_zero.follow import Followed, Follower

Tools = Mapping[str, Callable[..., Any]]
Speak = Callable[[Any], Reply]  # a model of messages, or of a request
Tell = Callable[[str, str], None]  # a line, and its kind: you, call, result, error, says

LINES, COLUMNS = 4, 88
PATIENCE = 2.0  # seconds in which a loop asks the model or a tool for something
SPARE = 20  # calls beyond those that the model asked for
CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def plain(line: str, kind: str) -> None:
    """Print a line as it is."""
    print(line, flush=True)


class EndlessCalls(SetupFault):
    """The loop makes calls and does not come back to the model."""


class NotAnArray(SetupFault):
    """The model was called with something else than the messages."""


def array_in(request: Any) -> list[Message]:
    """The messages that the model is sent, alone or in a request."""
    array = request.get("messages") if isinstance(request, dict) else request
    if not isinstance(array, list):
        wants = "the model takes the list of all messages"
        raise NotAnArray(f"{wants}; it was called with {brief(request, 100)}")
    return array


class NoSuchTool(KeyError):
    """The model asked for a tool that does not exist."""

    def __str__(self) -> str:
        return str(self.args[0])


class Toolbox(dict):
    """Tools by name; a name that is not there is answered with the names that are."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        raise NoSuchTool(f"there is no tool {name!r}; there are {', '.join(self)}")


class Watch:
    """One run under observation: it tells what happens, and keeps the array if the run is lost."""

    def __init__(self, tell: Tell = plain, alarm: Alarm | None = None) -> None:
        self.tell = tell
        self.alarm = alarm  # counts while the loop itself is at work
        self.others = 0  # models and tools at work; a loop may make several calls at once
        self.lock = Lock()
        self.begun: list[tuple[str, Any]] = []  # the calls since the model last spoke
        self.messages: list[Message] = []  # the array as the loop last sent it
        self.whole: list[Message] | None = None  # the array of the run that came back
        self.calls = 0  # how many tool calls were begun
        self.replies: list[Reply] = []

    @property
    def rounds(self) -> int:
        """How often the model has spoken."""
        return len(self.replies)

    def play(self, run: Callable, model: Speak, tools: Tools, prompt: str) -> Any:
        """Play the run with everything it does told; gives back what the run gives back."""
        self.tell(f"you  {shown(str(prompt))}", "you")
        told = Toolbox({name: self.tool(name, function) for name, function in tools.items()})
        given = run(self.model(model), told, prompt)
        self.tell_unmade()
        whole = getattr(given, "messages", None)
        self.whole = whole if isinstance(whole, list) else None
        return given

    def model(self, model: Speak) -> Speak:
        """The same model, of messages or of a request; its rounds are counted, its words told."""

        def speak(request: Any) -> Reply:
            self.messages = array_in(request)
            self.tell_unmade()
            with self.at_rest():
                reply = model(request)
            if fault := reply_fault(reply):
                raise ModelFailed(fault)
            self.replies.append(reply)
            if said_aloud := words(reply):
                self.tell(f"{self.rounds:>3}  {shown(said_aloud)}", "says")
            return reply

        return speak

    def tool(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same tool; its calls and what comes back are told."""

        @wraps(function)
        def call(**input: Any) -> Any:
            self.calls += 1
            made = asked(function, input)
            self.begun.append((name, made))
            self.refuse_endless()
            self.tell(f"{self.rounds:>3}  {as_call(name, made)}", "call")
            try:
                if fault := input_fault(function, made):
                    raise TypeError(fault)
                with self.at_rest():
                    output = function(**input)
            except BaseException as error:
                self.tell(f"     {shown(f'{type(error).__name__}: {error}')}", "error")
                raise
            self.tell(f"     {shown(str(output))}", "result")
            return output

        return call

    def tell_unmade(self) -> None:
        """Tell the calls of the last reply that were answered without a tool being run."""
        calls = tool_uses(self.replies[-1]) if self.replies else []
        sound = [message for message in self.messages[-2:] if not shape_fault(message)]
        answers = {r["tool_use_id"]: r for message in sound for r in tool_results(message)}
        for call in calls:
            wanted = (call["name"], call["input"])
            if wanted in self.begun:
                self.begun.remove(wanted)
            elif call["id"] in answers:
                self.tell(f"{self.rounds:>3}  {as_asked(call)}", "call")
                self.tell(f"     {shown(str(answers[call['id']].get('content', '')))}", "error")
        self.begun = []

    def refuse_endless(self) -> None:
        """Raise if many more calls are made than the model asked for."""
        wanted = len(tool_uses(self.replies[-1])) if self.replies else 0
        made = len(self.begun)
        if made > wanted + SPARE:
            raise EndlessCalls(
                f"the last reply asked for {plural(wanted, 'call')}, and {made} were made without"
                " asking the model again; does the loop call the model inside its cycle?"
            )

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """While the model or a tool is at work, the loop's clock stands still."""
        self.count_others(+1)
        try:
            yield
        finally:
            self.count_others(-1)

    def count_others(self, change: int) -> None:
        """One more or one less is at work; the clock runs while nobody is."""
        with self.lock:
            self.others += change
            if self.alarm:
                self.alarm.pause() if self.others else self.alarm.resume()

    def array(self) -> list[Message]:
        """All messages so far: the run's; else as last sent, and the reply if the loop lost it."""
        if self.whole is not None:
            return [*self.whole]
        sent = [unmarked(message) for message in self.messages]
        last = said(self.replies[-1]) if self.replies else None
        return [*sent, last] if last and last not in sent[-2:] else sent

    def unanswered(self) -> list[Block]:
        """The calls in the last reply that have no result in the array."""
        array = self.array()
        return tool_uses(array[-1]) if array and array[-1]["role"] == "assistant" else []


@dataclass(frozen=True)
class Recording:
    """A run of any loop, as the model and the tools saw it."""

    messages: list[Message]
    replies: list[Reply]  # as the model gave them, with what the array does not keep
    label: str | None  # how it ended, if the loop tells
    why: str = ""
    fault: str = ""  # what took the run down, if something did
    followed: Followed | None = field(default=None, compare=False, repr=False)  # its lines, if kept
    under_way: bool = False  # the turn is not over: the last message's calls may still wait


def record(
    run: Callable, model: Speak, tools: Tools, prompt: str, code: bool | Callable = False
) -> Recording:
    """Play a run without printing it, and keep what it did, whatever became of it.

    With `code=True` the lines of `run` are followed too, with the values of its names, and those
    of whatever else its author wrote; `step` shows them. Where `run` only wraps a function of this
    package, name that one: `code=s2.run`. Lines can be followed while a run is played and at no
    other time; it takes longer, and other threads, coroutines and C are not followed.
    """
    observed = Watch(lambda line, kind: None)
    follower = following(run if code is True else code, observed) if code else nullcontext()
    label: Any = None
    fault = ""
    try:
        with contained(), follower as followed:
            given = observed.play(run, model, tools, prompt)
        label = given[1] if isinstance(given, tuple) else getattr(given, "label", None)
    except (Exception, SetupFault) as error:
        fault = f"{type(error).__name__}: {error}{place(error)}"
    why = "" if fault else str(getattr(given, "why", ""))
    return Recording(observed.array(), observed.replies, label, why, fault, followed)


def following(function: Any, observed: Watch) -> Follower:
    """What follows the lines of a function while a run is observed; imported only then."""
    from harness_zero.follow import Follower

    return Follower(function, lambda: (observed.rounds, observed.messages))


class RunLost(SetupFault):
    """An exception ended the run, and what the run had gathered went with it."""


def watch(run: Callable, model: Speak, tools: Tools, prompt: str) -> Any:
    """Play a run and print it as it happens; gives back what the run gives back.

    A hole that is not filled yet is no error: that is said, and None comes back. A
    loop that is at work by itself for two seconds is stopped.
    """
    try:
        return play(run, model, tools, prompt)
    except NotImplementedError as error:
        print(f"     not done yet: there is a hole in {hole(error)}.")


def play(run: Callable, model: Speak, tools: Tools, prompt: str) -> Any:
    """Play a run and print it. An exception becomes RunLost, which says what was raised where."""
    try:
        with Alarm(PATIENCE) as alarm, contained():
            observed = Watch(alarm=alarm)
            result = observed.play(run, model, tools, prompt)
    except NotImplementedError:
        raise
    except StillRunning as error:
        raise StillRunning(f"{error}{place(error)}; what should have ended it?") from None
    except Exception as error:
        raise RunLost(f"{type(error).__name__}: {error}{place(error)}") from error
    print(f"     {ended(result)}{counted(observed)}")
    return result


def ended(given: Any) -> str:
    """The label of what a run gave back, to stand before its counts; nothing if it has none."""
    label = given[1] if isinstance(given, tuple) and len(given) == 2 else None
    label = label or getattr(given, "label", None)
    return f"{label}: " if isinstance(label, str) else ""


def counted(observed: Watch) -> str:
    """How many rounds and calls a run took, in words."""
    asked = sum(len(tool_uses(reply)) for reply in observed.replies)
    return f"{plural(observed.rounds, 'round')}, {calls(asked, observed.calls)}"


def calls(asked: int, made: int) -> str:
    """How many tool calls a run took, in words; where some were not made, both numbers."""
    told = plural(asked, "tool call")
    return told if made == asked else f"{told} asked, {made} made"


def as_asked(call: Block) -> str:
    """A call as the model asked for it; an input that is no object stands there as it is."""
    given = call["input"]
    return as_call(call["name"], given if isinstance(given, dict) else {"input": given})


def as_call(name: str, input: Mapping[str, Any]) -> str:
    """A call as one would write it, on one line."""
    arguments = ", ".join(f"{key}={value!r}" for key, value in input.items())
    return clipped(printable(f"{name}({arguments})"))


def shown(text: str) -> str:
    """The first and last lines of a text, indented under its call, safe to print."""
    lines = [clipped(line.rstrip()) for line in printable(text).strip("\n").split("\n")]
    if len(lines) > LINES:
        cut = len(lines) - LINES + 1
        lines = [*lines[: LINES - 2], f"... {cut} more lines ...", lines[-1]]
    return "\n".join(f"     {line}".rstrip() for line in lines).lstrip(" ")


def clipped(line: str) -> str:
    """A line cut to the width of the page."""
    return line if len(line) <= COLUMNS else line[: COLUMNS - 3] + "..."


def printable(text: str) -> str:
    """The text with what would move the cursor or turn the line around spelled out."""
    return CONTROL.sub(lambda found: ascii(found.group())[1:-1], text)
