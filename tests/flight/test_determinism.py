"""The same name gives the same bytes: in another process, folder, timezone, and after growth."""

import json
import os
import subprocess
import sys
from hashlib import sha256

import pytest

from harness_zero.flight import names
from harness_zero.flight.fly import flight, fly
from harness_zero.flight.worlds.build import build

SOME = [str(each) for each in names.block(3)[::4]]
REAL = "diligent/cart/crash@2#0"
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from test_determinism import print_digest
print_digest()
"""


def digest(messages):
    return sha256(json.dumps(messages).encode()).hexdigest()


def print_digest():
    """All messages and outcomes of some flights, in one number."""
    told = [flight(name, harness).messages for name in SOME for harness in (3, "library")]
    told += [flight(REAL, "library").messages]
    print(digest([told, [str(outcome) for outcome in fly(4, SOME)]]))


def elsewhere(folder, **environment):
    here = os.path.dirname(__file__)
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    command = [sys.executable, "-c", PROGRAM, here]
    run = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_another_folder_hash_seed_timezone_and_process_give_the_same_bytes(tmp_path):
    one = elsewhere("/", PYTHONHASHSEED="1", TZ="UTC")
    assert one == elsewhere(tmp_path, PYTHONHASHSEED="77", TZ="Asia/Kathmandu", LANG="C")


def test_a_flight_is_the_same_alone_and_among_others_and_twice():
    together = fly("library", SOME)
    assert [fly("library", name)[0] for name in SOME[::-1]] == together.outcomes[::-1]


def test_a_flight_is_the_same_after_a_world_was_added(monkeypatch):
    before = [flight(name, "library").messages for name in SOME]
    monkeypatch.setitem(names.SMALL, "another-world", build)
    monkeypatch.setitem(names.WORLDS, "another-world", build)
    assert [flight(name, "library").messages for name in SOME] == before


@pytest.mark.parametrize("harness", [3, "library"])
def test_a_harness_that_copies_its_array_flies_the_same_flight(harness):
    from copy import deepcopy

    from harness_zero.flight.pilots import pilot

    def copying(model, tools, prompt, **limits):
        return pilot(harness).fly(lambda sent: model(deepcopy(sent)), tools, prompt, **limits)

    for name in SOME[::3]:
        assert flight(name, copying).messages == flight(name, harness).messages
