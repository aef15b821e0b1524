"""One pool of money: reserved before a call, settled after it, whoever calls."""

import sys
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier, Event, Lock

import pytest
from counting import pressing

from harness_zero.assembly import accounted, assemble
from harness_zero.budget import Pool, Spent, copied, independent
from harness_zero.children import delegate
from harness_zero.contracts import judge, stop_hook
from harness_zero.faults import SetupFault
from harness_zero.journal import Journal
from harness_zero.labels import Label
from harness_zero.loop import ModelFailed
from harness_zero.messages import array_fault, reply, tool_use
from harness_zero.models.scripted import scripted
from harness_zero.policy import structural_stop
from harness_zero.run import Run


def costing(usd, words="Done."):
    """A model that answers at once, at this price."""
    return lambda request: reply(words, cost=usd)


def working(usd, rounds):
    """A model that calls a tool so many times, each call of it at this price."""
    calls = [reply(tool_use(f"c{n}", "look"), cost=usd) for n in range(rounds)]
    return scripted(*calls, reply("Done.", cost=usd))


def look() -> str:
    """Look."""
    return "nothing new"


def test_a_call_is_reserved_before_it_is_made_and_settled_after_it():
    pool, seen = Pool(1.00, most_usd=0.30), []

    def model(request):
        seen.append(pool.promised_usd)
        return reply("Done.", cost=0.10)

    pool.model(model)({"messages": []})
    assert seen == [0.30]
    assert pool.promised_usd == pool.spent_usd == 0.10


def test_what_was_reserved_for_a_call_that_failed_comes_back():
    pool = Pool(1.00, most_usd=0.30)

    def model(request):
        raise ModelFailed("no answer")

    with pytest.raises(ModelFailed):
        pool.model(model)({"messages": []})
    assert pool.promised_usd == 0


@pytest.mark.parametrize("seed", range(5))
def test_many_threads_pass_the_cap_by_one_call_at_most(seed):
    pool, luck, all_here = Pool(1.00, most_usd=0.07), Random(seed), Barrier(16)
    costs = [luck.uniform(0, 0.07) for _ in range(600)]
    hold, most_at_once = Lock(), []

    def model(request):
        with hold:
            most_at_once.append(pool.promised_usd)
            return reply("Done.", cost=costs.pop())

    def child(_):
        all_here.wait()
        speak = pool.model(model)
        while True:
            try:
                speak({"messages": []})
            except Spent:
                return

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(child, range(16)))
    assert 1.00 <= pool.spent_usd < 1.07
    assert max(most_at_once) < 1.07 + 1e-9
    assert pool.reserved == 0


def test_a_call_waits_while_others_hold_what_is_left_and_gets_what_comes_back():
    pool, speaking, may_end = Pool(1.00, most_usd=1.00), Event(), Event()

    def slow(request):
        speaking.set()
        may_end.wait(5)
        return reply("Done.", cost=0.20)

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(pool.model(slow), {"messages": []})
        speaking.wait(5)
        second = threads.submit(pool.model(costing(0.20)), {"messages": []})
        assert not second.done()
        may_end.set()
        first.result(5), second.result(5)
    assert pool.spent_usd == pytest.approx(0.40)


def test_a_call_that_costs_more_than_was_said_is_what_is_reserved_from_then_on():
    pool = Pool(1.00, most_usd=0.10)
    pool.model(costing(0.40))({"messages": []})
    assert pool.most_usd == 0.40


def test_a_turn_ends_as_cost_cap_and_what_it_asked_for_last_is_not_run():
    ran = []
    pool = Pool(0.25, most_usd=0.10)
    harness = assemble(working(0.10, 9), {"look": lambda: ran.append(1)}, pool=pool)
    run = harness(Run("Work."))
    assert (run.label, run.why) == (Label.COST_CAP, "$0.25 spent by all together")
    assert (len(ran), pool.spent_usd) == (2, pytest.approx(0.30))
    assert array_fault(run.messages) is None


def test_an_unknown_price_ends_the_turn_since_nothing_can_hold():
    run = assemble(working(None, 9), {"look": look}, brakes=(), pool=Pool(1, 0.1))(Run("Work."))
    assert run.label is Label.COST_CAP
    assert "no cap in money can hold" in run.why
    assert run.rounds == 1


def test_where_nothing_is_left_before_the_first_call_the_end_is_named_by_the_pool():
    pool = Pool(0.10, most_usd=0.10)
    assemble(costing(0.10), {}, pool=pool)(Run("First."))
    run = assemble(costing(0.10), {}, pool=pool)(Run("Second."))
    assert (run.label, pool.spent_usd) == (Label.COST_CAP, 0.10)


def test_a_judge_pays_too_and_the_turn_it_cannot_pay_for_ends_as_cost_cap():
    pool = Pool(0.20, most_usd=0.10)
    speak = accounted(costing(0.20), pool=pool)
    stop = stop_hook(structural_stop, judge(speak))
    run = assemble(speak, {}, stop, brakes=(), pool=pool)(Run("Work."))
    assert (run.label, pool.spent_usd) == (Label.COST_CAP, 0.20)


