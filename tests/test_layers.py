"""A wrong order is refused, and the reason is said."""

import pytest

from harness_zero.assembly import accounted, assemble
from harness_zero.budget import Pool
from harness_zero.compaction import compacted
from harness_zero.contracts import all_of, judge, next_speaker, stop_hook
from harness_zero.faults import SetupFault
from harness_zero.hooks import after, before
from harness_zero.journal import Journal
from harness_zero.layers import WRONG, WrongOrder, layers
from harness_zero.messages import tool_result
from harness_zero.models.recorded import recorded
from harness_zero.models.scripted import scripted
from harness_zero.permission import Rule, permission
from harness_zero.policy import max_rounds, nudge, recover, structural_stop
from harness_zero.summary import written_by
from harness_zero.view import cached, plain


def tool(call):
    return tool_result(call["id"], "ran")


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "journal") as journal:
        yield journal


def wrongly(journal, tmp_path):
    """Each order that is refused, built by hand."""
    pool, model = Pool(1, 0.1), scripted()
    hook, last = (lambda call: call), (lambda call, came: came)
    return {
        ("the journal of tools", "a permission"): lambda: journal.tool(permission(tool, [])),
        ("the journal of tools", "a hook before"): lambda: journal.tool(before(tool, hook)),
        ("the journal of tools", "a hook after"): lambda: journal.tool(after(tool, last)),
        ("a permission", "a hook before"): lambda: permission(before(tool, hook), []),
        ("a permission", "a hook after"): lambda: permission(after(tool, last), []),
        ("a hook after", "a hook before"): lambda: after(before(tool, hook), last),
        ("the journal of the model", "a pool"): lambda: journal.model(pool.model(model)),
        ("a recording", "the journal of the model"): lambda: recorded(
            journal.model(model), tmp_path / "tape"
        ),
        ("a compacted view", "a cached view"): lambda: compacted(cached(plain())),
        ("a cached view", "a cached view"): lambda: cached(cached(plain())),
    }


@pytest.mark.parametrize("order", WRONG, ids=lambda order: " around ".join(order))
def test_an_order_that_loses_a_promise_is_refused_with_the_promise(order, journal, tmp_path):
    with pytest.raises(WrongOrder) as refused:
        wrongly(journal, tmp_path)[order]()
    assert str(refused.value).startswith(f"{order[0]} is put around {order[1]}: {WRONG[order]}")


def test_what_is_wrong_is_found_however_deep_it_lies():
    with pytest.raises(WrongOrder, match="a permission is put around a hook before"):
        permission(permission(before(tool, lambda call: call), []), [])


def test_a_wrapper_tells_its_layers_from_the_outside_in():
    last = after(permission(tool, []), lambda call, came: came)
    assert layers(before(last, lambda call: call)) == [
        "a hook before",
        "a hook after",
        "a permission",
    ]


def test_what_has_no_mark_is_looked_through():
    stop = stop_hook(structural_stop, all_of(lambda run, again: None, judge(scripted())))
    assert layers(recover(nudge(lambda run: stop(run)))) == ["judge"]


ASKING = {
    "a judge": lambda model: {"stop": stop_hook(structural_stop, judge(model))},
    "a judge among others": lambda model: {
        "stop": stop_hook(structural_stop, all_of(lambda run, again: None, judge(model)))
    },
    "who speaks next": lambda model: {"stop": next_speaker(structural_stop, model)},
    "a summary": lambda model: {"view": cached(compacted(plain(), written_by(model)))},
}


@pytest.mark.parametrize("asking", ASKING.values(), ids=ASKING)
def test_whoever_asks_a_model_beside_the_array_has_to_be_journaled_and_paid(asking, journal):
    pool, model = Pool(1, 0.1), scripted()
    for parts in ({"journal": journal}, {"pool": pool}, {"journal": journal, "pool": pool}):
        with pytest.raises(WrongOrder, match=r"accounted\(model, journal, pool\)"):
            assemble(model, {}, **asking(model), **parts)
        speak = accounted(model, **parts)
        assemble(speak, {}, **asking(speak), **parts)


def test_a_model_is_accounted_once(journal):
    pool = Pool(1, 0.1)
    once = accounted(scripted(), journal, pool)
    assert accounted(once, journal, pool) is once
    assert layers(once) == ["a pool", "the journal of the model"]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"brakes": max_rounds(3)}, r"brakes takes a list, be it of one: brakes=\[...\]; this is"),
        ({"detectors": max_rounds(3)}, "detectors takes a list"),
        ({"before": lambda call: call}, "before takes a list"),
        ({"after": lambda call, came: came}, "after takes a list"),
        ({"news": lambda run: None}, "news takes a list"),
        ({"rules": Rule("deny", "*")}, "rules takes a list"),
        ({"tools": [print]}, 'tools are functions by name, as {"look": look}; not'),
        ({"model": "claude"}, "model is a function; this one is 'claude'"),
        ({"stop": None}, "stop is a function; this one is None"),
        ({"view": 3}, "view is a function; this one is 3"),
    ],
)
def test_a_part_of_another_kind_is_refused_before_the_turn(parts, words):
    with pytest.raises(SetupFault, match=words):
        assemble(**{"model": scripted(), "tools": {}, **parts})
