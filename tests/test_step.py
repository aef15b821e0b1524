"""Stepping through a run: what is sent to the browser, and what stands where there is none."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_zero.assembly import assemble, of_messages
from harness_zero.contracts import judge, stop_hook
from harness_zero.labels import Label
from harness_zero.messages import not_executed, reply, said, text, tool_result, tool_use, user
from harness_zero.models.scripted import scripted
from harness_zero.notebook.account import NothingToStep, account
from harness_zero.notebook.payload import LIMITS, payload
from harness_zero.notebook.step import LINES, STATIC, step
from harness_zero.notebook.stepping import steps
from harness_zero.policy import max_rounds, nudge, structural_stop
from harness_zero.run import Run
from harness_zero.watch import COLUMNS, Recording, record

ROOT = Path(__file__).parents[1]
ASKS = reply(tool_use("c1", "look", at="a"), tokens=70, cost=0.01)
DONE = reply("Done.", tokens=30, cost=0.02)
MESSAGES = [user("Look."), said(ASKS), user(tool_result("c1", "nothing")), said(DONE)]


def harness(*replies, stop=structural_stop, **brakes):
    model = scripted(*replies)
    parts = {"stop": stop, "brakes": [max_rounds(brakes.get("rounds", 9))]}
    tools = {"look": lambda at: "nothing"}
    return assemble(lambda request: model(request["messages"]), tools, **parts)


def played(*replies, **parts):
    return harness(*replies, **parts)(Run("Look."))


def sent(run):
    return payload(account(run))


def size(run):
    return len(json.dumps(sent(run), ensure_ascii=False, allow_nan=False).encode())


def long(rounds, result="ok"):
    messages = [user("Go on.")]
    for n in range(rounds):
        messages.append(said(reply(tool_use(f"call_{n}", "read_file", path=f"part_{n}.py"))))
        messages.append(user(tool_result(f"call_{n}", f"{n}{result}")))
    return messages


class Ended:
    """What a learner's own loop may give back."""

    messages, label, why = MESSAGES, "finished", "nothing more asked"


EVERY_FORM = {
    "Run": played(ASKS, DONE),
    "Recording": Recording(MESSAGES, [ASKS, DONE], "finished"),
    "list": MESSAGES,
    "messages and label": (MESSAGES, Label.FINISHED),
    "object": Ended(),
    "request": {"messages": MESSAGES},
}


@pytest.mark.parametrize("run", EVERY_FORM.values(), ids=EVERY_FORM)
def test_any_run_of_any_loop_can_be_stepped_through(run):
    shown = sent(run)
    blocks = [block for message in MESSAGES for block in message["content"]]
    assert shown["blocks"] == blocks
    assert [each["add"] for each in shown["steps"]] == [[0], [1], [2], [3]]


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (None, "this is None. Does the loop return its messages?"),
        ("text", "this is a str."),
        (scripted, "this is a function. Hand it what the loop gave back, not the loop."),
        ([1], "this is a list with an int in it. A message is a dict with a role and its content."),
        ({"role": "user"}, "this is a dict."),
        ((None, "finished"), "this is None. Does the loop return its messages?"),
    ],
)
def test_what_is_no_run_is_refused_with_a_sentence(run, said):
    with pytest.raises(NothingToStep) as refused:
        step(run)
    told = "step() shows a Run, a Recording, a list of messages, or (messages, label); "
    assert str(refused.value) == told + said


def test_a_recording_of_a_plain_loop_tells_its_replies():
    def loop(model, tools, prompt):
        messages = [user(prompt)]
        messages.append(said(model(messages)))
        return messages

    shown = sent(record(loop, scripted(DONE), {}, "Look."))
    assert shown["steps"][1] == {
        "role": "assistant",
        "add": [1],
        "stop": "end_turn",
        "tokens": 30,
        "usd": 0.02,
    }
    assert shown["tells"] == {"replies": True, "policy": False}


def test_how_a_run_ended_is_told():
    ended = sent(played(ASKS, DONE, rounds=1))["end"]
    assert (ended["label"], ended["why"]) == ("max_rounds", "1 rounds")
    lost = Recording(MESSAGES[:2], [ASKS], None, fault="KeyError: 'look'")
    assert sent(lost)["end"]["fault"] == "KeyError: 'look'"
    assert "ended in an error: KeyError: 'look'" in repr(step(lost))


def test_an_empty_reply_is_a_step_that_adds_nothing_and_the_words_after_it_follow():
    run = played(ASKS, reply(), DONE, stop=nudge(structural_stop))
    shown = sent(run)["steps"]
    roles = [each["role"] for each in shown]
    assert roles == ["user", "assistant", "user", "lost", "user", "assistant"]
    assert shown[3] == {
        "role": "lost",
        "add": [],
        "empty": True,
        "says": ["Please continue."],
        "stop": "end_turn",
        "tokens": 0,
        "usd": 0.0,
    }


