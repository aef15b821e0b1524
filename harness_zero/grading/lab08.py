"""Lab 08, stopping is a contract: its exercises and what an answer to each one promises."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from harness_zero import contracts, policy
from harness_zero.assembly import of_messages
from harness_zero.brief import brief, cut, excerpt
from harness_zero.desk import Broken, asking, list_fault
from harness_zero.grading.diagnosis import (
    Case,
    every_call_is_answered_in_the_next_message,
    the_array_holds_what_the_model_said,
)
from harness_zero.grading.exercise import Exercise, Lab, Piece
from harness_zero.grading.lab05 import (
    after,
    asked_about,
    at_this_moment,
    expect_end,
    expect_silence,
    told,
)
from harness_zero.grading.lab06 import made
from harness_zero.labels import End, Label, Say
from harness_zero.loop import turn
from harness_zero.messages import (
    Reply,
    blocks,
    reply,
    request_fault,
    tool_result,
    tool_results,
    tool_use,
    user,
    words,
)
from harness_zero.models.scripted import scripted
from harness_zero.policy import in_a_row, structural_stop
from harness_zero.ports import Model, Policy
from harness_zero.rounds import quiet
from harness_zero.run import Run
from harness_zero.toolbox import toolbox
from harness_zero.view import plain
from harness_zero.watch import Recording

Hook = Callable[[Run, bool], str | None]
Check = Callable[[], str]
Fault = Callable[[str], str | None]
Verifier = Callable[[Check], Hook]
OutputType = Callable[..., Policy]
StopHook = Callable[..., Policy]
Judging = Callable[[Model, str], Hook]

MOST = 2_000  # characters that the verifier of the lab may hand on


# ours, until a learner has written theirs


def verifier(check: Check) -> Hook:
    """A hook that runs a check, and hands on what it says when it fails."""

    def hook(run: Run, again: bool) -> str | None:
        output = check()
        passed = output.split("\n", 1)[0] == "exit code 0"
        return None if passed else excerpt(f"The check fails:\n{quiet(output)}", 1_500)

    return hook


def output_type(stop: Policy, fault: Fault, limit: int = 2) -> Policy:
    """A stop that ends as finished only with an output that has no fault."""

    def policy(run: Run) -> Say | End | None:
        end = stop(run)
        if not isinstance(end, End) or end.label != Label.FINISHED:
            return end
        wrong = fault(run.text)
        if not wrong:
            return end
        if in_a_row(run, Label.FINISHED) > limit:
            return End(Label.VETO_CAP, wrong)
        return Say(wrong)

    return policy


def judge(model: Model, question: str) -> Hook:
    """A hook that asks another model, and counts what that costs."""

    def hook(run: Run, again: bool) -> str | None:
        asked = f"{question}\n\nThe task: {words(run.messages[0])}\n\nThe answer: {run.text}"
        spoken = model({"messages": [user(asked)]})
        run.aside(spoken, "judge")
        verdict = words(spoken)
        return None if verdict.strip().lower().startswith("yes") else f"The judge says: {verdict}"

    return hook


# runs, at the moment at which a stop is asked


def played(*moves: Reply | str) -> Run:
    """A run in which these replies were heard and these words said; all calls are made."""
    run = Run("Make the tests pass.", clock=lambda: 0.0)
    for move in moves:
        if isinstance(move, str):
            run.say(move)
            continue
        run.hear(move)
        while run.pending:
            run.answer(tool_result(run.begin()["id"], "ok"))
    return run


def done(times: int = 1, words: str = "Not yet") -> Run:
    """A run in which the model has said so often that it is done, and was sent back each time."""
    moves: list[Reply | str] = [asking("first")]
    for number in range(1, times + 1):
        moves += [reply("Done."), f"{words} {number}."] if number < times else [reply("Done.")]
    return played(*moves)


class Asked:
    """Something that is asked and says the same each time; how often and about what is noted."""

    def __init__(self, says: Any = None) -> None:
        self.says, self.of = says, list[tuple]()

    def __call__(self, *given: Any) -> Any:
        self.of.append(given)
        return self.says


OTHER_ENDS = {
    "truncated": reply("Do", stop_reason="max_tokens"),
    "refused": reply("no", stop_reason="refusal"),
    "empty_reply": reply(),
    "unknown_stop": reply("?", stop_reason="tea_time"),
}


def expect_words(given: Policy, run: Run, words: str, when: str, why: str) -> None:
    """The policy must say something with these words in it."""
    word = asked_about(given, run)
    if not isinstance(word, Say):
        hint = "a text is no word of a policy: Say(text)" if isinstance(word, str) else why
        raise Broken(
            f"Say(...) with {words!r} in it, {when}", told(word), hint, at_this_moment(run)
        )
    if words not in str(word.text):
        raise Broken(f"the words {words!r} {when}", told(word), why, at_this_moment(run))


def expect_label(given: Policy, run: Run, label: str, when: str, why: str) -> None:
    """The policy must end this run under this label; where it speaks instead, this is why not."""
    word = asked_about(given, run)
    if isinstance(word, Say):
        raise Broken(f"End({label!r}) {when}", told(word), why, at_this_moment(run))
    expect_end(lambda run: word, run, label, when, why)


def nobody_is_asked_unless_it_is_finished(make: Callable[[Policy, Any], Policy], who: str) -> None:
    """Every other end, words and silence go through as they are."""
    why = f"{who} has a say in one end alone: finished. The others are no claim that work is done"
    end = End(Label.COST_CAP, "$2 spent")
    for word, when in ((None, "silence"), (Say("Go on."), "words"), (end, "an end of a brake")):
        asked = Asked("No.")
        given = made(lambda stop, who: make(stop, who), lambda run, word=word: word, asked)
        got = asked_about(given, run := done())
        if got != word:
            raise Broken(f"{told(word)}, as the stop said it", told(got), why, at_this_moment(run))
        nobody(asked, f"at {when}", who, why)
    for label, spoken in OTHER_ENDS.items():
        asked = Asked("No.")
        expect_label(make(structural_stop, asked), after(spoken), label, "as the stop said", why)
        nobody(asked, f"at {label}", who, why)


def nobody(asked: Asked, when: str, who: str, why: str) -> None:
    """It must not have been asked."""
    if asked.of:
        raise Broken(f"{who} not to be asked {when}", "it was asked", why)


def it_is_asked_once(make: Callable[[Policy, Any], Policy], who: str) -> Asked:
    """One question, one answer."""
    asked = Asked("No.")
    asked_about(make(structural_stop, asked), done())
    if len(asked.of) != 1:
        why = "to ask may cost a minute of tests or a call of a model"
        raise Broken(f"{who} to be asked once", f"{len(asked.of)} times", why)
    return asked


def a_memory(make: Callable[[Policy, Any], Policy]) -> None:
    """Asked again of the same run, or of another, it says what is true of that run."""
    why = "it is asked of many runs, and after a restart of one that was loaded: the run remembers"
    given, fresh = make(structural_stop, Asked("No.")), done()
    for _ in range(12):
        expect_words(given, fresh, "No.", "however often it is asked of the same run", why)


# verifier


def hook_of(answer: Verifier, *outputs: str) -> tuple[Hook, Asked]:
    """The hook that an answer makes of a check that says this."""
    check = Asked(outputs[0])
    hook = answer(check)
    if not callable(hook):
        why = "verifier(tests) is called once, the hook that it gives back at every end"
        raise Broken("a hook back: a function of the run and of again", told(hook), why)
    return hook, check


def said_by(answer: Verifier, output: str) -> Any:
    """What its hook says of such an output."""
    return hook_of(answer, output)[0](done(), False)


def a_check_that_passes_is_no_veto(answer: Verifier) -> None:
    """Whatever it printed."""
    why = "the first line is what the command reports; words of the output mean nothing to us"
    for output in ("exit code 0", "exit code 0\n2 passed", "exit code 0\n0 failed, no error"):
        got = said_by(answer, output)
        if got is not None:
            raise Broken(f"None for {brief(output)}", told(got), why)


def a_check_that_fails_comes_back_as_words(answer: Verifier) -> None:
    """With what it printed: the model has to know what is wrong."""
    for output in (
        "exit code 1\n1 failed: test_expiry",
        "exit code 4\nno tests ran",
        "exit code 10",
    ):
        got = said_by(answer, output)
        if not isinstance(got, str) or not got:
            why = "only exit code 0 is a pass"
            if got:
                why = "a hook gives back its words as a text; what asks it makes a Say of them"
            raise Broken(f"words for {brief(output)}", told(got), why)
        last = output.rpartition("\n")[2]
        if last not in got:
            why = "a veto without a reason teaches the model nothing: hand on what the check said"
            raise Broken(f"{last!r} in the words", brief(got), why)


def what_merely_speaks_of_a_pass_is_none(answer: Verifier) -> None:
    """The exit code stands in the first line."""
    output = "exit code 1\nTests passed earlier with exit code 0, not now."
    if not said_by(answer, output):
        why = "a program may print anything; its exit code is the first line"
        raise Broken(f"words for {brief(output)}", "nothing", why)


def a_long_output_is_cut_and_its_end_is_kept(answer: Verifier) -> None:
    """The last lines of a test report name what failed."""
    output = f"exit code 1\n{'.' * 9_000}\nFAILED test_login.py::test_expiry"
    got = said_by(answer, output)
    if not isinstance(got, str) or len(got) > MOST:
        size = f"{len(got)} characters" if isinstance(got, str) else told(got)
        why = "the words stay in the array, and are paid for in every round that follows; "
        why += (
            "excerpt(text, limit) keeps so many characters, and adds a line about what is missing"
        )
        raise Broken(f"words of {MOST} characters at most", size, why)
    if "test_expiry" not in got:
        why = "a test report says at its end what failed: excerpt(output, limit) keeps both ends"
        raise Broken("the end of the output in the words", f"... {cut(got[-80:], 90)}", why)


def the_same_failure_reads_the_same(answer: Verifier) -> None:
    """Two runs of the same tests differ in how long they took."""
    one, other = (said_by(answer, f"exit code 1\n1 failed in {took}s") for took in ("0.12", "3.40"))
    if one != other:
        why = "durations are noise: with them in it a hook never says the same twice, and whoever "
        why += "waits for that waits in vain"
        raise Broken("the same words for the same failure", f"{brief(one)} and {brief(other)}", why)
    said = said_by(answer, "exit code 1\n2 failed in 0.12s")
    if said == one:
        why = "how many tests fail is no noise: it is what the model wants to know"
        raise Broken("other words for 2 failed than for 1 failed", brief(said), why)


def the_check_runs_whenever_the_hook_is_asked_and_only_then(answer: Verifier) -> None:
    """What was true a minute ago may not be true now."""
    hook, check = hook_of(answer, "exit code 1\nred")
    if check.of:
        why = "verifier(tests) only makes the hook; nobody has said that they are done yet"
        raise Broken("no check before the hook is asked", f"{len(check.of)} of them", why)
    run = done()
    for number in (1, 2, 3):
        said = hook(run, number > 1)
        if len(check.of) != number:
            why = "files changed since; an old verdict is about other files"
            raise Broken(f"{number} checks after {number} questions", str(len(check.of)), why)
        if not said:
            why = "that the model was sent back before (again) does not make the tests pass"
            raise Broken(
                "words each time the check fails", f"{told(said)} at question {number}", why
            )
    check.says = "exit code 0\ngreen"
    if (got := hook(run, True)) is not None:
        raise Broken(
            "None as soon as the check passes", told(got), "what counts is the last run of it"
        )


# output_type


def no_number(text: str) -> str | None:
    """The fault of the lab: the answer is a number and nothing else."""
    return None if text.isdigit() else f"{text!r} is no number"


def typed(answer: OutputType, *limits: int, **named: int) -> Policy:
    """The learner's wrapper around the stop, with numbers as the type."""
    return made(answer, structural_stop, no_number, *limits, **named)


