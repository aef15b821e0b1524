"""Values beside the code: as they were, shortened honestly, with no secret, nothing of them run."""

import json
import os
import re
import sys
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_zero.follow import Follower
from harness_zero.keys import without_keys
from harness_zero.labels import Label
from harness_zero.messages import reply, said, tool_result, tool_use, user
from harness_zero.models.scripted import scripted
from harness_zero.notebook.step import step
from harness_zero.run import Run
from harness_zero.snapshot import LONGEST, Camera
from harness_zero.watch import record

KEY = "kept-under-a-name-1234"
take = Camera([KEY, "abcdefgh"]).take


@dataclass
class Agent:
    rounds: int
    messages: list
    _cache: str = "of no interest"


class Slotted:
    __slots__ = ("a",)


ITSELF: list = []
ITSELF.append(ITSELF)
SHOWN = [
    (None, "None"),
    (True, "True"),
    (3.5, "3.5"),
    (10**9_999, "<an int of 33,216 bits>"),
    ("a 'word'\n", '"a \'word\'\\n"'),
    (b"ab", "b'ab'"),
    ([], "[]"),
    ((), "()"),
    ((1,), "(1,)"),
    (set(), "set()"),
    ({3}, "{3}"),
    ({}, "{}"),
    ({"a": [1, "b"]}, "{'a': [1, 'b']}"),
    ([0] * 9, "[0, 0, 0, 0, 0, 0, … 3 more]"),
    ({n: n for n in range(8)}, "{0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, … 2 more}"),
    ([[[[1]]]], "[[[[…]]]]"),
    (ITSELF, "[[[[…]]]]"),
    (Label.FINISHED, "Label.FINISHED"),
    (KeyError("gone"), "KeyError('gone')"),
    (Counter("aab"), "{'a': 2, 'b': 1}"),
    (OrderedDict(a=1), "{'a': 1}"),
    (deque([1]), "<deque>"),
    (Slotted(), "<Slotted>"),
    ([user("a"), said(reply("b"))], "[2 messages]"),
    (Agent(2, [user("a")]), "<Agent: rounds = 2, messages = [1 message]>"),
    ([len, take, Agent, sys], "[<function len>, <method take>, <class Agent>, <module sys>]"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "shown"), SHOWN, ids=lambda each: type(each).__name__)
def test_a_value_is_told_as_it_is_now(value, shown):
    assert take(value) == shown


def test_what_is_cut_says_how_much_there_is():
    assert take("x" * 500) == f"'{'x' * 120}'… [500 in all]"
    assert take(["x" * 500]) == f"['{'x' * 48}'… [500 in all]]"
    long = take({f"name_{n}": "y" * 48 for n in range(6)})
    assert long[:LONGEST] + "… [" in long and long.endswith(" more characters]")


def test_of_a_run_what_a_policy_reads_is_told_and_its_clock_is_not_asked():
    times = iter([0.0, 2.5])
    run = Run("go", clock=lambda: next(times))
    run.hear(reply(tool_use("a", "look"), tool_use("b", "look"), cost=0.4))
    assert take(run) == (
        "<Run: last_word = <a reply that ended with 'tool_use'>, pending = [a, b], rounds = 1, "
        "cost_usd = 0.4, elapsed = 2.5>"
    )


class Touchy(dict):
    """An object in which all that could be run when it is shown fails."""

    def touched(self, *_):
        raise AssertionError("looking at a value ran code of its own")

    __repr__ = __str__ = __len__ = __iter__ = __getitem__ = __eq__ = __hash__ = touched
    items = keys = values = get = touched


class TouchyText(str):
    __repr__ = __str__ = __getitem__ = Touchy.touched


class TouchyObject:
    __repr__ = __getattribute__ = __getattr__ = Touchy.touched


def test_looking_at_a_value_runs_nothing_of_its_own():
    assert take(Touchy(a=1)) == "{'a': 1}"
    assert take(TouchyObject()).startswith("<TouchyObject")
    assert take([TouchyObject()]) == "[<TouchyObject>]"
    assert take(TouchyText("words")) == "'words'"


def touched(*_):
    raise AssertionError("looking at a value ran code of its own")


class Proud(type):
    __name__ = property(touched)
    __getattribute__ = __call__ = touched


class TouchyClass(metaclass=Proud):
    pass


class TouchyHolder:
    __dict__ = property(touched)


class TouchyKey(str):
    __str__ = __repr__ = __format__ = startswith = touched


class TouchyArray(list):
    __getitem__ = __len__ = __iter__ = __bool__ = __eq__ = touched


class TouchyMessage(dict):
    __getitem__ = get = values = keys = __iter__ = __eq__ = touched


def looks():
    proud, plain = object.__new__(TouchyClass), TouchyHolder()
    holder = TouchyObject()
    vars(TouchyObject)["__dict__"].__get__(holder)[TouchyKey("name")] = 1
    messages = TouchyArray([TouchyMessage(user("a"), content=TouchyArray([holder, proud]))])
    return [proud, plain, holder, messages].clear()


def test_following_runs_nothing_of_the_values_own():
    with Follower(looks) as lines:
        looks()
    seen = {name: text for each in lines.steps for name, text in each.values.items()}
    assert seen == {
        "proud": "<TouchyClass>",
        "plain": "<TouchyHolder>",
        "holder": "<TouchyObject>",
        "messages": "[1 message]",
    }
    assert lines.notes == [] and lines.arrays


