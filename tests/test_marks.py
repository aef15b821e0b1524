"""Marks: where a cached view lets a provider keep the prefix, and what it leaves as it was."""

import json
import sys
from copy import deepcopy

import pytest

from harness_zero.faults import SetupFault
from harness_zero.marks import MARK
from harness_zero.messages import blocks, reply, said, text, tool_result, tool_use, user
from harness_zero.prefix import rendering
from harness_zero.run import Run
from harness_zero.view import cached, marked, plain

TOOLS = [{"name": "look"}, {"name": "find"}]
ASKED = said(reply("Let me look.", tool_use("a", "look")))
FOUND = user(tool_result("a", "nothing"))
REQUEST = {"model": "m", "tools": TOOLS, "system": "You look.", "messages": [user("go")]}
GREW = {**REQUEST, "messages": [user("go"), ASKED, FOUND]}
ASK = {"messages": [user("go")]}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}


def marks(request):
    """Every marked block of a request, with the message it stands in; -1 is the head."""
    head = [*request.get("tools", []), *request.get("system", [])]
    inside = [(-1, block) for block in head] + [
        (at, block) for at, message in enumerate(request["messages"]) for block in blocks(message)
    ]
    return [(at, block) for at, block in inside if MARK in block]


def test_a_first_request_is_marked_on_its_head_and_at_its_end():
    (_, head), (at, end) = marks(marked(REQUEST))
    assert (head["text"], at, end["text"]) == ("You look.", 0, "go")
    assert end[MARK] == {"type": "ephemeral", "ttl": "5m"}


def test_the_end_of_the_request_before_keeps_its_mark():
    assert [at for at, _ in marks(marked(GREW))] == [-1, 0, 2]


def test_however_much_a_reply_says_the_end_of_the_request_before_is_marked():
    long = said(reply(*[block for n in range(40) for block in (f"{n}", tool_use(f"a{n}", "look"))]))
    results = user(*[tool_result(f"a{n}", "") for n in range(40)])
    array = [user("go"), ASKED, FOUND, long, results]
    assert [at for at, _ in marks(marked({**REQUEST, "messages": array}))] == [-1, 2, 4]


def test_words_after_the_last_reply_do_not_hide_where_the_request_before_ended():
    array = [user("go"), ASKED, FOUND, said(reply("done")), user("and now?"), user("news")]
    assert [at for at, _ in marks(marked({**REQUEST, "messages": array}))] == [-1, 2, 5]


@pytest.mark.parametrize("ttl", ["2h", "5M", "", None, 300, ["5m"]])
def test_a_life_that_there_is_not_is_refused_at_once(ttl):
    for mark in (lambda: cached(plain(), ttl), lambda: marked(REQUEST, ttl)):
        with pytest.raises(SetupFault, match="what is marked is kept for 5m or 1h, and ttl is"):
            mark()


@pytest.mark.parametrize("odd", ["words", {"type": "text"}, {"type": "text", "text": None}])
def test_what_is_no_block_is_left_for_the_api_to_refuse(odd):
    for request in ({"system": [odd]}, {"system": odd}, {"tools": {"look": odd}}):
        assert [at for at, _ in marks({"messages": marked({**request, **ASK})["messages"]})] == [0]
    broken = {"messages": [user("go"), {"role": "user", "content": [odd]}]}
    assert [at for at, _ in marks({"messages": marked(broken)["messages"][:1]})] == [0]


def test_a_pause_of_the_server_is_marked_on_what_it_said():
    paused = said(reply("searching", stop_reason="pause_turn"))
    assert [at for at, _ in marks(marked({"messages": [user("go"), paused]}))] == [0, 1]
    array = [user("go"), paused, said(reply("and more", stop_reason="pause_turn"))]
    assert [at for at, _ in marks(marked({"messages": array}))] == [1, 2]


@pytest.mark.parametrize("unmarkable", [THOUGHT, {"type": "redacted_thinking", "data": "x"}])
def test_no_mark_stands_on_thinking(unmarkable):
    paused = {"role": "assistant", "content": [text("so"), unmarkable]}
    assert [b["type"] for _, b in marks(marked({"messages": [user("go"), paused]}))] == ["text"] * 2
    alone = {"role": "assistant", "content": [unmarkable]}
    assert [at for at, _ in marks(marked({"messages": [user("go"), alone]}))] == [0]


def test_no_mark_stands_on_blank_text():
    request = {"system": [text("You look."), text(" ")], "messages": [user("go", "\n")]}
    assert [block["text"] for _, block in marks(marked(request))] == ["You look.", "go"]


def test_without_a_system_prompt_the_last_tool_is_marked():
    request = {"tools": TOOLS, "messages": [user("go")]}
    assert [block.get("name") for _, block in marks(marked(request))] == ["find", None]


def test_bare_words_can_be_marked_too():
    request = marked({"messages": [{"role": "user", "content": "go"}]})
    assert [block["text"] for _, block in marks(request)] == ["go"]


def test_marks_that_were_there_are_taken_off_first():
    mark = {MARK: {"type": "ephemeral", "ttl": "1h"}}
    inner = tool_result("a", [{**text("nothing"), **mark}])
    old = {
        **mark,
        "tools": [{**tool, **mark} for tool in TOOLS],
        "messages": [user({**text("go"), **mark}), ASKED, user({**inner, **mark}), ASKED, FOUND],
    }
    new = marked(old)
    assert json.dumps(new).count(MARK) == 3 and "1h" not in json.dumps(new)
    assert marked(new) == new


def test_nothing_that_was_given_is_changed_and_only_what_is_marked_is_copied():
    before = deepcopy(GREW)
    after = marked(GREW)
    assert before == GREW
    assert after["messages"][1] is ASKED
    assert after["model"] == "m"


def test_marks_are_no_part_of_the_prefix():
    assert rendering(marked(GREW)) == rendering(GREW)


def test_the_time_to_live_is_the_same_for_all():
    assert {block[MARK]["ttl"] for _, block in marks(marked(GREW, "1h"))} == {"1h"}


def test_a_cached_view_marks_what_the_run_sends_and_leaves_the_run_bare():
    run = Run("go")
    view = cached(plain("You look.", TOOLS))
    run.hear(reply(tool_use("a", "look")))
    run.begin()
    run.answer(tool_result("a", "nothing"))
    assert view(run) == marked(plain("You look.", TOOLS)(run))
    assert MARK not in json.dumps(run.messages)


def test_a_run_that_goes_on_from_marked_messages_has_at_most_three_marks():
    run = Run.of(marked(GREW)["messages"])
    assert MARK not in json.dumps(run.messages) and run.messages == GREW["messages"]
    assert len(marks(cached(plain("You look.", TOOLS))(run))) == 3


def calls_made(view, rounds):
    """How many functions a request takes after so many rounds."""
    run, made = Run("go"), 0
    run.messages = [user("go"), *[ASKED, FOUND] * rounds]

    def count(frame, event, arg):
        nonlocal made
        made += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        view(run)
    finally:
        sys.setprofile(None)
    return made


def test_a_request_takes_as_much_work_in_a_long_run_as_in_a_short_one():
    view = cached(plain("You look.", TOOLS))
    assert calls_made(view, 5) == calls_made(view, 5_000) < 100


def test_of_a_long_run_two_messages_are_made_anew():
    run = Run("go")
    run.messages = [user("go"), *[ASKED, FOUND] * 1_000]
    sent = cached(plain())(run)["messages"]
    pairs = zip(sent, run.messages, strict=True)
    assert [at for at, (new, old) in enumerate(pairs) if new is not old] == [1_998, 2_000]
