"""Calls of a model beside the array: what they decide, what they cost, where they stop."""

import json

import pytest

from harness_zero.assembly import assemble, of_messages
from harness_zero.contracts import all_of, judge, next_speaker, stop_hook
from harness_zero.desk import Desk, asking
from harness_zero.messages import array_fault, reply, words
from harness_zero.policy import cost_cap, max_rounds, structural_stop
from harness_zero.run import Run
from harness_zero.view import last_answer, plain

DONE = reply("done", tokens=10, cost=0.1)


def verdict(agrees, why="Look again.", cost=0.3):
    return reply(json.dumps({"agrees": agrees, "why": why}), tokens=5, cost=cost)


def saying(*replies):
    """A model that says these, one after the other, and notes what it was asked."""
    said = iter(replies)

    def model(request):
        model.asked.append(request)
        return next(said)

    model.asked = []
    return model


def play(contract, *script, brakes=(), view=None):
    desk = Desk(*script)
    stop = contract(structural_stop)
    return assemble(of_messages(desk.model), desk.tools, stop, brakes, view)(Run("go"))


def judged(model, **more):
    return lambda stop: stop_hook(stop, judge(model, **more))


def test_a_judge_reads_the_task_and_the_answer_and_lets_the_turn_end():
    model = saying(verdict(True))
    run = play(judged(model), asking("a"), DONE)
    assert run.label == "finished" and run.why.endswith("; judge agreed")
    asked = words(model.asked[0]["messages"][0])
    assert "<task>\ngo\n</task>" in asked and "<answer>\ndone\n</answer>" in asked


def test_a_verdict_against_it_sends_the_model_back_in_the_judges_words():
    run = play(judged(saying(verdict(False), verdict(True))), DONE, asking("a"), DONE)
    assert run.label == "finished" and run.spoken == [(2, "judge: Look again.")]


def test_what_a_judge_says_counts_in_rounds_tokens_and_spend_and_not_in_the_array():
    run = play(judged(saying(verdict(False), verdict(True))), DONE, DONE)
    assert (run.rounds, run.tokens) == (4, 30) and run.cost_usd == pytest.approx(0.8)
    assert len(run.replies) == 2 and len(run.messages) == 4
    assert [(at, who) for at, who, _ in run.asides] == [(2, "judge"), (4, "judge")]
    assert [*run.backwards()] == run.replies[::-1] and run.last(9) == run.replies
    assert run.last(1) == run.replies[-1:]


def test_replies_of_the_turn_are_those_of_the_turn_though_others_were_asked():
    hook = judge(saying(verdict(True), verdict(True)))
    desk = Desk(DONE, DONE)
    harness = assemble(of_messages(desk.model), desk.tools, stop_hook(structural_stop, hook))
    run = harness(harness(Run("go")).ask("again"))
    assert (run.rounds, len([*run.backwards()]), len(run.last(9)), len(run.asides)) == (2, 1, 1, 2)


def test_a_cap_in_money_holds_over_a_judge():
    verdicts = saying(*[verdict(False, str(n)) for n in range(9)])
    run = play(judged(verdicts), *[DONE] * 9, brakes=[cost_cap(1.0)])
    assert run.label == "cost_cap" and run.cost_usd == pytest.approx(1.2)


def test_a_price_of_a_judge_that_nobody_knows_holds_a_cap_in_money():
    run = play(judged(saying(verdict(False, cost=None))), *[DONE] * 9, brakes=[cost_cap(9.0)])
    assert run.label == "cost_cap" and run.rounds == 2


