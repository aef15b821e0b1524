"""Children: turns of their own inside a tool call of the parent."""

import signal
import threading
from threading import Event
from time import sleep

import pytest

from harness_zero.assembly import assemble
from harness_zero.budget import Pool
from harness_zero.children import delegate, delegate_all
from harness_zero.faults import SetupFault
from harness_zero.labels import Label
from harness_zero.messages import array_fault, reply, tool_results, tool_use
from harness_zero.models.scripted import scripted
from harness_zero.policy import max_rounds
from harness_zero.run import Run

PATIENCE = 5


def calls(name, **input):
    return reply(tool_use("c1", name, **input))


def results(run):
    return [result["content"] for m in run.messages for result in tool_results(m)]


def test_a_childs_label_and_words_reach_the_parent_as_data():
    child = assemble(scripted(reply("It is red.")), {})
    parent = scripted(calls("delegate", task="Which colour?"), reply("Red."))
    run = assemble(parent, {"delegate": delegate(child)})(Run("Ask."))
    assert results(run) == ["finished: stop_reason 'end_turn'\nIt is red."]
    assert run.label is Label.FINISHED


def test_a_child_that_did_not_finish_says_so():
    child = assemble(scripted(calls("look")), {"look": lambda: ""}, brakes=[max_rounds(1)])
    parent = scripted(calls("delegate", task="Look."), reply("It did not get far."))
    run = assemble(parent, {"delegate": delegate(child)})(Run("Ask."))
    assert results(run) == ["max_rounds: 1 rounds"]


def test_a_childs_array_is_its_own_and_holds_nothing_of_the_parents():
    kept = []
    child = assemble(scripted(reply("Done.")), {})
    parent = scripted(calls("delegate", task="A part of it."), reply("Done."))
    run = assemble(parent, {"delegate": delegate(child, kept=kept.append)})(Run("A secret."))
    assert "secret" not in str(kept[0].messages)
    assert kept[0].messages[0] == {
        "role": "user",
        "content": [{"type": "text", "text": "A part of it."}],
    }
    assert len(run.messages) == 4


def test_children_who_work_at_once_are_told_in_the_order_of_their_tasks():
    second_is_done = Event()

    def model(request):
        if "first" in str(request["messages"][0]):
            second_is_done.wait(PATIENCE)
        else:
            second_is_done.set()
        return reply("Done with it.")

    tool = delegate_all(assemble(model, {}))
    told = tool(["the first", "the second"]).split("\n\n")
    assert [line[:12] for line in told] == ["1. finished:", "2. finished:"]


def test_too_many_children_at_once_are_an_error_that_the_model_reads():
    tool = delegate_all(assemble(scripted(), {}))
    parent = scripted(calls("delegate_all", tasks=["look"] * 9), reply("Fewer."))
    run = assemble(parent, {"delegate_all": tool})(Run("All of it."))
    assert results(run) == ["ValueError: 8 tasks at once are the most; these are 9"]


def test_an_interrupt_in_a_child_ends_the_parent_as_well_and_both_arrays_are_valid():
    kept = []

    def tool():
        raise KeyboardInterrupt

    child = assemble(scripted(calls("press")), {"press": tool})
    parent = scripted(calls("delegate", task="Press it."))
    run = assemble(parent, {"delegate": delegate(child, kept=kept.append)})(Run("Go."))
    assert run.label is kept[0].label is Label.INTERRUPTED
    assert array_fault(run.messages) is array_fault(kept[0].messages) is None
    assert results(kept[0]) == ["interrupted, outcome unknown"]


def pressing_while_children_work(tool):
    """Play a parent whose children are in this tool, and send its process a real SIGINT."""
    kept, working = [], threading.Barrier(4)

    def model(request):
        n = len(request["messages"])
        if n == 1:
            working.wait(PATIENCE)
        return reply(*(tool_use(f"c{n}{at}", "work") for at in range(2)))

    def work():
        sleep(0.001)
        return "worked"

    def press():
        working.wait(PATIENCE)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    child = assemble(model, {"work": work}, brakes=[max_rounds(3_000)])
    parent = scripted(calls("delegate_all", tasks=["one", "two", "three"]))
    tools = {"delegate_all": tool(child, kept)}
    finger = threading.Thread(target=press)
    finger.start()
    run = assemble(parent, tools)(Run("All of it."))
    finger.join()
    return run, kept


def in_one_go(child, kept):
    return delegate_all(child, kept=kept.append)