def numbers(*texts: str) -> Run:
    """A run in which the model answered so, and was sent back each time but the last."""
    moves: list[Reply | str] = [asking("first")]
    for each in texts[:-1]:
        moves += [reply(each), f"{each!r} is no number"]
    return played(*moves, reply(texts[-1]))


def an_output_that_fits_ends_the_turn(answer: OutputType) -> None:
    """As the stop said."""
    why = "a fault that is None is none: the stop's end goes through"
    for run in (numbers("8080"), numbers("port?", "8080"), numbers("a", "b", "8080")):
        expect_label(typed(answer), run, "finished", f"for the output {run.text!r}", why)


def one_that_does_not_is_told_what_is_wrong(answer: OutputType) -> None:
    """Data and no exception."""
    why = "the model can mend what it is told of: the fault goes back in words"
    expect_words(typed(answer), numbers("Port 8080."), "'Port 8080.' is no number", "once", why)
    late = played(asking("a"), asking("b"), asking("c"), reply("d"))
    why = "rounds in which it worked are no tries: in_a_row counts the answers since the last call"
    expect_words(typed(answer), late, "'d' is no number", "for a first output in round 4", why)
    why = "limit=2: the second fault is told as well, and it is that of the newest output"
    expect_words(typed(answer), numbers("one", "two"), "'two' is no number", "the second time", why)


