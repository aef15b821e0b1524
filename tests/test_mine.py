"""my_harness/: answers that passed become the learner's own package, and nothing is lost."""

import sys
from inspect import signature, unwrap
from types import FunctionType

import pytest
from click.testing import CliRunner

from harness_zero import kernel, mine
from harness_zero.cli import main
from harness_zero.course import checkout, lay
from harness_zero.grading.exercises import EXERCISES
from harness_zero.messages import reply, tool_use
from harness_zero.mine import HarnessFault, load, makers, marking, owned
from harness_zero.models.scripted import scripted
from harness_zero.taking import take
from harness_zero.view import marked

ANSWER = """def answer(call, tools):
    output = tools[call["name"]](**call["input"])
    return {"type": "tool_result", "tool_use_id": call["id"], "content": str(output)}
"""
ACT = """def act(reply, tools):
    return user(*[answer(call, tools) for call in tool_uses(reply)])
"""
RUN = """def run(model, tools, prompt):
    messages = [user(prompt)]
    while True:
        reply = model(messages)
        messages.append({"role": "assistant", "content": reply["content"]})
        if not tool_uses(reply):
            return messages
        messages.append(act(reply, tools))
"""
SOURCES = {"answer": ANSWER, "act": ACT, "run": RUN}
WRAPPED = {  # the other pieces, made of ours
    "pairing_fault": """from harness_zero.messages import pairing_fault as ours


def pairing_fault(asking, answering):
    return ours(asking, answering)
""",
    "excerpt": """from harness_zero.brief import excerpt as ours


def excerpt(output, limit):
    return ours(output, limit)
""",
    "close_calls": """from harness_zero.messages import not_executed


def close_calls(reply, why):
    return user(*[not_executed(call, why) for call in tool_uses(reply)])
""",
    "structural_stop": """from harness_zero.policy import structural_stop as ours


def structural_stop(run):
    return ours(run)
""",
    "brakes": """from harness_zero.grading.lab05 import brakes as ours


def brakes(max_rounds=20, cap_usd=2.0, seconds=600):
    return ours(max_rounds, cap_usd, seconds)
""",
    "first_of": """from harness_zero.policy import first_of as ours


def first_of(*policies):
    return ours(*policies)
""",
    "until_end": """from harness_zero.grading.lab05 import until_end as ours


def until_end(run, policy, view, model, tool):
    return ours(run, policy, view, model, tool)
""",
    "repetition": """from harness_zero.grading.lab06 import detector


def repetition(pollers=("poll_build",)):
    return detector(pollers)
""",
    "fingerprint": """from harness_zero.grading.lab06 import fingerprint as ours


def fingerprint(call, result):
    return ours(call, result)
""",
    "circle": """from harness_zero.grading.lab06 import circle as ours


def circle(keys):
    return ours(keys)
""",
    "marked": """from harness_zero.view import marked as ours


def marked(request):
    return ours(request)
""",
    "verifier": """from harness_zero.grading.lab08 import verifier as ours


def verifier(check):
    return ours(check)
""",
    "output_type": """from harness_zero.grading.lab08 import output_type as ours


def output_type(stop, fault, limit=2):
    return ours(stop, fault, limit)
""",
    "stop_hook": """from harness_zero.contracts import stop_hook as ours


def stop_hook(stop, hook, cap=8):
    return ours(stop, hook, cap)
""",
    "judge": """from harness_zero.grading.lab08 import judge as ours


def judge(model, question):
    return ours(model, question)
""",
    "entries": """from harness_zero.grading.lab09 import entries as ours


def entries(path):
    return ours(path)
""",
    "in_doubt": """from harness_zero.grading.lab09 import in_doubt as ours


def in_doubt(call, tool, safe):
    return ours(call, tool, safe)
""",
    "journal": """from harness_zero.grading.lab09 import entries, journal_of


def journal(path):
    return journal_of(entries)(path)
""",
    "journaled": """from harness_zero.grading.lab09 import entries, in_doubt, journal_of, journaling


def journaled(path, model, tool, clock, safe):
    return journaling(journal_of(entries), in_doubt)(path, model, tool, clock, safe)
""",
    "may_pass": """from harness_zero.grading.lab10 import may_pass as ours


def may_pass(failure):
    return ours(failure)
""",
    "retried": """from harness_zero.grading.lab10 import may_pass, retrying


def retried(model, sleep, attempts=3):
    return retrying(may_pass)(model, sleep, attempts)
""",
    "key": """from harness_zero.grading.lab10 import key as ours


def key(run, call):
    return ours(run, call)
""",
    "verdict": """from harness_zero.grading.lab11 import verdict as ours


def verdict(rules, call):
    return ours(rules, call)
""",
    "permission": """from harness_zero.grading.lab11 import permission_by, verdict


def permission(tool, rules, ask=None):
    return permission_by(verdict)(tool, rules, ask)
""",
    "pool": """from harness_zero.grading.lab11 import pool as ours


def pool(cap_usd, most_usd):
    return ours(cap_usd, most_usd)
""",
    "ending": """from harness_zero.policy import ending as ours


def ending(reply):
    return ours(reply)
""",
}
ACT_TAKEN = "my_harness/act.py is yours now. It uses the package's answer (borrowed)."
IMPORTS = "from harness_zero.messages import tool_uses, user"


