"""Following a learner's own code while it runs: which statements, and what they left."""

import asyncio
import contextlib
import importlib
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps

import pytest

from harness_zero.authored import Authored, NotFollowed
from harness_zero.follow import MOST, UNEVENTFUL, Follower
from harness_zero.messages import reply, said, tool_result, tool_use, tool_uses, user
from harness_zero.models.scripted import scripted
from harness_zero.notebook.account import account
from harness_zero.notebook.payload import payload
from harness_zero.notebook.step import step
from harness_zero.sightings import NEAR, outline
from harness_zero.stages import s1_structural_stop as s1
from harness_zero.stages import stage
from harness_zero.watch import Recording, record

ADDS, DONE = reply(tool_use("a", "add", x=2, y=3), tool_use("b", "fly")), reply("It is 5.")
ADDS_ONLY = reply(tool_use("a", "add", x=2, y=3))
TOOLS = {"add": lambda x, y: x + y}


def loop(model, tools, prompt):
    messages = [user(prompt)]
    while True:
        answered = model(messages)
        messages.append(said(answered))
        if not tool_uses(answered):
            return messages
        messages.append(
            user(
                *[
                    answer(call, tools)
                    for call in tool_uses(answered)
                ]
            )
        )  # fmt: skip


def answer(call, tools):
    try:
        output = tools[call["name"]](**call["input"])
    except KeyError as error:
        return tool_result(call["id"], str(error), is_error=True)
    return tool_result(call["id"], str(output))


def followed(run, *replies, tools=TOOLS, **given):
    return record(run, scripted(*replies), tools, "What is 2 + 3?", code=True, **given)


def passed(recording):
    """Each step in words: the function, the kind, the statement, what changed."""
    lines = recording.followed
    for each in lines.steps:
        part, name = lines.calls[each.call]
        at = each.statement.first - lines.parts[part].first
        yield name, each.kind, lines.parts[part].lines[at].strip(), each.values


def walk(function, *given):
    """Follow one call of a function and nothing else."""
    with Follower(function) as lines, contextlib.suppress(KeyError):
        function(*given)
    return [
        (lines.calls[s.call][1], s.kind, s.statement.first - function.__code__.co_firstlineno)
        for s in lines.steps
    ]


def sent(recording):
    return payload(account(recording))


def size(recording):
    return len(json.dumps(sent(recording), ensure_ascii=False).encode())


def test_a_step_is_a_statement_that_ran_with_what_it_left():
    found = passed(followed(loop, DONE))
    values = {"prompt": "'What is 2 + 3?'", "tools": "{'add': <function <lambda>>}"}
    assert next(found) == ("loop", "call", "def loop(model, tools, prompt):", values)
    assert next(found)[2:] == ("messages = [user(prompt)]", {"messages": "[1 message]"})
    assert next(found)[2:] == ("while True:", {})
    *_, line, values = next(found)
    assert (line, [*values]) == ("answered = model(messages)", ["answered"])
    assert next(found)[2:] == ("messages.append(said(answered))", {"messages": "[2 messages]"})
    assert next(found)[2:] == ("if not tool_uses(answered):", {})
    assert next(found) == ("loop", "return", "return messages", {})
    assert next(found, None) is None


def test_helpers_of_the_same_author_are_followed_and_no_library():
    found = [(name, kind) for name, kind, *_ in passed(followed(loop, ADDS, DONE))]
    assert {name for name, _ in found} == {"loop", "answer", "<lambda>"}
    assert found.count(("loop", "calls")) == 2  # once for each call of answer


def test_a_statement_over_many_lines_is_one_step():
    found = [line for name, kind, line, _ in passed(followed(loop, ADDS, DONE)) if name == "loop"]
    assert "user(" not in found and "answer(call, tools)" not in found
    assert found.count("messages.append(") == 3  # it calls twice, and it is done


# fmt: off
def spread(n):
    total = sum(
        (
            n,
            n,
        )
    )
    for i in range(3): total += i  # noqa: E701
    return total
# fmt: on


def test_a_statement_is_one_step_each_time_that_it_runs():
    assert [line for _, _, line in walk(spread, 1)] == [0, 1, 7, 7, 7, 8]


