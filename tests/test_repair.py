"""A wrong loop really fails, and a right one really repairs."""

import pytest

from harness_zero.flight.personas import BadRequest, fixer
from harness_zero.flight.worlds import PROMPT, WORLDS, WorldFault, world, world_in
from harness_zero.messages import said, tool_result, tool_uses, user
from harness_zero.models.scripted import OutOfReplies
from harness_zero.stages.s1_structural_stop import answer, run
from harness_zero.workspace import workspace


@pytest.fixture(params=WORLDS)
def project(request, tmp_path):
    """A world, laid down, and a function that plays a loop in it."""
    chosen = world(request.param)
    folder = chosen.lay(tmp_path / chosen.name)
    return chosen, folder, lambda loop: loop(fixer(chosen), workspace(folder), PROMPT)


def test_the_tests_of_a_shipped_project_fail_as_it_is_shipped(project):
    chosen, folder, _ = project
    assert not chosen.reached(folder)


def test_a_right_loop_repairs_the_project(project):
    chosen, folder, play = project
    assert "The tests pass" in str(play(run)[-1]) and chosen.reached(folder)


def test_a_repaired_project_is_left_as_it_is(project):
    _, folder, play = project
    play(run)
    before = {path: path.read_bytes() for path in folder.glob("*.py")}
    assert "pass already" in str(play(run)[-1])
    assert {path: path.read_bytes() for path in folder.glob("*.py")} == before


def test_the_same_run_gives_the_same_array_in_another_folder(tmp_path):
    arrays = [
        run(fixer(world("cart")), workspace(world("cart").lay(tmp_path / name)), PROMPT)
        for name in ("one", "another")
    ]
    assert arrays[0] == arrays[1]


def looping(step):
    """A loop whose act step is this one."""

    def loop(model, tools, prompt):
        messages = [user(prompt)]
        while True:
            reply = model(messages)
            messages.append(said(reply))
            if not (calls := tool_uses(reply)):
                return messages
            messages += step(calls, tools)

    return loop


def first_only(calls, tools):
    return [user(answer(calls[0], tools))]


def nothing(calls, tools):
    return [user("done")]


def swapped(calls, tools):
    outputs = [answer(call, tools)["content"] for call in calls][::-1]
    return [user(*[tool_result(c["id"], o) for c, o in zip(calls, outputs, strict=True)])]


def vague(calls, tools):
    return [user(*[tool_result(call["id"], "command failed") for call in calls])]


def forgetful(model, tools, prompt):
    """Sends the newest message alone."""
    messages = [user(prompt)]
    while True:
        reply = model(messages)
        if not (calls := tool_uses(reply)):
            return messages
        messages = [user(*[answer(call, tools) for call in calls])]


def stuck_in_place(model, tools, prompt):
    """Appends nothing."""
    messages = [user(prompt)]
    while tool_uses(model(messages)):
        pass
    return messages


@pytest.mark.parametrize("loop", [looping(first_only), looping(nothing), forgetful])
def test_a_loop_that_breaks_the_array_is_refused(project, loop):
    chosen, folder, play = project
    with pytest.raises(BadRequest):
        play(loop)
    assert not chosen.reached(folder)


@pytest.mark.parametrize("loop", [looping(swapped), looping(vague)])
def test_a_loop_that_tells_the_model_something_else_repairs_nothing(project, loop):
    chosen, folder, play = project
    play(loop)
    assert not chosen.reached(folder)


def test_a_loop_that_appends_nothing_is_told_so(project):
    _, _, play = project
    with pytest.raises(OutOfReplies, match="was the reply appended"):
        play(stuck_in_place)


def test_changed_tests_do_not_count_as_a_repair(tmp_path):
    chosen = world("login")
    folder = chosen.lay(tmp_path / "login")
    (folder / "test_login.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")
    assert not chosen.reached(folder)


def test_a_project_the_model_does_not_know_is_left_with_honest_words(tmp_path):
    folder = world("login").lay(tmp_path / "login")
    auth = folder / "auth.py"
    auth.write_text(auth.read_text("utf-8").replace("now - HOUR", "now * 0"), encoding="utf-8")
    messages = run(fixer(world("login")), workspace(folder), PROMPT)
    assert "nothing in these files that I know how to mend" in str(messages[-1])


def test_a_project_is_recognised_by_its_files(tmp_path):
    assert world_in(world("cart").lay(tmp_path / "cart")) is world("cart")
    assert world_in(tmp_path) is None


def test_a_project_is_never_laid_over_files(tmp_path):
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(WorldFault, match="no empty folder"):
        world("login").lay(tmp_path)


def test_an_unknown_project_is_answered_with_the_known_ones():
    with pytest.raises(WorldFault, match="login, cart"):
        world("spaceship")
