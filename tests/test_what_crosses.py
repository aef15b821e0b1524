"""What crosses between the grader and a learner's process stays alike on both sides."""

import json
import os
from pathlib import Path

import pytest

from harness_zero.faults import ELSEWHERE
from harness_zero.grading.exercises import LABS
from harness_zero.grading.record.errors import LONGEST, MOST_TOLD
from harness_zero.grading.record.grade import Room, laid
from harness_zero.grading.record.isolation import PACKAGE, Limits, isolates
from harness_zero.grading.record.peer import Gone
from harness_zero.grading.record.plan import plan
from harness_zero.grading.record.protocol import Crossing, Garbled
from harness_zero.grading.record.remote import Remote
from harness_zero.grading.record.scratch import MOST_BYTES, MOST_FILES, Scratch, Unfit
from harness_zero.loop import ModelFailed
from harness_zero.mine import makers
from harness_zero.models.recorded import Diverged
from harness_zero.run import Run

LAB = "09_what_survives_a_crash"


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inside")
    for each in (folder, *folder.parents[:2]):
        each.chmod(0o755)
    laid(folder, [LAB, "10_try_again", "11_who_may_and_who_pays"])
    return Room(folder, Limits(), isolated=not isolates())


@pytest.fixture
def begun(room):
    """Begins processes in which a cell has run; gives back their functions by name."""
    there = []

    def begin(source, *names, lab=LAB):
        inside = room.inside(lab)
        remote = Remote(inside, dict(plan(lab).settings), room.limits, room.isolated)
        there.append(remote)
        remote.begin()
        remote.cell("cell", source)
        return [remote, *map(remote.find, names)] if names else remote

    yield begin
    for each in there:
        each.close()


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "lent"
    folder.mkdir()
    return folder / "journal.jsonl"


def test_a_file_that_is_there_can_be_read_inside(begun, path):
    path.write_bytes("é\n\0\xff".encode("latin-1"))
    _, reads = begun("def reads(path): return path.read_bytes()", "reads")
    assert reads(path) == path.read_bytes()


def test_an_effect_finds_what_was_written_before_it_and_nothing_else(begun, path):
    source = (
        "def writes(path, effect):\n"
        "    file = open(path, 'a')\n"
        "    file.write('in a buffer')\n"
        "    effect()\n"
        "    file.flush()\n"
        "    effect()\n"
        "    path.unlink()\n"
        "    effect()\n"
    )
    seen = []
    _, writes = begun(source, "writes")
    writes(path, lambda: seen.append(path.read_text() if path.exists() else None))
    assert seen == ["", "in a buffer", None]


def test_what_an_effect_writes_is_there_when_it_is_over(begun, path):
    source = (
        "def sees(path, effect):\n"
        "    before = path.exists()\n"
        "    effect()\n"
        "    return before, path.read_text()\n"
    )
    _, sees = begun(source, "sees")
    assert sees(path, lambda: path.write_text("written")) == (False, "written")


def test_a_path_stays_a_path_on_its_way_there_and_back(begun, path):
    _, beside = begun("def beside(path): return path, path.parent / 'b.txt', path.parent", "beside")
    assert beside(path) == (path, path.parent / "b.txt", path.parent)


def test_a_file_that_was_left_open_is_closed_once_nobody_holds_its_function(begun, path):
    source = (
        "def opens(path):\n"
        "    file = open(path, 'a')\n"
        "    file.write('in a buffer')\n"
        "    return lambda: file.name\n"
        "def looks(path): return path.read_text()\n"
    )
    _, opens, looks = begun(source, "opens", "looks")
    held = opens(path)
    assert looks(path) == ""
    del held
    assert looks(path) == "in a buffer"


def test_a_crash_lets_go_of_what_the_dead_process_held(begun, path):
    source = (
        "import fcntl\n"
        "def locks(path):\n"
        "    file = open(path, 'a')\n"
        "    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        "    def step(effect):\n"
        "        file.write('begun')\n"
        "        return effect()\n"
        "    return step\n"
    )

    class Killed(BaseException):
        pass

    def die():
        raise Killed

    _, locks = begun(source, "locks")
    for _ in range(3):
        with pytest.raises(Killed):
            locks(path)(die)
    assert path.read_text() == "begunbegun"  # and what the last one held is in its buffer