def after_so_many_tries_it_is_over(answer: OutputType) -> None:
    """Two times the fault is told; a third output that does not fit is an end."""
    why = "limit=2: two faults are told, and the third output is the last"
    expect_words(
        typed(answer), numbers("a", "b"), "no number", "for the second output of three", why
    )
    why = "without a bound a model that cannot fit the type is asked for ever"
    expect_label(typed(answer), numbers(*"abcd"), "veto_cap", "for the fourth output", why)
    why = "limit=2: two faults are told, and the third output is the last"
    expect_label(typed(answer), numbers(*"abc"), "veto_cap", "for the third output", why)


def the_end_says_what_did_not_fit(answer: OutputType) -> None:
    """Whoever called wants to know."""
    run = numbers("a", "b", "c")
    end = asked_about(typed(answer), run)
    if not isinstance(end, End) or "'c' is no number" not in str(end.why):
        got = f"why={cut(str(end.why), 80)!r}" if isinstance(end, End) else told(end)
        why = "a label says who ended it; its second part says what for: End(label, why)"
        raise Broken("the fault in the end's why", got, why, at_this_moment(run))


def work_in_between_gives_it_new_tries(answer: OutputType) -> None:
    """A call, or the user's next message."""
    run = numbers("a", "b", "c")
    run.ask("Again, please.")
    run.hear(reply("d"))
    why = "the user's next message begins a turn, and a turn has tries of its own"
    expect_words(typed(answer), run, "'d' is no number", "in the next turn", why)
    why = "in_a_row counts the answers since the last call: a model that works has its tries again"
    run = played(reply("a"), "no", reply("b"), "no", asking("look"), reply("c"))
    expect_words(typed(answer), run, "'c' is no number", "after a call in between", why)


