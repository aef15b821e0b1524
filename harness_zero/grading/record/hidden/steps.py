"""Cases of effects: what is made, made again or refused, after failures and after crashes."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from harness_zero.grading.lab09 import Hand, a_file, append, as_lines, in_file
from harness_zero.grading.record.hidden.drawing import Chance
from harness_zero.grading.record.hidden.forms import alike, plain
from harness_zero.loop import ModelFailed, turn
from harness_zero.messages import reply, tool_result
from harness_zero.models.recorded import Diverged
from harness_zero.policy import deadline, first_of, structural_stop
from harness_zero.retry import call_failed
from harness_zero.view import plain as plain_view

FEW = 3  # attempts, where nobody says


class Dead(BaseException):
    """The process is gone."""


def doubtful(chance: Chance, answer: Callable) -> Any:
    """A call that was begun before a crash."""
    names = chance.words(4, least=2)
    safe = chance.sample(names, chance.randint(0, len(names)))
    call, hand = chance.call(chance.choice(names)), Hand()
    got = answer(call, hand, chance.choice([tuple(safe), set(safe)]))
    id, said, is_error = plain(got)
    told = [each in str(said).lower() for each in ("outcome unknown", "check")]
    return id, is_error, said if hand.calls else told, hand.calls


def some_lines(chance: Chance, most: int = 5) -> list[dict[str, Any]]:
    """The lines of a journal, each step with its outcome but perhaps the last one."""
    steps = range(1, chance.randint(1, most) + 1)
    lines = [
        line
        for step in steps
        for line in (
            {"step": step, "begun": chance.choice(["model", "clock", chance.call()])},
            {"step": step, "done": chance.choice([chance.word(), None, 0, "a\u2028b\x85c"])},
        )
    ]
    return lines[: -chance.randint(0, 1)] or lines


def lines_read(chance: Chance, answer: Callable) -> Any:
    """A file whose last line may be torn, or one of whose lines is damaged; and the next line."""
    lines, new = some_lines(chance), {"step": 99, "begun": chance.word()}
    content = as_lines(*lines)
    torn = chance.choice([b"", as_lines(new)[: chance.randint(1, 20)], chance.word().encode()])
    damaged = chance.random() < 0.2
    with a_file(content + (b"{%s}\n" % chance.word().encode() if damaged else torn)) as path:
        try:
            got = answer(path)
        except Exception:
            return "refused"
        append(path, new)
        return got, path.read_bytes() if not damaged else ""


def stepped(chance: Chance, answer: Callable) -> Any:
    """Steps on a journal: recorded ones, one in doubt, new ones, and perhaps another one."""
    lines, effects = some_lines(chance), Effects(chance.randint(0, 9))
    asked = [line["begun"] for line in lines if "begun" in line]
    asked += [chance.word() for _ in range(chance.randint(0, 3))]
    if chance.random() < 0.3:
        asked[chance.randrange(len(asked))] = chance.word()
    doubts = [chance.random() < 0.7 for _ in asked]
    with a_file(as_lines(*lines)) as path:
        return all_steps(answer(path), asked, doubts, effects), effects.made, in_file(path)


def all_steps(step: Callable, asked: list[Any], doubts: list[bool], effects: "Effects") -> Any:
    """What each step gave back, until one diverges."""
    got = list[Any]()
    for at, each in enumerate(asked):
        doubt = [effects.named(f"doubt {at}")] if doubts[at] else []
        try:
            got.append(step(each, effects.named(f"effect {at}"), *doubt))
        except OSError:
            got.append("it failed")
        except Diverged:
            return [*got, "it diverged"]
    return got


class Effects:
    """Effects that note that they were made; one of them fails."""

    def __init__(self, fails: int) -> None:
        self.fails, self.made = fails, list[str]()

    def named(self, name: str) -> Callable[[], str]:
        """An effect."""

        def make() -> str:
            self.made.append(name)
            if len(self.made) == self.fails:
                raise OSError("lost")
            return f"{name} made"

        return make


class Post:
    """A model, a tool and a clock that outlive their processes; one of these dies at an effect."""

    def __init__(self, chance: Chance) -> None:
        self.names, self.salt = chance.words(2, least=2), chance.word()
        self.script = [chance.asking(chance.choice(self.names), most=2) for _ in range(3)]
        self.dies, self.made, self.now = chance.randint(1, 9), list[str](), 0.0
        self.before, self.replayed = chance.random() < 0.5, 0

    def effect(self, name: str, make: Callable[[], Any]) -> Any:
        """Make an effect, around which the process may die."""
        self.dies -= 1
        if self.before and not self.dies:
            raise Dead
        self.made.append(name)
        if not self.before and not self.dies:
            raise Dead
        return make()

    def model(self, request: dict) -> Any:
        """The reply that follows the array."""
        at = sum(each["role"] == "assistant" for each in request["messages"])
        return self.effect("model", lambda: [*self.script, reply(self.salt)][at])

    def tool(self, call: dict) -> dict:
        """The result of a call."""
        return self.effect(call["name"], lambda: tool_result(call["id"], f"{self.salt} made"))

    def clock(self) -> float:
        """Time passes whenever somebody looks."""
        self.now += 10
        return self.now


def journaled(chance: Chance, answer: Callable) -> Any:
    """A run that dies somewhere, goes on in another process, and is replayed by a third."""
    post, runs = Post(chance), list[Any]()
    policy = first_of(structural_stop, deadline(chance.choice([60, 9_000])))
    with a_file() as path:
        for _ in range(3):
            given = answer(path, post.model, post.tool, post.clock, (post.names[0],))
            with suppress(Dead):
                runs.append(one_process(post, given, policy))
    return runs, post.made


def one_process(post: Post, given: Any, policy: Any) -> Any:
    """A run in one process: its array, in which a doubt is told in the learner's words."""
    from harness_zero.run import Run

    model, tool, clock = given
    run = turn(Run(post.salt, clock), policy, plain_view(), model, tool)
    return alike(run.messages, told_of), str(run.label), run.rounds