def test_a_folder_that_is_gone_is_gone_inside(begun, tmp_path):
    source = (
        "kept = []\n"
        "def sees(path):\n"
        "    kept.append(path)\n"
        "    return [each.parent.exists() for each in kept]\n"
    )
    _, sees = begun(source, "sees")
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    assert sees(tmp_path / "one" / "a") == [True]
    (tmp_path / "one").rmdir()
    assert sees(tmp_path / "two" / "a") == [False, True]


def test_what_an_answer_keeps_of_what_it_was_lent_stays_alike(begun):
    source = (
        "def keeps(ledger, names, found):\n"
        "    def step(key):\n"
        "        ledger[key] = [len(names)]\n"
        "        found.add(key)\n"
        "        return sorted(ledger)\n"
        "    return step\n"
    )
    _, keeps = begun(source, "keeps")
    ledger, names, found = {"a": 1}, ["x"], set()
    step = keeps(ledger, names, found)
    assert step("b") == ["a", "b"] and ledger == {"a": 1, "b": [1]} and found == {"b"}
    del ledger["a"]
    names.append("y")
    assert step("c") == ["b", "c"] and ledger == {"b": [1], "c": [2]}


def test_what_is_kept_is_the_same_thing_when_it_is_lent_again(begun):
    source = (
        "held = []\n"
        "def keep(thing): held.append(thing)\n"
        "def is_it(thing, effect):\n"
        "    held[0].append(1)\n"
        "    return thing is held[0] and effect(thing)\n"
    )
    _, keep, is_it = begun(source, "keep", "is_it")
    thing = []
    keep(thing)
    assert is_it(thing, lambda given: given is thing and given == [1])


def test_a_kept_set_that_is_lent_again_holds_what_was_added(begun):
    source = "held = []\ndef keep(found): held.append(found)\ndef add(found, one): found.add(one)\n"
    _, keep, add = begun(source, "keep", "add")
    found = {1}
    keep(found)
    add(found, 2)
    assert found == {1, 2}


def test_what_is_kept_no_longer_is_let_go_of_on_both_sides(begun):
    source = "held = []\ndef keep(thing): held[:] = [thing]\ndef forget(): held.clear()\n"
    remote, keep, forget = begun(source, "keep", "forget")
    for n in range(5):
        keep([n])
    forget()
    forget()
    assert not remote.crossing.kept.things


def test_only_so_much_is_kept(begun):
    remote, keep = begun("held = []\ndef keep(thing): held.append(thing)\n", "keep")
    for n in range(100):
        keep([n])
    assert 0 < len(remote.crossing.kept.things) < 20


class Limited(Exception):
    """An error of a kind that nobody inside knows."""


def raised_by(function, *args):
    try:
        function(*args)
    except BaseException as error:
        return error
    return None


def test_an_error_tells_inside_what_it_tells_outside(begun):
    source = (
        "def status(effect):\n"
        "    try: effect()\n"
        "    except Exception as error:\n"
        "        return type(error).__name__, error.status, str(error), sorted(vars(error))\n"
    )
    error = Limited("too many")
    vars(error).update(status=429, after=1.5, _own=1, parts=[1], text="x" * (LONGEST + 1))

    def fail():
        raise error

    _, status = begun(source, "status")
    assert status(fail) == ("Limited", 429, "too many", ["after", "status"])


def test_an_error_tells_outside_what_it_tells_inside_and_not_too_much(begun):
    source = (
        "from harness_zero.loop import ModelFailed\n"
        "def fails(most):\n"
        "    error = ModelFailed('x', 10 ** 5000)\n"
        "    error.status = 529\n"
        "    for n in range(most): setattr(error, f'n{n}', 'y' * 9_000)\n"
        "    error.huge = 10 ** 5000\n"
        "    raise error\n"
    )
    _, fails = begun(source, "fails", lab="10_try_again")
    error = raised_by(fails, 3)
    assert type(error) is ModelFailed and error.status == 529 and error.n2 == "y" * 9_000
    assert not hasattr(error, "huge")
    assert len({*vars(raised_by(fails, 10_000))} - {ELSEWHERE}) == MOST_TOLD


