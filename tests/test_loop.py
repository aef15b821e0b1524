"""The loop: every way out leaves a valid array, and words enter where they do no harm."""

import json

import pytest

from harness_zero.assembly import of_messages
from harness_zero.desk import Desk, asking, note, results_in
from harness_zero.faults import SetupFault
from harness_zero.labels import End, Label, Say
from harness_zero.loop import ModelFailed, turn
from harness_zero.messages import array_fault, reply, said, tool_result, tool_use, user
from harness_zero.models.scripted import OutOfReplies
from harness_zero.policy import cost_cap, first_of, max_rounds, structural_stop
from harness_zero.run import BrokenArray, Misused, Run
from harness_zero.toolbox import toolbox
from harness_zero.view import plain


def play(desk, policy=structural_stop, run=None, tool=None):
    """One turn at this desk; whatever comes of it, the array must be valid."""
    run = run or Run("go")
    try:
        return turn(run, policy, plain(), of_messages(desk.model), tool or toolbox(desk.tools))
    finally:
        assert array_fault(run.messages) is None


def once(word, when):
    """A policy that speaks the first time that `when` holds, beside the structural stop."""
    words = [word]
    return lambda run: words.pop() if words and when(run) else structural_stop(run)


# every way out


@pytest.mark.parametrize(
    ("line", "label"),
    [
        (reply("42"), "finished"),
        (reply("4", stop_reason="stop_sequence"), "finished"),
        (reply("4", stop_reason="max_tokens"), "truncated"),
        (asking("a", "b", stop_reason="max_tokens"), "truncated"),
        (asking("a", stop_reason="model_context_window_exceeded"), "context_exhausted"),
        (reply("no", stop_reason="refusal"), "refused"),
        (reply(stop_reason="refusal"), "refused"),
        (reply(), "empty_reply"),
        (reply(" \n"), "empty_reply"),
        (reply({"type": "thinking", "thinking": "hm", "signature": "s"}), "empty_reply"),
        (reply("?", stop_reason="tea_time"), "unknown_stop"),
        ({**reply("cut"), "stop_reason": None}, "unknown_stop"),
        (asking("a", stop_reason="end_turn"), "unknown_stop"),
        (reply("I will", stop_reason="tool_use"), "unknown_stop"),
        (reply({"type": "hologram", "data": "x"}, "see above"), "finished"),
    ],
)
def test_every_stop_reason_has_its_label_and_none_of_these_runs_a_tool(line, label):
    desk = Desk(line)
    assert play(desk).label == label and desk.done == []


def test_a_paused_reply_is_sent_back_unchanged_with_nothing_in_between():
    search = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    desk = Desk(reply(search, stop_reason="pause_turn"), reply("found it"))
    assert play(desk).label == "finished"
    assert desk.sent[1][1:] == [said(reply(search))]


def test_an_interrupt_in_the_second_of_three_tools_is_told_apart_call_by_call():
    desk = Desk(reply(note("a"), tool_use("b", "press"), note("c")))
    run = play(desk)
    assert (run.label, desk.done) == ("interrupted", ["a"])
    assert results_in(run.messages) == {
        "a": "noted a",
        "b": "interrupted, outcome unknown",
        "c": "not executed: interrupted",
    }


def test_an_interrupt_while_the_model_speaks_leaves_the_last_word_to_the_user():
    desk = Desk()
    desk.script = lambda messages: desk.press()
    run = play(desk)
    assert run.label == "interrupted" and run.messages == [user("go")]


def test_a_brake_holds_before_the_tools_run():
    desk = Desk(asking("a", "b", cost=2.0))
    run = play(desk, first_of(structural_stop, cost_cap(2.0)))
    assert (run.label, desk.done) == ("cost_cap", [])
    assert set(results_in(run.messages).values()) == {"not executed: cost_cap"}


def failing(error, desk):
    """Let the model fail from its second call on."""
    script = desk.script

    def speak(messages):
        if len(desk.sent) > 1:
            raise error
        return script(messages)

    desk.script = speak
    return desk


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (ConnectionError("529 overloaded"), "ConnectionError: 529 overloaded"),
        (ModelFailed("the key was refused (401)"), "the key was refused (401)"),
    ],
)
def test_a_failing_model_ends_the_turn_and_keeps_the_messages(error, why):
    run = play(failing(error, Desk(asking("a"), reply("done"))))
    assert (run.label, run.why) == ("model_error", why)
    assert results_in(run.messages) == {"a": "noted a"}