def the_limit_is_its_argument(answer: OutputType) -> None:
    """So that a caller can choose."""
    why = "limit is how often a fault is told"
    expect_label(typed(answer, 0), numbers("a"), "veto_cap", "for the first output, limit=0", why)
    five = typed(answer, limit=5)
    expect_words(five, numbers(*"abcde"), "no number", "for the fifth output, limit=5", why)
    expect_label(five, numbers(*"abcdef"), "veto_cap", "for the sixth output, limit=5", why)


def only_what_is_finished_is_looked_at(answer: OutputType) -> None:
    """A cut output is no output."""
    nobody_is_asked_unless_it_is_finished(lambda stop, who: made(answer, stop, who), "the type")


def the_type_is_asked_once_and_of_the_text(answer: OutputType) -> None:
    """run.text is what the model said last."""
    asked = it_is_asked_once(lambda stop, who: made(answer, stop, who), "the type")
    if asked.of != [("Done.",)]:
        why = "fault(text) takes the text of the last reply: run.text"
        raise Broken("fault('Done.')", f"fault({', '.join(map(brief, asked.of[0]))})", why)


def it_keeps_no_count_of_its_own(answer: OutputType) -> None:
    """The run remembers."""
    a_memory(lambda stop, who: made(answer, stop, who))


# stop_hook


def hooked(answer: StopHook, hook: Any, *cap: int, **named: int) -> Policy:
    """The learner's wrapper around the stop, with this hook."""
    return made(answer, structural_stop, hook, *cap, **named)


def a_hook_that_is_content_lets_it_end(answer: StopHook) -> None:
    """Whatever was vetoed before."""
    why = "no words, no veto: the end of the stop goes through"
    for run in (done(), done(3), done(20)):
        expect_label(hooked(answer, Asked(None)), run, "finished", "when the hook says None", why)


def its_words_take_the_place_of_the_end(answer: StopHook) -> None:
    """The turn goes on, and the model reads why."""
    why = "words let the turn go on and are what the model reads"
    expect_words(
        hooked(answer, Asked("2 failed")), done(), "2 failed", "when the hook says it", why
    )