def test_a_divergence_is_one_on_both_sides(begun):
    source = (
        "from harness_zero.models.recorded import Diverged\n"
        "def diverges(effect):\n"
        "    try: effect()\n"
        "    except Diverged: raise Diverged('here')\n"
    )

    def fail():
        raise Diverged("there")

    _, diverges = begun(source, "diverges")
    assert type(raised_by(diverges, fail)) is Diverged


def test_an_error_of_a_class_of_ones_own_is_also_of_the_class_above_it(begun):
    source = (
        "from harness_zero.models.recorded import Diverged\n"
        "class Elsewhere(Diverged): pass\n"
        "class WrongKey(KeyError, ValueError): pass\n"
        "def goes_elsewhere(): raise Elsewhere('step 2')\n"
        "def wrong(): raise WrongKey('k1')\n"
        "def leaves(): raise type('Left', (SystemExit,), {})(3)\n"
        "def is_late(effect):\n"
        "    try: effect()\n"
        "    except TimeoutError as error: return type(error).__name__, str(error)\n"
    )
    _, goes_elsewhere, wrong, leaves, is_late = begun(
        source, "goes_elsewhere", "wrong", "leaves", "is_late"
    )
    elsewhere, error, left = map(raised_by, (goes_elsewhere, wrong, leaves))
    assert isinstance(elsewhere, Diverged) and type(elsewhere).__name__ == "Elsewhere"
    assert isinstance(error, KeyError) and type(error).__name__ == "WrongKey"
    assert error.args == ("k1",)
    assert isinstance(left, Exception) and type(left).__name__ == "Left"

    def late():
        raise type("Slow", (TimeoutError,), {})("a minute")

    assert is_late(late) == ("Slow", "a minute")


def test_what_is_equal_by_its_parts_inside_is_so_outside(begun):
    source = (
        "from dataclasses import dataclass, field\n"
        "from itertools import count\n"
        "from types import SimpleNamespace\n"
        "@dataclass\n"
        "class Mark:\n"
        "    name: str\n"
        "    parts: tuple = ()\n"
        "    at: int = field(default=0, compare=False)\n"
        "@dataclass(eq=False)\n"
        "class Own: name: str\n"
        "@dataclass\n"
        "class Counts: numbers: object\n"
        "class Same:\n"
        "    def __eq__(self, other): return True\n"
        "numbers = Counts(count(1))\n"
        "def mark(name, at): return Mark(name, (1, Mark('inner')), at)\n"
        "def own(name): return Own(name)\n"
        "def space(**given): return SimpleNamespace(**given)\n"
        "def same(): return Same()\n"
        "def counts(): return numbers, next(numbers.numbers)\n"
        "def changed(mark): mark.name = 'b'; return mark\n"
        "def ring():\n"
        "    here = Mark('a'); here.parts = here; return here\n"
    )
    names = "mark", "own", "space", "same", "counts", "changed", "ring"
    _, mark, own, space, same, counts, changed, ring = begun(source, *names)
    assert mark("a", 1) == mark("a", 2) != mark("b", 1)
    assert repr(mark("a", 1)) == "Mark(name='a', parts=(1, Mark(name='inner', parts=())))"
    assert own("a") != own("a") and same() != same() and same() != 1
    assert space(a=1) == space(a=1) != space(a=2)
    assert [counts()[1] for _ in range(2)] == [1, 2]
    here = ring()
    assert here == here and here != ring()
    first = mark("a", 1)
    assert changed(first) is first and first != mark("a", 1)


def test_a_copy_of_a_run_is_a_run_of_ones_own(begun):
    source = (
        "from copy import copy, deepcopy\n"
        "def copies(run):\n"
        "    shallow, deep = copy(run), deepcopy(run)\n"
        "    shallow.rounds, deep.label = 9, 'mine'\n"
        "    deep.messages.clear()\n"
        "    deep.ask('Once more?')\n"
        "    return isinstance(deep, run.__class__), deep.text, len(run.messages), shallow.rounds\n"
    )
    _, copies = begun(source, "copies")
    run = Run("Which port?", clock=lambda: 7.0)
    assert copies(run) == (True, "", 1, 9)
    assert (run.rounds, run.label, len(run.messages)) == (0, None, 1)


# what is forged


@pytest.fixture
def lent(path):
    """The grader's side of a crossing that has lent a folder."""
    crossing = Crossing(lambda *_: None, trusting=False)
    crossing.send(path)
    return crossing


