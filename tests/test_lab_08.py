"""Lab 08 in a learner's copy: pieces that work together, and with the library's own."""

import json
from pathlib import Path

import pytest
from test_lab_05 import with_pieces
from test_mine import as_before, copy

from harness_zero import contracts
from harness_zero.assembly import assemble, of_messages
from harness_zero.flight.contracted import verified
from harness_zero.flight.fly import fly
from harness_zero.flight.names import SMALL
from harness_zero.flight.pilots import limits_alone, with_contract
from harness_zero.flight.survival import compare
from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.grading.lab08 import WILD_CASE
from harness_zero.messages import reply
from harness_zero.mine import load
from harness_zero.models.scripted import scripted
from harness_zero.policy import structural_stop
from harness_zero.run import Run

__all__ = ["as_before", "copy"]  # fixtures

ROOT = Path(__file__).parents[1]
NAMES = ("verifier", "output_type", "stop_hook", "judge")
HASTY = [f"hasty/{world}/calm#{seed}" for world in ("login-bug", "murky-bug") for seed in range(12)]


def played(stop, *script):
    return assemble(of_messages(scripted(*script)), {}, stop=stop)(Run("Which port?"))


def flown(package):
    def contract(stop, tools, prompt):
        def tests():
            report = tools["run_tests"]()
            return f"exit code {int(not report.startswith('0 failed'))}\n{report}"

        return package.stop_hook(stop, package.verifier(tests))

    return with_contract(contract, name="mine")


@pytest.mark.parametrize("names", [(), ("stop_hook",), ("verifier",), NAMES], ids="+".join)
def test_theirs_and_borrowed_ones_end_every_false_claim_and_lose_no_goal(copy, names):
    package = with_pieces(copy, *names) if names else load(copy)
    both = compare(fly(limits_alone, HASTY), fly(flown(package), HASTY))
    assert both.goals.rescued and not both.goals.lost
    assert "model lied" in {o.kind for o in both.before}
    assert "model lied" not in {o.kind for o in both.after}


def test_the_pieces_stand_in_one_another_and_in_the_librarys(copy):
    package = with_pieces(copy, *NAMES)
    typed = package.output_type(structural_stop, lambda text: None if text.isdigit() else "no")
    paid = of_messages(scripted(reply("yes", cost=0.5)))
    for stop_hook in (package.stop_hook, contracts.stop_hook):
        stop = stop_hook(typed, package.judge(paid, "Is it one?"))
        paid = of_messages(scripted(reply("yes", cost=0.5)))
        run = played(stop, reply("Port 8080."), reply("8080"))
        assert (run.label, run.rounds, run.cost_usd) == ("finished", 3, 0.5)


def test_a_hook_of_the_library_is_held_by_their_cap(copy):
    package = with_pieces(copy, "stop_hook")
    hook = contracts.verifier(lambda: "1 failed in 0.36s", "the tests")
    run = played(package.stop_hook(structural_stop, hook), *[reply("Done.")] * 9)
    assert run.label == "veto_cap" and run.rounds <= 3


def test_the_wild_hook_repeats_itself_twice_and_only_the_second_time_is_a_fault():
    words = [
        (at, message["content"][0]["text"])
        for at, message in enumerate(WILD_CASE.play().messages)
        if at and message["content"][0]["type"] == "text" and message["role"] == "user"
    ]
    assert [at for at, text in words] == [6, 10, 16, 18, 20, 22]
    assert words[0][1] == words[1][1] and words[2][1] == words[3][1]
    assert WILD_CASE.right() == ("d", 18)


def test_what_the_lab_says_after_the_flights_is_what_they_show(copy):
    lab = next(name for name in LABS if name.startswith("08"))
    told = json.loads((ROOT / "solutions" / lab / f"{lab}.ipynb").read_text("utf-8"))
    cell = next(cell for cell in told["cells"] if cell["id"] == "flights")
    face = "".join(cell["outputs"][-1]["data"]["text/plain"])
    assert "model lied                  42           0      -42" in face and "none lost" in face
    assert all(EXERCISES[name].piece for name in NAMES)


def test_the_chapter_says_of_its_flights_what_they_show():
    name = next(name for name in LABS if name.startswith("08"))
    told = json.loads((ROOT / "chapters" / f"{name}.ipynb").read_text("utf-8"))
    words = "".join("".join(cell["source"]) for cell in told["cells"])
    hasty = [f"hasty/{world}/calm#{seed}" for world in SMALL for seed in range(10)]
    alone, checked = fly("library", hasty), fly(verified, hasty)
    false = [[o.flight for o in flown if o.kind == "model lied"] for flown in (alone, checked)]
    ended = [o for o in checked if o.flight in {*false[0]} - {*false[1]}]
    reached = sum(o.reached for o in ended)
    assert f"ends {len(ended)} of {len(false[0])} false claims" in words
    assert f"{reached} of these flights reach their goal" in words
    assert f"{len(ended) - reached} end honestly" in words
    assert f"{len(false[1])} false claims pass it" in words
    assert sum("/many-files/" in flight for flight in false[1]) == 10
    shown = "".join(
        "".join(output.get("text", ""))
        for cell in told["cells"]
        for output in cell.get("outputs", ())
    )
    assert "gave up 14" in shown and "and 14 models that may say" in words
    assert "stopped 41" in shown and "stopped 27" in shown and "27 now, 41 before" in words
