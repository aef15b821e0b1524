"""Where two requests part: the block, the byte, and what it costs to find out."""

import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_zero import prefix
from harness_zero.messages import reply, said, tool_result, tool_use, user
from harness_zero.prefix import first_byte, first_difference, lines, rendering

ASKS = said(reply("Let me look.", tool_use("call_2", "read", path="a.py")))


def request(result="12 passed", **fields):
    """A request with a tool, a system prompt and three messages."""
    tools = [{"name": "read", "description": "Read a file.", "input_schema": {"type": "object"}}]
    messages = [user("mend it"), ASKS, user(tool_result("call_2", result))]
    return {"tools": tools, "system": "You mend.", "messages": messages} | fields


@pytest.mark.parametrize(
    ("changed", "block", "byte"),
    [
        (request(tools=[]), "tool 0 (read)", 0),
        (request(tools=request()["tools"] * 2), "tool 1 (read)", 0),
        (request(system="You mend!"), "system, block 0 (text)", len('{"text":"You mend')),
        (request(system=None), "system, block 0 (text)", 0),
        (
            request("13 passed"),
            "message 2, block 0 (tool_result of call_2)",
            len('{"content":"1'),
        ),
        (request(messages=[user("mend it")]), "message 1", 0),
        (
            request(messages=[user("mend it", "now")]),
            "message 0, block 1 (text)",
            0,
        ),
        (request(messages=[ASKS]), "message 0 (its role)", len('["')),
        (
            request(messages=[user("mend it"), said(reply("Let me look."))]),
            "message 1, block 1 (tool_use call_2)",
            0,
        ),
        (request(model="another"), "model", 0),
    ],
)
def test_a_difference_is_named_by_block_and_byte(changed, block, byte):
    found = first_difference(request(), changed)
    assert (found.block, found.byte) == (block, byte)


def test_equal_requests_do_not_differ():
    assert first_difference(request(), request()) is None


def test_the_order_is_that_of_the_cache_and_not_that_of_the_dict():
    backwards = {"messages": [user("other")], "system": "You break.", "tools": []}
    assert first_difference(request(), backwards).section == "tools"
    assert first_difference(request(), backwards | {"tools": request()["tools"]}).section == (
        "system"
    )


def test_a_cache_mark_is_no_part_of_the_prefix():
    mark = {"cache_control": {"type": "ephemeral"}}
    marked = request(
        tools=[request()["tools"][0] | mark],
        system=[{"type": "text", "text": "You mend."} | mark],
        messages=[*request()["messages"][:2], user(tool_result("call_2", "12 passed") | mark)],
        **mark,
    )
    assert first_difference(request(), marked) is None
    assert rendering(request()) == rendering(marked)


def test_a_tools_argument_that_is_called_like_the_mark_stays():
    one = request(messages=[said(reply(tool_use("a", "set", cache_control="on")))])
    other = request(messages=[said(reply(tool_use("a", "set")))])
    assert first_difference(one, other).block == "message 0, block 0 (tool_use a)"


def test_bare_words_are_one_block_of_text():
    messages = [{"role": "user", "content": "mend it"}, *request()["messages"][1:]]
    assert first_difference(request(), request(messages=messages)) is None


def test_the_order_of_a_blocks_fields_does_not_count_and_that_of_arguments_does():
    block = tool_use("a", "add", x=1, y=2)
    swapped = dict(reversed(block.items()))
    other = {**block, "input": {"y": 2, "x": 1}}
    one, two, three = ({"messages": [said(reply(each))]} for each in (block, swapped, other))
    assert first_difference(one, two) is None
    assert first_difference(one, three).byte == len('{"id":"a","input":{"')
    assert first_difference(one, three, loose=True) is None


def test_a_number_is_not_a_truth_unless_one_is_loose():
    one, other = ({"messages": [said(reply(tool_use("a", "f", x=x)))]} for x in (1, True))
    assert first_difference(one, other).block == "message 0, block 0 (tool_use a)"
    assert first_difference(one, other, loose=True) is None