def test_the_lines_change_nothing_in_the_run():
    for number in (1, 2, 3, 4, 5):
        ports = lambda: (stage(number), scripted(ADDS_ONLY, DONE), TOOLS, "go")  # noqa
        plain, traced = record(*ports()), record(*ports(), code=True)
        assert plain == traced and traced.followed.steps


def test_a_function_of_this_package_is_followed_in_its_own_file_alone():
    wrapped = partial(s1.run)
    lines = record(wrapped, scripted(DONE), {}, "go", code=s1.run).followed
    assert [part.name for part in lines.parts] == ["run"]


def test_a_wrapped_run_is_found():
    @wraps(loop)
    def around(*given):
        return loop(*given)

    class Agent:
        def __init__(self):
            self.messages = []

        def __call__(self, model, tools, prompt):
            self.messages.append(user(prompt))
            self.messages.append(said(model(self.messages)))
            return self.messages

    for run in (partial(loop), around, Agent(), Agent().__call__, lambda *ports: loop(*ports)):
        assert "model(" in "\n".join(line for _, _, line, _ in passed(followed(run, DONE)))


def test_an_array_in_an_object_is_seen_too():
    class Agent:
        def __init__(self, prompt):
            self.messages = [user(prompt)]

        def ask(self, model):
            self.messages.append(said(model(self.messages)))

    def run(model, tools, prompt):
        agent = Agent(prompt)
        agent.ask(model)
        return agent.messages

    lines = step(followed(run, DONE))
    assert "of Agent.__init__: message 0" in repr(lines) or "message 0" in repr(lines)
    assert [mark[1] for mark in lines.payload["code"]["marks"]] == [1, 2]


def early(n):
    for i in range(n):
        if i == 1:
            return "early"
    return "late"


def falls():
    try:
        raise KeyError("gone")
    finally:
        tidy = True
    return tidy


def catches():
    try:
        falls()
    except KeyError as error:
        told = str(error)
    return told


def counts(n):
    for i in range(n):
        at = i
        yield at


def sums():
    squares = [i * i for i in range(3)]
    total = sum(n for n in counts(2))
    return total + squares[2]


def falls_in_turn():
    return [falls() for n in range(2)]


def calls_in_turn():
    return [early(n) for n in range(2)]


def makes():
    base = 2

    def inner(n):
        return base + n

    return inner(1)


def test_an_early_return_ends_a_call():
    kinds = [kind for _, kind, _ in walk(early, 3)]
    assert kinds == ["call", "line", "line", "line", "line", "return"]


def test_an_exception_is_shown_where_it_comes_from_and_in_each_caller():
    steps = walk(catches)
    raised = [(name, line) for name, kind, line in steps if kind == "raise"]
    assert raised[0] == ("falls", walk(falls)[2][2] + falls_at()) and raised[-1] == ("catches", 2)
    assert steps[-1] == ("catches", "return", 5)
    assert [kind for _, kind, _ in walk(falls)][-2:] == ["raise", "line"]


def falls_at():
    return falls.__code__.co_firstlineno - catches.__code__.co_firstlineno


def test_an_exception_out_of_a_comprehension_ends_the_call():
    assert walk(falls_in_turn)[-1] == ("falls_in_turn", "raise", 1)


def test_what_finally_does_is_shown():
    with Follower(falls) as lines, contextlib.suppress(KeyError):
        falls()
    assert {"tidy": "True"} in [each.values for each in lines.steps]


def test_a_generator_yields_rests_and_goes_on():
    kinds = [kind for name, kind, _ in walk(sums) if name == "counts"]
    assert kinds == [
        *("call", "line", "line", "yield", "resume", "line", "line", "yield", "resume", "return")
    ]


def test_a_comprehension_is_part_of_its_statement():
    steps = [(kind, line) for name, kind, line in walk(sums) if name == "sums"]
    assert steps[:2] == [("call", 0), ("line", 1)]
    assert [line for _, line in steps].count(1) == 1
    with Follower(sums) as lines:
        sums()
    assert not {"i", "n"} & {
        n for s in lines.steps if lines.calls[s.call][1] == "sums" for n in s.values
    }


