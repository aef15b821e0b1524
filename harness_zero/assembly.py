"""The one right order in which the parts go together.

              outermost                                             asked last, or innermost
    policy    stop │ news │ brakes, the pool's among them │ detectors       the first end counts
      a stop  late outcomes ( stop hook ( output type ( recover ( nudge ( when full (
              structural stop ))))))
    view      cached ( compacted ( plain ))
    model     pool ( journal ( more room ( recorded ( told full ( the model )))))
    tool      hook before ( hook after ( permission ( pool of children ( journal (
              toolbox ( functions ))))))
    harness   journal ( pool ( the turn ))

**Policy.** What softens a stop wraps it: beside the stop it would never be heard, since an end
outweighs words. Brakes stand behind the stop: inside a wrapper they could be talked out of
holding, before it they would take an answer in the last round away. News is no reason to go on
after an answer, so it stands behind the stop; and before the brakes, as all does that is none.
Detectors come last: where a limit is reached as well, the label is the plain one.

**View.** Marks are set last, on what is really sent.

**Model.** All attempts of a call are one step. The pool stands outside of the journal: a replay,
which asks no model, pays again. Whoever asks a model beside the array (a judge, a summary) is
given the same one as the loop, out of `accounted`.

**Tool.** The journal is next to the effect: nothing but the effect happens between its intent
and its outcome. A denial is no outcome, so permission is outside; an answer that somebody gave
is a step of its own. A hook before may change the call, so permission, which judges what will
run, is inside of it. A hook after is told the call as it ran. Hooks are steps as well. Whatever
else reads the world (a check of a stop hook, a source of news) is made one with `Journal.step`.

**Harness.** The journal is outermost, since it notes how the turn ended, and the pool may still
name the end.

A wrong order is refused with the reason: see `layers.py`, and `policy.py` for brakes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any

from harness_zero import hooks, policy
from harness_zero.brief import brief
from harness_zero.budget import PAID, Pool, at_once
from harness_zero.doubt import reads
from harness_zero.faults import SetupFault
from harness_zero.hooks import After, Before
from harness_zero.interrupts import heeding, heeding_tool
from harness_zero.journal import JOURNALED, Journal
from harness_zero.labels import Label
from harness_zero.layers import WrongOrder, layers, marked_parts
from harness_zero.loop import turn
from harness_zero.messages import Message
from harness_zero.permission import Ask, Rule, permission
from harness_zero.ports import Model, Policy, Tool, View
from harness_zero.run import Clock, Run
from harness_zero.toolbox import toolbox
from harness_zero.view import plain

UNHEARD = "nobody knows what the hook before this call did, so the call was not made"

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
    pool: Pool | None = None,
    rules: Sequence[Rule] | None = None,
    ask: Ask | None = None,
    before: Sequence[Before] = (),
    after: Sequence[After] = (),
    news: Sequence[Policy] = (),
) -> Harness:
    """A harness: give it a run with an open turn, and it plays that turn to its end.

    Without rules every call is allowed; with rules, `ask` is asked where none of them decides.
    """
    view = view or plain()
    refuse_no_parts(tools, {"model": model, "stop": stop, "view": view})
    lists = {"brakes": brakes, "detectors": detectors, "before": before, "after": after}
    refuse_no_lists({**lists, "news": news, "rules": rules or []})
    tool = toolbox(tools)
    refuse_unaccounted((stop, view), journal, pool)
    if journal:
        journaled, stop = partial(journal.tool, functions=tools), journal.policy(stop)
        tool = pool.tool(tool, journaled) if pool else journaled(tool)
    step = journal.step if journal else at_once
    tool = guarded(tool, step, rules, ask, before, after)
    held = *brakes, *([pool.brake()] if pool else [])
    asked = policy.first_of(stop, heeding, *news, *held, *detectors)
    parts = asked, view, accounted(model, journal, pool), heeding_tool(tool)

    def harness(run: Run) -> Run:
        return turn(run, *parts)

    played = pool.harness(harness, step) if pool else harness
    return journal.harness(played) if journal else played


def refuse_no_parts(tools: Any, ports: dict[str, Any]) -> None:
    """Raise unless there are tools by name, and functions where functions are wanted."""
    if not isinstance(tools, Mapping):
        raise SetupFault(f'tools are functions by name, as {{"look": look}}; not {brief(tools)}')
    for name, part in ports.items():
        if not callable(part):
            raise SetupFault(f"{name} is a function; this one is {brief(part)}")


def refuse_no_lists(given: dict[str, Any]) -> None:
    """Raise unless each of these is a list, be it of one."""
    for name, parts in given.items():
        if not isinstance(parts, Iterable):
            wants = f"{name} takes a list, be it of one: {name}=[...]"
            raise SetupFault(f"{wants}; this is {brief(parts)}")


def accounted(model: Model, journal: Journal | None = None, pool: Pool | None = None) -> Model:
    """A model as all parts of a harness ask it: each call is a step, and is paid for.

    What is so already stays as it is.
    """
    known = layers(model)
    if journal and JOURNALED not in known:
        model = journal.model(model)
    return pool.model(model) if pool and PAID not in known else model


def refuse_unaccounted(asking: Iterable[Any], journal: Journal | None, pool: Pool | None) -> None:
    """WrongOrder if a judge or a summary asks a model that is neither journaled nor paid."""
    wanted = [JOURNALED] * bool(journal) + [PAID] * bool(pool)
    for part in (part for each in asking for part in marked_parts(each) if part.asks):
        if missing := [name for name in wanted if name not in layers(part.asks)]:
            raise WrongOrder(
                f"{part.layer} asks a model outside of {' and '.join(missing)}: a replay would ask"
                " it again, or nobody would pay. Give it, and the harness, the same model:"
                " accounted(model, journal, pool)"
            )


def guarded(
    tool: Tool,
    step: Callable[..., Any],
    rules: Sequence[Rule] | None,
    ask: Ask | None,
    before: Sequence[Before],
    after: Sequence[After],
) -> Tool:
    """A tool, and around it whoever may say no. The first hook of a list is the first to see."""
    if rules is not None:
        tool = permission(tool, rules, step("permission", waiting(ask)) if ask else None)
    for number, last in enumerate(after, 1):
        tool = hooks.after(tool, step(f"hook after {number}", last, lambda call, came: came))
    for number, first in reversed([*enumerate(before, 1)]):
        tool = hooks.before(tool, step(f"hook before {number}", first, lambda call: UNHEARD))
    return tool


def waiting(ask: Ask) -> Ask:
    """A question that is asked again after a restart if nobody has answered it."""
    return reads(lambda call: ask(call))


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