def test_other_json_is_one_block():
    found = first_difference({"a": [1, 2]}, {"a": [1, 3]})
    assert (found.block, found.byte) == ("the value", len('{"a":[1,'))
    assert first_difference([1], [1]) is None


def test_what_is_no_message_is_compared_all_the_same():
    odd = [{"messages": [thing]} for thing in (None, 7, "words", {"role": "user"}, {"content": 3})]
    for one in odd:
        assert first_difference(one, one) is None
        assert all(first_difference(one, other) for other in odd if other is not one)


def test_a_short_piece_of_both_is_shown_and_no_half_characters():
    words = "ä" * 50
    one, other = (request(f"{words}{end}{words}") for end in "xy")
    then, now = first_difference(one, other).around(7)
    assert (then, now) == ("...äääxäää...", "...äääyäää...")


def test_half_of_a_surrogate_pair_is_rendered_as_well():
    one, other = (request(f"a\ud83d{end}") for end in "xy")
    assert first_difference(one, other).byte == len('{"content":"a') + 3


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
BLOCK = st.one_of(
    st.builds(lambda words: {"type": "text", "text": words}, st.text(max_size=8)),
    st.builds(lambda x: tool_use("call", "do", x=x), JSON),
    st.builds(lambda words: tool_result("call", words), st.sampled_from(["ab", "ac", "b"])),
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]), "content": st.lists(BLOCK, max_size=3)}
)
REQUEST = st.fixed_dictionaries(
    {"messages": st.lists(MESSAGE, max_size=4)},
    optional={
        "tools": st.lists(st.builds(lambda name: {"name": name}, st.text(max_size=2)), max_size=2),
        "system": st.text(max_size=3) | st.lists(BLOCK, max_size=2),
    },
)


def continued(draw, request):
    """A request that shares its beginning with this one."""
    at = draw(st.integers(0, len(request["messages"])))
    return request | {"messages": request["messages"][:at] + draw(st.lists(MESSAGE, max_size=2))}


def slowly(one, other):
    """The first byte in which these differ, found by going through them."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


PAIR = (
    st.tuples(REQUEST, REQUEST)
    | st.composite(lambda draw: (one := draw(REQUEST), continued(draw, one)))()
)


@settings(deadline=None)
@given(PAIR)
def test_it_finds_the_byte_that_a_slow_comparison_finds(pair):
    one, other = pair
    found, shared = first_difference(one, other), slowly(*map(rendering, pair))
    if found is None:
        assert rendering(one) == rendering(other)
        return
    before = 0
    for name, line in lines(one if found.one else other):
        if name == found.block or name.startswith(f"{found.block} ("):
            break
        before += len(line)
    assert before + found.byte == shared


@settings(deadline=None)
@given(REQUEST, st.lists(MESSAGE, max_size=2))
def test_a_request_that_goes_on_begins_with_all_bytes_of_the_one_before(request, more):
    longer = request | {"messages": request["messages"] + more}
    assert rendering(longer).startswith(rendering(request))


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_halving_finds_the_same_byte_as_going_through_them(one, other):
    assert first_byte(one, other) == slowly(one, other)


@pytest.mark.parametrize("loose", [False, True])
def test_only_the_block_that_differs_is_rendered_however_long_the_request(loose):
    messages = [said(reply(tool_use("call", "read", path=f"{n}.txt"))) for n in range(5_000)]
    again = json.loads(json.dumps(messages))  # equal, and no object is shared
    again[4_000] = user("another")
    rendered = calls_of(prefix.rendered, {"messages": messages}, {"messages": again}, loose)
    assert len(rendered) == 2


def calls_of(function, *compared):
    """The calls of a function while two requests are compared."""
    seen = []

    def watch(frame, event, arg):
        if event == "call" and frame.f_code is function.__code__:
            seen.append(frame)

    sys.setprofile(watch)
    try:
        first_difference(*compared)
    finally:
        sys.setprofile(None)
    return seen
