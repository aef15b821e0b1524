"""Lab 05, two halves: its exercises and what an answer to each one promises."""

import marshal
import time
from collections.abc import Callable
from copy import deepcopy
from difflib import get_close_matches
from functools import partial
from typing import Any

from harness_zero import loop, policy, promises
from harness_zero.assembly import of_messages
from harness_zero.brief import brief, cut
from harness_zero.desk import Broken, Desk, Play, asking, kinds, note, results_in
from harness_zero.grading.diagnosis import (
    Case,
    every_call_is_answered_in_the_next_message,
    the_array_holds_what_the_model_said,
)
from harness_zero.grading.exercise import Exercise, Lab, Piece
from harness_zero.grading.lab02 import (
    a_clock_may_begin_anywhere,
    nobody_sets_a_limit_and_there_are_limits,
)
from harness_zero.grading.lab04 import (
    a_limit_holds_in_a_pause_too,
    a_limit_names_itself,
    a_paused_turn_goes_on_with_the_same_array,
    an_empty_reply_never_enters_the_array,
    how_the_last_reply_ended_comes_before_the_limits,
    it_keeps_what_the_loops_of_labs_01_and_02_promise,
    the_label_comes_back_beside_the_messages,
    the_label_says_how_the_last_reply_ended,
)
from harness_zero.labels import End, Label, Say
from harness_zero.messages import (
    Block,
    Message,
    Reply,
    array_fault,
    reply,
    said,
    tool_result,
    tool_results,
    tool_use,
    words,
)
from harness_zero.models.scripted import OutOfReplies, scripted
from harness_zero.ports import Model, Policy, Tool, View
from harness_zero.run import Run
from harness_zero.toolbox import toolbox
from harness_zero.view import plain
from harness_zero.watch import Recording

Ending = Callable[[Reply], str | None]
Brakes = Callable[..., Policy]
FirstOf = Callable[..., Policy]
UntilEnd = Callable[[Run, Policy, View, Model, Tool], End]
Act = Callable[[Reply, dict[str, Callable]], Message]


# ours, until a learner has written theirs


def stopping(ending: Ending) -> Policy:
    """The structural stop of the chapter around the learner's way to name an ending."""

    def structural_stop(run: Run) -> End | None:
        if run.last_word is None or run.pending:
            return None
        label = ending(run.last_word)
        return End(label) if label else None  # type: ignore[arg-type]

    return structural_stop


def brakes(max_rounds: int = 20, cap_usd: float = 2.0, seconds: float = 600) -> Policy:
    """The three brakes as one policy."""
    return policy.first_of(
        policy.max_rounds(max_rounds), policy.cost_cap(cap_usd), policy.deadline(seconds)
    )


def until_end(run: Run, policy: Policy, view: View, model: Model, tool: Tool) -> End:
    """The loop of the library; a call of the model that fails is an ending."""
    try:
        return loop.until_end(run, policy, view, model, tool)
    except loop.ModelFailed as failure:
        return End(Label.MODEL_ERROR, str(failure))


def one_at_a_time(act: Act, tools: dict[str, Callable]) -> Tool:
    """An act step as a tool port: it is given a reply with one call in it."""
    return lambda call: tool_results(act(reply(call), tools))[0]


def around(
    act: Act,
    structural_stop: Policy,
    brakes: Brakes,
    first_of: FirstOf,
    until_end: UntilEnd,
) -> Play:
    """A harness with policy and mechanics apart, and the learner's pieces in it."""

    def run(
        model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic, more=()
    ):
        played = Run(prompt, clock)
        policy = first_of(structural_stop, brakes(max_rounds, cap_usd, seconds), *more)
        speak, tool = of_messages(model), one_at_a_time(act, tools)
        try:
            end = until_end(played, policy, plain(), speak, tool)
        except KeyboardInterrupt:
            end = End(Label.INTERRUPTED)
        played.close(end)
        return played.messages, played.label

    return run


# runs, at a moment at which a policy may be asked


def after(*spoken: Reply, answered: bool = False) -> Run:
    """A run in which the model has said this; all calls but those of the last reply are made."""
    run = Run("go", clock=lambda: 0.0)
    for at, each in enumerate(spoken, 1):
        run.hear(deepcopy(each))
        while run.pending and (answered or at < len(spoken)):
            call = run.begin()
            run.answer(tool_result(call["id"], f"noted {call['id']}"))
    return run


def at_second(seconds: float, run: Run) -> None:
    """Let it be this late by the run's own clock."""
    run.clock = partial(float, seconds)
    run.moved = float(seconds)


def asked_about(given: Policy, run: Run) -> Any:
    """What a policy says of a run, which has to be as it was afterwards."""
    before = as_it_is(run)
    word = given(run)
    now = as_it_is(run)
    names = before if now == before else {**before, **now}
    changed = next((name for name in names if differ(before.get(name), now.get(name))), None)
    if changed:
        was, is_now = (brief(thawed(each.get(changed)), 100) for each in (before, now))
        why = "a policy reads; what it writes, the next policy and the loop would trip over"
        raise Broken(f"run.{changed} to stay {was}", is_now, why, at_this_moment(run))
    return word


def at_this_moment(run: Run) -> Recording:
    """A run in the middle of a turn, as a policy is asked about it."""
    return Recording(deepcopy(run.messages), deepcopy(run.replies), None, under_way=True)


