"""The cockpit: model and tools as a harness meets them in a flight, and all that is noted there.

The model is as strict as the API, has a price and a fuel. Nothing in here asks the harness.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from itertools import count
from typing import Any

from harness_zero.brief import brief
from harness_zero.doubt import asked
from harness_zero.faults import SetupFault, place
from harness_zero.flight.faults import BESIDE, FAULTS, IN_MODEL, Clock, calm
from harness_zero.flight.names import Flight
from harness_zero.flight.personas import PERSONAS
from harness_zero.flight.seen import Call, Reader
from harness_zero.flight.steps import DONE, GAVE_UP, LONGEST, TOKEN, Step, as_reply, priced
from harness_zero.loop import ModelFailed
from harness_zero.messages import Message, Reply, said, tool_uses
from harness_zero.patience import Alarm
from harness_zero.rounds import quiet
from harness_zero.toolbox import input_fault
from harness_zero.watch import Toolbox, array_in

FUEL = 300  # replies, refusals included
SPARE = 20  # calls beyond those that the last reply asked for
SECONDS = {"reply": 5.0, "refusal": 1.0}


class OutOfFuel(SetupFault):
    """The harness goes on for ever. It is no Exception, so that no harness turns it into data."""


class Misbuilt(SetupFault):
    """A persona or a skill is at fault, and no harness."""


def is_step(step: Any) -> bool:
    """Whether a persona's step has one of the forms that a step has."""
    parts = step if isinstance(step, list) else []
    calls = [each for each in parts if not isinstance(each, str)]
    return isinstance(step, str | dict | list) and all(
        isinstance(call, tuple) and len(call) == 2 and isinstance(call[1], dict) for call in calls
    )


def room_in(request: Any) -> int:
    """How many characters the reply may have: a request can say so, in tokens."""
    asked = request.get("max_tokens") if isinstance(request, dict) else None
    return asked * TOKEN if isinstance(asked, int) else LONGEST


