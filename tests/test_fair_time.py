"""Time is up for who sleeps or never ends, and not for who only waits for a core."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from math import isclose

import pytest
from handed_in import filled, laid_down, solution

from harness_zero.grading.record import clock
from harness_zero.grading.record.clock import PARDON, Deadline
from harness_zero.grading.record.grade import Room, graded, laid
from harness_zero.grading.record.isolation import Limits, isolates
from harness_zero.grading.record.submissions import submission

BURNS = "while True: pass"
WORKS = """
import time
def answer(call, tools):
    while time.process_time() < {seconds}:
        pass
    return tool_result(call["id"], str(tools[call["name"]](**call["input"])))
"""


class Told:
    """A clock and a kernel that say what they are told."""

    def __init__(self):
        self.now = self.waited = 100.0

    def deadline(self):
        return Deadline(2.0, lambda: None, lambda: self.waited, lambda: self.now)


def test_on_a_quiet_machine_time_is_the_clock_on_the_wall():
    told = Told()
    deadline = told.deadline()
    told.now += 1.5
    assert isclose(deadline.left(), 0.5)


def test_time_without_a_core_does_not_count_up_to_a_limit():
    told = Told()
    deadline = told.deadline()
    told.now, told.waited = told.now + 3, told.waited + 1.5
    assert isclose(deadline.left(), 0.5)
    told.waited += 1000
    assert isclose(deadline.left(), 2 + PARDON * 2 - 3)


def test_without_a_kernel_that_tells_time_is_the_clock_on_the_wall(monkeypatch, tmp_path):
    monkeypatch.setattr(clock, "PROC", tmp_path)
    assert clock.waited(os.getpid(), os.getpid()) == 0.0 == clock.here()()
    assert clock.children(os.getpid()) == [] and clock.youngest(1) == 1


def test_who_begins_processes_has_no_pardon():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        if not clock.children(os.getpid()):
            pytest.skip("this kernel does not tell who began whom")
        assert child.pid in clock.children(os.getpid())
        child.communicate(b"\n")


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inside")
    for each in (folder, *folder.parents[:2]):
        each.chmod(0o755)
    laid(folder, ["00_one_call"])
    return Room(folder, Limits(), isolated=not isolates(), secret=b"of sixteen bytes")


@contextmanager
def crowd(others):
    """Everything that this process begins has to share one core with so many others at work."""
    if not hasattr(os, "sched_setaffinity") or not clock.waited(os.getpid(), os.getpid()):
        pytest.skip("this kernel does not tell who waits for a core")
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, [min(cores)])
    burns = [sys.executable, "-c", BURNS]  # in sessions of their own, among which cores are shared
    busy = [subprocess.Popen(burns, start_new_session=True) for _ in range(others)]
    try:
        yield
    finally:
        for each in busy:
            each.kill()
            each.wait()
        os.sched_setaffinity(0, cores)


def points(source, room, folder):
    """What `answer` earns, and after how many seconds that is known."""
    began = time.monotonic()
    grade = graded(submission(laid_down(filled(solution(), answer=source), folder)), room)
    marks = {mark.exercise: mark.points for mark in grade.marks}
    assert sum(marks.values()) - marks["answer"] == 9
    return marks["answer"], time.monotonic() - began


def test_an_honest_answer_that_waits_for_a_core_loses_nothing(room, tmp_path):
    with crowd(4):
        earned, took = points(WORKS.format(seconds=0.9), room, tmp_path)
    assert earned == 3 and took > Limits().seconds


def test_on_a_crowded_machine_a_sleeper_is_late_and_who_never_ends_too(room, tmp_path):
    sleeps = "import time\ndef answer(call, tools): time.sleep(1000)\n"
    never = f"def answer(call, tools):\n    {BURNS}\n"
    with crowd(2):
        assert points(sleeps, room, tmp_path)[0] == points(never, room, tmp_path)[0] == 0