def as_it_is(run: Run) -> dict[str, Any]:
    """All that a run holds but its clock, frozen."""
    return {name: frozen(value) for name, value in vars(run).items() if name != "clock"}


def frozen(value: Any) -> Any:
    """A copy that is quickly made: a policy is asked often, and a run is long."""
    try:
        return marshal.dumps(value, 2)
    except ValueError:  # there is more in it than plain values
        return deepcopy(value)


def thawed(value: Any) -> Any:
    """What was frozen."""
    return marshal.loads(value) if isinstance(value, bytes) else value


def differ(one: Any, other: Any) -> bool:
    """Whether two frozen values are not equal."""
    return bool(one != other and thawed(one) != thawed(other))


def told(word: Any) -> str:
    """What came from a policy, or instead of it, as one would write it."""
    if isinstance(word, End):
        return f"End({cut(str(word.label), 60)!r})"
    if isinstance(word, Say):
        return f"Say({cut(str(word.text), 60)!r})"
    return "the run" if isinstance(word, Run) else brief(word, 120)


def expect_silence(given: Policy, run: Run, when: str, why: str) -> None:
    """The policy must have nothing to say of this run."""
    if (word := asked_about(given, run)) is not None:
        raise Broken(f"None {when}", told(word), why, at_this_moment(run))


def expect_end(given: Policy, run: Run, label: str, when: str, why: str) -> None:
    """The policy must end this run under this label."""
    word = asked_about(given, run)
    if not isinstance(word, End):
        got, case = f"{told(word)}, which is no End", at_this_moment(run)
        raise Broken(f"End({label!r}) {when}", got, no_end(word, label) or why, case)
    if word.label != label:
        got, case = f"the label {word.label}", at_this_moment(run)
        raise Broken(f"the label {label} {when}", got, misspelt(word.label) or why, case)


def no_end(word: Any, label: str) -> str:
    """Why what came instead of an End ends nothing; nothing to say of silence."""
    if isinstance(word, str):
        return f"the loop looks for an End, and a text is none: End({label!r})"
    return "words let the turn go on; only an End ends it" if isinstance(word, Say) else ""


def misspelt(label: Any) -> str:
    """Which label may be meant by a text that is none; nothing if it is one."""
    if label is None or label in [*Label]:
        return ""
    near = get_close_matches(str(label), [*Label], 1)
    return f"there is no label {str(label)!r}{f'; is {near[0]} meant?' if near else ''}"


# structural_stop


def before_the_model_has_spoken_nothing_ends(stop: Policy) -> None:
    """There is no last word to go by: it is None."""
    why = "the policy is asked before every message, the first of the model's included"
    expect_silence(stop, Run("go"), "in a run that has only a prompt", why)


def as_long_as_calls_wait_nothing_ends(stop: Policy) -> None:
    """The model wants something, and has not been told what came of it."""
    why = "a stop goes by what the model asks for, and here it asks for something"
    for spoken in (asking("a"), asking("a", "b"), reply("Let me look.", note("a"))):
        expect_silence(stop, after(spoken), "while calls are pending", why)


def results_that_the_model_has_not_read_end_nothing(stop: Policy) -> None:
    """The last message is the user's: it is the model's turn."""
    why = "run.last_word is None then: that reply was answered, so it is nobody's last word"
    expect_silence(stop, after(asking("a"), answered=True), "after the results were written", why)


def a_reply_that_was_answered_with_words_ends_nothing(stop: Policy) -> None:
    """Somebody spoke after it: a veto, a nudge."""
    run = after(reply("done"))
    run.say("Are you sure?")
    why = "run.last_word is None again; a stop that looks at older replies cannot be vetoed"
    expect_silence(stop, run, "after words to a reply that was an answer", why)


def every_ending_of_a_reply_ends_the_turn_by_its_name(stop: Policy) -> None:
    """What `ending` says of the last word."""
    for label, spoken in (
        ("finished", reply("42")),
        ("truncated", reply("4", stop_reason="max_tokens")),
        ("refused", reply("no", stop_reason="refusal")),
        ("context_exhausted", reply("4", stop_reason="model_context_window_exceeded")),
        ("unknown_stop", reply("?", stop_reason="tea_time")),
        ("empty_reply", reply()),
    ):
        for run in (after(spoken), after(asking("a"), spoken)):
            when = f"after a reply with the stop_reason {spoken['stop_reason']!r}"
            why = "how a reply ends the turn is what `ending` says of it"
            expect_end(stop, run, label, when, why)


def a_reply_whose_calls_were_not_run_ends_the_turn_too(stop: Policy) -> None:
    """It was cut off: the run has answered its calls, none of them waits."""
    run = after(asking("a", "b", stop_reason="max_tokens"))
    why = "calls of a cut reply do not wait: the run answered them, not executed"
    expect_end(stop, run, "truncated", "after a reply with calls that was cut off", why)


def a_pause_goes_on(stop: Policy) -> None:
    """The same array is sent again."""
    run = after(reply("Searching.", stop_reason="pause_turn"))
    expect_silence(stop, run, "after a reply that was only paused", "`ending` says None of it")


# brakes


def policy_of(brakes: Brakes, *limits: float, **named: float) -> Policy:
    """The policy that the learner's function makes, once it is one at all."""
    given = brakes(*limits, **named)
    if not callable(given):
        why = "brakes(...) is called once, the policy that it gives back before every message"
        raise Broken("a policy back: a function of the run", told(given), why)
    return given