class Cockpit:
    """One flight, from inside: give `model` and `tools` to a harness, then ask what happened."""

    def __init__(self, flight: Flight, fuel: int = FUEL) -> None:
        self.flight, self.luck, self.fuel = flight, flight.luck, fuel
        self.place, self.clock, self.ids = flight.lay(), Clock(), count(1)
        self.found: list[str] = []  # what tools said after an answer, to a harness that checks it
        self.reader = Reader(self.output, self.found)
        self.outputs: dict[tuple[str, str], str] = {}
        meet = {**FAULTS, **BESIDE}[flight.fault](flight.at, flight.luck, self.clock)
        self.meets_model = flight.fault in IN_MODEL
        self.in_model, self.in_tools = (meet, calm(0, flight.luck, self.clock))
        if not self.meets_model:
            self.in_model, self.in_tools = self.in_tools, self.in_model
        self.alarm: Alarm | None = None  # rings when the harness is at work by itself too long
        self.attempts = self.acts = self.refused = 0
        self.room = LONGEST  # characters of a reply
        self.spare = SPARE  # a harness may look around before it asks the model
        self.replies: list[Reply] = []
        self.messages: list[Message] = []  # as last sent
        self.usd, self.claim, self.dry, self.pressed = 0.0, "", False, False
        self.goal_at: int | None = None
        self.broken: list[tuple[int, str]] = []  # rounds, and what broke in them

    @property
    def rounds(self) -> int:
        """How often the model has spoken."""
        return len(self.replies)

    @property
    def met(self) -> bool:
        """Whether the fault came up."""
        return 0 < self.flight.at <= (self.attempts if self.meets_model else self.acts)

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """While model or tool is at work, the harness's time stands still; without fuel it runs."""
        if self.alarm is None or self.dry:
            yield
            return
        self.alarm.pause()
        try:
            yield
        finally:
            self.alarm.resume()

    def model(self, request: Any) -> Reply:
        """Speak, or refuse as the API would."""
        with self.at_rest():
            return self.answer(request)

    def answer(self, request: Any) -> Reply:
        """What the API answers to a request."""
        self.attempts += 1
        if self.attempts > self.fuel:
            self.burn(f"the model was asked {self.attempts} times")
        messages = array_in(request)
        if fault := self.reader.read(messages):
            self.refused += 1
            self.broken.append((self.rounds, f"the API refuses the request: {fault}"))
            raise ModelFailed(f"the API answered 400: {fault}")
        self.messages, self.room = messages, room_in(request)
        self.clock.sleep(SECONDS["refusal"])
        reply = self.in_model(self.speak, self.attempts)
        return self.hand_over(reply)

    def speak(self) -> Reply:
        """What the persona says to what it has seen."""
        try:
            persona = PERSONAS[self.flight.persona]
            step = persona(self.reader.seen, self.place.skill, self.luck)
        except Exception as error:
            raised = f"{type(error).__name__}: {error}{place(error)}"
            raise Misbuilt(f"in {self.flight} the persona or its skill raised {raised}") from error
        if not is_step(step):
            wants = "words, a reply, or a list of words and of calls such as ('read_file', {})"
            raise Misbuilt(f"in {self.flight} the next step is {wants}; it came as {brief(step)}")
        self.claim = claim(step)
        return as_reply(step, self.ids, self.room)

    def hand_over(self, reply: Reply) -> Reply:
        """Note a reply, and price it by all that was read for it."""
        self.clock.sleep(SECONDS["reply"])
        if reply["stop_reason"] != "end_turn":
            self.claim = ""
        reply = priced(reply, len(self.place.task) + self.reader.seen.characters)
        self.usd += reply["cost_usd"]
        self.spare = SPARE + len(tool_uses(reply))
        self.replies.append(reply)
        self.found.clear()
        return reply

    def output(self, call: Call) -> str | None:
        """What the tool itself said to such a call last."""
        return self.outputs.get(call.key)

    def tools(self) -> Toolbox:
        """The tools of the world; a fault can meet them."""
        return Toolbox({name: self.tool(name) for name in self.place.tools})

    def tool(self, name: str) -> Any:
        """One tool, as the harness gets it."""
        function = self.place.tools[name]

        @wraps(function)
        def call(**input: Any) -> Any:
            self.acts, self.spare, given = self.acts + 1, self.spare - 1, asked(function, input)
            if self.spare < 0:
                self.burn("calls are made for ever without asking the model")
            try:
                with self.at_rest():
                    value = self.make(name, input)
            except Exception as error:
                self.note(name, given, str(error))
                raise
            self.note(name, given, str(value))
            return value

        return call

    def note(self, name: str, input: dict[str, Any], output: str) -> None:
        """Keep what a tool said, and whether the model had asked it to."""
        self.outputs[name, repr(input)] = output
        if output.strip() and self.replies and not tool_uses(self.replies[-1]):
            self.found.append(quiet(output))

    def make(self, name: str, input: dict[str, Any]) -> Any:
        """Make a call, unless a fault meets it."""
        function = self.place.tools[name]
        if fault := input_fault(function, asked(function, input)):
            raise TypeError(fault)
        try:
            return self.in_tools(lambda: self.act(name, input), self.acts)
        except KeyboardInterrupt:
            self.pressed = self.flight.fault == "interrupt"
            raise

    def act(self, name: str, input: dict[str, Any]) -> Any:
        """Let the world change, and look at it after that."""
        self.clock.sleep(self.place.takes.get(name, 0.0))
        effects = len(self.place.effects)
        value = self.place.tools[name](**input)
        if len(self.place.effects) > max(1, effects):
            self.broken.append((self.rounds, f"{name} was done twice"))
        if self.goal_at is None and self.place.quick and self.place.goal():
            self.goal_at = self.rounds
        return value

    def burn(self, why: str) -> None:
        """End a flight that would never end."""
        if not self.dry:
            self.broken.append((self.rounds, f"out of fuel: {why}"))
        self.dry = True
        raise OutOfFuel(f"out of fuel: {why}; what should have ended the run?")

    def array(self) -> list[Message]:
        """All messages as far as they were seen from here: as last sent, and the reply to that."""
        last = said(self.replies[-1]) if self.replies else None
        kept = [*self.messages]
        return [*kept, last] if last and last["content"] and last not in kept[-2:] else kept


def claim(step: Step) -> str:
    """What a model says of its work when it ends: that it is done, that it gave up, or nothing."""
    if not isinstance(step, str) or not step:
        return ""
    return GAVE_UP if step.startswith(GAVE_UP) else DONE