@pytest.fixture
def copy(tmp_path):
    lay(checkout(), tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    """What these tests import and remember goes with them."""
    monkeypatch.setattr(kernel, "WRITTEN", {})
    monkeypatch.setattr(kernel, "CELLS", [])
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "my_harness"]:
        del sys.modules[name]


def written(name, source=None, **more):
    """An answer from a cell under the magic, as the kernel remembers it."""
    space = {"__name__": "__main__", **more}
    others = [code for other, code in SOURCES.items() if other != name]
    for cell in [IMPORTS, *others, source or SOURCES[name]]:
        exec(cell, space)
        kernel.CELLS.append(cell)
    kernel.WRITTEN[name] = space[name]
    return space[name]


def taken(copy, name, source=None, **more):
    return take(copy, EXERCISES[name], written(name, source, **more))


def ask_for_a_sum(module):
    model = scripted(reply(tool_use("a", "add", x=2, y=3)), reply("5"))
    given = module.run(model, {"add": lambda x, y: x + y}, "2 + 3?")
    return given[0] if isinstance(given, tuple) else given


def test_with_nothing_written_the_whole_harness_is_borrowed_and_works(copy):
    assert owned(copy) == {} and not (copy / "my_harness").exists()
    assert ask_for_a_sum(load(copy))[-1]["content"][0]["text"] == "5"


def test_an_answer_that_passed_is_theirs_and_the_others_are_named_as_borrowed(copy):
    assert taken(copy, "act") == ACT_TAKEN
    page = (copy / "my_harness/__init__.py").read_text()
    assert "from .act import act  # yours" in page
    line = next(line for line in page.splitlines() if line.startswith("run = "))
    assert line.startswith('run = borrowed("run", act=act, ')
    assert line.endswith("  # until lab 01_structural_stop")
    assert owned(copy) == {"act": EXERCISES["act"]}


def test_a_borrowed_loop_works_around_a_piece_of_theirs(copy):
    marked = ACT.replace("return user(", "tools['seen']()\n    return user(")
    seen = []
    taken(copy, "act", marked.replace("tools['seen']()", "tools.get('seen', len.__call__)('')"))
    model = scripted(reply(tool_use("a", "add", x=2, y=3)), reply("5"))
    load(copy).run(model, {"add": lambda x, y: x + y, "seen": seen.append}, "2 + 3?")
    assert seen == [""]


def test_when_every_piece_is_theirs_nothing_is_borrowed(copy):
    for name, source in (SOURCES | WRAPPED).items():
        taken(copy, name, source)
    assert "borrowed" not in (copy / "my_harness/__init__.py").read_text().partition('"""\n')[2]
    assert {*owned(copy)} == {*makers()}
    assert ask_for_a_sum(load(copy))[-1]["content"][0]["text"] == "5"


