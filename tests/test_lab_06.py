"""Lab 06 in a learner's copy: their detector stands beside their loop, wherever that is flown."""

import json
from pathlib import Path

import pytest
from test_lab_05 import NEW, OLD, cells, with_pieces
from test_mine import as_before, copy

from harness_zero import kernel
from harness_zero.desk import Desk, asking
from harness_zero.flight.fly import fly
from harness_zero.flight.pilots import limits_alone, window_of_five
from harness_zero.flight.place import POLLERS
from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.grading.lab06 import LIMIT_ALONE, UNSEEN, WINDOW, scored
from harness_zero.labels import Label, Say
from harness_zero.messages import reply, tool_use
from harness_zero.mine import lab_of, load
from harness_zero.notebook import detector_bench
from harness_zero.policy import brake
from harness_zero.taking import take

__all__ = ["as_before", "copy"]  # fixtures

ROOT = Path(__file__).parents[1]
MONDAY, WEDNESDAY = "diligent/login-bug/calm#0", "diligent/murky-bug/calm#2"
MIXTURES = {
    "nothing is written": (),
    "the loop is theirs": (*OLD, *NEW),
    "the detector is theirs": ("fingerprint", "circle", "repetition"),
    "both are": (*OLD, *NEW, "fingerprint", "circle", "repetition"),
    "the detector alone": ("repetition",),
}


@pytest.mark.parametrize("names", MIXTURES.values(), ids=MIXTURES)
def test_whatever_is_written_the_detector_stands_beside_the_loop(copy, names):
    package = with_pieces(copy, *names) if names else load(copy)
    assert fly(package, MONDAY)[0].kind == "reached"
    wednesday = fly(package, WEDNESDAY)[0]
    assert (wednesday.label, wednesday.rounds) == ("stuck", 23)


def test_the_window_of_five_stops_both_days_until_another_takes_its_place(copy):
    package = with_pieces(copy, "window")
    assert [fly(package, day)[0].label for day in (MONDAY, WEDNESDAY)] == ["stuck", "stuck"]
    assert "from .repetition import window as repetition  # yours" in page(copy)


@pytest.mark.parametrize("run", ["run", "run_with_brakes", "labelled"])
def test_a_loop_that_takes_no_further_policies_is_left_as_it_is(copy, run):
    package = with_pieces(copy, *OLD, run, "window")
    assert fly(package, WEDNESDAY)[0].label in (None, "max_rounds")


def test_what_else_is_handed_in_as_more_is_heard_as_well(copy):
    slower = brake(lambda run: Say("slower") if run.pending else None)
    desk = Desk(asking("a"), reply("done"))
    load(copy).run(desk.model, desk.tools, "go", more=[slower])
    assert "slower" in str(desk.sent[1])


def test_each_turn_has_a_detector_of_its_own(copy):
    (copy / "my_harness").mkdir()
    (copy / "my_harness/repetition.py").write_text(COUNTING, "utf-8")
    package = load(copy)
    for _ in range(2):
        desk = Desk(asking("a"), asking("b"), reply("done"))
        assert package.run(desk.model, desk.tools, "go")[1] == Label.FINISHED


COUNTING = """def repetition():
    asked = []

    def policy(run):
        asked.append(run)
        assert len(asked) < 8

    return policy
"""


def test_the_page_that_the_course_writes_is_known_as_its_own(copy):
    with_pieces(copy, *OLD, *NEW, "window")
    before = page(copy)
    assert "\nrun = beside(run, repetition)\n" in before
    load(copy)
    assert page(copy) == before and not (copy / "my_harness/earlier").exists()


def test_a_page_of_before_this_lab_is_the_courses_too(copy):
    with_pieces(copy, *OLD, *NEW)
    path = copy / "my_harness/__init__.py"
    old = page(copy).replace("beside, borrowed", "borrowed").partition("\n\nrun = beside")[0] + "\n"
    path.write_text(old, "utf-8")
    load(copy)
    assert "beside" in page(copy) and not (copy / "my_harness/earlier").exists()


def page(copy):
    return (copy / "my_harness/__init__.py").read_text("utf-8")


def test_a_loop_is_proved_without_the_detector_beside_it(copy):
    """With one that always speaks, the promises of the loop alone could not be kept."""
    (copy / "my_harness").mkdir()
    (copy / "my_harness/repetition.py").write_text(TALKING, "utf-8")
    assert "my_harness/run.py is yours now." in taken(copy, "two_halves")


TALKING = """from harness_zero.labels import Say


def repetition():
    return lambda run: Say("hm")
"""


def test_the_detector_takes_the_place_of_the_window_and_brings_its_helpers_along(copy):
    assert "my_harness/repetition.py is yours now." in taken(copy, "window")
    for name in ("fingerprint", "circle"):
        assert f"my_harness/{name}.py is yours now." in taken(copy, name)
    said = taken(copy, "repetition")
    assert "circle (yours), fingerprint (yours)" in said and "earlier/repetition-1.py" in said
    assert "def rounds_of(" in (copy / "my_harness/repetition.py").read_text("utf-8")


def taken(copy, name):
    """Check the worked answer to an exercise as a learner would."""
    space, lab = {"__name__": "__main__"}, lab_of(EXERCISES[name])
    made = [f"def {each.name}(" for each in LABS[lab].exercises if not each.case]
    for cell in cells(lab):
        if cell.startswith(("import ", "from ", "def rounds_of", *made)):
            exec(cell.partition("\nprint(")[0], space)
            kernel.CELLS.append(cell)
    kernel.WRITTEN[name] = space[name]
    return take(copy, EXERCISES[name], space[name])


def test_the_scores_that_the_check_compares_with_are_those_of_the_flights():
    assert scored(fly(limits_alone, UNSEEN)) == LIMIT_ALONE
    assert scored(fly(window_of_five, UNSEEN)) == WINDOW


def test_no_flight_of_the_score_is_on_the_bench():
    from harness_zero.flight.known import TRACES

    assert {*UNSEEN}.isdisjoint(trace.flight for trace in TRACES)
    assert len({*UNSEEN}) == 72


def test_the_lab_says_the_scores_and_the_poller():
    lab = next(name for name in LABS if name.startswith("06"))
    text = (ROOT / "solutions" / lab / f"{lab}.ipynb").read_text("utf-8")
    told = json.loads(text)
    words = "".join("".join(cell["source"]) for cell in told["cells"])
    assert f"keeps {LIMIT_ALONE.goals} goals there and wastes {LIMIT_ALONE.wasted} rounds" in words
    assert f"a window of five keeps {WINDOW.goals}" in words and f"`{POLLERS[0]}`" in words


def test_the_bench_says_of_a_hole_that_it_is_not_done_yet():
    def repetition():
        raise NotImplementedError

    assert repr(detector_bench(mine=repetition)).startswith("not done yet: there is a hole in")


def test_a_detector_of_their_own_may_see_a_call_that_it_knows_by_another_id(copy):
    desk = Desk(*[reply(tool_use(f"x{n}", "add", a=1, b=2)) for n in range(12)], reply("3"))
    messages, label = with_pieces(copy, "repetition").run(desk.model, desk.tools, "go")
    assert label == "stuck" and len(desk.sent) == 9 and "Nothing new" in str(messages[6])