def test_a_failure_of_the_model_is_no_want_of_money():
    def model(request):
        raise ModelFailed("overloaded")

    run = assemble(model, {}, pool=Pool(1, 0.1))(Run("Work."))
    assert (run.label, run.why) == (Label.MODEL_ERROR, "overloaded")


def test_after_a_restart_the_pool_knows_what_the_run_and_its_children_spent(tmp_path):
    def played(pool, seen):
        child = assemble(costing(0.25), {}, pool=pool)

        def model(request):
            seen.append(request)
            if len(request["messages"]) == 1:
                return reply(tool_use("c1", "delegate", task="Look."), cost=0.10)
            return reply("Done.", cost=0.10)

        with Journal(tmp_path / "run.jsonl") as journal:
            tools = {"delegate": delegate(child)}
            return assemble(model, tools, journal=journal, pool=pool)(Run("Work."))

    first, second, asked = Pool(1.00, 0.30), Pool(1.00, 0.30), []
    run = played(first, [])
    again = played(second, asked)
    assert (asked, again.messages) == ([], run.messages)
    assert first.spent_usd == second.spent_usd == pytest.approx(0.45)


def test_what_a_child_spent_before_an_interrupt_is_not_forgotten_by_a_restart(tmp_path):
    def press() -> str:
        """Interrupt."""
        raise KeyboardInterrupt

    def played(pool):
        said = scripted(reply(tool_use("p", "press"), cost=0.25))
        child = assemble(said, {"press": press}, pool=pool)
        parent = scripted(
            reply(tool_use("c1", "delegate", task="Look."), cost=0.10), reply("Done.", cost=0.10)
        )
        with Journal(tmp_path / "run.jsonl") as journal:
            tools = {"delegate": delegate(child)}
            harness = assemble(parent, tools, journal=journal, pool=pool)
            run = harness(Run("Work."))
            assert run.label is Label.INTERRUPTED
            return harness(run.ask("Go on."))

    first, second = Pool(0.40, 0.25), Pool(0.40, 0.25)
    assert played(first).messages == played(second).messages
    assert first.spent_usd == second.spent_usd == pytest.approx(0.45)


def test_a_childs_spend_is_not_in_the_parents_own_cost():
    pool = Pool(1.00, most_usd=0.30)
    parent = scripted(
        reply(tool_use("c1", "delegate", task="Look."), cost=0.10), reply("Done.", cost=0.10)
    )
    child = assemble(costing(0.25), {}, pool=pool)
    run = assemble(parent, {"delegate": delegate(child)}, pool=pool)(Run("Work."))
    assert (run.cost_usd, pool.spent_usd) == (pytest.approx(0.20), pytest.approx(0.45))


@pytest.mark.parametrize(
    ("given_to_the_children", "all_together"),
    [
        (lambda pool: pool, 1.20),
        (copied, 0.70 + 2 * 1.00),
        (lambda pool: independent(0.50, pool), 0.70 + 2 * 0.50),
    ],
    ids=["shared", "copied", "independent"],
)
def test_three_ways_to_give_children_money_and_what_they_sum_up_to(
    given_to_the_children, all_together
):
    pool = Pool(1.00, most_usd=0.25)
    pool.settle(0.70)
    pools = [given_to_the_children(pool) for _ in range(2)]
    for each in pools:
        assemble(working(0.25, 99), {"look": look}, brakes=(), pool=each)(Run("Work."))
    own = sum(each.spent_usd for each in pools if each is not pool)
    assert pool.spent_usd + own == pytest.approx(all_together)


@pytest.mark.parametrize("cap", [0, -1, float("nan")])
def test_a_pool_without_a_cap_is_refused(cap):
    with pytest.raises(SetupFault, match="a pool has a cap"):
        Pool(cap, 0.1)


@pytest.mark.parametrize("amounts", [("1", 0.1), (None, 0.1), (1, None), (1, "0.1")])
def test_what_is_no_amount_of_money_makes_no_pool(amounts):
    with pytest.raises(SetupFault, match="both in USD and above 0; these are"):
        Pool(*amounts)


@pytest.mark.parametrize("cost", [-1, float("nan"), "0.10"])
def test_what_is_no_price_is_a_price_that_nobody_knows_and_gives_nothing_back(cost):
    pool = Pool(1.00, most_usd=0.30)
    pool.settle(0.50)
    run = assemble(costing(cost), {}, pool=pool)(Run("go"))
    assert (run.label, pool.spent_usd, pool.unpriced) == (Label.MODEL_ERROR, 0.50, 1)
    assert run.why.startswith("the reply has no cost in USD but")
    assert pool.end.why == "the price of a call is unknown, so no cap in money can hold"


def test_a_model_that_gives_no_reply_is_named_by_the_loop():
    run = assemble(lambda request: None, {}, pool=Pool(1.00, 0.30))(Run("go"))
    assert (run.label, run.why) == (
        Label.MODEL_ERROR,
        "the reply has no list of content blocks but is None",
    )


def test_an_interrupt_at_any_line_of_a_call_leaves_nothing_reserved():
    line, came = 0, True
    while came:
        line, pool, before = line + 1, Pool(1.00, most_usd=0.30), sys.gettrace()
        sys.settrace(pressing(line))
        try:
            pool.model(costing(0.10))({"messages": []})
            came = False
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        assert pool.reserved == 0, f"line {line}"
    assert line > 10
