"""The loop: policy reads, mechanics write.

The policy is asked before every message, so a brake can hold between the
moment the model asks for a tool and the moment the tool runs.
"""

from harness_zero.labels import End, Label
from harness_zero.messages import reply_fault
from harness_zero.ports import Model, Policy, Tool, View, limits
from harness_zero.run import Run


class ModelFailed(Exception):
    """The model gave no reply: what is the matter, and what to do."""


def turn(run: Run, policy: Policy, view: View, model: Model, tool: Tool) -> Run:
    """Play one turn. Every way out leaves every call answered, and the run in your hands.

    A fault of the set-up is raised, after the exits are closed; a failed model call
    and an interrupt are labels.
    """
    run.limits = limits(policy)
    try:
        end = until_end(run, policy, view, model, tool)
    except KeyboardInterrupt:
        end = End(Label.INTERRUPTED, "by the user")
    except ModelFailed as failure:
        end = End(Label.MODEL_ERROR, str(failure))
    except BaseException as fault:
        run.close(End(Label.INTERRUPTED, f"{type(fault).__name__}: {fault}"))
        raise
    return run.close(end)


def until_end(run: Run, policy: Policy, view: View, model: Model, tool: Tool) -> End:
    """Ask the policy, let it speak, write the next message; until it names the end."""
    while not isinstance(word := policy(run), End):
        if word:
            run.say(word.text)
        if run.pending:
            act(run, tool)
        else:
            listen(run, view, model)
    return word


def act(run: Run, tool: Tool) -> None:
    """Make the pending calls, in order."""
    while run.pending:
        run.answer(tool(run.begin()))


def listen(run: Run, view: View, model: Model) -> None:
    """Send the model its view of the run, and take in what it says."""
    request = view(run)
    try:
        reply = model(request)
    except ModelFailed:
        raise
    except Exception as error:
        raise ModelFailed(f"{type(error).__name__}: {error}") from error
    if fault := reply_fault(reply):
        raise ModelFailed(fault)
    run.hear(reply)