def test_a_run_can_have_its_messages_marked_on_their_way_and_keeps_its_own_array_bare(copy):
    requests = []
    model = scripted(reply(tool_use("a", "add", x=2, y=3)), reply("5"))

    def kept(messages):
        requests.append(messages)
        return model(messages)

    run = marking(load(copy).run, marked)
    assert signature(run) == signature(load(copy).run)
    given = run(kept, {"add": lambda x, y: x + y}, "2 + 3?", max_rounds=5)
    assert [str(sent).count("cache_control") for sent in requests] == [1, 2]
    assert "cache_control" not in str(given)


def test_what_is_no_list_of_messages_reaches_the_model_as_it_is():
    said = []
    marking(lambda model, tools, prompt: model(prompt), marked)(said.append, {}, "go")
    assert said == ["go"]


def test_a_page_with_marks_is_the_courses_own():
    page = f"{mine.PAGE}\nfrom harness_zero.mine import beside, borrowed, marking\n\n"
    assert mine.is_ours(f"{page}run = beside(run, repetition)\nrun = marking(run, marked)\n")


def test_a_piece_uses_the_other_pieces_of_the_package(copy):
    taken(copy, "run")
    assert "from . import act\n" in (copy / "my_harness/run.py").read_text()


def test_without_the_magic_it_is_said_how_to_keep_an_answer(copy):
    answer = FunctionType(written("act").__code__, {})
    said = take(copy, EXERCISES["act"], answer)
    assert "write %%my_harness act in the first line of its cell" in said
    assert not (copy / "my_harness").exists()


def test_an_exercise_that_is_no_piece_says_nothing(copy):
    assert take(copy, EXERCISES["conversation"], lambda: []) == ""


def test_another_answer_takes_the_place_of_the_first_and_the_first_is_kept(copy):
    taken(copy, "act")
    first = (copy / "my_harness/act.py").read_text()
    said = taken(copy, "act", ACT.replace("answer(call", "answer( call"))
    assert said.endswith("What stood there before is kept in my_harness/earlier/act-1.py.")
    assert (copy / "my_harness/earlier/act-1.py").read_text() == first


def test_what_is_kept_already_is_not_kept_twice(copy):
    other = ACT.replace("answer(call", "answer( call")
    for source in (ACT, other, ACT, other, ACT):
        said = taken(copy, "act", source)
    assert said.endswith("my_harness/earlier/act-2.py.")
    kept = sorted(path.name for path in (copy / "my_harness/earlier").iterdir())
    assert kept == ["act-1.py", "act-2.py"]


def test_the_magic_of_the_cell_does_not_go_along(copy):
    above = "# mine\n#%%my_harness act\n# and this\n"
    taken(copy, "act", above + ACT)
    piece = (copy / "my_harness/act.py").read_text()
    assert "%%" not in piece and "# and this\ndef act(" in piece


def test_the_same_answer_again_moves_nothing(copy):
    taken(copy, "act")
    assert taken(copy, "act") == "my_harness/act.py is yours, as it was."
    assert not (copy / "my_harness/earlier").exists()


def test_what_they_changed_in_the_file_is_kept_too(copy):
    taken(copy, "act")
    path = copy / "my_harness/act.py"
    path.write_text(path.read_text() + "# better\n")
    taken(copy, "act")
    assert (copy / "my_harness/earlier/act-1.py").read_text().endswith("# better\n")


def test_a_piece_from_a_later_lab_stays_and_that_is_said(copy):
    taken(copy, "act")
    path = copy / "my_harness/act.py"
    later = path.read_text().replace("exercise act", "exercise act_at_once")
    path.write_text(later)
    assert "my_harness/act.py stays" in taken(copy, "act")
    assert path.read_text() == later


def test_a_page_that_they_wrote_themselves_is_kept(copy):
    (copy / "my_harness").mkdir()
    (copy / "my_harness/__init__.py").write_text("mine = 1\n")
    taken(copy, "act")
    assert (copy / "my_harness/earlier/__init__-1.py").read_text() == "mine = 1\n"