def test_the_names_of_a_comprehension_are_not_the_functions():
    with Follower(calls_in_turn) as lines:
        calls_in_turn()
    own = [each for each in lines.steps if lines.calls[each.call][1] == "calls_in_turn"]
    assert [each.kind for each in own] == ["call", "calls", "calls", "return"]
    assert all(each.values == {} for each in own)


def test_a_function_in_a_function_has_what_is_around_it():
    with Follower(makes) as lines:
        makes()
    assert [part.name for part in lines.parts] == ["makes"]
    inner = next(each for each in lines.steps if lines.calls[each.call][1] == "inner")
    assert inner.values == {"n": "1", "base": "2"}


def test_a_later_change_does_not_reach_an_earlier_step():
    def grows():
        items = []
        for n in range(3):
            items.append(n)
        return items

    with Follower(grows) as lines:
        grows()
    texts = [each.values["items"] for each in lines.steps if "items" in each.values]
    assert texts == ["[]", "[0]", "[0, 1]", "[0, 1, 2]"]


LIMIT = 3


def test_a_name_from_outside_is_shown_where_it_is_read():
    def reads():
        return LIMIT + 1

    with Follower(reads) as lines:
        reads()
    assert lines.steps[-1].values == {"LIMIT": "3"}


def test_a_name_that_is_gone_is_told():
    def forgets():
        key = 1
        del key
        return 2

    with Follower(forgets) as lines:
        forgets()
    assert [each.values for each in lines.steps] == [{}, {"key": "1"}, {"key": None}, {}]


def test_a_message_that_is_filled_block_by_block_grows_before_ones_eyes():
    def run(model, tools, prompt):
        messages = [user(prompt)]
        messages.append(said(model(messages)))
        messages.append(user())
        for call in tool_uses(messages[1]):
            messages[-1]["content"].append(tool_result(call["id"], "?"))
        messages[-1]["content"][0]["content"] = "5"
        return messages

    shown = sent(followed(run, ADDS))
    marks = [[end, *others] for _, end, _, *others in shown["code"]["marks"]]
    assert [end for end, *_ in marks] == [1, 3, 4, 5, 5]
    (earlier,) = marks[2][1:]
    assert [shown["blocks"][id]["content"] for id in earlier.values()] == ["?"]
    assert marks[4] == [5]


class Heard(list):
    """A trace function of somebody else's that writes down what it hears."""

    def __call__(self, frame, event, arg):
        if frame.f_code.co_filename == __file__ and frame.f_code.co_name != "hears":
            self.append((frame.f_code.co_name, event, frame.f_lineno))
        return self


def hears(heard, follow):
    sys.settrace(heard)
    try:
        with Follower(catches) if follow else contextlib.nullcontext():
            catches()
        return sys.gettrace()
    finally:
        sys.settrace(None)


def test_an_earlier_tracer_hears_the_same_and_is_put_back():
    plain, traced = Heard(), Heard()
    assert hears(plain, False) is plain and hears(traced, True) is traced
    assert plain and plain == traced


def test_an_earlier_tracer_is_put_back_when_the_code_raises():
    heard = Heard()
    before = sys.gettrace()
    sys.settrace(heard)
    try:
        with pytest.raises(KeyError), Follower(falls):
            falls()
        assert sys.gettrace() is heard
    finally:
        sys.settrace(before)
    assert threading.gettrace() is None


COVERED = """
import sys
from code_step_sample import again
from harness_zero.follow import Follower
with Follower(again) as lines:
    again(2)
print(len(lines.steps) > 3, type(sys.gettrace()).__name__)
"""
SAMPLE = "def again(n):\n    if n:\n        return again(n - 1)\n    return 'done'\n"