def under_its_limits_it_is_silent(brakes: Brakes) -> None:
    """One round, one cent, one second less."""
    run = after(*[asking(str(n), cost=0.4, tokens=900) for n in range(4)])
    at_second(59, run)
    given = policy_of(brakes, 5, 1.61, 60)
    word = asked_about(given, run)
    why = "a brake that holds before its limit is another limit than the one that was set"
    if isinstance(word, End):
        why = TOO_EARLY.get(str(word.label), why)
    expect_silence(given, run, "at 4 rounds of 5, $1.60 of $1.61, 59 seconds of 60", why)


TOO_EARLY = {  # what a brake read that held before its limit
    "cost_cap": "$1.60 is what the run has cost: run.cost_usd",
    "deadline": "59 seconds is what run.elapsed says, by the run's own clock; another clock "
    "shows another time",
}
TOO_LATE = {  # what a brake has to read
    "max_rounds": "the replies of this turn are counted in run.rounds",
    "cost_cap": "what the run has cost is run.cost_usd",
    "deadline": "the time of this turn is run.elapsed, by the run's own clock; another clock "
    "shows another time",
}


def each_brake_names_itself(brakes: Brakes) -> None:
    """At its number, and not only beyond it."""
    run = after(*[asking(str(n), cost=0.5) for n in range(4)])
    at_second(60, run)
    for label, limits, when in (
        ("max_rounds", (4, 99.0, 9_999), "at 4 rounds of 4"),
        ("cost_cap", (99, 2.0, 9_999), "at $2.00 of $2.00"),
        ("deadline", (99, 99.0, 60), "at 60 seconds of 60"),
    ):
        why = TOO_LATE[label]
        if asked_about(policy_of(brakes, *[limit * 0.99 for limit in limits]), run):
            why = "the limit is the last number that is allowed: at it the brake holds (>=, not >)"
        expect_end(policy_of(brakes, *limits), run, label, when, why)


def a_brake_holds_also_where_no_call_waits(brakes: Brakes) -> None:
    """It does not ask what the model wants."""
    pause = reply("Searching.", stop_reason="pause_turn")
    for run in (after(pause), after(asking("a"), answered=True), after(reply("42"))):
        when, why = "at 1 round of 1", "whether the model wants to go on is the stop's question"
        expect_end(policy_of(brakes, 1, 99.0, 9_999), run, "max_rounds", when, why)


def rounds_and_time_count_anew_in_the_next_turn_and_money_does_not(brakes: Brakes) -> None:
    """The run says which is which: rounds and elapsed are the turn's, cost_usd is the run's."""
    run = after(*[asking(str(n), cost=0.5) for n in range(3)], reply("done", cost=0.5))
    at_second(100, run)
    run.ask("And now the other one.")
    why = "who asks again is not to pay for the rounds of yesterday"
    expect_silence(policy_of(brakes, 4, 99.0, 60), run, "at the beginning of a second turn", why)
    at_second(160, run)
    expect_end(
        policy_of(brakes, 4, 99.0, 60), run, "deadline", "60 seconds after the turn began", why
    )
    why = "a purse does not fill up because somebody speaks"
    expect_end(policy_of(brakes, 99, 2.0, 9_999), run, "cost_cap", "in a second turn", why)


def it_keeps_no_count_of_its_own(brakes: Brakes) -> None:
    """Asked often, of one run or of several, it says what is true of the run it is given."""
    given = policy_of(brakes, 3, 99.0, 10**9)
    fresh, long = after(asking("a")), after(*[asking(each) for each in "abcd"])
    why = "what it counts it reads off the run: run.rounds, run.cost_usd, run.elapsed"
    try:
        for _ in range(5):
            expect_silence(given, fresh, "however often it is asked of a run with one reply", why)
    except UnboundLocalError as error:
        raise Broken("a policy that keeps no count", str(error), why) from None
    asked_about(given, long)
    expect_silence(given, fresh, "of the run with one reply, after it was asked of another", why)


def who_sets_no_limit_gets_the_usual_ones(brakes: Brakes) -> None:
    """20 rounds, $2, 600 seconds."""
    why = "a brake that has to be asked for is not there on the day it is needed"
    for count, label in ((19, None), (20, "max_rounds")):
        run = after(*[asking(str(n)) for n in range(count)])
        expect_word(policy_of(brakes), run, label, f"after {count} replies", why)
    for cost, label in ((1.99, None), (2.0, "cost_cap")):
        expect_word(policy_of(brakes), after(asking("a", cost=cost)), label, f"at ${cost}", why)
    for passed, label in ((599.0, None), (600.0, "deadline")):
        run = after(asking("a"))
        at_second(passed, run)
        expect_word(policy_of(brakes), run, label, f"after {passed:g} seconds", why)


def expect_word(given: Policy, run: Run, label: str | None, when: str, why: str) -> None:
    """The policy must end the run under this label, or be silent."""
    if label:
        expect_end(given, run, label, when, why)
    else:
        expect_silence(given, run, when, why)


# first_of

STUCK, BUSY = End(Label.STUCK, "in circles"), End(Label.BUSY, "somebody else is at it")


def saying(word: Say | End | None) -> Policy:
    """A policy that always says this."""
    return lambda run: word


def joined(first_of: FirstOf, *policies: Policy) -> Any:
    """What the learner's function makes of some policies says of a run."""
    given = first_of(*policies)
    if not callable(given):
        why = "first_of(...) is a policy made of policies, so it can stand wherever one can"
        raise Broken("a policy back: a function of the run", told(given), why)
    return asked_about(given, after(asking("a")))


