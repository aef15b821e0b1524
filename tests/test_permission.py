"""Who may: rules, somebody who is asked, hooks around a tool, and what survives a restart."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness_zero.assembly import assemble
from harness_zero.faults import SetupFault
from harness_zero.hooks import after, before
from harness_zero.journal import Journal
from harness_zero.labels import Label
from harness_zero.messages import array_fault, not_executed, reply, tool_result, tool_use
from harness_zero.models.scripted import scripted
from harness_zero.permission import Rule, denials, permission, verdict
from harness_zero.run import Run

CALL = tool_use("c1", "write_file", path="notes.md", text="Hello.")
RAN = tool_result("c1", "ran")


def ran(call):
    return {**RAN, "content": f"ran {call['input']}"}


def test_the_strictest_rule_that_fits_counts_whatever_their_order():
    rules = [Rule("allow", "write_*"), Rule("deny", "*", {"path": "*.md"}), Rule("ask", "*")]
    assert verdict(rules, CALL) == verdict(rules[::-1], CALL)
    assert verdict(rules, CALL) == ("deny", "deny *(path=*.md)")


def test_where_no_rule_fits_somebody_is_asked():
    assert verdict([Rule("allow", "read_file")], CALL) == ("ask", "no rule fits")


def test_a_rule_that_says_anything_else_is_refused():
    with pytest.raises(SetupFault, match="deny, ask, allow; this one says 'maybe'"):
        Rule("maybe", "*")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (False, "the user said no"),
        ("not in that folder", "not in that folder"),
        ("", "the user said no"),
        (1, "the user said no"),
    ],
)
def test_whatever_is_not_true_is_a_denial_that_the_model_reads(answer, why):
    tool = permission(ran, [], lambda call: answer)
    assert tool(CALL) == not_executed(CALL, f"denied: {why}")


def test_where_nobody_can_be_asked_the_call_is_denied():
    assert permission(ran, [])(CALL) == not_executed(CALL, "denied: nobody is there to be asked")


def test_what_is_allowed_runs_and_what_is_denied_does_not_and_nobody_is_asked_about_either():
    def ask(call):
        raise AssertionError("asked")

    assert permission(ran, [Rule("allow", "write_file")], ask)(CALL) == ran(CALL)
    denied = permission(ran, [Rule("deny", "write_file")], ask)(CALL)
    assert denied == not_executed(CALL, "denied: deny write_file()")


def test_three_denials_in_a_row_end_the_turn_and_those_of_an_earlier_turn_do_not_count():
    asking = [reply(tool_use(f"c{n}", "write", text=str(n))) for n in range(9)]
    harness = assemble(
        scripted(*asking[:3], reply("Then not."), *asking[3:]),
        {"write": lambda text: "ok"},
        detectors=[denials(3)],
        rules=[Rule("deny", "write")],
    )
    run = harness(Run("Write."))
    assert (run.label, run.why) == (Label.STUCK, "3 calls in a row were denied")
    assert array_fault(run.messages) is None
    again = harness(run.ask("Something else."))
    assert (again.label, again.rounds) == (Label.FINISHED, 1)


# hooks


def test_permission_judges_what_the_hook_before_made_of_the_call_and_the_hook_after_sees_it():
    judged, seen = [], []

    def elsewhere(call):
        return {**call, "input": {"path": "drafts/notes.md"}}

    def ask(call):
        judged.append(call["input"])
        return True

    def telling(call, result):
        seen.append((call["input"], result["content"]))
        return {**result, "content": "told"}

    tool = before(after(permission(ran, [], ask), telling), elsewhere)
    assert tool(CALL) == {**RAN, "content": "told"}
    assert judged == [{"path": "drafts/notes.md"}]
    assert seen == [({"path": "drafts/notes.md"}, "ran {'path': 'drafts/notes.md'}")]


def test_a_hook_before_can_refuse_and_nobody_is_asked():
    tool = before(permission(ran, []), lambda call: "not on a Sunday")
    assert tool(CALL) == not_executed(CALL, "not on a Sunday")


def test_no_hook_can_answer_another_call():
    changed = before(ran, lambda call: {**call, "id": "c9"})
    assert changed(CALL)["tool_use_id"] == "c1"
    assert after(ran, lambda call, came: {**came, "tool_use_id": "c9"})(CALL)["tool_use_id"] == "c1"


def test_hooks_see_a_call_in_the_order_of_their_lists():
    seen = []

    def noting(name):
        return lambda call, *came: [seen.append(name), came[0] if came else call][1]

    harness = assemble(
        scripted(reply(CALL), reply("Done.")),
        {"write_file": lambda path, text: seen.append("runs")},
        before=[noting("first"), noting("second")],
        after=[noting("third"), noting("fourth")],
    )
    harness(Run("Write."))
    assert seen == ["first", "second", "runs", "third", "fourth"]


# with a journal


def played(path, ask, tool, **more):
    """One process of a run that asks before it writes."""
    with Journal(path) as journal:
        model = scripted(reply(CALL), reply("Done."))
        tools = {"write_file": tool}
        return assemble(model, tools, rules=[], ask=ask, journal=journal, **more)(Run("Write."))


def test_an_answer_once_given_is_not_asked_for_again(tmp_path):
    asked = []

    def ask(call):
        asked.append(call["id"])
        return "not today"

    first = played(tmp_path / "j", ask, lambda path, text: "wrote")
    again = played(tmp_path / "j", ask, lambda path, text: "wrote")
    assert asked == ["c1"]
    assert again.messages == first.messages


def test_hooks_are_steps_that_a_replay_does_not_make_again(tmp_path):
    seen = []

    def first(call):
        seen.append("before")
        return call

    def last(call, came):
        seen.append("after")
        return came

    for _ in range(2):
        hooks = {"before": [first], "after": [last]}
        run = played(tmp_path / "j", lambda call: True, lambda path, text: "wrote", **hooks)
    assert (seen, run.label) == (["before", "after"], Label.FINISHED)


PROGRAM = """
import os, signal, sys, time
from pathlib import Path
from harness_zero.assembly import assemble
from harness_zero.doubt import reads
from harness_zero.journal import Journal
from harness_zero.messages import reply, tool_use
from harness_zero.run import Run