def through_a_child(child, kept):
    """Children of a child: the threads are started by a thread."""
    tool = {"delegate_all": delegate_all(child, kept=kept.append)}

    def model(request):
        return calls("delegate_all", tasks=["one", "two", "three"])

    return delegate_all(assemble(model, tool), kept=kept.append)


def test_an_interrupt_of_the_parent_interrupts_all_children_and_every_array_is_valid():
    run, kept = pressing_while_children_work(in_one_go)
    assert {each.label for each in (run, *kept)} == {Label.INTERRUPTED}
    assert [array_fault(each.messages) for each in (run, *kept)] == [None] * 4


def test_an_interrupt_reaches_the_children_of_children():
    def one(child, kept):
        tool = through_a_child(child, kept)

        def delegate_all(tasks: list[str]) -> str:
            """Hand over one of them."""
            return tool(tasks[:1])

        return delegate_all

    run, kept = pressing_while_children_work(one)
    assert {each.label for each in (run, *kept)} == {Label.INTERRUPTED}
    assert [array_fault(each.messages) for each in (run, *kept)] == [None] * 5


def test_a_child_that_waits_for_money_is_interrupted_too():
    pool, speaking = Pool(1.00, most_usd=1.00), Event()

    def model(request):
        if "first" in str(request["messages"][0]):
            speaking.set()
            raise KeyboardInterrupt
        speaking.wait(PATIENCE)
        return reply("I could pay.", cost=0.10)

    held = pool.reservation()
    kept = []
    tool = delegate_all(assemble(model, {}, pool=pool), kept=kept.append)
    with held:
        finger = threading.Timer(
            0.2, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        )
        finger.start()
        with pytest.raises(KeyboardInterrupt):
            tool(["the first", "the second"])
    assert [each.label for each in kept] == [Label.INTERRUPTED] * 2
    assert (pool.reserved, speaking.is_set()) == (0, False)


def interrupted_while(busy, *said):
    """Two children: one is interrupted while the other is in `busy`, a model's or a tool's call."""
    begun, kept = Event(), []

    def once_more():
        busy()
        begun.set()
        sleep(0.2)  # meanwhile the first one is interrupted
        return "done"

    def model(request):
        if "first" in str(request["messages"][0]):
            begun.wait(PATIENCE)
            raise KeyboardInterrupt
        return reply(*said) if said else {**reply(once_more()), "stop_reason": "pause_turn"}

    child = assemble(model, {"work": once_more}, brakes=[max_rounds(3)])
    with pytest.raises(KeyboardInterrupt):
        delegate_all(child, kept=kept.append)(["the first", "the second"])
    return kept[1]


def test_after_the_interrupt_a_child_does_not_ask_its_model_again():
    asked = []
    run = interrupted_while(lambda: asked.append(1))
    assert (run.label, len(asked)) == (Label.INTERRUPTED, 1)


def test_after_the_interrupt_a_child_makes_none_of_the_calls_that_wait_in_its_reply():
    made = []
    run = interrupted_while(lambda: made.append(1), tool_use("a", "work"), tool_use("b", "work"))
    assert (run.label, len(made)) == (Label.INTERRUPTED, 1)
    assert array_fault(run.messages) is None


def test_a_fault_of_the_set_up_in_a_child_is_raised_after_the_others_are_closed():
    kept = []

    def model(request):
        if "first" in str(request["messages"][0]):
            raise SetupFault("put together wrongly")
        return calls("look")

    tool = delegate_all(assemble(model, {"look": lambda: ""}, brakes=()), kept=kept.append)
    with pytest.raises(SetupFault, match="put together wrongly"):
        tool(["the first", "the second"])
    assert [each.label for each in kept] == [Label.INTERRUPTED] * 2
    assert [array_fault(each.messages) for each in kept] == [None] * 2


@pytest.mark.parametrize(
    ("name", "input", "told"),
    [
        ("delegate", {"task": " "}, "a task is words, not ' '"),
        ("delegate", {"task": 3}, "a task is words, not 3"),
        ("delegate_all", {"tasks": ["Look.", None]}, "a task is words, not None"),
        ("delegate_all", {"tasks": "Look."}, "tasks are a list, one text for each helper"),
    ],
)
def test_a_task_that_is_none_is_an_error_that_the_model_reads_and_nobody_is_sent(name, input, told):
    sent = []
    tools = {"delegate": delegate(sent.append), "delegate_all": delegate_all(sent.append)}
    run = assemble(scripted(calls(name, **input), reply("Then not.")), tools)(Run("Ask."))
    assert results(run)[0].startswith(f"ValueError: {told}")
    assert (run.label, sent) == (Label.FINISHED, [])