def listed(words: tuple) -> str:
    """What some policies say, in order."""
    return ", ".join(map(told, words))


def where_all_are_silent_it_is_silent(first_of: FirstOf) -> None:
    """None, and no empty words."""
    for policies in ((), (saying(None),), (saying(None), saying(None))):
        if (word := joined(first_of, *policies)) is not None:
            why = "whatever is not None is said to the model, or ends the turn"
            raise Broken(f"None from {len(policies)} silent policies", told(word), why)


def the_first_end_decides(first_of: FirstOf) -> None:
    """Exactly one label."""
    for policies in ((STUCK, BUSY), (None, STUCK, BUSY), (STUCK, None, BUSY)):
        if (word := joined(first_of, *map(saying, policies))) != STUCK:
            why = "the order of the policies is the order in which they count"
            raise Broken(f"{told(STUCK)} from {listed(policies)}", told(word), why)


def an_end_outweighs_words_on_either_side(first_of: FirstOf) -> None:
    """Nobody reads words in a turn that is over."""
    for policies in ((STUCK, Say("hm")), (Say("hm"), STUCK), (Say("a"), None, Say("b"), STUCK)):
        if (word := joined(first_of, *map(saying, policies))) != STUCK:
            why = "an end that waits until all are silent may wait for ever"
            raise Broken(f"{told(STUCK)} from {listed(policies)}", told(word), why)


def all_that_speak_are_heard_in_order(first_of: FirstOf) -> None:
    """One Say with all their words, whatever stands between them."""
    for spoken in (("slower",), ("slower", "quieter"), ("b", "c", "a")):
        policies = [saying(None), *[saying(Say(each)) for each in spoken], saying(None)]
        word = joined(first_of, *policies)
        if not isinstance(word, Say) or not isinstance(word.text, str):
            why = "one policy takes the place of several, so it says one thing: a Say"
            raise Broken(f"one Say of {', '.join(spoken)}", told(word), why)
        rest = word.text
        for each in spoken:
            _, found, rest = rest.partition(each)
            if not found:
                why = "two policies may have something to say at once, and each means it"
                raise Broken(f"the words {', '.join(spoken)}, in order", repr(word.text), why)
        if len(spoken) > 1 and word.text == "".join(spoken):
            why = "two sentences without a space between them are read as one odd word"
            raise Broken("something between the words", repr(word.text), why)


def each_is_asked_once_and_of_the_run(first_of: FirstOf) -> None:
    """Asking twice may give another answer: a policy may look at the clock."""
    asked: list[Any] = []
    run = after(asking("a"))

    def note_it(given: Any) -> Say:
        asked.append(given)
        return Say("hm")

    first_of(note_it, note_it)(run)
    if [id(each) for each in asked] != [id(run)] * 2:
        why = "each policy is a function of the run, and its answer holds for this moment"
        of_what = "" if all(each is run for each in asked) else ", and of something else"
        raise Broken("each policy asked once, with the run", f"{len(asked)} asked{of_what}", why)


def it_is_asked_anew_before_every_message(first_of: FirstOf) -> None:
    """What was true of the run before is not true for ever."""
    given = first_of(lambda run: Say(f"{run.rounds} so far"), saying(None))
    told = [getattr(given(run), "text", None) for run in (after(asking("a")), Run("go"))]
    if told != ["1 so far", "0 so far"]:
        why = "the policies are asked when the joined one is, not when it is made"
        if "1 so far" in str(told[1]) and "0 so far" in str(told[1]):
            why = "words of an earlier moment are still in the list: make it anew inside the policy"
        raise Broken("the words of two moments: 1 so far, 0 so far", f"{told}", why)


# until_end


class Bench:
    """A desk with its four ports, at which it is noted who was asked when."""

    def __init__(self, *script: Reply, word: Callable[[Run], Any] = lambda run: None) -> None:
        self.desk = Desk(*script)
        self.events: list[str] = []
        self.word = word
        self.misused: Broken | None = None
        self.run = Run("go", clock=lambda: 0.0)
        self.handed: list[tuple[Any, Any]] = []  # blocks that the tool got, and what it gave back
        self.view_is_asked_of: list[Any] = []

    def policy(self, run: Any) -> Any:
        """Say what is to be said now; else end the turn where the last word asks for nothing."""
        self.events.append("policy")
        return self.word(run) or policy.structural_stop(run)

    def view(self, run: Any) -> dict[str, Any]:
        """A request with a mark."""
        self.view_is_asked_of.append(run)
        return {"messages": run.messages, "mark": len(self.view_is_asked_of)}

    def model(self, request: Any) -> Reply:
        """Speak to a request that the view has made."""
        self.events.append("model")
        if not isinstance(request, dict) or request.get("mark") != len(self.view_is_asked_of):
            why = "what the model is sent is the view's business: model(view(run))"
            self.misused = Broken("the model called with what the view made", brief(request), why)
            raise self.misused
        return self.desk.model(request["messages"])

    def tool(self, call: Any) -> Block:
        """Answer a call as it stands in the array."""
        if not isinstance(call, dict) or not {"type", "id", "name", "input"} <= {*call}:
            why = "a tool that must not act twice tells two calls apart by the id in the block"
            self.misused = Broken("the tool called with a whole tool_use block", brief(call), why)
            raise self.misused
        self.events.append(f"tool {call['id']}")
        result = toolbox(self.desk.tools)(call)
        self.handed.append((call, result))
        return result

    def play(self, until_end: UntilEnd) -> Any:
        """Let the loop play; what it gives back. Whatever came of it, the array is the case."""
        try:
            given = until_end(self.run, self.policy, self.view, self.model, self.tool)
        finally:
            self.desk.given_back = self.run.messages
            if self.misused:
                raise self.misused
        if not isinstance(given, End):
            why = "who calls the loop closes the run with the End that the policy named"
            raise Broken("an End back", told(given), why)
        if self.run.label is not None:
            got = f"it is closed already: run.label is {str(self.run.label)!r}"
            why = "until_end gives back the end, and whoever called it closes the run: once, behind"
            raise Broken("the run as it is at its end", got, f"{why} every way out")
        return given

    def watch_words(self) -> None:
        """Hold on where words are said at another moment than the one that they were meant for."""
        say = self.run.say

        def said_at(text: Any) -> None:
            if self.events[-1:] != ["policy"]:
                got = ", ".join([*self.events, "say"])
                why = "words behind the reply answer it: then it is nobody's last word any more,"
                why += " and the stop is blind; say them first, then write the next message"
                self.misused = Broken("the words said before the next message", got, why)
                raise self.misused
            say(text)

        self.run.say = said_at  # type: ignore[method-assign]


