"""A stop hook: who is sent back, how often, and by whom a turn ends then."""

import pytest

from harness_zero.assembly import assemble, of_messages
from harness_zero.contracts import HookFailed, all_of, stop_hook
from harness_zero.desk import Desk, asking
from harness_zero.labels import End, Label
from harness_zero.loop import ModelFailed
from harness_zero.messages import array_fault, reply
from harness_zero.policy import (
    WrongOrder,
    cost_cap,
    deadline,
    first_of,
    max_rounds,
    nudge,
    recover,
    structural_stop,
)
from harness_zero.repetition import repetition
from harness_zero.run import Run

DONE = reply("done", cost=0.1)


def play(hook, *script, brakes=(), cap=8, stop=structural_stop, run=None):
    desk = Desk(*script)
    return assemble(of_messages(desk.model), desk.tools, stop_hook(stop, hook, cap), brakes)(
        run or Run("go")
    )


def never(run, again):
    return f"Not yet: {len(run.spoken)}."


def nagging(run, again):
    return "Not yet."


def test_who_agrees_lets_the_turn_end_and_the_end_says_so():
    run = play(lambda run, again: None, asking("a"), DONE)
    assert (run.label, run.rounds, run.spoken) == ("finished", 2, [])
    run = play(tests_pass := named(lambda run, again: None, "tests"), DONE)
    assert run.why == "stop_reason 'end_turn'; tests agreed" and tests_pass.__name__ == "tests"


def named(hook, name):
    hook.__name__ = name
    return hook


def test_a_veto_sends_the_model_back_with_its_words():
    hook = named(lambda run, again: None if "a" in str(run.messages[1:-1]) else "Call a.", "a")
    run = play(hook, DONE, asking("a"), DONE)
    assert run.label == "finished" and run.spoken == [(2, "Call a.")]
    assert [m["role"] for m in run.messages] == ["user", "assistant"] * 3


def test_after_eight_vetoes_in_a_row_the_turn_ends_under_a_label_of_its_own():
    run = play(never, *[DONE] * 20)
    assert (run.label, run.rounds, len(run.spoken)) == ("veto_cap", 9, 8)
    assert run.why == "never does not agree after 8 vetoes: Not yet: 8."
    assert run.cost_usd == pytest.approx(0.9)


def test_a_hook_that_agrees_after_the_last_veto_is_heard():
    run = play(lambda run, again: never(run, again) if len(run.spoken) < 8 else None, *[DONE] * 9)
    assert run.label == "finished"


def test_a_call_in_between_starts_the_count_anew():
    script = [DONE, DONE, asking("a"), DONE, DONE, DONE]
    run = play(never, *script, cap=2)
    assert (run.label, run.rounds, len(run.spoken)) == ("veto_cap", 6, 4)


def test_a_call_that_was_not_made_starts_nothing_anew():
    cut = asking("x", stop_reason="max_tokens")
    stop = recover(structural_stop)
    assert play(nagging, DONE, cut, DONE, stop=stop).label == "veto_cap"
    assert play(never, DONE, cut, DONE, cap=1, stop=stop).rounds == 3


def test_the_same_words_twice_end_it_unless_a_tool_was_called_in_between():
    run = play(nagging, *[DONE] * 9)
    assert (run.label, run.rounds) == ("veto_cap", 2)
    assert run.why == "nagging says the same again, and no tool was called since: Not yet."
    run = play(nagging, DONE, asking("a"), DONE, asking("b"), DONE, DONE)
    assert (run.label, run.rounds) == ("veto_cap", 6)


def test_two_hooks_by_turns_are_no_way_around_it():
    by_turns = lambda run, again: ("even", "odd")[len(run.spoken) % 2]  # noqa: E731
    assert play(by_turns, *[DONE] * 9).rounds == 3


def test_the_same_words_are_known_again_beside_those_of_a_detector():
    desk = Desk(*[DONE] * 9)
    stop, speak = stop_hook(structural_stop, nagging), (lambda run: End and say_something(run))
    harness = assemble(of_messages(desk.model), desk.tools, stop, (), detectors=[speak])
    assert harness(Run("go")).rounds == 2


def say_something(run):
    from harness_zero.labels import Say

    return Say(f"Word {len(run.spoken)}.")


def test_a_hook_is_told_whether_it_sent_the_model_back_before_in_this_turn():
    heard = []
    hook = lambda run, again: heard.append(again) or (never(run, again) if len(heard) < 3 else None)  # noqa: E731
    run = play(hook, DONE, asking("a"), DONE, DONE)
    assert heard == [False, True, True]
    play(hook, DONE, run=run.ask("and now?"))
    assert heard[3:] == [False]


def test_vetoes_count_by_turn():
    run = play(never, *[DONE] * 9)
    again = play(never, *[DONE] * 9, run=run.ask("try again"))
    assert (again.label, again.rounds, len(again.spoken)) == ("veto_cap", 9, 16)


