"""Cases of a policy: what it says of a run in which drawn things happened."""

from collections.abc import Callable
from typing import Any

from harness_zero.grading.lab05 import asked_about, at_second
from harness_zero.grading.record.hidden.drawing import Chance
from harness_zero.grading.record.hidden.forms import alike, holds, word
from harness_zero.grading.record.hidden.results import Kit
from harness_zero.grading.record.hidden.turns import PAUSED, last
from harness_zero.labels import End, Label, Say
from harness_zero.messages import Reply, reply, tool_result
from harness_zero.models.scripted import scripted
from harness_zero.policy import structural_stop
from harness_zero.run import Run
from harness_zero.toolbox import toolbox

ENDS = [Label.STUCK, Label.BUSY, Label.DEADLINE, Label.REFUSED, Label.INTERRUPTED]
TALK = 60  # how often a loop may ask before it is at fault


def begun(chance: Chance) -> Run:
    """A run at its beginning, whose clock stands still."""
    began = float(chance.randint(0, 9_000))
    return Run(chance.word(), clock=lambda: began)


def heard(run: Run, spoken: Reply, answered: bool = True) -> Run:
    """The run after a reply, its calls made or not."""
    run.hear(spoken)
    while answered and run.pending:
        run.answer(tool_result(run.begin()["id"], "ok"))
    return run


def worked(chance: Chance, rounds: int, run: Run | None = None, **more: Any) -> Run:
    """A run that has gone on for so many rounds."""
    run = run or begun(chance)
    for _ in range(rounds):
        heard(run, chance.asking(chance.word(), **more))
    return run


def stops(chance: Chance, policy: Callable) -> Any:
    """What a stop says of a run, at any moment."""
    run = worked(chance, chance.randint(0, 4))
    some = [
        lambda: heard(run, chance.asking(chance.word()), answered=False),
        lambda: heard(run, last(chance, Kit(chance))),
        lambda: heard(run, reply(chance.word())),
        lambda: heard(run, reply(chance.word(), stop_reason=PAUSED)),
        lambda: answered(chance, heard(run, reply(chance.word()))),
        lambda: None,
    ]
    chance.choice(some)()
    return word(asked_about(policy, run))


def answered(chance: Chance, run: Run) -> None:
    """Have somebody say something to what the model said last."""
    run.say(chance.word())


def brakes_hold(chance: Chance, make: Callable) -> Any:
    """What brakes say of a run, in its first turn or in its second."""
    rounds, cost = chance.randint(1, 6), chance.usd()
    run = worked(chance, rounds, cost=cost)
    at_second(run.clock() + chance.randint(1, 90), run)
    if chance.random() < 0.5:
        run.ask(chance.word())
        at_second(run.clock() + chance.randint(1, 90), run)
        worked(chance, chance.randint(0, 3), run, cost=cost)
    near = [-1, 0, 1]
    limits = (
        max(1, run.rounds + chance.choice(near)),
        max(0.125, run.cost_usd + chance.choice(near) / 8),
        max(1, run.elapsed + chance.choice(near)),
    )
    return word(asked_about(make(*limits), run))


def some_word(chance: Chance) -> Say | End | None:
    """Silence, words or an end."""
    end = End(chance.choice(ENDS), chance.word())
    says = [Say(chance.word()) for _ in range(4)]
    return chance.choice([None, None, *says, end])


def joined(chance: Chance, make: Callable) -> Any:
    """What many policies say as one."""
    said = [some_word(chance) for _ in range(chance.randint(0, 12))]
    given = make(*[(lambda run, each=each: each) for each in said])
    got = asked_about(given, worked(chance, 2))
    if isinstance(got, End):
        return got
    return word(got, *[each.text for each in said if isinstance(each, Say)])


def loops(chance: Chance, answer: Callable) -> Any:
    """A turn played by a loop: who was asked when, and what became of the run."""
    ports, run = Ports(chance), begun(chance)
    end = answer(run, ports.policy, ports.view, ports.model, ports.tool)
    return ports.events, str(end.label), alike(run.messages), run.spoken, run.rounds


class Ports:
    """The four ports; the policy talks now and then and ends somewhere, the model may fail."""

    def __init__(self, chance: Chance) -> None:
        kit, self.events = Kit(chance), list[str]()
        script = [kit.asking(2) for _ in range(chance.randint(0, 3))]
        self.speak, self.make = scripted(*script, reply(chance.word())), toolbox(kit.tools)
        self.fails, self.stops = chance.randint(1, 6), chance.randint(2, 12)
        self.talks = [chance.random() < 0.3 for _ in range(TALK)]

    def policy(self, run: Run) -> Say | End | None:
        """What is to be said now."""
        self.events.append("policy")
        asked = self.events.count("policy")
        if asked == self.stops or asked >= TALK:
            return End(Label.STUCK, f"at {asked}")
        return structural_stop(run) or (Say(f"word {asked}") if self.talks[asked] else None)

    def view(self, run: Run) -> dict[str, Any]:
        """What the model is sent."""
        return {"messages": run.messages}

    def model(self, request: dict) -> Reply:
        """The next reply, or none."""
        self.events.append("model")
        if self.events.count("model") == self.fails:
            raise ConnectionError("lost")
        return self.speak(request["messages"])

    def tool(self, call: dict) -> dict:
        """What came of a call."""
        self.events.append(call["id"])
        return self.make(call)