def test_an_answer_that_needs_the_notebook_is_not_taken_and_the_name_is_said(copy):
    source = ACT.replace("answer(call, tools)", "model.answer(call, tools)")
    said = taken(copy, "act", source, model=type("Odd", (), {})())
    assert "it uses model, which no cell has made" in said
    assert not (copy / "my_harness/act.py").exists()


def test_an_answer_that_breaks_a_promise_without_the_notebook_is_not_taken(copy):
    source = "calls = [1] * 20\n\n\n" + ACT.replace(
        "return", "if len(calls) > 9: return\n    return"
    )
    said = taken(copy, "act", source)
    assert "without the notebook a promise breaks: it gives back one message of the user" in said
    assert not (copy / "my_harness/act.py").exists()


@pytest.mark.parametrize("obstacle", ["file", "link"])
def test_where_no_folder_can_be_nothing_is_written(copy, obstacle, tmp_path):
    place = copy / "my_harness"
    place.write_text("x") if obstacle == "file" else place.symlink_to(tmp_path)
    assert "my_harness is no folder; move it away" in taken(copy, "act")
    assert [*tmp_path.glob("*.py")] == []


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def act(:\n", r"my_harness/act.py, line 1: it is no Python"),
        ("import nowhere\nact = 1", r"my_harness/act.py, line 1: ModuleNotFoundError"),
        ("act = 1\n1 / 0", r"my_harness/act.py, line 2: ZeroDivisionError"),
        ("act = 1\nexit()", r"my_harness/act.py, line 2: SystemExit"),
        ("act = '\0'", r"my_harness/act.py.*: it is no Python"),
        ("x = 1\n", r"my_harness/act.py makes no act"),
    ],
)
def test_a_piece_that_is_broken_by_hand_is_named_with_its_line(copy, source, words):
    taken(copy, "act")
    (copy / "my_harness/act.py").write_text(source)
    with pytest.raises(HarnessFault, match=words):
        load(copy)


def test_an_update_of_the_course_leaves_the_package_alone(copy):
    taken(copy, "act")
    before = {path: path.read_bytes() for path in (copy / "my_harness").rglob("*.py")}
    lay(checkout(), copy)
    assert {path: path.read_bytes() for path in (copy / "my_harness").rglob("*.py")} == before


def test_run_mine_says_whose_the_pieces_are_and_repairs_a_project(copy, tmp_path, monkeypatch):
    taken(copy, "act")
    monkeypatch.chdir(copy / "labs")
    command = ["run", "--mine", "fix it", "--project", "login", "--workspace", str(tmp_path / "w")]
    result = CliRunner().invoke(main, command)
    assert "my_harness: yours: act\n" in result.output
    assert "my_harness: borrowed: answer, run, pairing_fault" in result.output
    assert result.exit_code == 0 and "finished" in result.output