def test_a_reply_that_the_loop_dropped_is_told():
    shown = sent(Recording(MESSAGES[:1], [ASKS], None))["steps"]
    assert [each["role"] for each in shown] == ["user", "lost"]
    assert "empty" not in shown[1]


def test_rounds_begin_anew_with_each_turn():
    play = harness(ASKS, DONE, DONE)
    run = play(play(Run("Look.")).ask("And again."))
    assert [at for at, each in enumerate(sent(run)["steps"]) if "opens" in each] == [0, 4]


def test_a_run_that_starts_from_an_array_tells_only_its_own_replies():
    play = harness(DONE)
    run = play(Run.of([*MESSAGES]).ask("And again."))
    assert [at for at, each in enumerate(sent(run)["steps"]) if "stop" in each] == [5]


def test_the_head_of_a_request_stands_before_its_messages():
    tools = [{"name": "look", "input_schema": {}}]
    shown = sent({"messages": MESSAGES, "system": "Be brief.", "tools": tools})
    assert [each["role"] for each in shown["steps"][:3]] == ["tools", "system", "user"]
    assert shown["blocks"][:2] == [{"type": "tool", **tools[0]}, text("Be brief.")]


def test_a_later_change_of_the_run_does_not_change_what_is_shown():
    messages = json.loads(json.dumps(MESSAGES))
    shown = step(messages)
    before = repr(shown)
    messages[0]["content"][0]["text"] = "Something else."
    messages.append(user("more"))
    assert repr(shown) == before


def test_each_block_is_sent_once():
    shown = sent([user("Go on."), said(DONE)] * 50)
    assert shown["blocks"] == [text("Go on."), text("Done.")]
    assert len(shown["steps"]) == 100


@pytest.mark.parametrize("result", ["ok", "x" * 2_000, "x" * 1_000_000, "\N{SNOWMAN}" * 3_000])
def test_a_thousand_rounds_take_less_than_a_megabyte(result):
    assert size(long(1_000, result)) < 1_000_000


def test_bytes_grow_with_the_rounds_and_not_with_their_square():
    first, second, third = (size(long(rounds)) for rounds in (1_000, 2_000, 3_000))
    assert (third - second) / (second - first) < 1.05


def test_what_is_cut_says_so_and_keeps_both_ends():
    whole = f"begin {'x' * 3_000_000} end"
    shown = sent(long(1, whole))
    cut = shown["blocks"][2]["content"]
    assert cut.startswith("0begin") and cut.endswith("end")
    assert f"[... {len(whole) + 1 - LIMITS[0]:,} of 3,000,011 characters cut here ...]" in cut
    assert shown["cut"] == [2]


def test_what_is_short_is_whole():
    assert sent(long(9, "x" * LIMITS[0]))["cut"] != []
    assert sent(long(9, "x" * (LIMITS[0] - 1)))["cut"] == []


def test_the_bytes_of_a_picture_are_counted_and_left_out():
    source = {"type": "base64", "media_type": "image/png", "data": "A" * 2_000_000}
    shown = sent([user({"type": "image", "source": source})])
    assert shown["blocks"][0]["source"]["data"] == "[2,000,000 characters of base64, not shown]"
    assert shown["cut"] == []


class OfTheSdk:
    def model_dump(self):
        return {"type": "text", "text": "from the SDK"}


ITSELF: list = []
ITSELF.append(ITSELF)
ODD = [
    (float("nan"), "nan"),
    (10**30, str(10**30)),
    (10**9_999, "<an int of 33216 bits>"),
    ({1, 2}, "<a set>"),
    (b"abc", "<a bytes>"),
    ("\ud800", "\\ud800"),
    (OfTheSdk(), text("from the SDK")),
    ({1: {2: 3}}, {"1": {"2": 3}}),
]


@pytest.mark.parametrize(("value", "shown"), ODD, ids=lambda each: type(each).__name__)
def test_what_json_cannot_carry_is_told_in_words(value, shown):
    run = [user(tool_use("c1", "look", at=value))]
    assert sent(run)["blocks"][0]["input"]["at"] == shown
    assert size(run) > 0 and "look" in repr(step(run))


def test_a_value_without_end_has_an_end():
    run = [user(tool_use("c1", "look", at=ITSELF, many=[0] * 1_000))]
    assert size(run) < 3_000
    assert "[... 800 more entries ...]" in sent(run)["blocks"][0]["input"]["many"]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