def test_a_limit_of_rounds_holds_over_a_judge():
    for limit in range(1, 7):
        model = saying(*[verdict(False, str(n)) for n in range(9)])
        run = play(judged(model), *[DONE] * 9, brakes=[max_rounds(limit)])
        assert (run.label, run.rounds, len(model.asked)) == ("max_rounds", limit, limit // 2)


def test_where_nobody_can_be_asked_any_more_the_limit_ends_the_turn_and_not_the_answer():
    model = saying()
    run = play(judged(model), asking("a"), DONE, brakes=[max_rounds(2)])
    assert run.label == "max_rounds" and model.asked == []


def test_a_last_answer_leaves_a_round_for_the_judge():
    desk = Desk(asking("a"), asking("b"), DONE, asking("c"))
    view = last_answer(plain(tools=[{"name": "note"}]), spare=1)
    sent = []

    def model(request):
        sent.append(request.get("tool_choice"))
        return DONE if request.get("tool_choice") else desk.model(request["messages"])

    stop = stop_hook(structural_stop, judge(saying(verdict(True))))
    run = assemble(model, desk.tools, stop, [max_rounds(4)], view)(Run("go"))
    assert sent == [None, None, {"type": "none"}]
    assert (run.label, run.rounds, run.text) == ("finished", 4, "done")


def test_a_veto_in_the_last_round_leaves_the_answer_and_the_label_of_the_limit():
    view = last_answer(plain(tools=[{"name": "note"}]))
    script = asking("a"), DONE
    run = play(
        lambda s: stop_hook(s, lambda r, a: "no"), *script, brakes=[max_rounds(2)], view=view
    )
    assert (run.label, run.text, run.spoken) == ("max_rounds", "done", [])


def test_a_dear_judge_is_asked_only_about_what_a_cheap_hook_has_passed():
    model, cheap = saying(verdict(True)), iter(["no", None])
    hook = all_of(lambda run, again: next(cheap), judge(model))
    assert play(lambda stop: stop_hook(stop, hook), DONE, DONE).label == "finished"
    assert len(model.asked) == 1


@pytest.mark.parametrize("odd", [reply("Fine!"), reply('{"agrees": "yes", "why": ""}'), reply("")])
def test_a_verdict_that_cannot_be_read_is_asked_for_once_more(odd):
    run = play(judged(saying(odd, verdict(True))), DONE)
    assert (run.label, run.rounds) == ("finished", 3)
    run = play(judged(saying(odd, odd)), DONE)
    assert run.label == "model_error" and "no answer that can be read" in run.why
    assert run.why.startswith("judge: ") and array_fault(run.messages) is None


def test_at_a_limit_it_is_not_asked_for_once_more():
    model = saying(reply("Fine!"), verdict(True))
    run = play(judged(model), DONE, brakes=[max_rounds(2)])
    assert (run.label, run.rounds, len(model.asked)) == ("model_error", 2, 1)


def test_where_nobody_knows_what_was_spent_a_cap_in_money_asks_no_judge():
    model = saying(verdict(True))
    run = play(judged(model), {**DONE, "cost_usd": None}, brakes=[cost_cap(9.0)])
    assert run.label == "cost_cap" and model.asked == []


def test_a_judge_that_fails_ends_the_turn_and_is_named():
    def down(request):
        raise ConnectionError("nobody there")

    run = play(judged(down, name="the referee"), DONE)
    assert (run.label, run.why) == ("model_error", "the referee: ConnectionError: nobody there")


def test_what_a_judge_is_shown_can_be_chosen():
    model = saying(verdict(True))
    play(judged(model, question="Is it polite?", shown=lambda run: f"{run.rounds} round"), DONE)
    assert words(model.asked[0]["messages"][0]) == "Is it polite?\n\n1 round"


def test_a_judge_has_settings_of_its_own():
    model = saying(verdict(True))
    play(judged(model, settings={"model": "a-cheaper-one", "max_tokens": 200}), DONE)
    assert (model.asked[0]["model"], model.asked[0]["max_tokens"]) == ("a-cheaper-one", 200)


def test_the_task_of_a_later_turn_is_its_own():
    model = saying(verdict(False), verdict(True), verdict(True))
    desk = Desk(DONE, DONE, DONE)
    stop = stop_hook(structural_stop, judge(model))
    harness = assemble(of_messages(desk.model), desk.tools, stop)
    harness(harness(Run("go")).ask("now this"))
    asked = [words(request["messages"][0]) for request in model.asked]
    assert ["<task>\ngo\n" in each for each in asked] == [True, True, False]
    assert "<task>\nnow this\n" in asked[2]


WHO = {"model": reply('{"next": "model"}', cost=0.1), "user": reply('{"next": "user"}')}


def test_the_model_goes_on_if_it_is_the_one_to_speak():
    model = saying(WHO["model"], WHO["user"])
    run = play(lambda stop: next_speaker(stop, model), reply("I will look."), asking("a"), DONE)
    assert run.label == "finished" and run.spoken == [(2, "Please continue.")]
    assert words(model.asked[0]["messages"][0]) == "I will look."


def test_who_speaks_next_cannot_run_away():
    model = saying(*[WHO["model"]] * 9)
    run = play(lambda stop: next_speaker(stop, model, limit=3), *[DONE] * 9)
    assert (run.label, run.rounds, len(model.asked)) == ("finished", 7, 3)


def test_who_speaks_next_is_not_asked_at_a_limit():
    model = saying(WHO["model"])
    run = play(lambda stop: next_speaker(stop, model), DONE, brakes=[max_rounds(1)])
    assert run.label == "finished" and model.asked == []


def test_an_answer_that_nobody_can_read_leaves_the_stop_right():
    run = play(lambda stop: next_speaker(stop, saying(reply("The model, I think."))), DONE)
    assert (run.label, run.rounds) == ("finished", 2)


def test_a_model_that_is_asked_who_speaks_next_and_fails_is_named():
    def down(request):
        raise ConnectionError("nobody there")

    run = play(lambda stop: next_speaker(stop, down), DONE)
    assert (run.label, run.why) == ("model_error", "who speaks next: ConnectionError: nobody there")
