"""An output type: the answer that ends a turn has to have a form that a program can read.

It adds to the structural stop and replaces nothing: only a reply that asks for no tool and
ended by itself is looked at. It suits an answer that is handed on, such as a verdict, a
figure, a list of findings. It says nothing of what was done: "tests_pass": true is good form.
"""

import json
import re
from collections.abc import Sequence
from itertools import islice, takewhile
from math import isinf
from typing import Any

from harness_zero.brief import brief, cut, excerpt
from harness_zero.contracts.schema import faults, refuse_unknown
from harness_zero.contracts.veto import LONGEST, QUOTED, is_answer, refuse_brake
from harness_zero.faults import SetupFault, raised
from harness_zero.labels import End, Label, Say
from harness_zero.messages import Reply, words
from harness_zero.policy import called, ending
from harness_zero.ports import Policy
from harness_zero.run import Run

TOLD = 5  # faults that a model is told of at once
FENCE = re.compile(r"^```[^\n`]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


class NotInForm(ValueError):
    """An answer does not have the form that was asked for; in words, what is wrong with it."""


def output_type(stop: Policy, kind: Any, limit: int = 2) -> Policy:
    """Let the turn end as finished once the answer has this form.

    The form is a pydantic model, or a JSON schema as far as `schema.py` checks it. What is wrong
    goes back to the model, `limit` times at most until a tool is called; after that the turn ends
    as `veto_cap`. `output(run.text, kind)` is the value of an answer in form.
    """
    refuse_brake(stop)
    refuse_unknown_kind(kind)

    def policy(run: Run) -> Say | End | None:
        word = stop(run)
        if not is_answer(word, run):
            return word
        fault = form_fault(run.replies[-1], kind)
        if fault is None:
            return word
        if bad_in_a_row(run, kind) > limit:
            return End(
                Label.VETO_CAP,
                f"output type: not in form after {limit + 1} tries: {cut(fault, QUOTED)}",
            )
        return Say(feedback(fault))

    return policy


def output(text: str, kind: Any) -> Any:
    """The value that an answer holds. NotInForm says what is wrong with it.

    The answer is the JSON alone, or has it in a fence of three backticks, with any words around
    that. Nothing is mended. More than one fence is nothing that one could choose from.
    """
    written = bare(text)
    if is_model(kind):
        return validated(kind, written)
    value = parsed(written)
    if found := [*islice(faults(value, kind), TOLD + 1)]:
        raise NotInForm(listed(found))
    return value


def bare(text: str) -> str:
    """The JSON in an answer: what stands in its one fence, or all of it."""
    fenced = FENCE.findall(text)
    if len(fenced) > 1:
        raise NotInForm(f"the answer has {len(fenced)} fenced blocks; one holds the JSON")
    return (fenced[0] if fenced else text).strip()


def parsed(written: str) -> Any:
    """The JSON as a value; NaN and Infinity are none, and 1e999 is no way around that."""

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is no number to JSON")

    def finite(number: str) -> float:
        value = float(number)
        return refuse(cut(number, 20)) if isinf(value) else value

    try:
        return json.loads(written, parse_constant=refuse, parse_float=finite)
    except (ValueError, RecursionError) as error:
        raise NotInForm(f"the answer is no JSON: {brief(written)} ({error})") from None


def validated(kind: Any, written: str) -> Any:
    """What a pydantic model makes of the JSON. The model is used and not imported here."""
    try:
        return kind.model_validate_json(written)
    except ValueError as error:
        told = getattr(error, "errors", None)
        found = told() if callable(told) else [{"loc": (), "msg": str(error)}]
        raise NotInForm(listed([as_sentence(each) for each in found])) from None
    except Exception as error:
        wants = "a validator raises ValueError for what is not in form"
        raise SetupFault(f"the output type raised {raised(error)}; {wants}") from error


def as_sentence(found: dict[str, Any]) -> str:
    """One of pydantic's findings."""
    where = ".".join(map(str, ("the answer", *found["loc"])))
    return f"{where}: {found['msg']}"


def listed(found: Sequence[str]) -> str:
    """The first few things that are wrong; half a character is spelled out, since none is sent."""
    more = ["and more"] if len(found) > TOLD else []
    told = "; ".join([*found[:TOLD], *more])
    return told.encode(errors="backslashreplace").decode()


def form_fault(reply: Reply, kind: Any) -> str | None:
    """What is wrong with the form of an answer; None if nothing is."""
    try:
        output(words(reply), kind)
    except NotInForm as fault:
        return str(fault)
    return None


def bad_in_a_row(run: Run, kind: Any) -> int:
    """How many answers in a bad form came since the last call of a tool in this turn."""
    idle = takewhile(lambda reply: not called(reply), run.backwards())
    answers = (reply for reply in idle if ending(reply) is Label.FINISHED)
    return sum(form_fault(reply, kind) is not None for reply in answers)


def feedback(fault: str) -> str:
    """What the model is told."""
    told = f"Your answer cannot be read: {fault}. Answer again, with the JSON alone."
    return excerpt(told, LONGEST)


def is_model(kind: Any) -> bool:
    """Whether this is a pydantic model, by what it can do."""
    return callable(getattr(kind, "model_validate_json", None))


def refuse_unknown_kind(kind: Any) -> None:
    """Raise unless answers can be held to this."""
    if is_model(kind):
        return
    if not isinstance(kind, dict):
        wants = "an output type is a pydantic model or a JSON schema"
        raise SetupFault(f"{wants}; this is {brief(kind)}")
    refuse_unknown(kind)