class Numbers:
    """Like an array of numbers: compared with another one it is neither equal nor unequal."""

    def __eq__(self, other):
        return self

    def __bool__(self):
        raise ValueError("the truth value of an array is ambiguous")


def test_values_that_cannot_be_compared_are_shown_too():
    def run(model, tools, prompt):
        messages = [user(prompt)]
        messages.append({"role": "user", "content": [{"type": "text", "text": Numbers()}]})
        messages[-1] = {"role": "user", "content": [{"type": "text", "text": Numbers()}]}
        return [*messages, said(model([dict(each) for each in messages]))]

    shown = step(record(run, scripted(reply("Done.")), {}, "go", code=True))
    assert [each["role"] for each in shown.payload["steps"]] == ["user", "user", "assistant"]


@given(st.recursive(st.text() | st.binary() | st.integers() | st.floats() | st.none(), st.lists))
def test_any_value_fits_on_a_line(value):
    text = take(value)
    assert len(text) <= LONGEST + 40 and "\n" not in text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (KEY, "'***'"),
        ({"headers": {"x": f"Bearer {KEY}"}}, "{'headers': {'x': 'Bearer ***'}}"),
        ("x" * 119 + KEY, f"'{'x' * 119}*'… [141 in all]"),
        ("of abcdefgh", "'of ***'"),
        ("a short word", "'a short word'"),
        ("sk-ant-api03-" + "a" * 40, "'***'"),
        (f"ghp_{'a' * 36}".encode(), "b'***'"),
        ({"api_key": "anything", "key": "a word"}, "{'api_key': '***', 'key': 'a word'}"),
        ({"max_tokens": 9, "password": "x"}, "{'max_tokens': 9, 'password': '***'}"),
    ],
)
def test_secrets_are_hidden(value, shown):
    assert take(value) == shown


def test_a_name_that_says_secret_hides_its_text():
    assert take("anything", "api_key") == take("x", "client_secret") == "'***'"
    assert take("anything", "key") == "'anything'" and take(9, "password") == "9"


def loop(model, tools, prompt):
    key, token = os.environ["ANTHROPIC_API_KEY"], os.environ["OTHER_TOKEN"]
    written = "sk-in-the-source-itself-0123456789"
    messages = [user(f"{prompt} {key} {token}")]
    messages.append(said(model(messages)))
    messages.append(user(tool_result("a", f"{written} {key}")))
    return messages


def test_a_key_is_nowhere_on_the_page_of_a_run(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-not-a-real-one-0123456789")
    monkeypatch.setenv("OTHER_TOKEN", "correct horse battery")

    run = record(loop, scripted(reply("Done.")), {}, "go", code=True)
    shown = step(run)
    for secret in ("sk-not-a-real", "correct horse", "sk-in-the-source"):
        assert secret not in str(shown.payload) + shown.page() + repr(shown)
    assert "go *** ***" in str(shown.payload)


LONG = "eyJ" + "Q7zX9pLm" * 120  # longer than anything that is shown


@pytest.mark.parametrize(
    "value",
    [
        LONG,
        f"Bearer {LONG}",
        "x" * 110 + LONG,
        LONG.encode(),
        b"x" * 110 + LONG.encode(),
        (LONG * 5).encode(),
        [LONG] * 3,
        "".join(f"{KEY}{LONG[:200]}" for _ in range(9)),
    ],
    ids=lambda each: f"{str(each)[:9]} {len(each)}",
)
def test_no_piece_of_a_long_secret_is_shown(value):
    shown = Camera([LONG, LONG[:200], KEY]).take(value)
    assert "Q7z" not in shown and "***" in shown


def test_no_piece_of_a_secret_is_left_where_a_message_is_cut(monkeypatch):
    monkeypatch.setenv("OTHER_TOKEN", "correct horse battery")
    for before in range(14_975, 15_001, 5):
        shown = str(step([user("x" * before + "correct horse battery" + "y" * 9_000)]).payload)
        assert not {"correct", "horse", "battery"} & {*re.findall("[a-wz]+", shown)}


def late(model, tools, prompt):
    early = "correct horse battery"
    os.environ["LATE_TOKEN"] = early
    long = "x" * 110 + os.environ["LATE_TOKEN"]
    return [user(prompt), said(model([user(long)]))]


def test_a_key_that_comes_into_the_environment_on_the_way_is_hidden(monkeypatch):
    monkeypatch.setenv("LATE_TOKEN", "soon")
    shown = step(record(late, scripted(reply("Done.")), {}, "go", code=True)).payload["code"]
    texts = str(shown["texts"])
    assert "***" in texts and "correct" not in texts


def test_a_key_is_hidden_inside_of_json_too(monkeypatch):
    monkeypatch.setenv("DEPLOY_KEY", "-- BEGIN --\nabc\n-- END --")
    assert without_keys(json.dumps({"a": os.environ["DEPLOY_KEY"]})) == '{"a": "***"}'


def test_functions_classes_and_modules_are_no_values_that_matter():
    def uses(tool):
        made = sys.platform and tool(1)
        return made

    with Follower(uses) as lines:
        uses(str)
    assert [each.values for each in lines.steps] == [{}, {"made": "'1'"}, {}]