TYPES = st.sampled_from(["text", "tool_use", "tool_result", "image", "thinking"])
KEYS = st.sampled_from(["text", "id", "tool_use_id", "name", "input", "content", "is_error"])
BLOCKS = st.builds(
    lambda type, rest: {**rest, "type": type}, TYPES, st.dictionaries(KEYS, ANYTHING)
)
ROLES = st.sampled_from(["user", "assistant", "system", "tool"])
CONTENTS = st.text() | st.lists(BLOCKS | ANYTHING, max_size=4) | ANYTHING
MESSAGE = st.builds(lambda role, content: {"role": role, "content": content}, ROLES, CONTENTS)


@settings(max_examples=200, deadline=None)
@given(st.lists(MESSAGE, max_size=4))
def test_whatever_stands_in_messages_is_shown(messages):
    shown = step(messages)
    json.dumps(shown.payload, allow_nan=False, ensure_ascii=False).encode()
    assert all(len(line) <= COLUMNS for line in repr(shown).split("\n"))
    assert "\x1b" not in repr(shown) + shown.page()


def test_the_face_of_text_is_a_line_a_block():
    assert repr(step(played(ASKS, DONE))) == (
        "4 messages, 2 rounds, 1 tool call; ended: finished (stop_reason 'end_turn')\n"
        "  0  user       text         Look.\n"
        "  1  assistant  tool_use     c1  look(at='a')\n"
        "  2  user       tool_result  c1  nothing\n"
        "  3  assistant  text         Done.\n"
        "at most 9 rounds a turn; 100 tokens; $0.0300"
    )


def test_the_face_of_text_tells_errors_words_of_a_policy_and_a_broken_array():
    messages = [user("Look."), said(ASKS), user(tool_result("c9", "gone", is_error=True))]
    assert repr(step((messages, "stuck"))).split("\n")[3:] == [
        "  2  user       tool_result  c9  error: gone",
        "the array is broken: messages 1 and 2: c1 asked for and not answered in the next message",
    ]
    run = played(reply(), DONE, stop=nudge(structural_stop))
    assert repr(step(run)).split("\n")[2:4] == [
        "     assistant  text         (an empty reply, stop_reason end_turn)",
        "     policy     text         Please continue.",
    ]


def test_the_face_of_text_has_a_bounded_length():
    lines = repr(step(long(500))).split("\n")
    assert len(lines) <= LINES + 2
    assert "     ... 983 more blocks ..." in lines


def test_calls_that_were_asked_for_and_not_made_are_counted_apart():
    held = [user("Look."), said(ASKS), user(not_executed(ASKS["content"][0], "cost_cap"))]
    assert repr(step(held)).startswith("3 messages, 1 round, 1 tool call asked, 0 made; no label")


def test_a_run_that_is_folded_shows_a_few_of_its_blocks_in_text():
    lines = repr(step(long(500), folded="Step through the case")).split("\n")
    assert lines[0] == "Step through the case:" and len(lines) <= 8
    assert "     ... 997 more blocks ..." in lines


def test_an_empty_run_has_its_faces():
    assert repr(step([])) == "0 messages, 0 rounds, 0 tool calls; no label"
    assert (
        step([]).page() == "<div><p><b>0 messages, 0 rounds, 0 tool calls; no label</b></p></div>"
    )