def in_window(chance: Chance, make: Callable) -> Any:
    """What a window says of the calls of a run."""
    size = chance.randint(2, 9)
    times = chance.randint(2, size)
    names, kinds = chance.words(2), [chance.input(2) for _ in range(chance.randint(1, 4))]
    run = begun(chance)
    for _ in range(chance.randint(1, 2)):
        for _ in range(chance.randint(1, 8)):
            heard(run, looks(chance, names, kinds))
        if chance.random() < 0.3:
            run.ask(chance.word())
    heard(run, looks(chance, names, kinds), answered=chance.random() < 0.2)
    given = make(*chance.choice([[], [size, times]]))
    return word(asked_about(given, run))


def looks(chance: Chance, names: list[str], kinds: list[dict]) -> Reply:
    """A reply with one or two calls, each of one of these tools and kinds."""
    calls = []
    for _ in range(chance.choice([1, 1, 2])):
        input = chance.choice(kinds)
        calls.append(
            chance.call(
                chance.choice(names), **{key: input[key] for key in chance.shuffled([*input])}
            )
        )
    return reply(*calls)


def answers_in_a_row(chance: Chance) -> Run:
    """A run in which the model says that it is done, and is sent back, and works in between."""
    run = worked(chance, chance.randint(0, 2))
    for _ in range(chance.randint(0, 5)):
        heard(run, reply(chance.word()))
        run.say(chance.word())
        if chance.random() < 0.3:
            worked(chance, 1, run)
        if chance.random() < 0.1:
            run.ask(chance.word())
    spoken = chance.choice([reply(chance.word()), reply(chance.word()), last(chance, Kit(chance))])
    return heard(run, spoken, answered=False)


def typed(chance: Chance, make: Callable) -> Any:
    """What a stop says that goes by the type of the output."""
    wrong = chance.choice([None, chance.word(), chance.word()])
    run, asked = answers_in_a_row(chance), list[Any]()

    def fault(text: str) -> str | None:
        asked.append(text)
        return wrong

    given = make(structural_stop, fault, *chance.choice([[], [chance.randint(0, 4)]]))
    return word(asked_about(given, run), str(wrong)), asked


def vetoed(chance: Chance, make: Callable) -> Any:
    """What a stop says that a hook may veto."""
    run, asked = answers_in_a_row(chance), list[Any]()
    before = [text for _, text in (*run.spoken[:1], *run.spoken[-1:])]
    says = chance.choice([None, chance.word(), *before])

    def hook(given: Run, again: bool) -> str | None:
        asked.append(bool(again))
        return says

    given = make(structural_stop, hook, *chance.choice([[], [chance.randint(0, 4)]]))
    got = asked_about(given, run)
    why = holds(got.why, str(says)) if isinstance(got, End) and got.label != "finished" else []
    return word(got, str(says)), asked, why if str(getattr(got, "label", "")) == "veto_cap" else []


def verified(chance: Chance, make: Callable) -> Any:
    """What a hook says of a check that passes, fails, or speaks of passing."""
    code = chance.choice([0, 1, chance.randint(2, 130), chance.randint(2, 130)])
    last_line = f"FAILED {chance.word()}"
    spoken = chance.choice(["", "exit code 0", chance.word(), "x" * chance.randint(2_000, 9_000)])
    outputs = [f"exit code {code}\n{spoken}\n1 failed in {n}s\n{last_line}" for n in ("0.31", "4")]
    told = [make(lambda each=each: each)(worked(chance, 1), False) for each in outputs]
    now = chance.choices([outputs[0], "exit code 0\n"], k=3)
    hook = make(lambda: now[-1])
    later = list[bool]()
    while now:
        later.append(hook(worked(chance, 1), False) is None)
        now.pop()
    if None in told:
        return told, later
    return holds(told[0], last_line), told[0] == told[1], len(told[0]) <= 2_000, later


def judged(chance: Chance, make: Callable) -> Any:
    """What a judge's hook says, what the judge was sent, and what was counted."""
    question, task, said = (f"{chance.word()} {chance.word()}" for _ in range(3))
    no = "no", chance.word(), f"{chance.word()}, not yes", f"No. Yes would be {chance.word()}"
    verdict = chance.choice(["yes", "Yes.", f"yes: {chance.word()}", *no])
    run = Run(task, clock=lambda: 0.0)
    heard(run, reply(said, cost=chance.usd(), tokens=chance.randint(1, 99)))
    sent: list[Any] = []

    def model(request: dict) -> Reply:
        sent.append(str(request))
        return reply(verdict, cost=0.25, tokens=7)

    told = make(model, question)(run, chance.random() < 0.5)
    shown = [[needle in each for needle in (question, task, said)] for each in sent]
    words = None if told is None else verdict in told
    return words, shown, run.rounds, run.tokens, run.cost_usd, len(run.messages)