def the_end_that_the_policy_named_comes_back(until_end: UntilEnd) -> None:
    """As it is, and nothing happens after it."""
    bench = Bench(asking("a"), reply("never said"), word=lambda run: STUCK if run.rounds else None)
    if (given := bench.play(until_end)) != STUCK:
        why = "why the turn ends is the policy's word; the loop has no opinion"
        raise Broken(told(STUCK), told(given), why)
    if bench.events != ["policy", "model", "policy"]:
        got = ", ".join(bench.events)
        why = "after the end nobody speaks, and no call is made"
        raise Broken("policy, model, policy and no more", got, why)
    bench = Bench(word=lambda run: BUSY)
    if (given := bench.play(until_end)) != BUSY or bench.events != ["policy"]:
        got = f"{told(given)}; {', '.join(bench.events)}"
        why = "a turn can be over before it begins"
        raise Broken(f"{told(BUSY)}, and the model never asked", got, why)


def the_policy_is_asked_before_every_message_once(until_end: UntilEnd) -> None:
    """Before the model speaks, and between its asking for tools and their running."""
    bench = Bench(asking("a", "b"), asking("c"), reply("done"))
    bench.play(until_end)
    expected = "policy, model, policy, tool a, tool b, policy, model, policy, tool c, policy, model"
    if (got := ", ".join(bench.events)) != f"{expected}, policy":
        why = "asked before every message a brake can hold before tools run; asked in between, it"
        why += " would speak twice of one moment"
        raise Broken(f"{expected}, policy", got, why)


def an_end_holds_before_the_tools_run(until_end: UntilEnd) -> None:
    """The model has asked, and its calls still wait."""
    bench = Bench(asking("a", "b"), word=lambda run: STUCK if run.pending else None)
    bench.play(until_end)
    if bench.desk.done or len(bench.run.pending) != 2:
        got = f"made: {', '.join(bench.desk.done) or 'none'}; pending: {len(bench.run.pending)}"
        why = "calls that a brake holds back stay pending: who closes the run answers them"
        raise Broken("no call made, and both still pending", got, why)


def the_model_is_sent_what_the_view_makes_of_the_run(until_end: UntilEnd) -> None:
    """Anew before each call of the model, and as it is."""
    bench = Bench(asking("a"), reply("done"))
    bench.play(until_end)
    if [id(run) for run in bench.view_is_asked_of] != [id(bench.run)] * 2:
        got = f"asked {len(bench.view_is_asked_of)} times"
        why = "the request is made of the run as it is now, before each call of the model"
        raise Broken("the view asked of the run before each of 2 calls", got, why)
    if [len(sent) for sent in bench.desk.sent] != [1, 3]:
        got = f"{[len(sent) for sent in bench.desk.sent]} messages"
        raise Broken("requests of 1 and 3 messages", got, "the reply and the results are written")


def a_tool_gets_the_call_and_its_result_is_kept(until_end: UntilEnd) -> None:
    """The whole block, its id included, as it stands in the array."""
    bench = Bench(reply(note("a"), tool_use("b", "add", a=2, b=3)), reply("done"))
    bench.play(until_end)
    calls = bench.run.messages[1]["content"]
    if [call for call, _ in bench.handed] != calls:
        got = brief([call for call, _ in bench.handed], 200)
        why = "a tool that must not act twice tells two calls apart by the id"
        raise Broken("the tool called with each tool_use block", got, why)
    if tool_results(bench.run.messages[2]) != [result for _, result in bench.handed]:
        got = brief(bench.run.messages[2], 200)
        why = "run.begin() gives the next call, run.answer(result) writes what came of it"
        raise Broken("the results of a and b in message 2, as the tool gave them", got, why)


def once(text: str, when: Callable[[Run], Any]) -> Policy:
    """A policy that says this the first time that it is the moment."""
    rest = [text]
    return lambda run: Say(rest.pop()) if rest and when(run) else None