def only_finished_can_be_vetoed(answer: StopHook) -> None:
    """No brake, no refusal, no cut reply."""
    nobody_is_asked_unless_it_is_finished(lambda stop, who: made(answer, stop, who), "the hook")


def it_is_asked_with_the_run_and_whether_the_model_was_sent_back_before(answer: StopHook) -> None:
    """The flag tells a hook that it is not the first time in this turn."""
    anew = done(3)
    anew.ask("Try it once more.")
    anew.hear(reply("Done."))
    for run, again, when in (
        (done(), False, "at the first answer"),
        (
            played(asking("a"), asking("b"), reply("Done.")),
            False,
            "at the first answer after calls",
        ),
        (
            played(asking("a"), "Look again.", reply("Done.")),
            False,
            "where words stood beside a result, and no answer was sent back",
        ),
        (done(2), True, "at the answer to a veto"),
        (played(reply("Done."), "No.", asking("a"), reply("Done.")), True, "after a call as well"),
        (anew, False, "at the first answer of the next turn"),
    ):
        hook = Asked("No!")
        asked_about(hooked(answer, hook), run)
        given = hook.of[-1] if hook.of else ()
        if len(given) != 2 or given[0] is not run or bool(given[1]) is not again:
            shown = ", ".join("run" if each is run else repr(each) for each in given)
            why = "again: whether an earlier answer of this turn was sent back, called since or not"
            raise Broken(f"hook(run, {again}) {when}", f"hook({shown})", why, at_this_moment(run))


def so_many_vetoes_in_a_row_and_no_more(answer: StopHook) -> None:
    """Eight, if nobody says another number."""
    why = "cap=8: a hook that is never satisfied burns no more than eight rounds"
    hook = Asked("And a new reason.")
    expect_words(hooked(answer, hook), done(8), "new reason", "at the eighth answer in a row", why)
    expect_label(hooked(answer, hook), done(12), "veto_cap", "after 11 vetoes in a row", why)
    why = "cap=8: the ninth answer in a row is the last"
    expect_label(hooked(answer, hook), done(9), "veto_cap", "after 8 vetoes in a row", why)


def the_cap_is_its_argument(answer: StopHook) -> None:
    """Some have two."""
    why, hook = "cap is how often in a row the hook may veto", Asked("And a new reason.")
    expect_words(hooked(answer, hook, 2), done(2), "reason", "at the second answer, cap=2", why)
    expect_label(hooked(answer, hook, 2), done(3), "veto_cap", "at the third answer, cap=2", why)
    expect_label(hooked(answer, hook, cap=0), done(), "veto_cap", "at the first answer, cap=0", why)


def the_same_words_twice_with_no_call_in_between_end_it(answer: StopHook) -> None:
    """Whoever heard them and did nothing will not do something the next time."""
    run = played(asking("a"), reply("Done."), "2 failed", reply("Done."))
    why = (
        "the model was told just that and called nothing: to say it once more is to pay for nothing"
    )
    expect_label(
        hooked(answer, Asked("2 failed")), run, "veto_cap", "for the same words again", why
    )
    why = "other words are news, and the model may act on them"
    expect_words(hooked(answer, Asked("1 failed")), run, "1 failed", "for other words", why)


def the_same_words_after_a_call_are_said_again(answer: StopHook) -> None:
    """It has tried something, and it was not enough."""
    run = played(reply("Done."), "2 failed", asking("a"), reply("Done."))
    why = "a call stands in between: the model tried, and should hear that it still fails"
    expect_words(hooked(answer, Asked("2 failed")), run, "2 failed", "for the same words", why)
    run = played(
        *(reply("Done."), "2 failed", asking("a"), reply("Done."), "1 failed", reply("Done."))
    )
    why = "what the model heard last is 1 failed; that 2 failed was before a call"
    expect_words(hooked(answer, Asked("2 failed")), run, "2 failed", "for words of earlier", why)


def work_gives_the_hook_its_vetoes_back(answer: StopHook) -> None:
    """Only vetoes in a row count."""
    moves: list[Reply | str] = []
    for number in range(9):
        moves += [asking(f"c{number}"), reply("Done."), f"Not yet {number}."]
    run = played(*moves, asking("last"), reply("Done."))
    why = "in_a_row counts the answers since the last call; brakes hold a model that works for ever"
    expect_words(
        hooked(answer, Asked("Not yet.")), run, "Not yet.", "after nine that were heeded", why
    )