place, manner = Path(sys.argv[1]), sys.argv[2]

def note(word):
    with open(place / "notes", "a") as notes:
        notes.write(word + "\\n")

def ask(call):
    note("asked")
    if manner == "waits":
        os.kill(os.getpid(), signal.SIGKILL)  # while the question stands on the screen
    return True

@reads
def write_file(path: str, text: str) -> str:
    note("writes")
    if manner == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    return "wrote"

call = tool_use("c1", "write_file", path="notes.md", text="Hello.")

def model(request):
    return reply(call) if len(request["messages"]) == 1 else reply("Done.")

with Journal(place / "journal") as journal:
    parts = {"rules": [], "ask": ask, "journal": journal}
    run = assemble(model, {"write_file": write_file}, **parts)(Run("Go."))
note(str(run.label))
"""


def process(place, manner):
    """A real process of the same run; its exit code, and what it noted so far."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, place, manner], capture_output=True)
    return done.returncode, (Path(place) / "notes").read_text().split(), done.stderr.decode()


def test_a_question_that_waits_survives_the_death_of_its_process_and_its_answer_does_too(tmp_path):
    code, notes, _ = process(tmp_path, "waits")
    assert (code, notes) == (-9, ["asked"])
    code, notes, _ = process(tmp_path, "dies")  # asked again; killed while the tool is at work
    assert (code, notes[1:]) == (-9, ["asked", "writes"])
    code, notes, said = process(tmp_path, "ends")  # not asked a third time
    assert (code, notes[3:]) == (0, ["writes", "finished"]), said


# what is put together by mistake


@pytest.mark.parametrize(
    "parts", [("deny", None), ("deny", "*", "*.env"), ("deny", "*", {"n": 3}), ("deny", "*", ["n"])]
)
def test_a_rule_is_made_of_texts(parts):
    with pytest.raises(SetupFault, match="a rule is made of texts, as Rule"):
        Rule(*parts)


@pytest.mark.parametrize("rules", [Rule("deny", "*"), ["deny *"], 3])
def test_rules_are_a_list_of_rules(rules):
    with pytest.raises(SetupFault, match=r"rules are a list of Rule\(...\); these are"):
        permission(ran, rules)


def test_rules_that_can_be_read_once_only_hold_for_every_call():
    tool = permission(ran, (rule for rule in [Rule("deny", "*")]), lambda call: True)
    assert tool(CALL) == tool(CALL) == not_executed(CALL, "denied: deny *()")


@pytest.mark.parametrize("given", [None, 3, {}, {**CALL, "name": None}, RAN])
def test_a_hook_before_gives_back_a_call_or_words(given):
    with pytest.raises(SetupFault, match="gives back the call, or why it is refused; this one"):
        before(ran, lambda call: given)(CALL)


@pytest.mark.parametrize("given", [None, "ran", {}, CALL])
def test_a_hook_after_gives_back_a_result(given):
    with pytest.raises(SetupFault, match="gives back the result that counts; this one gave back"):
        after(ran, lambda call, result: given)(CALL)


def broken(*_):
    raise KeyError("path")


@pytest.mark.parametrize(
    "tool", [before(ran, broken), after(ran, broken), permission(ran, [], broken)]
)
def test_whoever_is_asked_about_a_call_and_raises_is_a_fault_in_words(tool):
    with pytest.raises(
        SetupFault, match=r"who was asked .* raised KeyError: 'path' \(in broken, line"
    ):
        tool(CALL)


def test_a_hook_that_changes_the_call_in_place_leaves_the_array_as_the_model_wrote_it():
    def elsewhere(call):
        call["input"]["path"] = "drafts/notes.md"
        return call

    seen = []
    script = scripted(reply(tool_use("c1", "write", path="notes.md")), reply("Done."))
    harness = assemble(script, {"write": lambda path: seen.append(path)}, before=[elsewhere])
    run = harness(Run("Go."))
    assert seen == ["drafts/notes.md"]
    assert run.messages[1]["content"][0]["input"] == {"path": "notes.md"}