def test_a_run_whose_model_failed_goes_on_where_it_was():
    desk = Desk(asking("a"), reply("done"))
    script = desk.script
    run = play(failing(OSError(), desk))
    desk.script = script
    assert play(desk, run=run).label == "finished" and desk.done == ["a"]


@pytest.mark.parametrize("fault", [SystemExit, GeneratorExit, ValueError, SetupFault])
def test_a_fault_of_the_harness_is_raised_but_not_before_the_exits_are_closed(fault):
    def permission(call):
        if call["id"] == "b":
            raise fault("denied")
        return tool_result(call["id"], "fine")

    run = Run("go")
    with pytest.raises(fault):
        play(Desk(asking("a", "b", "c")), run=run, tool=permission)
    assert run.label == "interrupted" and list(results_in(run.messages).values()) == [
        "fine",
        "interrupted, outcome unknown",
        "not executed: interrupted",
    ]


def test_a_script_that_runs_out_is_a_fault_and_no_label():
    with pytest.raises(OutOfReplies):
        play(Desk(asking("a")))


def test_a_tool_that_answers_another_call_is_a_fault_of_the_set_up():
    with pytest.raises(SetupFault, match="expected that of a, got that of z"):
        play(Desk(asking("a")), tool=lambda call: tool_result("z", "fine"))


# words


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda run: run.say(Say("hm")), "run.say was given a Say, not its text: run.say(word"),
        (lambda run: run.say(None), "run.say was given a NoneType, not a text"),
        (lambda run: run.answer(tool_result("a", "ok")), "and none was handed out"),
        (lambda run: [run.begin(), run.begin(), run.answer(tool_result("a", "ok"))], "its answer"),
        (lambda run: [run.begin() for _ in "abc"], "the next call that waits, and none does"),
        (lambda run: run.aside("agreed"), "run.aside(reply, 'the judge'); the reply has no list"),
        (lambda run: run.aside("agreed", "a judge"), "the reply has no list of content blocks"),
        (lambda run: run.aside(reply("yes")), "it was not told who asked"),
        (lambda run: run.close("finished"), "run.close takes an End, and was given 'finished'"),
    ],
)
def test_a_run_that_is_written_in_another_way_than_it_takes_says_which_one_it_takes(write, words):
    run = Run("go")
    run.hear(asking("a", "b"))
    with pytest.raises(Misused) as raised:
        write(run)
    assert words in str(raised.value)


def test_words_before_the_tools_run_enter_inside_the_last_result():
    desk = Desk(asking("a", "b"), reply("done"))
    play(desk, once(Say("slow down"), when=lambda run: run.pending))
    assert results_in(desk.sent[1]) == {"a": "noted a", "b": "noted b\n\nslow down"}
    assert desk.done == ["a", "b"]


def test_words_about_results_enter_inside_them_while_the_model_has_not_read_them():
    desk = Desk(asking("a"), reply("done"))
    play(desk, once(Say("that failed before"), when=lambda run: run.results and not run.pending))
    assert results_in(desk.sent[1]) == {"a": "noted a\n\nthat failed before"}


def test_words_after_a_plain_reply_are_a_user_message_and_the_turn_goes_on():
    desk = Desk(reply("done"), reply("really done"))
    run = play(desk, once(Say("are you sure?"), when=lambda run: run.rounds))
    assert [m["role"] for m in run.messages] == ["user", "assistant"] * 2 and run.rounds == 2


def test_words_to_a_cut_reply_reach_it_with_the_calls_that_were_not_made():
    desk = Desk(asking("a", stop_reason="max_tokens"), reply("done"))
    run = play(desk, once(Say("smaller pieces"), when=lambda run: run.rounds))
    assert results_in(run.messages) == {
        "a": "not executed: the reply ended with max_tokens\n\nsmaller pieces"
    }
    assert run.label == "finished" and desk.done == []


def test_words_during_a_pause_wait_until_it_is_over():
    paused = reply("searching", stop_reason="pause_turn")
    desk = Desk(paused, paused, reply("found it"), reply("two of them"))
    run = play(desk, once(Say("how many?"), when=lambda run: run.paused))
    assert [len(request) for request in desk.sent] == [1, 2, 3, 5]
    assert desk.sent[3][-1] == user("how many?") and run.text == "two of them"