def the_next_turn_begins_anew(answer: StopHook) -> None:
    """The vetoes of yesterday do not count."""
    run = done(9)
    run.ask("Try it once more.")
    run.hear(reply("Done."))
    why = "a turn begins with the user's message, and rounds and vetoes count for the turn"
    for said in ("2 failed", "Not yet 8."):
        expect_words(hooked(answer, Asked(said)), run, said, "at the first answer of a turn", why)


def the_end_tells_who_ended_it_and_what_for(answer: StopHook) -> None:
    """The last words of the hook stand in why."""
    same = played(reply("Done."), "2 failed", reply("Done."))
    for run, when in ((done(9), "at the cap"), (same, "for the same words")):
        end = asked_about(hooked(answer, Asked("2 failed")), run)
        if not isinstance(end, End) or "2 failed" not in str(end.why):
            got = f"why={cut(str(end.why), 80)!r}" if isinstance(end, End) else told(end)
            why = "the caller gets a label and wants to know what was still wrong: End(label, why)"
            raise Broken(f"the hook's words in the end's why {when}", got, why, at_this_moment(run))


def the_hook_is_asked_once(answer: StopHook) -> None:
    """It may run a whole test suite."""
    it_is_asked_once(lambda stop, who: made(answer, stop, who), "the hook")


def it_keeps_no_memory_of_its_own(answer: StopHook) -> None:
    """The run remembers."""
    a_memory(lambda stop, who: made(answer, stop, who))
    given = hooked(answer, Asked("2 failed"))
    asked_about(given, done())
    why = "the first run was told so; this one was not. The run remembers, the policy reads"
    expect_words(given, done(), "2 failed", "in a second run", why)


def it_is_silent_where_the_stop_is(answer: StopHook) -> None:
    """While calls wait, and before the model has spoken."""
    why = "nothing has ended, so there is nothing to veto"
    for run in (Run("go", lambda: 0.0), after(asking("a")), after(asking("a"), answered=True)):
        expect_silence(hooked(answer, Asked("No.")), run, "where the stop says nothing", why)


# judge


QUESTION = "Does the answer say which port it is? Answer yes, or no and why."
TASK, ANSWER = "Which port does the server listen on?", "It is in server.toml."


class Bench:
    """A judge's model: its requests are kept, and it says the same each time."""

    def __init__(self, says: str, cost: float = 0.03) -> None:
        self.says, self.cost, self.requests = says, cost, list[Any]()

    def __call__(self, request: Any) -> Reply:
        self.requests.append(deepcopy(request))
        return reply(self.says, cost=self.cost, tokens=7)


def judged(answer: Judging, says: str) -> tuple[Any, Bench, Run]:
    """What the judge's hook says of an answer in words, and what it did for that."""
    run = Run(TASK, clock=lambda: 0.0)
    run.hear(reply(ANSWER, cost=0.01, tokens=5))
    before, model = deepcopy(run.messages), Bench(says)
    hook = answer(model, QUESTION)
    if not callable(hook):
        why = "judge(model, question) is called once, the hook that it gives back at every end"
        raise Broken("a hook back: a function of the run and of again", told(hook), why)
    if model.requests:
        raise Broken("no call of the judge before the hook is asked", "one", "nobody is done yet")
    said = hook(run, False)
    if run.messages != before:
        why = "the model that works is not to read what was asked about it; only a veto's words"
        got = f"behind them: {brief(run.messages[len(before) :])}"
        raise Broken("run.messages to stay as they are", got, why, at_this_moment(run))
    return said, model, run


def a_yes_is_no_veto(answer: Judging) -> None:
    """Also a polite one."""
    for says in ("yes", "Yes.", "YES, it does."):
        said, _, _ = judged(answer, says)
        if said is not None:
            raise Broken(f"None when the judge says {says!r}", told(said), "the judge agrees")


def whatever_is_no_yes_comes_back_as_words(answer: Judging) -> None:
    """The model has to hear why."""
    for says in ("no: it names a file and no port", "maybe", "I cannot say yes to that."):
        said, _, _ = judged(answer, says)
        why = "only a yes agrees; a judge that cannot decide has not agreed"
        if not isinstance(said, str) or not said:
            raise Broken(f"words when the judge says {says!r}", told(said), why)
        if says not in said:
            why = "what the judge said is what the model can act on"
            raise Broken(f"{says!r} in the words", brief(said), why)


