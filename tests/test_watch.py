import gc
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness_zero.messages import reply, tool_use, user
from harness_zero.models.scripted import scripted
from harness_zero.patience import Alarm, StillRunning, within
from harness_zero.stages import stage
from harness_zero.stages.s1_structural_stop import run
from harness_zero.watch import (
    EndlessCalls,
    NotAnArray,
    Recording,
    RunLost,
    Watch,
    printable,
    record,
    shown,
    watch,
)

SCRIPT = reply("Let me add.", tool_use("a", "add", x=2, y=3)), reply("It is 5.")
TOOLS = {"add": lambda x, y: x + y}


def test_a_run_is_printed_as_it_happens(capsys):
    messages = watch(run, scripted(*SCRIPT), TOOLS, "What is 2 + 3?")
    assert len(messages) == 4
    assert capsys.readouterr().out.splitlines() == [
        "you  What is 2 + 3?",
        "  1  Let me add.",
        "  1  add(x=2, y=3)",
        "     5",
        "  2  It is 5.",
        "     2 rounds, 1 tool call",
    ]


@pytest.mark.parametrize("given", [([], "max_rounds"), Recording([], [], "max_rounds")])
def test_a_label_is_printed_with_the_counts(capsys, given):
    watch(lambda model, tools, prompt: given, scripted(), {}, "go")
    assert capsys.readouterr().out.splitlines()[-1] == "     max_rounds: 0 rounds, 0 tool calls"


def test_watching_changes_nothing_in_the_array():
    assert watch(run, scripted(*SCRIPT), TOOLS, "go") == run(scripted(*SCRIPT), TOOLS, "go")


def test_the_array_of_a_lost_run_is_kept(capsys):
    seen = Watch()
    with pytest.raises(ZeroDivisionError):
        lost = reply(tool_use("a", "divide", x=1, y=0))
        seen.play(run, scripted(lost), {"divide": lambda x, y: x / y}, "go")
    assert [m["role"] for m in seen.array()] == ["user", "assistant"]
    assert [call["id"] for call in seen.unanswered()] == ["a"]
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_the_last_reply_is_kept_also_when_the_loop_did_not_append_it():
    seen = Watch(lambda line, kind: None)
    seen.play(lambda model, tools, prompt: model([]), scripted(reply("hi")), {}, "go")
    assert seen.array()[-1]["content"][0]["text"] == "hi"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (tool_use("a", "fly"), "NoSuchTool: there is no tool 'fly'; there are add"),
        (tool_use("a", "add", x=1), "TypeError: missing: y; it takes x, y"),
        (tool_use("a", "add", x=1, y=2, z=3), "TypeError: unknown: z; it takes x, y"),
        (tool_use("a", "add", x=1, y="2"), "TypeError: unsupported operand"),
    ],
)
def test_a_lost_run_says_in_one_sentence_what_was_raised(call, said):
    with pytest.raises(RunLost) as caught:
        watch(run, scripted(reply(call)), TOOLS, "go")
    assert said in str(caught.value)
    assert caught.value._render_traceback_() == [f"RunLost: {caught.value}"]


def test_a_hole_is_no_error(capsys):
    def hole(model, tools, prompt):
        raise NotImplementedError

    assert watch(hole, scripted(), {}, "go") is None
    assert "not done yet" in capsys.readouterr().out


def test_long_results_are_folded_and_control_characters_are_spelled_out():
    assert shown("\n".join("abcdefg")) == "a\n     b\n     ... 4 more lines ...\n     g"
    assert printable("\x1b[2Jgone\r\n\u202eback") == "\\x1b[2Jgone\\r\n\\u202eback"
    assert len(shown("x" * 10_000)) < 100


def test_a_recording_keeps_what_the_array_does_not():
    recording = record(run, scripted(*SCRIPT), TOOLS, "go")
    assert [reply["stop_reason"] for reply in recording.replies] == ["tool_use", "end_turn"]
    assert len(recording.messages) == 4 and recording.label is None and recording.fault == ""


def test_a_recording_of_a_stage_with_labels_has_its_label():
    assert record(stage(4), scripted(*SCRIPT), TOOLS, "go").label == "finished"


def test_a_lost_run_is_recorded_with_its_fault():
    recording = record(run, scripted(reply(tool_use("a", "fly"))), TOOLS, "go")
    assert "there is no tool 'fly'" in recording.fault and len(recording.messages) == 2
    assert "should have ended" in record(stuck, scripted(reply("hi")), TOOLS, "go").fault


