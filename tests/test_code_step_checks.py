"""A check that fails opens the code at the line where the promise broke."""

import contextlib
import importlib
import io
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness_zero.desk import Broken
from harness_zero.grading.again import followed
from harness_zero.grading.checks import finding, findings
from harness_zero.labels import End
from harness_zero.messages import said, tool_result, tool_results, tool_uses, user
from harness_zero.notebook.check import FOLDED, case_of, exercise
from harness_zero.notebook.written import code_lines

check = importlib.import_module("harness_zero.notebook.check")  # the name is the function's


def first_call_only(model, tools, prompt):
    messages = [user(prompt)]
    while True:
        reply = model(messages)
        messages.append(said(reply))
        if not tool_uses(reply):
            return messages
        call = tool_uses(reply)[0]
        messages.append(answered(call, tools))


def answered(call, tools):
    return user(tool_result(call["id"], str(tools[call["name"]](**call["input"]))))


def never_asks_again(model, tools, prompt):
    messages = [user(prompt)]
    messages.append(said(model(messages)))
    return messages


def never_ends(model, tools, prompt):
    messages = [user(prompt)]
    messages.append(said(model(messages)))
    while messages:
        tools.get("nothing")


def falls_in_a_helper(model, tools, prompt):
    messages = [user(prompt)]
    return helper(model(messages))


def helper(reply):
    return reply["nothing"]


def backwards(reply, tools):
    results = [answered(call, tools)["content"][0] for call in tool_uses(reply)]
    return user(*reversed(results))


def sorts(asking, answering):
    asked = sorted(call["id"] for call in tool_uses(asking))
    got = sorted(r["tool_use_id"] for r in tool_results(answering)) if answering else []
    return None if asked == got else f"{asked} and {got} differ"


BREAKS = [
    ("run", first_call_only, "messages.append(answered(call, tools))"),
    ("run", never_asks_again, "return messages"),
    ("run", falls_in_a_helper, 'return reply["nothing"]'),
    ("act", backwards, "return user(*reversed(results))"),
    ("pairing_fault", sorts, 'return None if asked == got else f"{asked} and {got} differ"'),
]


def opened(name, answer):
    """What is shown of a check that failed, and the line at which it opens."""
    tried = exercise(name)
    found = findings(tried, answer)
    steps = case_of(followed(tried.promises[len(found) - 1], answer, found[-1]))
    code = steps.payload["code"]
    part, first, *_ = code["statements"][code["steps"][code["opens"]][1]]
    pieces = code["parts"][part]["lines"][first - code["parts"][part]["first"]]
    line = "".join(piece if isinstance(piece, str) else piece[1] for piece in pieces)
    return steps, line.strip()


@pytest.mark.parametrize(
    ("name", "answer", "line"), BREAKS, ids=lambda each: getattr(each, "__name__", str(each)[:24])
)
def test_it_opens_at_the_line_where_the_promise_broke(name, answer, line):
    steps, opens = opened(name, answer)
    assert opens == line
    assert steps.folded == FOLDED


def test_what_is_shown_is_the_case_that_broke_and_none_of_those_before():
    steps, _ = opened("run", first_call_only)
    assert [each["role"] for each in steps.payload["steps"]] == ["user", "assistant"] * 2
    assert steps.payload["code"]["calls"].count("first_call_only") == 1


def it_doubles(double):
    for n in (1, 2, 3):
        if (got := double(n)) != 2 * n:
            raise Broken(str(2 * n), str(got), "twice is twice", [user(str(n))])


def test_of_several_calls_the_one_that_broke_is_shown():
    def double(n):
        return n * 2 if n < 3 else n**2

    broken = followed(it_doubles, double, finding(it_doubles, double))
    code = case_of(broken).payload["code"]
    assert code["calls"].count("double") == 1 and {"3", "9"} <= {*code["texts"]}


def test_a_case_without_a_run_has_its_array_from_the_start():
    steps, _ = opened("pairing_fault", sorts)
    assert steps.payload["code"]["marks"][0][:2] == [
        -1,
        sum(len(s["add"]) for s in steps.payload["steps"]),
    ]


def test_an_endless_loop_is_followed_without_waiting_for_it_again():
    tried = exercise("run")
    found = findings(tried, never_ends)
    began = time.monotonic()
    steps = case_of(followed(tried.promises[0], never_ends, found[-1]))
    assert time.monotonic() - began < 1.2
    assert steps.payload["code"]["opens"] == len(steps.payload["code"]["steps"]) - 1


def test_what_breaks_another_time_in_another_way_is_shown_without_its_lines():
    moods = [1]

    def moody(model, tools, prompt):
        messages = [user(prompt)]
        messages.append(said(model(messages)))
        return messages if moods else messages["gone"]

    tried = exercise("run")
    found = findings(tried, moody)
    moods.clear()
    assert followed(tried.promises[len(found) - 1], moody, found[-1]) is found[-1]


def test_whatever_goes_wrong_in_showing_the_case_the_check_goes_on(monkeypatch):
    class Unruly:
        __wrapped__ = property(lambda self: 1 / 0)
        __call__ = staticmethod(first_call_only)

    tried = exercise("run")
    found = findings(tried, first_call_only)
    shown = []
    monkeypatch.setattr(check, "in_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.display", shown.append)
    check.show_case(tried, found, Unruly())
    assert ["code" in each.payload for each in shown] == [False]


def test_the_verdict_is_on_the_page_before_the_answer_is_tried_again(monkeypatch):
    class Page(io.StringIO):
        shown = ""

        def flush(self):
            self.shown = self.getvalue()

    page, seen = Page(), []
    monkeypatch.setattr(check, "show_case", lambda *_: seen.append(page.shown))
    with contextlib.redirect_stdout(page):
        check.check("run", first_call_only)
    assert "BROKEN" in seen[0]


def test_an_answer_that_has_no_lines_is_shown_without_them():
    made = {"user": user}
    exec("def act(reply, tools): return user()", made)
    tried = exercise("act")
    found = findings(tried, made["act"])
    assert followed(tried.promises[len(found) - 1], made["act"], found[-1]) is found[-1]
    assert "code" not in case_of(found[-1]).payload


def test_threads_of_an_answer_are_named_as_not_followed():
    def act(reply, tools):
        with ThreadPoolExecutor() as pool:
            calls = [*pool.map(lambda call: answered(call, tools), tool_uses(reply))]
        return user(*(call["content"][0] for call in reversed(calls)))

    steps, _ = opened("act", act)
    assert steps.payload["code"]["notes"] == [
        "<lambda> ran in a thread of its own, where lines are not followed."
    ]


def test_an_answer_is_checked_no_other_than_it_would_be_without_lines():
    tried = exercise("run")
    before = findings(tried, first_call_only)
    followed(tried.promises[len(before) - 1], first_call_only, before[-1])
    assert findings(tried, first_call_only) == before


def hasty(size=5, times=3):
    def policy(run):
        return End("stuck") if run.rounds > 1 else None

    return policy


def test_what_a_function_is_handed_that_the_answer_made_entered_by_no_line_of_it():
    asked = exercise("window")
    found = findings(asked, hasty)
    steps = case_of(followed(asked.promises[len(found) - 1], hasty, found[-1]))
    payload = steps.payload["code"]
    assert not [*code_lines(steps.payload)] and payload["marks"][0][0] == -1
    assert payload["calls"] == ["hasty", "policy"] and payload["opens"] == len(payload["steps"]) - 1