NAMES = [
    "/etc/passwd",
    "../x",
    "..",
    ".",
    "",
    "a/b",
    "a\\b",
    "a\0b",
    "a\nb",
    "C:x",
    "x" * 101,
    7,
    None,
]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_with_such_a_name_is_put_nowhere(name, lent, path):
    frame = json.loads(json.dumps({"files": [[0, [[name, "x"]]]]}))
    frame["files"][0][1] = {name: "x"}
    with pytest.raises(Garbled):
        lent.hear(frame)
    assert [*path.parent.iterdir()] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name != ""])
def test_a_path_with_such_a_name_leads_nowhere(name, lent):
    with pytest.raises(Garbled):
        lent.take({"$": "path", "of": [0, name]})


FORGED = {
    "no list": {"files": 7},
    "no pairs": {"files": [7]},
    "no names": {"files": [[0, 7]]},
    "no content": {"files": [[0, {"a": 7}]]},
    "no bytes": {"files": [[0, {"a": "\u20ac"}]]},
    "no number": {"files": [[[], {}]]},
    "too many": {"files": [[0, {f"f{n}": "" for n in range(MOST_FILES + 1)}]]},
    "too much": {"files": [[0, {"a": "x" * (MOST_BYTES + 1)}]]},
    "kept no list": {"kept": 7},
    "kept no pair": {"kept": [[1]]},
    "over no list": {"over": 7},
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_frame_is_garbled(what, lent, path):
    with pytest.raises(Garbled):
        lent.hear(FORGED[what])
    assert [*path.parent.iterdir()] == []


@pytest.mark.parametrize("tag", ["kept", "path", "yours"])
def test_what_was_never_lent_is_garbled(tag, lent):
    for of in (99, None, [], [99, "a"], "x"):
        with pytest.raises(Garbled):
            lent.take({"$": tag, "of": of})


def test_what_is_no_longer_held_is_said_by_the_grader_alone(lent):
    def lend():
        pass

    number = lent.send(lend)["of"]
    lent.hear({"dropped": [[number, 1]]})
    assert lent.take({"$": "yours", "of": number}) is lend


def test_only_plain_files_of_a_folder_cross(path):
    folder = path.parent
    path.write_text("plain")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    scratch = Scratch()
    scratch.lend(path)
    assert scratch.changes() == [[0, {"journal.jsonl": "plain"}]]


def test_a_path_in_no_folder_is_not_lent(tmp_path):
    with pytest.raises(Unfit):
        Scratch().lend(tmp_path / "gone" / "file")


# what is borrowed


def test_the_pieces_that_a_lab_borrows_are_of_other_labs():
    made = {name: [each.name for each in exercises] for name, exercises in makers().items()}
    for name, lab in LABS.items():
        own = {each.name for each in lab.exercises}
        borrowed = plan(name).made.get("mine", "")
        for piece, exercises in made.items():
            assert f"\n{piece} = " not in borrowed or not own & {*exercises}


def test_the_answers_of_a_lab_do_not_stand_in_the_files_that_are_there_for_it():
    there = plan("11_who_may_and_who_pays")
    texts = [Path(PACKAGE, f"{name}.py").read_text("utf-8") for name in there.files]
    whole = "\n".join([*texts, *there.made.values()])
    assert "def journal_of(" in whole
    for name in ("def verdict(rules", "def permission", "def pool(", "def together", "Broken("):
        assert name not in whole


@pytest.mark.parametrize("name", ["run", "pool", "permission", "verdict", "act"])
def test_what_is_not_borrowed_cannot_be_asked_for(name, begun):
    remote = begun("from harness_zero.mine import ours", lab="11_who_may_and_who_pays")
    with pytest.raises(ImportError, match="not to be borrowed"):
        remote.cell("asks", f"ours({name!r})")
    for module in (
        "harness_zero.grading.lab09",
        "harness_zero.grading.lab11",
        "harness_zero.budget",
    ):
        with pytest.raises(ImportError):
            remote.cell("imports", f"from {module} import journaling, pool")


def test_a_folder_that_holds_too_much_ends_the_process_and_says_so(begun, path):
    remote, fills = begun(
        "def fills(path):\n    for n in range(1000): (path.parent / str(n)).write_text('x')\n",
        "fills",
    )
    with pytest.raises(Gone, match="more than 32 files"):
        fills(path)
    assert "more than 32 files" in remote.gone