def words_enter_the_run_and_the_turn_goes_on(until_end: UntilEnd) -> None:
    """They never take the place of the next message."""
    moments: tuple[tuple[Callable[[Run], Any], str], ...] = (
        (lambda run: run.pending, "inside the last result"),
        (lambda run: run.results and not run.pending, "inside the last result"),
        (lambda run: not run.rounds, "behind the prompt"),
    )
    for when, where in moments:
        bench = Bench(asking("a", "b"), reply("done"), word=once("slower", when))
        bench.watch_words()
        bench.play(until_end)
        if "slower" not in str(bench.desk.sent[-1]) or bench.run.spoken == []:
            got = f"spoken: {bench.run.spoken}; sent: {', '.join(kinds(bench.desk.sent[-1]))}"
            why = "a policy that may speak has to be heard: run.say(word.text)"
            raise Broken(f"the words 'slower' {where}, where the model reads them", got, why)
        if bench.desk.done != ["a", "b"] or bench.events.count("model") != 2:
            got = f"made: {', '.join(bench.desk.done) or 'none'}; {', '.join(bench.events)}"
            why = "words go in beside the next message, and it comes all the same"
            raise Broken("the calls a and b made, the model asked twice", got, why)


TALK = 40  # how often a policy may be asked that never stops talking


def a_policy_that_never_stops_talking_cannot_keep_the_turn_from_moving(
    until_end: UntilEnd,
) -> None:
    """It says something whenever it is asked."""
    bench = Bench(asking("a"), asking("b"), asking("c"))

    def talk(run: Run) -> Say | End:
        if len(bench.events) > TALK:
            got = f"asked {TALK} times; {run.rounds} replies, {len(run.messages)} messages"
            why = "words that take the next message's place are followed by more words, for ever"
            bench.misused = Broken("3 replies, whatever is said", got, why)
            raise bench.misused
        return STUCK if run.rounds >= 3 else Say("hm")

    bench.word = talk
    bench.play(until_end)
    if bench.desk.done != ["a", "b"]:
        got = f"made: {', '.join(bench.desk.done) or 'none'}"
        why = "after the words the next message is written, whatever they were"
        raise Broken("the calls a and b made", got, why)


FAILURES = (  # what a model can raise, and what is to be read of it afterwards
    (ConnectionError("529 overloaded"), ("ConnectionError", "529 overloaded")),
    (TimeoutError(), ("TimeoutError",)),
    (loop.ModelFailed("the key was refused"), ("the key was refused",)),
)


def a_model_that_fails_ends_the_turn(until_end: UntilEnd) -> None:
    """It is an ending, with what was raised as its why; the array is as it was."""
    for error, told_of in FAILURES:
        bench = Bench(asking("a"))
        script = bench.desk.script

        def failing(messages: list[Message], error=error, script=script) -> Reply:
            if len(messages) > 1:
                raise error
            return script(messages)

        bench.desk.script = failing
        given = bench.play(until_end)
        if given.label != "model_error" or not all(each in given.why for each in told_of):
            expected = f"End('model_error', ...) that says {' and '.join(told_of)}"
            why = "nobody is left to read it as data; but whoever reads the label wants to know"
            raise Broken(expected, f"{told(given)} that says {given.why!r}", why)
        if len(bench.run.messages) != 3 or array_fault(bench.run.messages):
            got = ", ".join(kinds(bench.run.messages))
            raise Broken("the three messages before the call", got, "the turn can be tried again")


class Slip(Exception):
    """A bug in a part that is no model."""


def what_fails_besides_the_model_is_raised(until_end: UntilEnd) -> None:
    """A policy, a view or a tool with a bug raises it, and so does Ctrl+C."""
    for part, fault in (
        ("tool", KeyboardInterrupt),
        ("model", KeyboardInterrupt),
        ("tool", Slip),
        ("policy", Slip),
        ("view", Slip),
        ("hear", Slip),
    ):
        bench = Bench(asking("a"), reply("done"))

        def slip(*given: Any, fault=fault, part=part) -> Any:
            raise fault(f"a slip in the {part}")

        setattr(bench.run if part == "hear" else bench, part, slip)
        try:
            given = bench.play(until_end)
        except fault:
            continue
        if part == "hear":
            why = "run.hear(reply) stands behind the try: what fails in it is no failure of the"
            raise Broken("what run.hear raises goes through", told(given), f"{why} model")
        why = "only the call of the model is fenced in: what else fails has to be mended, and"
        why += " whoever pressed Ctrl+C is answered by the one who called the loop"
        raise Broken(f"{fault.__name__} of the {part} raised", told(given), why)


# two_halves


def an_interrupt_is_a_label_and_tells_the_calls_apart(play: Play) -> None:
    """The second of three calls is interrupted: done, unknown, not done."""
    desk = Desk(reply(note("a"), tool_use("b", "press"), note("c")))
    try:
        messages = desk.play(play)
    except KeyboardInterrupt:
        raise escaped() from None
    if desk.label is None:
        left = [id for id in "abc" if id not in results_in(messages)]
        got = f"None, and {', '.join(left) or 'no call'} unanswered"
        why = "run.close(end) has to stand behind the try, so that Ctrl+C passes it too"
        raise Broken("the label interrupted", got, why)
    promises.an_interrupt_tells_apart_what_was_done_what_is_unknown_and_what_was_not_done(play)


def escaped() -> Broken:
    """Ctrl+C took the run along."""
    why = "whoever pressed it wants the run to end, and to have what was done so far"
    return Broken("the label interrupted, and the messages", "KeyboardInterrupt raised", why)