def stuck(model, tools, prompt):
    messages = [{"role": "user", "content": prompt}]
    while True:
        messages.append({"role": "assistant", "content": model(messages)["content"]})


def spins(model, tools, prompt):
    model([{"role": "user", "content": prompt}])
    while True:
        pass


def calls_for_ever(model, tools, prompt):
    model([{"role": "user", "content": prompt}])
    while True:
        tools["add"](x=2, y=3)


def test_a_loop_that_is_at_work_by_itself_for_two_seconds_is_stopped():
    with pytest.raises(StillRunning, match="what should have ended it"):
        watch(spins, scripted(*SCRIPT), TOOLS, "go")


def test_a_tool_may_take_its_time():
    slow = {"add": lambda x, y: time.sleep(2.2) or x + y}
    assert len(watch(run, scripted(*SCRIPT), slow, "go")) == 4


def test_a_loop_that_calls_and_never_comes_back_to_the_model_is_stopped(capsys):
    with pytest.raises(EndlessCalls, match="asked for 1 call, and 22 were made"):
        watch(calls_for_ever, scripted(*SCRIPT), TOOLS, "go")


def test_a_model_that_is_called_with_something_else_says_what_it_takes():
    with pytest.raises(NotAnArray, match="list of all messages"):
        watch(lambda model, tools, prompt: model(user(prompt)), scripted(*SCRIPT), TOOLS, "go")


@pytest.mark.parametrize("number", [3, 4, 5])
def test_calls_that_were_answered_without_a_tool_are_told_too(capsys, number):
    odd = {"type": "tool_use", "id": "b", "name": "add", "input": [2, 3]}
    script = scripted(reply(tool_use("a", "fly"), odd, tool_use("c", "add", x=2, y=3)), reply("ok"))
    watch(stage(number), script, TOOLS, "go")
    said = capsys.readouterr().out
    assert "fly()\n     no tool named 'fly'" in said
    assert "add(input=[2, 3])\n     " in said and "add(x=2, y=3)\n     5\n" in said
    assert "2 rounds, 3 tool calls asked, 1 made" in said


def test_what_a_brake_held_back_is_told(capsys):
    script = scripted(reply(tool_use("a", "add", x=2, y=3)))
    watch(lambda *ports: stage(4)(*ports, max_rounds=1), script, TOOLS, "go")
    said = capsys.readouterr().out
    assert "add(x=2, y=3)\n     not executed: max_rounds" in said
    assert said.endswith("max_rounds: 1 round, 1 tool call asked, 0 made\n")


def test_a_call_is_told_once(capsys):
    twice = reply(tool_use("a", "add", x=2, y=3), tool_use("b", "add", x=2, y=3))
    watch(run, scripted(twice, reply("ok")), TOOLS, "go")
    assert capsys.readouterr().out.count("add(x=2, y=3)") == 2


def test_a_slow_tool_beside_a_quick_one_may_take_its_time_too():
    def at_once(model, tools, prompt):
        messages = [user(prompt)]
        asked = model(messages)
        with ThreadPoolExecutor() as pool:
            calls = [pool.submit(tools[c["name"]], **c["input"]) for c in asked["content"]]
        return [call.result() for call in calls]

    both = reply(tool_use("a", "wait", seconds=2.3), tool_use("b", "wait", seconds=0))
    tools = {"wait": lambda seconds: time.sleep(seconds) or "waited"}
    assert watch(at_once, scripted(both), tools, "go") == ["waited", "waited"]


def waste(seconds):
    began = time.monotonic()
    while time.monotonic() < began + seconds:
        pass


def test_an_alarm_that_rings_while_garbage_is_collected_rings_again(monkeypatch):
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lambda it: lost.append(it.exc_type))

    def collecting(phase, info):
        if info["generation"] == 2 and phase == "start":
            waste(0.2)

    def for_ever():
        gc.collect()
        while True:
            pass

    gc.collect()
    gc.freeze()  # of what other tests left nothing is collected in between
    gc.callbacks.append(collecting)
    try:
        with pytest.raises(StillRunning):
            within(0.1, for_ever)
    finally:
        gc.callbacks.remove(collecting)
        gc.unfreeze()
    assert StillRunning not in lost


def test_an_alarm_that_rings_while_it_is_turned_off_is_off():
    class Slow(Alarm):
        def pause(self):
            waste(0.2)
            super().pause()

    with Slow(0.1):
        pass
    waste(0.2)