def it_is_asked_the_question_about_task_and_answer(answer: Judging) -> None:
    """In a request of its own: it does not go on with the array."""
    _, model, _ = judged(answer, "yes")
    if len(model.requests) != 1:
        why = "a second opinion costs as much as the first"
        raise Broken("one call of the judge", str(len(model.requests)), why)
    request = model.requests[0]
    messages = request.get("messages") if isinstance(request, dict) else None
    if fault := list_fault(messages) if messages is not None else brief(request):
        why = "a model behind the port takes a request: {'messages': [user(...)]}"
        raise Broken("a request with messages", fault, why)
    if fault := request_fault(messages or []):
        raise Broken("a request that the API takes", fault, "the last message is the user's")
    sent = "\n".join(map(words, messages or []))
    for what, text in (("the question", QUESTION), ("the task", TASK), ("the answer", ANSWER)):
        if text not in sent:
            why = "a judge knows what it is shown, and nothing else"
            raise Broken(f"{what} in the request: {text!r}", brief(sent, 200), why)
    if len(messages or []) > 1:
        why = "it judges the work of another and does not go on with it: one message is enough"
        raise Broken("a request with one message", f"{len(messages or [])} messages", why)


def its_call_is_counted(answer: Judging) -> None:
    """In rounds, tokens and money, or a cap would not see it."""
    for says in ("yes", "no: no port"):
        _, _, run = judged(answer, says)
        counted = run.rounds, run.tokens, round(run.cost_usd, 4)
        if counted != (2, 12, 0.04):
            got = f"{counted[0]} rounds, {counted[1]} tokens, ${counted[2]:.2f}"
            why = f"run.aside(reply, name) counts a call beside the array, also for {says!r}"
            raise Broken("2 rounds, 12 tokens, $0.04: one of each reply", got, why)
        asked_by = run.asides[-1][1] if run.asides else None
        if not isinstance(asked_by, str) or not asked_by:
            why = "whoever reads the bill wants to know what for: run.aside(reply, 'judge')"
            raise Broken("a name beside the call", brief(asked_by), why)


# a diagnosis: a hook that ran wild


def the_same_words_are_not_said_again_before_a_call_is_made(run: Recording) -> int | None:
    """Whoever heard them and called nothing will not do so the next time."""
    heard: set[str] = set()
    for at, message in enumerate(run.messages):
        if tool_results(message):
            heard = set()
        elif message["role"] == "user":
            words = str([block.get("text") for block in blocks(message)])
            if words in heard:
                return at
            heard.add(words)
    return None


def no_call_that_was_made_fails(run: Recording) -> int | None:
    """No result is marked as an error."""
    for at, message in enumerate(run.messages):
        if any(result.get("is_error") for result in tool_results(message)):
            return at
    return None


def the_model_is_sent_back_only_while_the_tests_are_red(run: Recording) -> int | None:
    """The last report before a veto speaks of a failure."""
    report = ""
    for at, message in enumerate(run.messages):
        reports = [
            str(r["content"]) for r in tool_results(message) if "failed" in str(r["content"])
        ]
        report = reports[-1] if reports else report
        if at and message["role"] == "user" and not tool_results(message) and report[:1] == "0":
            return at
    return None


def wild() -> Recording:
    """A hook without a cap: it is right, and it says so until the limit of rounds."""
    reports = iter(["2 failed", "2 failed", "1 failed"])
    tools: dict[str, Callable] = {
        "run_tests": lambda: next(reports),
        "edit": lambda path, new: "ok",
    }
    script = [
        reply(tool_use("t1", "run_tests")),
        reply(tool_use("e1", "edit", path="auth.py", new="now - HOUR")),
        reply("Fixed."),
        reply("Let me look again.", tool_use("t2", "run_tests")),
        reply("That is the old report. It is fixed."),
        reply(tool_use("e2", "edit", path="auth.py", new="now + HOUR")),
        reply(tool_use("t3", "run_tests")),
        reply("Fixed."),
        reply("It is fixed; the other test is not mine."),
        reply("As I said: it is fixed."),
        reply("It is fixed."),
        reply("It is fixed."),
    ]
    says = {3: "The tests are red: 2 failed.", 5: "The tests are red: 2 failed."}

    def stop(run: Run) -> Say | End | None:
        end = structural_stop(run)
        return Say(says.get(run.rounds, "The tests are red: 1 failed.")) if end else None

    run = Run("The tests of the login fail. Fix it.", clock=lambda: 0.0)
    policies = policy.first_of(stop, policy.max_rounds(len(script)))
    turn(run, policies, plain(), of_messages(scripted(*script)), toolbox(tools))
    return Recording(run.messages, run.replies, run.label, run.why)


