"""The visible checks of lab 00: right answers of several shapes, and named misconceptions."""

import pytest

from harness_zero.grading.checks import findings
from harness_zero.grading.exercises import EXERCISES
from harness_zero.messages import reply, said, tool_result, tool_use, user
from harness_zero.notebook import check

CALL = said(reply(tool_use("a", "add", x=2, y=3)))
RESULT = user(tool_result("a", "5"))


def in_helpers():
    return [user("what is 2 + 3?"), CALL, RESULT, said(reply("It is 5."))]


def in_dicts():
    use = {"type": "tool_use", "id": "a", "name": "add", "input": {"y": 3, "x": 2}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "5"}
    return [
        {"role": "user", "content": "what is 2 + 3?"},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": "It is 5."},
    ]


def step_by_step():
    messages = in_helpers()[:2]
    messages.append(user(tool_result("a", [{"type": "text", "text": "5"}])))
    messages += [said(reply("It is 5."))]
    return messages


def by_stars(call, tools):
    return tool_result(call["id"], str(tools[call["name"]](**call["input"])))


def by_get(call, tools):
    function = tools.get(call["name"])
    return {
        "type": "tool_result",
        "tool_use_id": call["id"],
        "content": f"{function(**call['input'])}",
    }


def by_unpacking(call, tools):
    id, name, input = call["id"], call["name"], call["input"]
    content = [{"type": "text", "text": str(tools[name](**input))}]
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def by_list(messages, reply, results):
    return [*messages, said(reply), user(*results)]


def by_plus(messages, reply, results):
    said_by_hand = {"role": "assistant", "content": reply["content"]}
    return messages.__add__([said_by_hand, user(*results)])


def by_copy(messages, reply, results):
    longer = list(messages)
    longer.append(said(reply))
    longer.append({"role": "user", "content": results})
    return longer


RIGHT = [
    *[("conversation", right) for right in (in_helpers, in_dicts, step_by_step)],
    *[("answer", right) for right in (by_stars, by_get, by_unpacking)],
    *[("next_array", right) for right in (by_list, by_plus, by_copy)],
]


@pytest.mark.parametrize(("name", "right"), RIGHT)
def test_right_answers_of_several_shapes_keep_every_promise(name, right):
    assert [f for f in findings(EXERCISES[name], right) if f.state != "kept"] == []


def appends_in_place(messages, reply, results):
    messages += [said(reply), user(*results)]
    return messages


MISCONCEPTIONS = [
    ("conversation", lambda: None, "an array is a list of dicts"),
    ("conversation", lambda: ["what is 2 + 3?"], "an array is a list of dicts"),
    ("conversation", lambda: in_helpers()[:3], "the roles user, assistant, user, assistant"),
    (
        "conversation",
        lambda: [*in_helpers()[:2], {**RESULT, "role": "tool"}, in_helpers()[3]],
        "comes from the user",
    ),
    (
        "conversation",
        lambda: [*in_helpers()[:2], user(tool_result("b", "5")), in_helpers()[3]],
        "a asked for and not answered",
    ),
    (
        "conversation",
        lambda: [*in_helpers()[:2], user("5"), in_helpers()[3]],
        "a asked for and not answered",
    ),
    (
        "conversation",
        lambda: [user("what is 2 + 3?"), said(reply("add(2, 3)")), user("5"), in_helpers()[3]],
        "reads the array to the letter",
    ),
    ("answer", lambda call, tools: tools[call["name"]](**call["input"]), "a tool_result block"),
    ("answer", lambda call, tools: user(by_stars(call, tools)), "a tool_result block"),
    ("answer", lambda call, tools: tool_result("a", str(tools["note"](**call["input"]))), "42"),
    ("answer", lambda call, tools: tool_result(call["id"], tools["note"](**call["input"])), "'5'"),
    (
        "answer",
        lambda call, tools: tool_result(call["id"], str(tools["note"](*call["input"].values()))),
        "x=1, y=2",
    ),
    ("answer", lambda call, tools: tool_result(call["id"], "5"), "as it was asked for"),
    ("next_array", lambda m, reply, results: [user(*results)], "did not happen"),
    ("next_array", lambda m, reply, results: [*m, user(*results)], "the fourth message"),
    ("next_array", lambda m, reply, results: [*m, reply, user(*results)], "stay with us"),
    (
        "next_array",
        lambda m, reply, results: [*m, said(reply), *[user(r) for r in results]],
        "answered together",
    ),
    ("next_array", lambda m, reply, results: [*m, said(reply), *results], "no dict with the role"),
    (
        "next_array",
        lambda m, reply, results: [*m, said(reply), {"role": "assistant", "content": results}],
        "of the user",
    ),
    ("next_array", lambda m, reply, results: [*m, said(reply), user(results)], "no content block"),
    ("next_array", appends_in_place, "somebody else may still read it"),
    ("next_array", lambda m, reply, results: None, "a list of messages"),
]


@pytest.mark.parametrize(("name", "wrong", "words"), MISCONCEPTIONS)
def test_a_misconception_is_met_with_its_own_words(name, wrong, words, capsys):
    check(name, wrong)
    said = capsys.readouterr().out
    assert "BROKEN" in said and words in said
