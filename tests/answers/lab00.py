"""Answers to lab 00: right ones of several shapes, and what people get wrong."""

import json

from harness_zero.messages import reply, said, tool_result, tool_use, tool_uses, user

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


def by_json(call, tools):
    output = tools[call["name"]](**call["input"])
    content = output if isinstance(output, str) else json.dumps(output)
    return {
        "type": "tool_result",
        "tool_use_id": call["id"],
        "content": content,
        "is_error": False,
    }


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


def by_capital_in_a_list():
    return ["D", 2]


RIGHT = {
    "conversation": [in_helpers, in_dicts, step_by_step],
    "answer": [by_stars, by_get, by_unpacking, by_json],
    "next_array": [by_list, by_plus, by_copy],
    "wrong_sums": [
        by_letter,
        by_variables,
        lambda: tuple(["d", 2]),
        by_capital_in_a_list,
    ],
}


class Mute:
    """Something that cannot tell what it is."""

    def __repr__(self):
        raise ValueError("no words")


class MuteError(Exception):
    """An error that cannot tell what it is."""

    def __str__(self):
        raise ValueError("no words")


def raises(error):
    """A function that raises this."""

    def answer(*_):
        raise error

    return answer


def appends_in_place(messages, reply, results):
    messages += [said(reply), user(*results)]
    return messages


def in_helpers_but(at, message):
    """The conversation with one message changed."""
    return lambda: [message if number == at else each for number, each in enumerate(in_helpers())]


def answer_but(text=str, tool=lambda call, tools: tools[call["name"]], **more):
    """The answer to a call with one part changed."""

    def answer(call, tools):
        return {**tool_result(call["id"], text(tool(call, tools)(**call["input"]))), **more}

    return answer


def pops_the_input(call, tools):
    return tool_result(call["id"], str(tools[call["name"]](**call.pop("input"))))


def turns_the_call_into_the_result(call, tools):
    content = str(tools[call.pop("name")](**call.pop("input")))
    call.update(type="tool_result", tool_use_id=call.pop("id"), content=content)
    return call


def next_but(before=lambda m: m, spoken=said, last=lambda results: user(*results)):
    """The next array with one part changed."""
    return lambda m, reply, results: [*before(m), spoken(reply), last(results)]


def pops_the_content(m, reply, results):
    return [*m, {"role": "assistant", "content": reply.pop("content")}, user(*results)]


