"""Lab 01 in a notebook: a check by name, and the repair of a project by the learner's loop."""

import pytest
from answers.lab01 import run_by_stop_reason

from harness_zero.messages import reply
from harness_zero.models.scripted import scripted
from harness_zero.notebook import check, repair
from harness_zero.notebook.check import NoSuchExercise
from harness_zero.stages.s1_structural_stop import run


def test_a_check_of_something_else_names_the_exercises():
    with pytest.raises(NoSuchExercise, match=r"conversation, .*act_at_once"):
        check("loop", run)


def test_the_learners_loop_repairs_the_cart(capsys):
    repair(run_by_stop_reason)
    assert "the tests of cart pass." in capsys.readouterr().out


def test_a_repair_with_a_hole_is_not_done_yet(capsys):
    def unfilled(model, tools, prompt):
        raise NotImplementedError

    repair(unfilled)
    assert "not done yet" in capsys.readouterr().out


def test_a_repair_by_a_loop_that_breaks_a_promise_says_so(capsys):
    repair(lambda model, tools, prompt: run(model, tools, prompt)[-1])
    said = capsys.readouterr().out
    assert "the tests of cart pass." in said and "but a promise of the loop is broken" in said


def test_what_a_loop_leaves_beside_the_project_does_not_count(capsys):
    def cheat(model, tools, prompt):
        tools["write_file"](path="conftest.py", content="import os\nos._exit(0)\n")
        tools["write_file"](path="test_cart.py", content="")
        return run(scripted(reply("done")), tools, prompt)

    repair(cheat)
    assert "the tests of cart still fail." in capsys.readouterr().out


def test_a_project_that_lost_its_files_is_told(capsys):
    def destroy(model, tools, prompt):
        tools["run_command"](command="rm cart.py; printf '\\377' > prices.py")
        return run(scripted(reply("done")), tools, prompt)

    repair(destroy)
    assert "cart.py is gone, or no text any more" in capsys.readouterr().out