WILD_CASE = Case(
    wild,
    {
        "a": every_call_is_answered_in_the_next_message,
        "b": the_model_is_sent_back_only_while_the_tests_are_red,
        "c": no_call_that_was_made_fails,
        "d": the_same_words_are_not_said_again_before_a_call_is_made,
        "e": the_array_holds_what_the_model_said,
    },
    whys={"b": "the newest report says 1 failed: the hook is right each time, and that is no help"},
)


VERIFIER = Exercise(
    name="verifier",
    title="A hook that runs the tests",
    minutes=10,
    difficulty="easy",
    lines=5,
    points=3,
    objectives=(2,),
    takes="verifier(tests)",
    promises=(
        a_check_that_passes_is_no_veto,
        a_check_that_fails_comes_back_as_words,
        what_merely_speaks_of_a_pass_is_none,
        a_long_output_is_cut_and_its_end_is_kept,
        the_same_failure_reads_the_same,
        the_check_runs_whenever_the_hook_is_asked_and_only_then,
    ),
    piece=Piece("verifier", borrowed=lambda: verifier),
)

OUTPUT_TYPE = Exercise(
    name="output_type",
    title="The output fits its type",
    minutes=12,
    difficulty="medium",
    lines=9,
    points=4,
    objectives=(1, 2),
    takes="output_type(stop, fault, limit=2)",
    promises=(
        an_output_that_fits_ends_the_turn,
        one_that_does_not_is_told_what_is_wrong,
        it_keeps_no_count_of_its_own,
        after_so_many_tries_it_is_over,
        the_limit_is_its_argument,
        only_what_is_finished_is_looked_at,
        the_type_is_asked_once_and_of_the_text,
        work_in_between_gives_it_new_tries,
        the_end_says_what_did_not_fit,
    ),
    piece=Piece("output_type", borrowed=lambda: output_type),
)

WILD = Exercise(
    name="wild_hook",
    title="A hook that ran wild",
    minutes=5,
    difficulty="medium",
    lines=1,
    points=2,
    objectives=(1,),
    takes="wild_hook()",
    promises=WILD_CASE.promises(),
    case=WILD_CASE,
)

STOP_HOOK = Exercise(
    name="stop_hook",
    title="A veto with a cap",
    minutes=20,
    difficulty="hard",
    lines=14,
    points=7,
    objectives=(1, 2, 3),
    takes="stop_hook(stop, hook, cap=8)",
    promises=(
        its_words_take_the_place_of_the_end,
        a_hook_that_is_content_lets_it_end,
        it_is_silent_where_the_stop_is,
        only_finished_can_be_vetoed,
        it_keeps_no_memory_of_its_own,
        it_is_asked_with_the_run_and_whether_the_model_was_sent_back_before,
        so_many_vetoes_in_a_row_and_no_more,
        the_cap_is_its_argument,
        the_same_words_twice_with_no_call_in_between_end_it,
        the_same_words_after_a_call_are_said_again,
        the_next_turn_begins_anew,
        work_gives_the_hook_its_vetoes_back,
        the_end_tells_who_ended_it_and_what_for,
        the_hook_is_asked_once,
    ),
    piece=Piece("stop_hook", borrowed=lambda: contracts.stop_hook),
)

JUDGE = Exercise(
    name="judge",
    title="A judge that is paid",
    minutes=10,
    difficulty="medium",
    lines=6,
    points=4,
    objectives=(2, 3),
    takes="judge(model, question)",
    promises=(
        a_yes_is_no_veto,
        whatever_is_no_yes_comes_back_as_words,
        it_is_asked_the_question_about_task_and_answer,
        its_call_is_counted,
    ),
    piece=Piece("judge", borrowed=lambda: judge),
)

LAB = Lab(
    "08_stopping_is_a_contract",
    "Stopping is a contract",
    (VERIFIER, OUTPUT_TYPE, WILD, STOP_HOOK, JUDGE),
)