def clears_the_results(m, reply, results):
    longer = [*m, said(reply), user(*results)]
    results.clear()
    return longer


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
        "words in a list": (in_helpers_but(0, user([])), "message 0 holds something that is no"),
        "a bare string in a list": (
            in_helpers_but(0, {"role": "user", "content": ["what is 2 + 3?"]}),
            "content block: 'what is 2 + 3?'",
        ),
        "a result of bare strings": (
            in_helpers_but(2, user(tool_result("a", ["5"]))),
            "holds a result that holds something that is no content block: '5'",
        ),
        "a block without a type": (
            in_helpers_but(2, user(tool_result("a", [{"text": "5"}]))),
            "no content block: {'text': '5'}",
        ),
        "the whole reply": (
            in_helpers_but(3, {"role": "assistant", **reply("It is 5.")}),
            "message 3 with cost_usd, stop_reason, usage besides",
        ),
        "words before the call": (
            in_helpers_but(1, said(reply("I add.", tool_use("a", "add", x=2, y=3)))),
            "I add.",
        ),
        "words behind the result": (in_helpers_but(2, user(tool_result("a", "5"), "ok")), "'ok'"),
        "floats": (
            in_helpers_but(1, said(reply(tool_use("a", "add", x=2.0, y=3.0)))),
            "{'x': 2.0, 'y': 3.0}",
        ),
        "a hundred thousand roles": (lambda: [user("go")] * 100_000, "user, user, user"),
        "what cannot be shown": (lambda: [Mute()], "<a Mute of which repr() raises ValueError>"),
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
        "pops the input": (pops_the_input, "'name': 'note'}"),
        "turns the call into the result": (
            turns_the_call_into_the_result,
            "what is changed here is changed there",
        ),
        "pops the tool": (
            answer_but(tool=lambda call, tools: tools.pop(call["name"])),
            "may ask for the same tool",
        ),
        "the call and more": (
            lambda call, tools: {**call, **by_stars(call, tools)},
            "one with id, input, name besides",
        ),
        "a block without a type": (
            answer_but(text=lambda out: [{"text": str(out)}]),
            "one that holds a result that holds something that is no content block: {'text'",
        ),
        "a bare string in a list": (answer_but(text=lambda out: [str(out)]), "block: 'None'"),
        "the first tool": (
            answer_but(tool=lambda call, tools: next(iter(tools.values()))),
            "['first']",
        ),
        "the last tool": (
            answer_but(tool=lambda call, tools: [*tools.values()][-1]),
            "['last']",
        ),
        "repr without its quotes": (answer_but(text=lambda out: repr(out).strip("'")), "\\\\n"),
        "the beginning": (answer_but(text=lambda out: str(out)[:5]), '"  \'Wh"'),
        "the first thousand": (
            answer_but(text=lambda out: str(out)[:1_000]),
            "1,000 characters, ",
        ),
        "stripped": (answer_but(text=lambda out: str(out).strip()), "'Who?\\'\\n"),
        "nothing for None": (answer_but(text=lambda out: str(out or "")), "a text that tells None"),
        "the keys of a dict": (
            answer_but(text=lambda out: " ".join(out) if isinstance(out, dict) else str(out)),
            "a text that tells {'total': 42}",
        ),
        "is_error none": (answer_but(is_error=None), "is_error None"),
        "what cannot be shown": (lambda call, tools: Mute(), "<a Mute of which repr() raises"),
        "an error that cannot be shown": (
            raises(MuteError()),
            "MuteError: <a MuteError of which str() raises ValueError>",
        ),
        "a long error": (raises(OSError("x" * 500_000)), "OSError: xxx"),
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
            "assistant [tool_result b, tool_result d, tool_result c]",
        ),
        "a list in a list": (
            lambda m, reply, results: [*m, said(reply), user(results)],
            "no content block",
        ),
        "in place": (appends_in_place, "messages with 5 messages"),
        "no words": (
            next_but(spoken=lambda reply: {"role": "assistant", "content": tool_uses(reply)}),
            "whole content as message 3",
        ),
        "the first three": (next_but(before=lambda m: m[:3]), "so far (7), unchanged, first"),
        "the last message": (next_but(before=lambda m: m[-1:]), "so far (3), unchanged, first"),
        "the first result": (next_but(last=lambda results: user(results[0])), "d, c asked for"),
        "the first two results": (
            next_but(last=lambda results: user(*results[:2])),
            "c asked for and not",
        ),
        "sorted results": (
            next_but(last=lambda results: user(*sorted(results, key=lambda r: r["tool_use_id"]))),
            "answered in the order b, c, d",
        ),
        "words behind the results": (
            next_but(last=lambda results: user(*results, "go on")),
            "tool_result c, text]",
        ),
        "more than a message": (
            next_but(last=lambda results: {**user(*results), "id": 5}),
            "message 4 with id besides",
        ),
        "clears the results": (clears_the_results, "results to stay as it was"),
        "pops the content": (pops_the_content, "reply to stay as it was"),
        "no return": (lambda m, reply, results: None, "Is there a return?"),
    },
    "wrong_sums": {
        "the letter alone": (lambda: "d", "a letter of a, b, c, d"),
        "the wrong way round": (lambda: (2, "d"), "(2, 'd')"),
        "no such message": (lambda: ("d", 4), "('d', 4)"),
        "a whole sentence": (lambda: f"d, {'very ' * 100_000}surely", "'d, very very"),
        "the roles": (lambda: ("a", 2), "the roles take turns"),
        "an orphan": (lambda: ("b", 2), "every call is answered"),
        "what was said": (lambda: ("c", 1), "the array holds what the model said"),
        "where it was asked": (lambda: ("d", 1), "look down"),
        "where it shows": (lambda: ("d", 3), "look further up"),
    },
}
