"""A stop hook: it may send a model that says it is finished back to work, with the reason.

Nothing else can it do. A limit that holds, a refusal, a cut reply are none of its business,
and a hook that is never satisfied ends the turn under a label of its own.
"""

from collections.abc import Callable
from itertools import islice, takewhile
from typing import TypeGuard

from harness_zero.brief import brief, cut, excerpt, plural
from harness_zero.faults import SetupFault, raised
from harness_zero.labels import End, Label, Say
from harness_zero.layers import WrongOrder
from harness_zero.loop import ModelFailed
from harness_zero.messages import Reply
from harness_zero.policy import called, ending, is_brake
from harness_zero.ports import Policy
from harness_zero.run import Run

Hook = Callable[[Run, bool], str | None]  # words that veto the end, or nothing

LONGEST = 4_000  # characters of what a veto tells the model
QUOTED = 160  # characters of them that the end of a turn repeats


class HookFailed(SetupFault):
    """A hook gave no verdict; whether the work is done, nobody knows then."""


def stop_hook(stop: Policy, hook: Hook, cap: int = 8) -> Policy:
    """Let the turn end as finished once the hook agrees.

    The hook is handed the run, and whether the model was sent back in this turn before. Its words
    go to the model. After `cap` answers in a row that were sent back, or once a hook repeats
    itself, the turn ends as `veto_cap`. In a row means that no tool was called in between.
    """
    refuse_brake(stop)
    name = name_of(hook)

    def policy(run: Run) -> Say | End | None:
        word = stop(run)
        if not is_answer(word, run):
            return word
        feedback = verdict(hook, run, name)
        if feedback is None:
            return End(word.label, f"{word.why}; {name} agreed")
        if was_told(run, feedback):
            return vetoed(name, "says the same again, and no tool was called since", feedback)
        if len(sent_back(run)) >= cap:
            return vetoed(name, f"does not agree after {plural(cap, 'veto', 'vetoes')}", feedback)
        return Say(feedback)

    return policy


def all_of(*hooks: Hook) -> Hook:
    """One hook of several: all have to agree, and the first veto is the one that is heard.

    They are asked in order. So the cheap ones come first: a dear one is asked only about what has
    passed them.
    """

    def every(run: Run, again: bool) -> str | None:
        for hook in hooks:
            if (feedback := verdict(hook, run, name_of(hook), again)) is not None:
                return feedback
        return None

    every.__name__ = " and ".join(map(name_of, hooks)) or "no hook"
    return every


def verdict(hook: Hook, run: Run, name: str, again: bool | None = None) -> str | None:
    """What a hook says: words, or None. HookFailed if it raises, or says anything else."""
    try:
        said = hook(run, was_sent_back(run) if again is None else again)
    except ModelFailed as failure:
        raise ModelFailed(f"{name}: {failure}") from failure
    except Exception as error:
        raise HookFailed(f"the hook {name} raised {raised(error)}; that is no verdict") from error
    if said is None:
        return None
    if isinstance(said, str) and said.strip():
        return excerpt(said, LONGEST)
    wants = "a hook gives back words that veto the end, or None"
    raise HookFailed(f"{wants}; {name} gave back {brief(said)}")


def refuse_brake(stop: Policy) -> None:
    """Raise if what is to be wrapped is a brake, or holds one: what wraps it would outvote it."""
    if is_brake(stop):
        raise WrongOrder("a brake cannot be wrapped: wrap the stop, let the brake stand beside it")


def is_answer(word: Say | End | None, run: Run) -> TypeGuard[End]:
    """Whether a stop takes the reply that waits for the answer: only then is there a say in it."""
    return isinstance(word, End) and word.label is Label.FINISHED and run.last_word is not None


def sent_back(run: Run) -> list[Reply]:
    """The answers that were sent back since the last call of a tool in this turn, newest first."""
    idle = takewhile(lambda reply: not called(reply), run.backwards())
    return [reply for reply in islice(idle, 1, None) if ending(reply) is Label.FINISHED]


def was_sent_back(run: Run) -> bool:
    """Whether an earlier answer of this turn was sent back, whatever was called since."""
    return any(ending(reply) is Label.FINISHED for reply in islice(run.backwards(), 1, None))


def was_told(run: Run, words: str) -> bool:
    """Whether the model was told just this since it last called a tool."""
    since = (text for _, text in run.spoken[run.idle_from :])
    return any(text == words or text.startswith(f"{words}\n\n") for text in since)


def vetoed(name: str, how: str, feedback: str) -> End:
    """The end of a turn that a hook would not let end: whose veto, and what it said last."""
    return End(Label.VETO_CAP, f"{name} {how}: {cut(' '.join(feedback.split()), QUOTED)}")


def name_of(hook: Hook) -> str:
    """What to call a hook."""
    return getattr(hook, "__name__", "a hook").replace("<lambda>", "a hook without a name")