def test_what_was_said_in_the_turn_before_is_no_repetition():
    run = play(nagging, *[DONE] * 2)
    again = play(nagging, *[DONE] * 2, run=run.ask("try again"))
    assert (again.label, again.rounds) == ("veto_cap", 2)


def test_where_the_model_has_not_answered_there_is_nothing_to_veto():
    stop = stop_hook(lambda run: End(Label.FINISHED, "nothing to do"), never)
    assert stop(Run("go")) == End(Label.FINISHED, "nothing to do")


@pytest.mark.parametrize(
    ("line", "label"),
    [
        (reply("4", stop_reason="max_tokens"), "truncated"),
        (reply("no", stop_reason="refusal"), "refused"),
        (reply(), "empty_reply"),
        (reply("?", stop_reason="tea_time"), "unknown_stop"),
        (reply("4", stop_reason="model_context_window_exceeded"), "context_exhausted"),
    ],
)
def test_no_other_end_can_be_vetoed(line, label):
    asked = []
    run = play(lambda run, again: asked.append(1) or "no", line)
    assert run.label == label and asked == []


@pytest.mark.parametrize(
    ("brake", "label", "rounds"), [(max_rounds(3), "max_rounds", 3), (cost_cap(0.2), "cost_cap", 2)]
)
def test_a_brake_holds_over_a_veto(brake, label, rounds):
    run = play(never, *[DONE] * 9, brakes=[brake])
    assert (run.label, run.rounds) == (label, rounds)
    assert len(run.spoken) == rounds - 1 and array_fault(run.messages) is None


def test_a_deadline_that_passes_while_the_hook_is_at_work_holds():
    now = [0.0]

    def slow(run, again):
        now[0] += 100
        return f"{now}"

    run = play(slow, *[DONE] * 9, brakes=[deadline(60)], run=Run("go", lambda: now[0]))
    assert (run.label, run.rounds) == ("deadline", 1)


def test_an_answer_that_is_agreed_to_in_the_last_round_counts():
    run = play(lambda run, again: None, asking("a"), DONE, brakes=[max_rounds(2)])
    assert run.label == "finished"


@pytest.mark.parametrize(
    "stop", [max_rounds(3), first_of(structural_stop, max_rounds(3)), repetition()]
)
@pytest.mark.parametrize("wrap", [nudge, recover, lambda stop: stop_hook(stop, never)])
def test_a_brake_cannot_be_wrapped_alone_or_in_company(wrap, stop):
    with pytest.raises(WrongOrder, match="wrap the stop"):
        wrap(stop)


def test_a_hook_that_raises_is_a_fault_in_words_and_no_silent_pass():
    def broken(run, again):
        return {}["no such key"]

    run = Run("go")
    with pytest.raises(HookFailed, match=r"the hook broken raised KeyError.*no verdict"):
        play(broken, DONE, run=run)
    assert run.label == "interrupted" and "broken" in run.why


@pytest.mark.parametrize("said", [True, False, "", "  ", 0, ["no"], End(Label.STUCK)])
def test_what_is_no_verdict_is_a_fault_in_words(said):
    with pytest.raises(HookFailed, match=r"words that veto the end, or None; .* gave back"):
        play(lambda run, again: said, DONE)


def test_a_hook_whose_model_fails_is_named_in_the_end():
    def asks(run, again):
        raise ModelFailed("the API answered 529")

    run = play(asks, DONE)
    assert (run.label, run.why) == ("model_error", "asks: the API answered 529")


def test_an_interrupt_while_a_hook_is_at_work_is_an_interrupt():
    def pressed(run, again):
        raise KeyboardInterrupt

    run = play(pressed, DONE)
    assert run.label == "interrupted" and array_fault(run.messages) is None


def test_a_long_veto_is_cut():
    run = play(lambda run, again: None if run.spoken else "x" * 10_000, DONE, DONE)
    assert 4_000 < len(run.spoken[0][1]) < 4_100 and "6,000 characters cut" in run.spoken[0][1]


def test_several_hooks_are_one_and_the_first_veto_is_heard():
    asked = []

    def hook(name, *words):
        said = iter(words)
        return named(lambda run, again: asked.append((name, again)) or next(said), name)

    run = play(all_of(hook("cheap", "no", None, None), hook("dear", "hm", None)), DONE, DONE, DONE)
    assert run.label == "finished" and run.why.endswith("; cheap and dear agreed")
    assert [text for _, text in run.spoken] == ["no", "hm"]
    before = [("cheap", False), ("cheap", True), ("dear", True), ("cheap", True), ("dear", True)]
    assert asked == before


def test_hooks_around_each_other_are_each_heard_under_their_own_name():
    inner = stop_hook(structural_stop, lambda run, again: None)
    run = play(never, *[DONE] * 9, stop=inner)
    assert run.label == "veto_cap" and run.why.startswith("never ")