def told_of(block: dict) -> Any:
    """A block, as far as its words are promised."""
    form = plain(block)
    unknown = isinstance(form, tuple) and "outcome unknown" in str(form[1])
    return (form[0], "outcome unknown", form[2]) if unknown else form


def asked_again(chance: Chance, answer: Callable) -> Any:
    """A model that fails a few times, called twice through the wrapper."""
    attempts = chance.choice([[], [chance.randint(1, 5)]])
    script = [some_failure(chance) for _ in range(20)]
    asked, sleeps = list[Any](), list[float]()

    def model(request: dict) -> Any:
        asked.append(request)
        line = script[len(asked) - 1]
        if isinstance(line, Exception):
            raise line
        return line

    speak, got = answer(model, sleeps.append, *attempts), list[Any]()
    for _ in range(2):
        request = {"messages": chance.word()}
        try:
            got.append(speak(request))
        except ModelFailed as failure:
            got.append(script.index(failure) if failure in script else "given up")
        except KeyError:
            got.append("a slip")
    return got, asked, sleeps


def some_failure(chance: Chance) -> Any:
    """A reply, a failure that may pass, or one that cannot."""
    status = chance.choice([None, 408, 409, 429, 500, 503, 529, 599])
    wait = chance.choice([None, None, float(chance.randint(1, 90))])
    passes = call_failed(chance.word(), status, wait)
    stays = call_failed(chance.word(), chance.choice([400, 401, 403, 404, 422]))
    given_up = ModelFailed(chance.word())
    odd = chance.choice([stays, given_up, KeyError(chance.word())])
    return chance.choice([passes, passes, passes, odd, reply(chance.word())])


def keyed(chance: Chance, answer: Callable) -> Any:
    """Which variants of a call in a run have the key of the first."""
    run, (first, second) = chance.word(), chance.words(2, least=2)
    call = chance.call(**{first: chance.word(), second: chance.randint(1, 99), **chance.input()})
    turned = {name: call["input"][name] for name in reversed(call["input"])}
    changed = {**call["input"], chance.choice([*call["input"]]): chance.word()}
    variants = [
        (run, {**call, "input": turned}),
        (run, {**call, "cache_control": {"type": "ephemeral"}}),
        (chance.word(), call),
        (run, {**call, "id": f"toolu_{chance.word()}"}),
        (run, {**call, "input": changed}),
        (run + call["id"][:2], {**call, "id": call["id"][2:]}),
        (
            run,
            {
                **call,
                "input": dict(zip(call["input"], [*call["input"].values()][::-1], strict=True)),
            },
        ),
        (run, {**call, "input": {f"{name}_": each for name, each in call["input"].items()}}),
    ]
    first = answer(run, call)
    return isinstance(first, str) and bool(first), [answer(*each) == first for each in variants]


def made_once(chance: Chance, answer: Callable) -> Any:
    """An effect asked for under some keys, in two processes with one ledger."""
    ledger, made, outcomes = dict[str, Any](), list[Any](), [None, 0, "", chance.word()]
    keys, inputs = chance.words(3), [chance.input() for _ in range(2)]
    says, fails = [chance.choice(outcomes) for _ in range(9)], chance.randint(0, 3)

    def effect(**input: Any) -> Any:
        made.append(input)
        if len(made) == fails:
            raise OSError("closed")
        return says[len(made) - 1]

    got = list[Any]()
    for _ in range(2):
        call = answer(effect, ledger)
        for _ in range(4):
            try:
                got.append(call(chance.choice(keys), **chance.choice([inputs[0], *inputs])))
            except ValueError:
                got.append("another input")
            except OSError:
                got.append("it failed")
    return got, made