def test_a_policy_that_never_stops_talking_cannot_stop_the_run_from_moving():
    desk = Desk(asking("a"), asking("b"), reply("done"))
    run = play(desk, first_of(lambda run: Say("hm"), max_rounds(3)))
    assert run.rounds == 3 and desk.done == ["a", "b"]


# turns and totals


def test_a_second_user_message_continues_the_same_array():
    desk = Desk(asking("a"), reply("done"), reply("again"))
    run = play(desk)
    before = list(run.messages)
    play(desk, run=run.ask("and the docs"))
    assert run.messages[:4] == before and len(run.messages) == 6 and run.label == "finished"


def test_a_new_turn_has_its_own_rounds_and_the_same_purse():
    desk = Desk(*[asking(id, cost=0.5) for id in "abcdef"])
    stop = first_of(structural_stop, max_rounds(2), cost_cap(1.5))
    run = play(desk, stop)
    assert (run.label, run.rounds) == ("max_rounds", 2)
    assert play(desk, stop, run.ask("go on")).label == "cost_cap"
    assert len(desk.sent) == 3 and desk.done == ["a"]


def test_a_turn_after_the_cap_asks_the_model_nothing():
    desk = Desk(asking("a", cost=2.0))
    stop = first_of(structural_stop, cost_cap(2.0))
    run = play(desk, stop, play(desk, stop).ask("go on"))
    assert run.label == "cost_cap" and len(desk.sent) == 1


@pytest.mark.parametrize("line", [reply("42"), asking("a"), reply(), reply("?", stop_reason="x")])
def test_rounds_count_from_one_on_every_exit(line):
    assert play(Desk(line), first_of(structural_stop, max_rounds(1))).rounds == 1


def test_text_rounds_tokens_and_spend_are_read_off_the_run():
    desk = Desk(asking("a", tokens=30, cost=0.25), reply("done", tokens=12, cost=0.5))
    run = play(desk)
    assert (run.text, run.rounds, run.tokens, run.cost_usd) == ("done", 2, 42, 0.75)
    assert len(run.replies) == 2 and json.dumps(run.messages)


def test_an_unknown_price_is_told_and_never_zero():
    run = play(Desk({**reply("done"), "cost_usd": None}))
    assert run.unpriced == 1 and run.cost_usd == 0.0


# starting from an array


def test_a_run_goes_on_from_a_given_array():
    given = [user("go"), said(asking("a")), user(tool_result("a", "noted a"))]
    desk = Desk(reply("done"))
    run = play(desk, run=Run.of(given))
    assert desk.sent == [given] and run.label == "finished" and len(given) == 3


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "the array is empty"),
        ([said(reply("hi"))], "message 0 has the role 'assistant'"),
        ([user("go"), said(asking("a", "b"))], "message 1: a, b asked for and not answered"),
        ([user("go"), said(asking("a")), user("thanks")], "messages 1 and 2: a asked for"),
        ([user("go", tool_result("z", "?"))], "message 0: z answered but not asked for"),
        ([user("go"), {"role": "assistant", "content": []}], "message 1 has no content"),
    ],
)
def test_a_broken_array_is_named_and_never_repaired(messages, words):
    with pytest.raises(BrokenArray) as caught:
        Run.of(messages)
    assert words in str(caught.value) and "Mend the array" in str(caught.value)


def test_an_end_without_a_reason_is_a_label_alone():
    run = play(Desk(), lambda run: End(Label.BUSY))
    assert (run.label, run.why, run.rounds, run.text) == ("busy", "", 0, "")


@pytest.mark.parametrize(
    "odd",
    [
        None,
        "42",
        {"content": "42"},
        {**reply("42"), "content": ["42"]},
        {**reply("42"), "content": [{"text": "42"}]},
        {**reply("42"), "content": [{"type": "text", "text": None}]},
        {**reply("42"), "content": [{"type": "tool_use", "name": "note"}]},
        {**reply("42"), "usage": None},
        {**reply("42"), "cost_usd": "free"},
        {**reply("42"), "cost_usd": float("nan")},
        {**reply("42"), "stop_reason": ["end_turn"]},
    ],
)
def test_what_is_no_reply_is_a_model_error_and_leaves_the_array_as_it_was(odd):
    desk = Desk()
    desk.script = lambda messages: odd
    run = play(desk)
    assert run.label == "model_error" and run.messages == [user("go")]


@pytest.mark.parametrize("prompt", [None, 5, "", " "])
def test_a_prompt_is_words(prompt):
    with pytest.raises(SetupFault, match="a prompt is words"):
        Run(prompt)