def an_interrupt_while_the_model_speaks_is_a_label_too(play: Play) -> None:
    """The array is as it was."""
    desk = Desk(asking("a"))
    script = desk.script

    def pressed(messages: list[Message]) -> Reply:
        if len(messages) > 1:
            desk.press()
        return script(messages)

    desk.script = pressed
    try:
        messages = desk.play(play)
    except KeyboardInterrupt:
        raise escaped() from None
    if desk.label != "interrupted" or len(messages) != 3:
        got = f"{desk.label} with {', '.join(kinds(messages))}"
        raise Broken("interrupted, and the three messages so far", got, "the user can go on")


def a_model_that_fails_leaves_the_run_in_your_hands(play: Play) -> None:
    """The label model_error, and an array that can go on."""
    desk = Desk(asking("a", "b"))
    script = desk.script

    def failing(messages: list[Message]) -> Reply:
        if len(messages) > 1:
            raise ConnectionError("529 overloaded")
        return script(messages)

    desk.script = failing
    messages = desk.play(play)
    if desk.label != "model_error" or results_in(messages) != {"a": "noted a", "b": "noted b"}:
        got = f"{desk.label} with {', '.join(kinds(messages))}"
        why = "half an hour of work is in the array, and the API will be back"
        raise Broken("model_error, and both results in message 2", got, why)


def it_keeps_what_the_loop_of_lab_04_promises(play: Play) -> None:
    """Each promise of stage 4, and what lab 04 asks of a loop besides, in order."""
    for promise in (
        *of_stage(4),
        how_the_last_reply_ended_comes_before_the_limits,
        a_limit_names_itself,
        an_empty_reply_never_enters_the_array,
        a_paused_turn_goes_on_with_the_same_array,
        a_limit_holds_in_a_pause_too,
    ):
        promise(play)


def a_fault_of_the_set_up_is_no_interrupt(play: Play) -> None:
    """A script that has run out has to be mended, so it is raised."""
    desk = Desk(asking("a"))
    try:
        desk.play(play)
    except OutOfReplies:
        return
    why = "Ctrl+C is a KeyboardInterrupt and nothing else; other faults are for whoever wrote them"
    raise Broken("OutOfReplies raised, where the script has run out", f"{desk.label}", why)


WISH = "the next wish is one more policy, and not one line of the loop"


def one_more_policy_is_an_argument(play: Play) -> None:
    """What is handed in as `more` is asked as well: its words are heard."""
    desk = Desk(asking("a"), reply("done"))
    slower = policy.brake(once("slower", when=lambda run: run.pending))
    try:
        desk.play(lambda *parts: play(*parts, more=[slower]))
    except TypeError as error:
        if "more" not in str(error):
            raise
        raise Broken("a parameter more: a list of policies", str(error), WISH) from None
    if len(desk.sent) != 2 or "slower" not in str(desk.sent[1]):
        got = f"the last request ends with {brief(desk.sent[-1][-1], 160)}"
        raise Broken("the words of a policy that was handed in as more", got, WISH)


def what_more_says_counts_behind_the_stop_and_the_brakes(play: Play) -> None:
    """It can end a turn that nothing else ends, and takes no answer away."""
    for label, script, limits in (
        ("stuck", [asking("a"), reply("never said")], {}),
        ("finished", [reply("42")], {}),
        ("max_rounds", [asking("a")], {"max_rounds": 1}),
    ):
        desk = Desk(*script)

        def with_more(*parts: Any, **given: Any) -> Any:
            return play(
                *parts, **given, more=[policy.brake(lambda run: STUCK if run.rounds else None)]
            )

        desk.play(with_more, **limits)
        if desk.label != label or desk.done:
            got = f"{desk.label}, made: {', '.join(desk.done) or 'no call'}"
            why = "the order of the policies: the stop, the brakes, and what else there is"
            raise Broken(f"the label {label}, and no call made", got, why)


# a diagnosis


def whoever_falls_silent_is_spoken_to(run: Recording) -> int | None:
    """The first reply that says nothing is not the end of the turn."""
    silent = [each for each in run.replies if not said(each)["content"]]
    return len(run.messages) - 1 if silent and silent[0] is run.replies[-1] else None


def no_words_stand_behind_results(run: Recording) -> int | None:
    """Words of the harness enter the result itself."""
    for at, message in enumerate(run.messages):
        behind = at and tool_results(run.messages[at - 1]) and message["role"] == "user"
        if behind or (tool_results(message) and words(message)):
            return at
    return None


def inventory() -> Recording:
    """A harness whose nudge stands beside the stop plays a turn in which the model falls silent."""
    tools: dict[str, Callable] = {
        "count": lambda shelf: {"A": "12 jars", "B": "7 jars", "C": "9 jars"}[shelf],
        "write_down": lambda text: "written",
    }
    script = scripted(
        reply("Shelf by shelf.", *[tool_use(f"c{s}", "count", shelf=s) for s in "AB"]),
        reply(tool_use("cC", "count", shelf="C")),
        reply(),
    )

    def beside(run: Run) -> Say | None:
        silent = run.last_word is not None and policy.ending(run.last_word) is Label.EMPTY_REPLY
        return Say("Please continue.") if silent else None

    def remind(run: Run) -> Say | None:
        return Say("The labels say which shelf.") if run.rounds == 1 and run.pending else None

    run = Run("How many jars are there? Write the sum down.", clock=lambda: 0.0)
    policies = policy.first_of(policy.structural_stop, beside, remind, policy.max_rounds(20))
    loop.turn(run, policies, plain(), of_messages(script), toolbox(tools))
    return Recording(run.messages, run.replies, run.label, run.why)