def test_coverage_counts_on_meanwhile(tmp_path):
    pytest.importorskip("coverage")
    (tmp_path / "code_step_sample.py").write_text(SAMPLE)
    (tmp_path / "main.py").write_text(COVERED)
    command = [sys.executable, "-m", "coverage", "run", "--include=code_step_sample.py", "main.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.stdout.startswith("True"), ran.stderr
    command = [sys.executable, "-m", "coverage", "report", "-m"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    assert "100%" in said


def test_who_asks_for_no_lines_pays_for_none():
    program = (
        "import sys; from harness_zero.watch import record; from harness_zero.stages import stage\n"
        "from harness_zero.models.scripted import scripted\n"
        "from harness_zero.messages import reply\n"
        "record(stage(1), scripted(reply('hi')), {}, 'go')\n"
        "print([m for m in sys.modules if m.endswith(('.follow', '.listing', '.snapshot'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def busy(model, tools, prompt):
    messages = [user(prompt)]
    for n in range(5_000):
        count = n
    messages.append(said(model(messages)))
    return [*messages, user(str(count))]


def test_what_goes_on_without_end_is_passed_over_and_counted():
    recording = followed(busy, DONE)
    lines = recording.followed
    assert len(lines.steps) < UNEVENTFUL + 20
    assert [each.skipped for each in lines.steps if each.skipped] == [pytest.approx(9_600, abs=50)]
    assert lines.steps[-1].kind == "return" and lines.notes == []


def rounds(n):
    asks = [reply(tool_use(f"c{i}", "read", path=f"part_{i}.py"), tokens=9) for i in range(n)]
    return [*asks, DONE]


def test_a_very_long_run_is_followed_to_a_limit_and_its_messages_go_on():
    recording = followed(s1.run, *rounds(1_700), tools={"read": lambda path: path})
    assert len(recording.followed.steps) == MOST
    assert recording.followed.notes == [
        "20,000 steps are shown; what ran after them was not followed."
    ]
    assert len(recording.messages) == 3_402 and recording.fault == ""


def wordy(model, tools, prompt):
    messages = [user(prompt)]
    rounds, tokens, seen = 0, 0, []
    while True:
        answered = model(messages)
        rounds = rounds + 1
        tokens = tokens + answered["usage"]["output_tokens"]
        messages.append(said(answered))
        if answered["stop_reason"] != "tool_use":
            break
        results = []
        for call in tool_uses(answered):
            name, given = call["name"], call["input"]
            output = tools[name](**given)
            seen.append((name, output))
            results.append(tool_result(call["id"], output))
        messages.append(user(*results))
    return messages, "finished"


@pytest.mark.parametrize("run", [stage(1), wordy], ids=["stage 1", "wordy"])
def test_a_thousand_rounds_with_their_lines_take_less_than_two_megabytes(run):
    line = "the same line of output, once more\n" * 60
    recording = followed(run, *rounds(1_000), tools={"read": lambda path: f"{path}\n{line}"})
    assert recording.fault == "" and len(recording.followed.steps) > 10_000
    assert size(recording) < 2_000_000


def test_bytes_grow_with_the_rounds_and_not_with_their_square():
    tools = {"read": lambda path: path}
    first, second, third = (
        size(followed(s1.run, *rounds(n), tools=tools)) for n in (300, 600, 900)
    )
    assert (third - second) / (second - first) < 1.05


def at_once(model, tools, prompt):
    messages = [user(prompt)]
    messages.append(said(model(messages)))
    with ThreadPoolExecutor() as pool:
        results = [*pool.map(lambda call: answer(call, tools), tool_uses(messages[1]))]
    messages.append(user(*results))
    return messages


def test_a_thread_is_not_followed_and_that_is_said():
    recording = followed(at_once, ADDS)
    assert recording.followed.notes == [
        "<lambda> ran in a thread of its own, where lines are not followed."
    ]
    assert recording.messages[2]["content"][0]["content"] == "5"
    assert sent(recording)["code"]["notes"] == recording.followed.notes


async def later(model, messages):
    return model(messages)


def waits(model, tools, prompt):
    messages = [user(prompt)]
    messages.append(said(asyncio.run(later(model, messages))))
    return messages


def test_a_coroutine_is_not_followed_and_that_is_said():
    lines = followed(waits, DONE).followed
    assert lines.notes == ["later is async; its lines are not followed."]
    assert {name for _, name in lines.calls} == {"waits"}


def test_a_trace_function_of_the_codes_own_ends_the_following_and_that_is_said():
    def run(model, tools, prompt):
        sys.settrace(None)
        return [user(prompt), said(model([user(prompt)]))]

    recording = followed(run, DONE)
    assert recording.followed.notes == [
        "The code set a trace function to None, or went as deep in calls as Python lets it;"
        " what ran after that was not followed."
    ]
    assert len(recording.messages) == 2


def test_what_has_no_lines_is_refused_in_a_sentence():
    made = {}
    exec("def made(model, tools, prompt): pass", made)
    with pytest.raises(NotFollowed, match="print is not written in Python"):
        followed(print)
    with pytest.raises(NotFollowed, match="Python keeps no source of made"):
        followed(made["made"])


def test_a_file_that_changed_since_it_was_loaded_is_not_shown_for_what_ran(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "code_step_stale.py").write_text("def old():\n    return 1\n")
    stale = importlib.import_module("code_step_stale")
    (tmp_path / "code_step_stale.py").write_text("# a line more\n\ndef old():\n    return 1\n")
    with Follower(stale.old) as lines:
        stale.old()
    assert lines.steps == []
    assert lines.notes == ["old is not as its file is now; restart the kernel to follow its lines."]


def test_pieces_of_a_package_are_followed_across_their_files(tmp_path, monkeypatch):
    home = tmp_path / "my_harness_of_a_test"
    home.mkdir()
    (home / "__init__.py").write_text("from .run import run\n")
    (home / "act.py").write_text(
        "from harness_zero.messages import tool_result, user\n\n\n"
        "def act(reply, tools):\n    return user(tool_result('a', '5'), tool_result('b', '6'))\n"
    )
    (home / "run.py").write_text(
        "from harness_zero.messages import said, user\n\nfrom .act import act\n\n\n"
        "def run(model, tools, prompt):\n    messages = [user(prompt)]\n"
        "    messages.append(said(model(messages)))\n"
        "    messages.append(act(messages[1], tools))\n    return messages\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    package = importlib.import_module("my_harness_of_a_test")
    shown = repr(step(followed(package.run, ADDS)))
    assert shown.split("\n")[-3:] == [
        "line 7 of run: message 0  messages = [user(prompt)]",
        "line 8 of run: message 1  messages.append(said(model(messages)))",
        "line 9 of run: message 2  messages.append(act(messages[1], tools))",
    ]


def test_the_face_of_text_tells_which_lines_wrote_the_array():
    first = loop.__code__.co_firstlineno
    recording = followed(loop, ADDS, DONE)
    plain, shown = repr(step(recording, code=False)), repr(step(recording))
    assert shown.split("\n") == [
        *plain.split("\n"),
        f"line {first + 1} of loop: message 0  messages = [user(prompt)]",
        f"line {first + 4} of loop: messages 1, 3  messages.append(said(answered))",
        f"line {first + 7} of loop: message 2  messages.append(",
    ]
    assert "code" not in step(recording, code=False).payload


def test_the_face_of_text_stays_short_however_long_the_run():
    shown = repr(step(followed(s1.run, *rounds(40), tools={"read": lambda path: path})))
    assert "messages 1, 3, 5, ... 81" in shown and "messages 2, 4, 6, ... 80" in shown


def test_the_face_of_html_shows_the_source_with_the_messages_beside_it():
    page = step(followed(loop, ADDS, DONE)).page()
    assert "messages.append(said(answered))<b>  ← messages 1, 3</b>" in page
    assert "def answer(call, tools):" in page and "<script" not in page


def test_a_run_that_was_kept_without_its_lines_says_how_to_get_them():
    recording = record(loop, scripted(DONE), {}, "go")
    for run in (recording, recording.messages, (recording.messages, "finished")):
        with pytest.raises(NotFollowed) as refused:
            step(run, code=loop)
        assert str(refused.value) == (
            "this run was kept without the lines of its code, which can be followed only while it"
            " is played: record(loop, model, tools, prompt, code=True), and step through that"
        )


def test_code_that_did_not_run_cannot_be_shown():
    recording = followed(loop, DONE)
    assert "code" in step(recording, code=loop).payload
    with pytest.raises(NotFollowed, match="wordy did not run here; followed was loop"):
        step(recording, code=wordy)


def test_a_run_that_fell_is_shown_up_to_where_it_fell():
    def breaks(model, tools, prompt):
        messages = [user(prompt)]
        messages.append(model(messages)["nothing"])
        return messages

    recording = followed(breaks, DONE)
    last = recording.followed.steps[-1]
    assert "KeyError: 'nothing'" in recording.fault
    assert (last.kind, last.told) == ("raise", "KeyError('nothing')")


NOTEBOOK = [
    "from harness_zero.messages import reply, said, user\n"
    "from harness_zero.models.scripted import scripted\n"
    "from harness_zero.notebook import record, step",
    "def ask(model, messages):\n    messages.append(said(model(messages)))",
    "def my_loop(model, tools, prompt):\n    messages = [user(prompt)]\n"
    "    ask(model, messages)\n    return messages",
    "step(record(my_loop, scripted(reply('Done.')), {}, 'go', code=True), code=my_loop)",
]


def test_functions_of_a_notebooks_cells_are_followed():
    import nbclient
    import nbformat

    cells = [nbformat.v4.new_code_cell(source) for source in NOTEBOOK]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, kernel_name="python3").execute()
    shown = notebook.cells[-1].outputs[0].data["text/plain"]
    assert shown.split("\n")[-2:] == [
        "line 2 of my_loop: message 0  messages = [user(prompt)]",
        "line 2 of ask: message 1  messages.append(said(model(messages)))",
    ]


GENERIC = "def run():\n    def same[Q](x: Q) -> Q:\n        return x\n    return same(3)\n"


def test_what_python_makes_of_type_parameters_is_no_function_of_its_own():
    made = falls.__code__.replace(co_name="<generic parameters of falls>")
    notes = []
    assert Authored(falls, notes.append).part(made) is None and notes == []


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
def test_a_function_with_type_parameters_is_followed(tmp_path, monkeypatch):
    (tmp_path / "generic_sample.py").write_text(GENERIC)
    monkeypatch.syspath_prepend(tmp_path)
    run = importlib.import_module("generic_sample").run
    with Follower(run) as lines:
        run()
    assert lines.notes == [] and [name for _, name in lines.calls] == ["run", "same"]


def filled(n):
    message = {"role": "user", "content": []}
    messages = [user("go"), message]
    for i in range(n):
        message["content"].append({"type": "text", "text": str(i)})
    return messages


def test_a_message_that_is_filled_block_by_block_is_kept_in_room_for_its_blocks_once():
    def kept(n):
        with Follower(filled) as lines:
            messages = filled(n)
        assert size(Recording(messages, [], None, followed=lines)) < 500 * n
        assert len(outline(messages)) < 4 * NEAR
        return sum(len(each.blocks) for _, seen in lines.arrays for each in seen)

    assert kept(400) < 2.5 * kept(200)


def deep_with(messages, n):
    return deep_with(messages, n - 1) if n else messages


def test_of_many_calls_that_hold_one_array_it_is_looked_at_once():
    looked = set()
    follower = Follower(deep_with, lambda: looked.add(len(follower.arrays)) or (0, []))
    with follower:
        deep_with([user("go")], 60)
    assert looked == {0, 1}
    assert len(follower.found.arrays) == 1


def waits_in_turn():
    with contextlib.suppress(ValueError):
        yield


@contextlib.contextmanager
def forgives():
    yield from waits_in_turn()


def is_forgiven():
    with forgives():
        raise ValueError("never mind")
    return "went on"


def test_an_exception_thrown_into_a_generator_that_waits_for_another_changes_nothing():
    with Follower(is_forgiven) as lines:
        assert is_forgiven() == "went on"
    assert lines.notes == [] and lines.steps[-1].kind == "return"
    assert "waits_in_turn" in {name for _, name in lines.calls}


def test_what_goes_wrong_in_following_never_reaches_the_code():
    moments = iter([(0, [])] * 2)
    with Follower(is_forgiven, lambda: next(moments)) as lines:
        assert is_forgiven() == "went on"
    assert lines.notes == [
        "Following failed (StopIteration); what ran after that was not followed."
    ]
    assert len(lines.steps) == 2


def bottomless(n=0):
    try:
        return bottomless(n + 1)
    except RecursionError:
        return "enough"


def deep(n):
    return deep(n - 1) if n else "the bottom"


def test_code_that_goes_too_deep_runs_on_and_that_is_said():
    with Follower(bottomless) as lines:
        assert bottomless() == "enough"
    assert lines.notes == [
        "The code went about as deep in calls as Python lets it;"
        " what ran after that was not followed."
    ]
