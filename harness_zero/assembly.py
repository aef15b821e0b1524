"""The one right order in which the parts go together.

    policy   first_of( stop softened by what wraps it,  then the brakes,  then the detectors )
    view     what the model is sent, the tools' schemas included
    model    scripted, recorded, real; what asks it again (more room) wraps it, then the journal
    tool     toolbox( functions ),  then the journal

What softens a stop wraps it: beside the stop it would never be heard, since an
end outweighs words. Brakes stand beside the stop and behind it: inside a wrapper
they could be talked out of holding, before it they would take an answer away.
`policy.py` refuses both with the reason. Detectors come last: where a limit is
reached as well, the label is the plain one. None is there unless it is given, since
a detector has to be told which tools are asked again in order to wait.

A journal stands outside of whatever asks a model again, so that all attempts are one step, and
directly around the tools, so that nothing happens between an intent and its effect. It wraps the
stop, since an outcome that comes late has to be heard before the turn is over, and the turn.
Whatever else asks something of the world, a judge, a check, news, a summary's model, is made a
step by whoever puts it in: `journal.step(name, effect)`, or `journal.model(model)`.
"""

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any

from harness_zero import policy
from harness_zero.journal import Journal
from harness_zero.labels import Label
from harness_zero.loop import turn
from harness_zero.messages import Message
from harness_zero.ports import Model, Policy, View
from harness_zero.run import Clock, Run
from harness_zero.toolbox import toolbox
from harness_zero.view import plain

Functions = Mapping[str, Callable[..., Any]]
Harness = Callable[[Run], Run]  # plays one turn

COST_CAP = policy.cost_cap(2.0)
USUAL = (policy.max_rounds(50), COST_CAP, policy.deadline(600))


def assemble(
    model: Model,
    tools: Functions,
    stop: Policy = policy.structural_stop,
    brakes: Sequence[Policy] = USUAL,
    view: View | None = None,
    detectors: Sequence[Policy] = (),
    journal: Journal | None = None,
) -> Harness:
    """A harness: give it a run with an open turn, and it plays that turn to its end."""
    tool = toolbox(tools)
    if journal:
        stop, model, tool = journal.policy(stop), journal.model(model), journal.tool(tool, tools)
    parts = policy.first_of(stop, *brakes, *detectors), view or plain(), model, tool

    def harness(run: Run) -> Run:
        return turn(run, *parts)

    return journal.harness(harness) if journal else harness


def play(
    model: Callable[[list[Message]], Any],
    tools: Functions,
    prompt: str,
    max_rounds: int = 20,
    cap_usd: float = 2.0,
    seconds: float = 600,
    clock: Clock = monotonic,
    more: Sequence[Policy] = (),
) -> tuple[list[Message], Label | None]:
    """The library in the shape of a stage: messages and a label, and a model of messages."""
    brakes = policy.max_rounds(max_rounds), policy.cost_cap(cap_usd), policy.deadline(seconds)
    harness = assemble(of_messages(model), tools, brakes=brakes, detectors=more)
    run = harness(Run(prompt, clock))
    return run.messages, run.label


def of_messages(model: Callable[[list[Message]], Any]) -> Model:
    """A stage's model behind the model port: of a request it takes the messages."""
    return lambda request: model(request["messages"])