INVENTORY = Case(
    inventory,
    {
        "a": no_words_stand_behind_results,
        "b": every_call_is_answered_in_the_next_message,
        "c": the_label_says_how_the_last_reply_ended,
        "d": whoever_falls_silent_is_spoken_to,
        "e": the_array_holds_what_the_model_said,
    },
    whys={
        "a": "the words in message 2 stand inside the last result, where they do no harm",
        "c": "empty_reply is how the last reply ended; but did the turn have to end there?",
        "e": "an empty reply is nothing that was said, so it leaves nothing in the array",
    },
)


def of_stage(*stages: int) -> list[Callable[[Play], None]]:
    """What these stages promise."""
    return [promise for stage, promise in promises.PROMISES if stage in stages]


STRUCTURAL_STOP = Exercise(
    name="structural_stop",
    title="The stop as a policy",
    minutes=5,
    difficulty="easy",
    lines=3,
    points=2,
    objectives=(1,),
    takes="structural_stop(run)",
    promises=(
        every_ending_of_a_reply_ends_the_turn_by_its_name,
        a_reply_whose_calls_were_not_run_ends_the_turn_too,
        a_pause_goes_on,
        before_the_model_has_spoken_nothing_ends,
        as_long_as_calls_wait_nothing_ends,
        results_that_the_model_has_not_read_end_nothing,
        a_reply_that_was_answered_with_words_ends_nothing,
    ),
    piece=Piece("structural_stop", needs=("ending",), borrowed=stopping),
)

BRAKES = Exercise(
    name="brakes",
    title="Three brakes, one policy",
    minutes=10,
    difficulty="medium",
    lines=8,
    points=3,
    objectives=(3,),
    takes="brakes(max_rounds=20, cap_usd=2.0, seconds=600)",
    promises=(
        it_keeps_no_count_of_its_own,
        under_its_limits_it_is_silent,
        each_brake_names_itself,
        a_brake_holds_also_where_no_call_waits,
        rounds_and_time_count_anew_in_the_next_turn_and_money_does_not,
        who_sets_no_limit_gets_the_usual_ones,
    ),
    piece=Piece("brakes", borrowed=lambda: brakes),
)

FIRST_OF = Exercise(
    name="first_of",
    title="Many policies, one word",
    minutes=10,
    difficulty="medium",
    lines=9,
    points=4,
    objectives=(1, 3),
    takes="first_of(*policies)",
    promises=(
        where_all_are_silent_it_is_silent,
        the_first_end_decides,
        an_end_outweighs_words_on_either_side,
        all_that_speak_are_heard_in_order,
        each_is_asked_once_and_of_the_run,
        it_is_asked_anew_before_every_message,
    ),
    piece=Piece("first_of", borrowed=lambda: policy.first_of),
)

QUIET_NUDGE = Exercise(
    name="quiet_nudge",
    title="The nudge that nobody heard",
    minutes=5,
    difficulty="medium",
    lines=1,
    points=2,
    objectives=(1,),
    takes="quiet_nudge()",
    promises=INVENTORY.promises(),
    case=INVENTORY,
)

UNTIL_END = Exercise(
    name="until_end",
    title="The loop that will not change again",
    minutes=15,
    difficulty="hard",
    lines=14,
    points=6,
    objectives=(1, 3),
    takes="until_end(run, policy, view, model, tool)",
    promises=(
        the_policy_is_asked_before_every_message_once,
        the_end_that_the_policy_named_comes_back,
        an_end_holds_before_the_tools_run,
        the_model_is_sent_what_the_view_makes_of_the_run,
        a_tool_gets_the_call_and_its_result_is_kept,
        words_enter_the_run_and_the_turn_goes_on,
        a_policy_that_never_stops_talking_cannot_keep_the_turn_from_moving,
        a_model_that_fails_ends_the_turn,
        what_fails_besides_the_model_is_raised,
    ),
    piece=Piece("until_end", borrowed=lambda: until_end),
)

TWO_HALVES = Exercise(
    name="two_halves",
    title="Put the halves together",
    minutes=15,
    difficulty="hard",
    lines=15,
    points=5,
    objectives=(1, 3),
    takes="two_halves(model, tools, prompt)",
    promises=(
        the_label_comes_back_beside_the_messages,
        it_keeps_what_the_loops_of_labs_01_and_02_promise,
        a_clock_may_begin_anywhere,
        nobody_sets_a_limit_and_there_are_limits,
        it_keeps_what_the_loop_of_lab_04_promises,
        an_interrupt_is_a_label_and_tells_the_calls_apart,
        an_interrupt_while_the_model_speaks_is_a_label_too,
        a_model_that_fails_leaves_the_run_in_your_hands,
        a_fault_of_the_set_up_is_no_interrupt,
        one_more_policy_is_an_argument,
        what_more_says_counts_behind_the_stop_and_the_brakes,
    ),
    piece=Piece(
        "run",
        needs=("act", "structural_stop", "brakes", "first_of", "until_end"),
        borrowed=around,
        retires=("act", "close_calls"),
    ),
)

LAB = Lab(
    "05_two_halves",
    "Two halves",
    (STRUCTURAL_STOP, BRAKES, FIRST_OF, QUIET_NUDGE, UNTIL_END, TWO_HALVES),
)