def test_the_face_of_html_escapes_and_needs_no_script_and_no_stylesheet():
    hostile = "<script>alert(1)</script>\x1b[31m\u202e"
    page = step([user(hostile), said(reply(tool_use("<b>", "<b>", at="<b>")))]).page()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[31m\\u202e" in page
    assert not any(tag in page for tag in ("<script", "<style", "<b>x", "<b></b>"))
    assert page.count("<b>") == 1


def test_the_face_of_html_folds_what_is_long():
    page = step(long(1, "\nline" * 2_000)).page()
    assert page.count("<details>") == 1
    assert "[... 9,001 more characters ...]" in page


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_notebook_is_given_the_widget_and_both_faces():
    shown = step(MESSAGES)
    bundle = shown._repr_mimebundle_()
    assert bundle["text/plain"] == repr(shown) and bundle["text/html"] == shown.page()
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"]


def test_where_there_is_no_anywidget_the_faces_are_left(monkeypatch):
    from harness_zero.notebook.step import widget

    widget.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    assert set(step(MESSAGES)._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_no_kernel_pays_for_a_widget_before_it_shows_one():
    step = "from harness_zero.notebook.step import step; step([])"
    program = f"import sys; {step}; print('anywidget' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


@pytest.mark.parametrize("name", ["stepper.js", "stepper.css"])
def test_what_the_browser_gets_asks_for_nothing_more(name):
    source = (STATIC / name).read_text("utf-8")
    assert not any(word in source for word in ("http:", "https:", "import ", "@import", "url("))
    assert "innerHTML" not in source and "insertAdjacentHTML" not in source


def test_steps_know_which_message_they_are():
    taken = steps(account(MESSAGES))
    assert [each.message for each in taken] == MESSAGES


NOTEBOOK = """\
from harness_zero.messages import reply, said, tool_result, tool_use, user
from harness_zero.notebook.step import step
step([user("go"), said(reply(tool_use("c1", "look"))), user(tool_result("c1", "</script>"))])
"""


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A notebook that ends in a stepper, run and saved with its widget."""
    import nbclient
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    nbclient.NotebookClient(notebook, kernel_name="python3").execute()
    path = tmp_path_factory.mktemp("notebook") / "stepping.ipynb"
    nbformat.write(notebook, path)
    return path


def test_a_notebook_that_steps_compares_equal_in_each_run(executed):
    command = [sys.executable, "-m", "pytest", "--nbval", "-p", "no:cacheprovider", executed]
    command += ["-c", ROOT / "pyproject.toml", "--rootdir", executed.parent]
    ran = subprocess.run(command, cwd=executed.parent, capture_output=True, text=True)
    assert "1 passed" in ran.stdout, ran.stdout


def test_a_notebook_saved_with_its_widgets_is_exported_without_being_run(executed, tmp_path):
    from harness_zero.notebook.export import main

    saved = json.loads(executed.read_text("utf-8"))
    saved["cells"][0]["source"] = "raise SystemExit"
    (tmp_path / "saved.ipynb").write_text(json.dumps(saved), encoding="utf-8")
    page = tmp_path / "page.html"
    main([str(tmp_path / "saved.ipynb"), str(page), "--theme", "dark"], standalone_mode=False)
    written = page.read_text("utf-8")
    assert written.count("data-widget-module=") == 1
    assert 'data-jp-theme-light="false"' in written
    assert "\\u003c/script>" in written and 'src="http' not in written


def test_a_chapter_as_it_is_committed_is_run_so_that_its_widgets_play(executed, tmp_path):
    from harness_zero.notebook.export import export

    committed = json.loads(executed.read_text("utf-8"))
    committed["metadata"].pop("widgets")
    for output in committed["cells"][0]["outputs"]:
        output["data"].pop("application/vnd.jupyter.widget-view+json", None)
    (tmp_path / "committed.ipynb").write_text(json.dumps(committed), encoding="utf-8")
    export(tmp_path / "committed.ipynb", tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8").count("data-widget-module=") == 1


def test_a_page_does_not_show_the_source_that_holds_an_answer(executed, tmp_path):
    from harness_zero.notebook.export import export

    hidden = json.loads(executed.read_text("utf-8"))
    hidden["cells"][0]["metadata"]["tags"] = ["predict", "hide-input"]
    hidden["cells"][0]["source"] = "answer_of_the_question = 42"
    (tmp_path / "hidden.ipynb").write_text(json.dumps(hidden), encoding="utf-8")
    export(tmp_path / "hidden.ipynb", tmp_path / "page.html")
    assert "answer_of_the_question" not in (tmp_path / "page.html").read_text("utf-8")


def test_a_call_beside_the_array_counts_where_it_was_made():
    verdicts = iter(
        [
            reply('{"agrees": false, "why": "no"}', tokens=7, cost=0.5),
            reply('{"agrees": true, "why": "yes"}', tokens=7, cost=0.5),
        ]
    )
    model = scripted(reply("a", tokens=1, cost=0.25), reply("b", tokens=1, cost=0.25))
    stop = stop_hook(structural_stop, judge(lambda request: next(verdicts)))
    run = assemble(of_messages(model), {}, stop)(Run("go"))
    told = payload(account(run))["steps"]
    assert [(s.get("asides"), s.get("usd")) for s in told] == [
        (None, None),
        (1, 0.75),
        (None, None),
        (1, 0.75),
    ]
    shown = str(step(run))
    assert "2 calls of a model beside the array" in shown and "16 tokens" in shown


def test_what_was_read_and_written_of_a_request_stands_beside_its_reply():
    usage = {"cache_read_input_tokens": 900, "cache_creation_input_tokens": 80, "input_tokens": 7}
    asks = {**ASKS, "usage": {**usage, "output_tokens": 5}}
    shown = sent(Recording(MESSAGES, [asks, DONE], None))["steps"]
    assert [each.get("prefix") for each in shown] == [None, [900, 80, 7], None, None]


def test_a_usage_that_declares_no_input_shows_no_prefix():
    assert all("prefix" not in each for each in sent(played(ASKS, DONE))["steps"])
