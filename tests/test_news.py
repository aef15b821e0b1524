"""News enter at the bottom, once per change, where they do no harm."""

import pytest

from harness_zero.assembly import assemble, of_messages
from harness_zero.faults import SetupFault
from harness_zero.messages import array_fault, reply, tool_result, tool_use
from harness_zero.models.scripted import scripted
from harness_zero.news import news
from harness_zero.policy import max_rounds
from harness_zero.run import Run


def played(source, *script, tools=None, known=""):
    """A turn of a scripted model with this news."""
    told = news(source, "todo", known)
    harness = assemble(of_messages(scripted(*script)), tools or {}, brakes=[told, max_rounds(9)])
    return harness(Run("go"))


def ticking(todo):
    """A tool that crosses off what is to do."""
    return {"tick": lambda what: todo.remove(what) or "ok"}


def test_what_a_tool_changed_is_told_in_its_own_result():
    todo = ["write", "test"]
    script = reply(tool_use("a", "tick", what="write")), reply("done")
    run = played(lambda: "\n".join(todo), *script, tools=ticking(todo), known="write\ntest")
    assert run.messages[2]["content"] == [tool_result("a", "ok\n\n<todo>\ntest\n</todo>")]
    assert len(run.spoken) == 1 and array_fault(run.messages) is None


def test_what_does_not_change_is_told_once():
    calls = [reply(tool_use(f"c{n}", "tick", what="x")) for n in range(4)]
    run = played(lambda: "write", *calls, reply("done"), tools={"tick": lambda what: "ok"})
    assert [said for _, said in run.spoken] == ["<todo>\nwrite\n</todo>"]
    assert run.messages[1]["content"][0]["text"] == "<todo>\nwrite\n</todo>"


def test_what_is_known_from_the_prompt_is_not_told():
    assert played(lambda: "write", reply("done"), known="write").spoken == []


@pytest.mark.parametrize(
    ("first", "then"), [("write, test", "write"), ("a\n\nb", "a"), ("write", ""), ("", "write")]
)
def test_each_change_is_told_a_part_of_what_was_told_before_included(first, then):
    states = iter([first, then, then])
    calls = [reply(tool_use(f"c{n}", "tick")) for n in range(2)]
    run = played(
        lambda: next(states), *calls, reply("done"), tools={"tick": lambda: "ok"}, known="?"
    )
    assert len(run.spoken) == 2


def test_a_change_back_is_a_change():
    states = iter(["on", "off", "on"])
    calls = [reply(tool_use(f"c{n}", "tick")) for n in range(2)]
    run = played(lambda: next(states), *calls, reply("done"), tools={"tick": lambda: "ok"})
    assert len(run.spoken) == 3


def test_two_kinds_of_news_do_not_take_each_other_for_their_own():
    calls = [reply(tool_use(f"c{n}", "tick")) for n in range(3)]
    policies = [news(lambda: "write", "todo"), news(lambda: "a.py", "changed files")]
    model = of_messages(scripted(*calls, reply("done")))
    run = assemble(model, {"tick": lambda: "ok"}, brakes=[*policies, max_rounds(9)])(Run("go"))
    assert len(run.spoken) == 1 and "a.py" in run.spoken[0][1] and "write" in run.spoken[0][1]


@pytest.mark.parametrize("said", [None, 5, b"todo", ["todo"]])
def test_news_are_text(said):
    with pytest.raises(SetupFault, match="news are text, and those of 'todo' are"):
        played(lambda: said, reply("done"))


def test_nobody_asks_for_news_while_calls_wait():
    asked = []
    told = news(lambda: asked.append(1) or "x", "todo")
    run = Run("go")
    run.hear(reply(tool_use("a", "tick")))
    assert told(run) is None and asked == []
