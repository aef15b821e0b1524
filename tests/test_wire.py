"""What crosses when a policy is asked of a run from outside: little, once, nothing is missed."""

import os

import pytest

from harness_zero.grading.record.grade import Room, laid
from harness_zero.grading.record.isolation import Limits, isolates
from harness_zero.grading.record.plan import plan
from harness_zero.grading.record.remote import Remote
from harness_zero.messages import reply, tool_result, tool_use
from harness_zero.run import Run

LAB = "06_repetition_detector"
POLICIES = """
def reads(run):
    return End("stuck", str([run.messages, run.replies, run.pending, run.results, run.rounds]))


def changes(run):
    first = run.messages[0]
    if run.rounds == 30:
        first["content"] = "something else"


"""


@pytest.fixture(scope="module")
def remote(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inside")
    for each in (folder, *folder.parents[:2]):
        each.chmod(0o755)
    laid(folder, [LAB])
    room = Room(folder, Limits(), isolated=not isolates())
    found = Remote(room.inside(LAB), dict(plan(LAB).settings), room.limits, room.isolated)
    found.begin()
    found.cell("policies", f"from harness_zero.labels import End\n{POLICIES}")
    yield found
    found.close()


@pytest.fixture
def frames(remote, monkeypatch):
    """What this side writes, as it goes into the pipe."""
    seen, write = [], os.write

    def noted(pipe, line):
        if pipe == remote.peer.writes:
            seen.append(line)
        return write(pipe, line)

    monkeypatch.setattr(os, "write", noted)
    return seen


def begun():
    return Run("go", clock=lambda: 0.0)


def go_on(run, rounds):
    """Play some rounds, and stop while a call waits."""
    for _ in range(rounds):
        if run.pending:
            run.answer(tool_result(run.begin()["id"], f"seen {run.rounds}"))
        run.hear(reply(tool_use(f"c{run.rounds}", "look", at=str(run.rounds))))


def words_of(run):
    return str([run.messages, run.replies, run.pending, run.results, run.rounds])


def test_a_policy_is_asked_in_one_frame_and_reads_all_that_is_new(remote, frames):
    policy, run = remote.find("reads"), begun()
    policy(run)
    for _ in range(40):
        go_on(run, 1)
        frames.clear()
        assert policy(run).why == words_of(run)
        assert len(frames) == 1


def test_the_next_run_needs_one_frame_from_the_beginning(remote, frames):
    policy, run = remote.find("reads"), begun()
    go_on(run, 3)
    policy(begun())
    frames.clear()
    assert policy(run).why == words_of(run)
    assert len(frames) == 1


def test_what_crosses_for_a_round_does_not_grow_with_the_run(remote, frames):
    policy, run = remote.find("reads"), begun()
    sizes = []
    for _ in range(100):
        go_on(run, 1)
        frames.clear()
        policy(run)
        sizes.append(sum(map(len, frames)))
    assert max(sizes[-10:]) < 1.25 * max(sizes[2:12])


def test_words_that_enter_a_result_that_crossed_before_are_read(remote):
    policy, run = remote.find("reads"), begun()
    go_on(run, 5)
    run.answer(tool_result(run.begin()["id"], "seen"))
    policy(run)
    run.say("Look elsewhere.")
    assert "Look elsewhere." in policy(run).why and policy(run).why == words_of(run)


def test_what_a_policy_changes_in_an_old_message_is_changed_here(remote):
    policy, run = remote.find("changes"), begun()
    for _ in range(30):
        go_on(run, 1)
        policy(run)
    assert run.messages[0]["content"] == "something else" and len(run.messages) == 60
    assert remote.find("reads")(run).why == words_of(run)


def test_an_array_that_was_put_in_the_place_of_another_is_read(remote):
    policy, run = remote.find("reads"), begun()
    go_on(run, 6)
    policy(run)
    run.messages = [run.messages[0], *run.messages[-2:]]
    assert policy(run).why == words_of(run)
    run.messages[1] = {"role": "user", "content": "in the middle"}
    assert policy(run).why == words_of(run)


def test_what_did_not_arrive_comes_again(remote):
    policy, run = remote.find("reads"), begun()
    go_on(run, 3)
    run.answer(tool_result(run.begin()["id"], "seen"))
    policy(run)
    run.say("Look elsewhere.")
    run.pending.append(deep := [])
    for _ in range(200):
        deep.append(deep := [])
    with pytest.raises(Exception, match="inside each other"):
        policy(run)
    run.pending.pop()
    assert policy(run).why == words_of(run)