def test_run_mine_with_a_broken_piece_is_one_sentence(copy, tmp_path, monkeypatch):
    taken(copy, "run")
    (copy / "my_harness/run.py").write_text("1 +\n")
    monkeypatch.chdir(copy)
    command = ["run", "--mine", "fix it", "--project", "login", "--workspace", str(tmp_path / "w")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 1 and "Mend the file, or move it away" in result.output
    assert "Traceback" not in result.output


def test_run_takes_one_harness(copy):
    result = CliRunner().invoke(main, ["run", "--mine", "--stage", "1", "go"])
    assert result.exit_code == 2 and "take one" in result.output


def test_every_piece_that_is_borrowed_keeps_the_promises_of_the_last_exercise_that_makes_it(copy):
    package = load(copy)
    for name, exercises in makers().items():
        for promise in exercises[-1].promises:
            promise(unwrap(getattr(package, name)))  # the loop without what stands around it
    assert mine.lab_of(EXERCISES["run"]) == "01_structural_stop"


def test_a_piece_that_is_moved_away_is_borrowed_again(copy):
    taken(copy, "act")
    taken(copy, "run")
    (copy / "my_harness/act.py").unlink()
    assert ask_for_a_sum(load(copy))[-1]["content"][0]["text"] == "5"
    assert "act = borrowed" in (copy / "my_harness/__init__.py").read_text()


def test_a_page_that_is_gone_is_written_anew(copy):
    taken(copy, "act")
    (copy / "my_harness/__init__.py").unlink()
    assert load(copy).act.__module__ == "my_harness.act"


def test_what_they_wrote_under_the_page_is_kept(copy):
    taken(copy, "act")
    page = copy / "my_harness/__init__.py"
    page.write_text(page.read_text() + "MY_SETTING = 42\n")
    taken(copy, "run")
    assert "MY_SETTING" in (copy / "my_harness/earlier/__init__-1.py").read_text()


def test_a_piece_may_use_one_that_comes_after_it_in_the_course(copy):
    checked = RUN.replace(
        "messages.append(act", "pairing_fault(messages[-1], None)\n        messages.append(act"
    )
    names = "from harness_zero.messages import pairing_fault\n\n\n"
    said = taken(copy, "run", names + checked)
    assert said.endswith("It uses the package's pairing_fault (borrowed), act (borrowed).")
    theirs = "from harness_zero.messages import pairing_fault as ours\n\n\n"
    theirs += "def pairing_fault(asking, answering):\n    return ours(asking, answering)\n"
    assert "yours now" in taken(copy, "pairing_fault", theirs)
    assert ask_for_a_sum(load(copy))[-1]["content"][0]["text"] == "5"


def test_pieces_that_need_each_other_in_a_ring_are_refused(copy):
    taken(copy, "act")
    path = copy / "my_harness/act.py"
    taken(copy, "run")
    path.write_text("from . import run\n" + path.read_text())
    with pytest.raises(HarnessFault, match=r"act, run need each other in a ring"):
        load(copy)


def test_a_helper_that_is_called_as_a_later_piece_is_a_helper(copy):
    source = "def run(call, tools):\n    return str(tools[call['name']](**call['input']))\n\n\n"
    source += "def answer(call, tools):\n    return {'type': 'tool_result',"
    source += " 'tool_use_id': call['id'], 'content': run(call, tools)}\n"
    assert "yours now" in taken(copy, "answer", source)
    assert "def run" in (copy / "my_harness/answer.py").read_text()


def test_a_piece_that_works_in_the_notebook_alone_is_not_taken(copy, tmp_path, monkeypatch):
    (tmp_path / "beside_the_lab.py").write_text("def joined(blocks):\n    return blocks\n")
    monkeypatch.syspath_prepend(tmp_path)
    source = "from beside_the_lab import joined\n\n\n" + ACT.replace("[answer", "joined([answer")
    source = source.replace("(reply)])", "(reply)]))")
    said = taken(copy, "act", source)
    assert "No module named 'beside_the_lab'" in said and "Mend" not in said
    assert not (copy / "my_harness/act.py").exists()


def test_another_piece_that_never_ends_does_not_hang_a_check(copy, monkeypatch):
    monkeypatch.setattr(mine, "PATIENCE", 0.5)
    taken(copy, "act")
    path = copy / "my_harness/act.py"
    path.write_text(path.read_text() + "while True: pass\n")
    with pytest.raises(HarnessFault, match="StillRunning"):
        load(copy)


def test_a_package_that_was_imported_is_imported_anew_after_a_check(copy):
    taken(copy, "act")
    load(copy)
    assert "my_harness" in sys.modules
    taken(copy, "run")
    assert "my_harness" not in sys.modules


@pytest.mark.parametrize(
    "source", ["def run(model, tools, prompt):\n    return None\n", "run = exit\n"]
)
def test_run_mine_does_not_call_a_loop_finished_that_gives_nothing_back(
    copy, tmp_path, monkeypatch, source
):
    taken(copy, "run")
    (copy / "my_harness/run.py").write_text(source)
    monkeypatch.chdir(copy)
    command = ["run", "--mine", "fix it", "--project", "login", "--workspace", str(tmp_path / "w")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 1 and "finished" not in result.output
