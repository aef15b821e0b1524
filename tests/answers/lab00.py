"""Answers to lab 00: right ones of several shapes, and what people get wrong."""

from harness_zero.messages import reply, said, tool_result, tool_use, user

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


def by_letter():
    return "d", 2


def by_variables():
    letter = "d"
    message = 2
    return letter, message


RIGHT = {
    "conversation": [in_helpers, in_dicts, step_by_step],
    "answer": [by_stars, by_get, by_unpacking],
    "next_array": [by_list, by_plus, by_copy],
    "wrong_sums": [by_letter, by_variables, lambda: tuple(["d", 2])],
}


def appends_in_place(messages, reply, results):
    messages += [said(reply), user(*results)]
    return messages


WRONG = {
    "conversation": {
        "no return": (lambda: None, "an array is a list of dicts"),
        "bare words": (lambda: ["what is 2 + 3?"], "a list whose message 0"),
        "no answer at the end": (
            lambda: in_helpers()[:3],
            "the roles user, assistant, user, assistant",
        ),
        "a role tool": (
            lambda: [*in_helpers()[:2], {**RESULT, "role": "tool"}, in_helpers()[3]],
            "comes from the user",
        ),
        "another id": (
            lambda: [*in_helpers()[:2], user(tool_result("b", "5")), in_helpers()[3]],
            "user [tool_result b]",
        ),
        "the result as words": (
            lambda: [*in_helpers()[:2], user("5"), in_helpers()[3]],
            "a asked for and not answered",
        ),
        "the call as words": (
            lambda: [user("what is 2 + 3?"), said(reply("add(2, 3)")), user("5"), in_helpers()[3]],
            "reads the array to the letter",
        ),
    },
    "answer": {
        "the output alone": (
            lambda call, tools: tools[call["name"]](**call["input"]),
            "goes into a message later",
        ),
        "a whole message": (lambda call, tools: user(by_stars(call, tools)), "'role': 'user'"),
        "a fixed id": (
            lambda call, tools: tool_result("a", str(tools[call["name"]](**call["input"]))),
            "toolu_42",
        ),
        "no text": (
            lambda call, tools: tool_result(call["id"], tools[call["name"]](**call["input"])),
            "a result holds text",
        ),
        "by position": (
            lambda call, tools: tool_result(
                call["id"], str(tools[call["name"]](*call["input"].values()))
            ),
            "[(2, 1)]",
        ),
        "made up": (lambda call, tools: tool_result(call["id"], "5"), "[]"),
        "every result an error": (
            lambda call, tools: {**by_stars(call, tools), "is_error": True},
            "looks for another way",
        ),
        "called twice": (
            lambda call, tools: (by_stars(call, tools), by_stars(call, tools))[1],
            "[(1, 2), (1, 2)]",
        ),
        "the dict as one argument": (
            lambda call, tools: tool_result(call["id"], str(tools[call["name"]](call["input"]))),
            "note() missing 1 required positional argument",
        ),
    },
    "next_array": {
        "the results alone": (lambda m, reply, results: [user(*results)], "did not happen"),
        "no request": (lambda m, reply, results: [*m, user(*results)], "tool_result"),
        "the raw reply": (lambda m, reply, results: [*m, reply, user(*results)], "stop_reason"),
        "a message each": (
            lambda m, reply, results: [*m, said(reply), *[user(r) for r in results]],
            "answered together",
        ),
        "blocks for messages": (
            lambda m, reply, results: [*m, said(reply), *results],
            "message 4 is no dict with the role",
        ),
        "the wrong role": (
            lambda m, reply, results: [*m, said(reply), {"role": "assistant", "content": results}],
            "assistant [tool_result b, tool_result c]",
        ),
        "a list in a list": (
            lambda m, reply, results: [*m, said(reply), user(results)],
            "no content block",
        ),
        "in place": (appends_in_place, "somebody else may still read it"),
        "no return": (lambda m, reply, results: None, "Is there a return?"),
    },
    "wrong_sums": {
        "the letter alone": (lambda: "d", "a letter of a, b, c, d"),
        "the wrong way round": (lambda: (2, "d"), "(2, 'd')"),
        "no such message": (lambda: ("d", 4), "('d', 4)"),
        "the roles": (lambda: ("a", 2), "the roles take turns"),
        "an orphan": (lambda: ("b", 2), "every call is answered"),
        "what was said": (lambda: ("c", 1), "the array holds what the model said"),
        "where it was asked": (lambda: ("d", 1), "look down"),
        "where it shows": (lambda: ("d", 3), "look further up"),
    },
}
