"""What was done is written down once, and running again with the journal does none of it twice."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event

import pytest
from counting import OURS, lines_of

from harness_zero.assembly import assemble
from harness_zero.doubt import keyed, reads, receipted
from harness_zero.faults import SetupFault
from harness_zero.journal import Busy, Diverged, InDoubt, Journal, NoJournal
from harness_zero.keys import SHAPED, masked
from harness_zero.late import leave
from harness_zero.loop import ModelFailed
from harness_zero.messages import array_fault, reply, tool_results, tool_use, words
from harness_zero.models.scripted import scripted
from harness_zero.policy import deadline, max_rounds
from harness_zero.resume import NothingToResume, resume
from harness_zero.run import Run
from harness_zero.tools import schema, schemas
from harness_zero.view import cached, plain

ROUNDS = (max_rounds(9),)


class Killed(BaseException):
    """The process is gone: nobody catches this but the test."""


class World:
    """A model that reads what it is sent, tools that count, and a moment in which all ends."""

    def __init__(self, path, dies=""):
        self.path, self.dies = path / "run.jsonl", dies
        self.done, self.keys, self.now, self.asked = [], [], 0.0, 0
        self.clock = lambda: self.now
        self.told = []

    def happens(self, what, before=lambda: None):
        """An effect. The process dies before, in or after it if this is the moment."""
        self.die(f"before {what}")
        self.done.append(what)
        self.now += 10
        self.die(f"after {what}")

    def die(self, moment):
        if moment == self.dies:
            self.dies = ""
            raise Killed

    def tools(self):
        @reads
        def read_file(path: str):
            """Read a file."""
            self.happens("read")
            return "figure = 412"

        @keyed
        def pay(usd: int, key: str):
            """Pay."""
            self.keys.append(key)
            self.happens("pay")
            return "paid"

        def send_mail(to: str):
            """Send a mail."""
            self.happens("mail")
            return "sent"

        return {"read_file": read_file, "pay": pay, "send_mail": send_mail}

    def model(self, request):
        """Read, pay, mail, done; whatever the results say."""
        self.asked += 1
        self.die("before reply")
        answered = sum(len(tool_results(m)) for m in request["messages"] if m["role"] == "user")
        calls = {
            0: [tool_use("a", "read_file", path="report.txt"), tool_use("b", "pay", usd=3)],
            2: [tool_use("c", "send_mail", to="ana")],
        }
        self.now += 5
        self.die(f"after reply {answered}")
        return reply(*calls.get(answered, ["done"]), tokens=10)

    def play(self, prompt="go", brakes=ROUNDS, **given):
        """Run with the journal until it ends or the process dies."""
        with Journal(self.path, run="r1", tell=self.told.append, **given) as journal:
            harness = assemble(self.model, self.tools(), brakes=brakes, journal=journal)
            return harness(Run(prompt, self.clock))

    def lives_and_dies(self, **given):
        with pytest.raises(Killed):
            self.play(**given)
        return self

    def lines(self):
        return [json.loads(line) for line in self.path.read_text("utf-8").splitlines()]


def kinds(lines):
    return [next(iter(line)) for line in lines]


def result(run, id):
    """The result of a call in the array."""
    results = [r for m in run.messages if m["role"] == "user" for r in tool_results(m)]
    return next(r for r in results if r["tool_use_id"] == id)


STEPS = 6  # three model calls and three tool calls
MOMENTS = [f"{when} {what}" for what in ("read", "pay", "mail") for when in ("before", "after")]
MOMENTS += ["before reply", *(f"after reply {n}" for n in (0, 2, 3))]


def test_every_step_is_an_intent_and_an_outcome_in_order(tmp_path):
    world = World(tmp_path)
    world.play()
    middle = [kind for _ in range(STEPS) for kind in ("begin", "end")]
    assert kinds(world.lines()) == ["journal", "turn", *middle, "ended"]


def test_the_intent_is_in_the_file_before_the_effect_and_the_outcome_right_after(tmp_path):
    world, seen = World(tmp_path), []
    world.die = lambda moment: seen.append((moment, kinds(world.lines())[-1]))
    world.play()
    assert {last for moment, last in seen if moment.startswith(("before", "after"))} == {"begin"}
    assert kinds(world.lines())[-2:] == ["end", "ended"]


def test_a_run_that_is_played_again_does_nothing_and_is_the_same(tmp_path):
    world = World(tmp_path)
    first = world.play()
    before, done, asked = world.path.read_bytes(), [*world.done], world.asked
    again = world.play()
    assert (world.done, world.asked, world.path.read_bytes()) == (done, asked, before)
    assert (again.messages, again.label, again.why) == (first.messages, first.label, first.why)
    assert (again.tokens, again.rounds, again.elapsed) == (
        first.tokens,
        first.rounds,
        first.elapsed,
    )


@pytest.mark.parametrize("moment", MOMENTS)
def test_whenever_the_process_dies_the_run_is_brought_to_its_end(tmp_path, moment):
    world = World(tmp_path, dies=moment).lives_and_dies()
    recorded = world.path.read_bytes()
    run = world.play()
    assert run.label == "finished" and array_fault(run.messages) is None
    assert world.path.read_bytes().startswith(recorded)
    assert world.done.count("mail") <= 1
    assert world.keys and len({*world.keys}) == 1


def test_a_tool_that_reads_is_run_again_in_doubt(tmp_path):
    world = World(tmp_path, dies="after read").lives_and_dies()
    run = world.play()
    assert world.done == ["read", "read", "pay", "mail"]
    assert result(run, "a") == {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": "figure = 412",
    }


def test_a_tool_with_a_key_is_run_again_with_the_same_key(tmp_path):
    world = World(tmp_path, dies="after pay").lives_and_dies()
    world.play()
    assert len(world.keys) == 2 and world.keys[0] == world.keys[1]


def test_any_other_tool_is_told_as_unknown_and_never_repeated(tmp_path):
    world = World(tmp_path, dies="after mail").lives_and_dies()
    run = world.play()
    assert world.done.count("mail") == 1
    told = result(run, "c")
    assert told["is_error"] and told["content"].startswith("outcome unknown")
    assert "Check first" in told["content"]
    assert world.told == [
        "step 5, the tool send_mail({'to': 'ana'}), call c, was in doubt:"
        " told to the model as unknown, and not made again"
    ]


def test_what_was_told_as_unknown_stays_so_when_it_is_played_once_more(tmp_path):
    world = World(tmp_path, dies="after mail").lives_and_dies()
    first, second = world.play(), world.play()
    assert first.messages == second.messages
    assert len(world.told) == 1  # it is no longer in doubt


def test_a_model_call_in_doubt_is_asked_again_and_what_that_costs_is_said(tmp_path):
    world = World(tmp_path, dies="after reply 2").lives_and_dies()
    asked = world.asked
    run = world.play()
    assert world.asked - asked == 2 and run.rounds == 3
    assert world.told[0].endswith("asked again; a reply that was under way is paid for and lost")


def test_a_step_in_doubt_can_be_cut_off_again(tmp_path):
    world = World(tmp_path, dies="after read").lives_and_dies()
    world.dies = "after read"
    world.lives_and_dies()
    assert world.play().label == "finished"
    assert kinds(world.lines()).count("again") == 2


def test_the_key_is_of_the_run_the_call_and_its_input_and_the_model_does_not_see_it(tmp_path):
    first, other = World(tmp_path), World(tmp_path)
    first.play()
    other.path = tmp_path / "other.jsonl"
    with Journal(other.path, run="r2") as journal:
        assemble(other.model, other.tools(), journal=journal)(Run("go"))
    assert first.keys[0] != other.keys[0]
    assert schema(first.tools()["pay"])["input_schema"]["properties"] == {
        "usd": {"type": "integer"}
    }


def test_the_same_input_in_another_call_has_another_key(tmp_path):
    world = World(tmp_path)
    lines = [reply(tool_use("x", "pay", usd=1), tool_use("y", "pay", usd=1)), reply("ok")]
    assemble(scripted_by_request(lines), world.tools())(Run("go"))
    assert len({*world.keys}) == 2


def test_a_model_that_gives_a_key_of_its_own_is_told_what_the_tool_takes(tmp_path):
    world = World(tmp_path)
    lines = [reply(tool_use("x", "pay", usd=1, key="mine")), reply("ok")]
    run = assemble(scripted_by_request(lines), world.tools())(Run("go"))
    assert result(run, "x")["content"] == "unknown: key; it takes usd" and not world.done


def test_without_a_journal_a_call_has_a_key_too(tmp_path):
    world = World(tmp_path)
    assemble(world.model, world.tools())(Run("go"))
    assert len(world.keys[0]) == 32


def test_a_declaration_without_the_parameter_is_refused_in_a_sentence():
    with pytest.raises(SetupFault, match="give it a parameter `key: str`"):
        keyed(lambda usd: usd)


def test_a_method_and_a_builtin_can_be_declared_as_well():
    class Desk:
        def look(self, path: str) -> str:
            """Look."""
            return path

        def pay(self, usd: int, key: str) -> str:
            return f"{usd} {key}"

    look, pay = reads(Desk().look), keyed(Desk().pay)
    assert look("x") == "x" and look.again and schema(look)["description"] == "Look."
    assert [*schema(pay)["input_schema"]["properties"]] == ["usd"] and pay(1, key="k") == "1 k"
    assert reads(len)([1]) == 1 and reads(len).again


def scripted_by_request(lines):
    model = scripted(*lines)
    return lambda request: model(request["messages"])


# what a file may look like


@pytest.mark.parametrize("cut", [1, 2, 30])
def test_a_last_line_that_was_cut_off_is_dropped_and_said(tmp_path, cut):
    world = World(tmp_path)
    first = world.play()
    world.path.write_bytes(world.path.read_bytes()[:-cut])
    again = world.play()
    assert again.messages == first.messages and world.lines()[-1]["ended"] == "finished"
    assert "its last line was cut off after" in world.told[0]


def test_an_outcome_that_was_cut_off_leaves_its_step_in_doubt(tmp_path):
    world = World(tmp_path)
    world.play()
    *lines, outcome, _, _, _ = world.path.read_bytes().splitlines(keepends=True)
    assert b'"sent"' in outcome
    world.path.write_bytes(b"".join(lines) + outcome[:20])
    assert result(world.play(), "c")["content"].startswith("outcome unknown")
    assert world.done.count("mail") == 1


def test_a_head_that_was_cut_off_is_begun_anew(tmp_path):
    world = World(tmp_path)
    world.path.write_bytes(b'{"journal":1,"ru')
    assert world.play().label == "finished"


@pytest.mark.parametrize("broken", [b'{"begin":1,"mo\n', b"\x00\x00\n", b'{"what":1}\n', b"[]\n"])
def test_a_broken_line_between_others_is_a_fault_that_says_where(tmp_path, broken):
    world = World(tmp_path)
    world.play()
    head, turn, *rest = world.path.read_bytes().splitlines(keepends=True)
    written = b"".join([head, turn, broken, *rest])
    world.path.write_bytes(written)
    with pytest.raises(NoJournal, match=r"run.jsonl, line 3 is damaged"):
        world.play()
    assert world.path.read_bytes() == written


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("# a page\n", "is no journal: it begins with '# a page"),
        ("not even a line", "is no journal"),
        ('{"journal":2,"run":"x"}\n', "is a journal of version 2, and this course reads 1"),
        ('{"journal":1}\n', "has a head that names no run"),
        ('{"journal":"one"}\n', "its first line is no head"),
    ],
)
def test_a_file_that_is_no_journal_of_ours_is_left_as_it_is(tmp_path, content, says):
    world = World(tmp_path)
    world.path.write_text(content, encoding="utf-8")
    with pytest.raises(NoJournal, match=says):
        world.play()
    assert world.path.read_text("utf-8") == content


@pytest.mark.parametrize("content", ['{"journal":"Nature","year":1869}', '{"journal":2,"run":"x"}'])
def test_another_file_without_a_line_end_is_no_head_that_was_cut_off(tmp_path, content):
    world = World(tmp_path)
    world.path.write_text(content, encoding="utf-8")
    with pytest.raises(NoJournal, match="is no journal: it begins with"):
        world.play()
    assert world.path.read_text("utf-8") == content


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_or_a_device_keeps_nothing_and_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NoJournal, match="pipe cannot be written"):
        Journal(tmp_path / "pipe").open()  # and nobody waits until somebody reads it
    with pytest.raises(NoJournal, match="is a pipe or a device, which keeps nothing: name a file"):
        Journal(os.devnull).open()


def test_line_ends_of_windows_change_nothing(tmp_path):
    world = World(tmp_path)
    first = world.play()
    world.path.write_bytes(world.path.read_bytes().replace(b"\n", b"\r\n"))
    assert world.play().messages == first.messages


BROKEN = [b'{"begin":1,"at":0}', b'{"begin":1,"model":{},"at":0}', b'{"begin":1,"tool":"x","at":0}']
BROKEN += [b'{"end":1,"at":0}', b'{"ended":"finished","why":"","at":"noon"}', b'{"put":null}']


@pytest.mark.parametrize("broken", BROKEN)
def test_a_line_that_lacks_what_its_kind_needs_is_damaged(tmp_path, broken):
    (tmp_path / "run.jsonl").write_bytes(b'{"journal":1,"run":"x"}\n' + broken + b"\n")
    with pytest.raises(NoJournal, match="line 2 is damaged"):
        Journal(tmp_path / "run.jsonl").open()


@pytest.mark.parametrize("number", range(2, 15))
def test_a_line_that_is_taken_out_never_costs_a_second_mail(tmp_path, number):
    world = World(tmp_path)
    world.play()
    lines = world.path.read_bytes().splitlines(keepends=True)
    del lines[number]
    world.path.write_bytes(b"".join(lines))
    for _ in range(3):
        with suppress(NoJournal, Diverged):
            world.play()
    assert world.done.count("mail") == 1 and len({*world.keys}) == 1


@pytest.mark.parametrize("number", range(2, 14, 2))
def test_an_outcome_before_its_intent_is_noticed(tmp_path, number):
    world = World(tmp_path)
    world.play()
    lines = world.path.read_bytes().splitlines(keepends=True)
    lines[number : number + 2] = reversed(lines[number : number + 2])
    world.path.write_bytes(b"".join(lines))
    done = [*world.done]
    with pytest.raises(NoJournal, match="is not in its place"):
        world.play()
    assert world.done == done


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(NoJournal, match="cannot be written: No such file or directory"):
        Journal(tmp_path / "nowhere" / "run.jsonl").open()


def test_a_new_journal_is_for_its_owner_alone(tmp_path):
    world = World(tmp_path)
    world.play()
    assert world.path.stat().st_mode & 0o077 == 0


# the lock


def test_a_second_run_on_the_same_journal_ends_as_busy_and_touches_nothing(tmp_path):
    world = World(tmp_path, dies="after pay").lives_and_dies()
    before = world.path.read_bytes()
    with Journal(world.path):
        other = Journal(world.path)
        run = assemble(world.model, world.tools(), journal=other)(Run("go"))
    assert run.label == "busy" and run.why.startswith(f"another run is at work on {world.path}")
    assert world.path.read_bytes() == before and run.messages == Run("go").messages


def test_opening_a_held_journal_says_busy(tmp_path):
    with Journal(tmp_path / "run.jsonl"), pytest.raises(Busy, match="another run is at work"):
        Journal(tmp_path / "run.jsonl").open()


def test_a_journal_that_this_program_did_not_close_is_named_as_a_reason(tmp_path):
    """As in a notebook, where a cell is run a second time."""
    first = Journal(tmp_path / "run.jsonl").open()
    with pytest.raises(Busy, match="or a journal was opened in this program and not closed"):
        Journal(tmp_path / "run.jsonl").open()
    first.close()
    Journal(tmp_path / "run.jsonl").open().close()
    child = python(HOLD, tmp_path / "run.jsonl")
    assert child.stdout.readline() == "held\n"
    with pytest.raises(Busy, match=r"another run is at work on [^,]*$"):
        Journal(tmp_path / "run.jsonl").open()
    child.kill()
    child.communicate()


def test_a_process_that_was_killed_holds_no_lock(tmp_path):
    path = tmp_path / "run.jsonl"
    child = python(HOLD, path)
    assert child.stdout.readline() == "held\n"
    with pytest.raises(Busy):
        Journal(path).open()
    child.kill()
    child.communicate()
    Journal(path).open().close()


HOLD = """
import sys, time
from harness_zero.journal import Journal
held = Journal(sys.argv[1]).open()
print("held", flush=True)
time.sleep(60)
"""


def python(program, *args):
    """A process of its own."""
    command = [sys.executable, "-c", program, *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


# the clock


def test_a_deadline_ends_a_resumed_run_where_it_would_have_ended(tmp_path):
    brakes = (deadline(34),)  # reply 5, read 10, pay 10, reply 5, mail 10
    whole = World(tmp_path / "a")
    whole.path.parent.mkdir()
    expected = whole.play(brakes=brakes)
    world = World(tmp_path, dies="after reply 2").lives_and_dies(brakes=brakes)
    world.now = 100_000.0  # another process, another clock, and a night in between
    run = world.play(brakes=brakes)
    assert expected.label == run.label == "deadline"
    assert run.elapsed == expected.elapsed == 40
    assert world.play(brakes=brakes).label == "deadline"


def test_the_clock_stands_still_between_steps_and_runs_for_who_looks_from_outside(tmp_path):
    world = World(tmp_path)
    with Journal(world.path) as journal:
        clock = journal.clock(world.clock)
        journal.step("look", lambda: 1)()
        world.now += 7
        assert (clock(), clock.passing()) == (0.0, 7.0)
        journal.step("look", lambda: 1)()
        assert clock() == 7.0


def test_another_clock_goes_on_where_the_one_before_was(tmp_path):
    """What the second clock shows by now is no time of the run."""
    world = World(tmp_path)
    with Journal(world.path) as journal:
        harness = assemble(world.model, world.tools(), journal=journal)
        harness(Run("go", world.clock))
        late = journal.clock(lambda: 1_000_000 + world.now)
        assert late() == world.now
        world.now += 7
        journal.step("look", lambda: 1)()
        assert late() == world.now


def test_a_clock_that_goes_backwards_stands_still_until_it_has_caught_up(tmp_path):
    world = World(tmp_path)
    with Journal(world.path) as journal:
        clock, look = journal.clock(world.clock), journal.step("look", lambda: 1)
        seen = []
        for now in (0, 10, 4, 9, 12):
            world.now = now
            look()
            seen.append(clock())
    assert seen == [0, 10, 10, 10, 12]


# prompts that arrive during the run


def test_prompts_that_arrive_during_a_turn_open_the_next_ones_in_order(tmp_path):
    world = World(tmp_path)
    with Journal(world.path) as journal:
        world.die = arrive(journal, "and now this", "and that")
        harness = assemble(world.model, world.tools(), journal=journal)
        run = resume(harness, journal, "go", world.clock)
    said = [words(m) for m in run.messages if m["role"] == "user" and words(m)]
    assert said == ["go", "and now this", "and that"]


def test_a_queued_prompt_survives_a_crash_and_is_taken_once(tmp_path):
    world = World(tmp_path)
    with pytest.raises(Killed), Journal(world.path) as journal:
        world.die = arrive(journal, "and now this", dies="after mail")
        harness = assemble(world.model, world.tools(), journal=journal)
        resume(harness, journal, "go", world.clock)
    with Journal(world.path) as journal:
        assert journal.waiting == ["and now this"]
        harness = assemble(world.model, world.tools(), journal=journal)
        run = resume(harness, journal, "go", world.clock)
        assert journal.waiting == []
    with Journal(world.path) as journal, pytest.raises(NothingToResume, match="as finished"):
        resume(harness, journal, "and now this")
    said = [words(m) for m in run.messages if m["role"] == "user" and words(m)]
    assert said == ["go", "and now this"] and kinds(world.lines()).count("take") == 1


def arrive(journal, *prompts, dies=""):
    """Prompts that come while a file is read; and then the process may die, once."""
    moments = {"before read": [*prompts], dies: [Killed]}

    def die(moment):
        for what in moments.pop(moment, []):
            if what is Killed:
                raise Killed
            journal.put(what)

    return die


@pytest.mark.parametrize("prompt", ["", "  ", None, 5])
def test_what_is_no_prompt_does_not_get_into_the_queue(tmp_path, prompt):
    world = World(tmp_path)
    world.play()
    before = world.path.read_bytes()
    with Journal(world.path) as journal:
        harness = assemble(world.model, world.tools(), journal=journal)
        with pytest.raises(SetupFault, match="a prompt is words, not"):
            journal.put(prompt)
        with pytest.raises(SetupFault, match="a prompt is words, not"):
            resume(harness, journal, prompt)
    assert world.path.read_bytes() == before


def test_a_prompt_that_holds_a_key_is_known_again(tmp_path):
    world = World(tmp_path)
    world.play(f"use {SECRET}")
    with Journal(world.path) as journal, pytest.raises(NothingToResume):
        resume(assemble(world.model, world.tools(), journal=journal), journal, f"use {SECRET}")


def test_a_replay_takes_a_prompt_at_the_look_at_which_it_was_taken(tmp_path):
    def look(journal):
        taken = [journal.take(), journal.take()]
        journal.step("between", lambda: 1)()
        return [*taken, journal.take()]

    with Journal(tmp_path / "run.jsonl") as journal:
        first = [journal.take()]
        journal.put("late")
        first += [journal.take()]
        journal.step("between", lambda: 1)()
        first += [journal.take()]
    with Journal(tmp_path / "run.jsonl") as journal:
        assert look(journal) == first == [None, "late", None]


def test_a_prompt_that_the_journal_does_not_know_waits_until_the_open_turn_is_over(tmp_path):
    world = World(tmp_path, dies="after pay").lives_and_dies()
    with Journal(world.path) as journal:
        harness = assemble(world.model, world.tools(), journal=journal)
        run = resume(harness, journal, "then this", world.clock)
    said = [words(m) for m in run.messages if m["role"] == "user" and words(m)]
    assert said == ["go", "then this"]


def test_a_prompt_that_waits_is_played_although_the_turn_before_is_over(tmp_path):
    world = World(tmp_path)
    world.play()
    with Journal(world.path) as journal:
        journal.put("one more thing")
    with Journal(world.path) as journal:
        harness = assemble(world.model, world.tools(), journal=journal)
        run = resume(harness, journal, "go", world.clock)
    assert words(run.messages[-2]) == "one more thing"


# sync


@pytest.mark.parametrize(("sync", "whole"), [("none", False), ("flush", True), ("fsync", True)])
def test_what_a_crash_of_the_process_leaves_in_the_file(tmp_path, sync, whole):
    path = tmp_path / "run.jsonl"
    python(DIE, path, sync).communicate()
    assert (b'"begin":1' in path.read_bytes()) is whole


DIE = """
import os, signal, sys
from harness_zero.journal import Journal
journal = Journal(sys.argv[1], sync=sys.argv[2]).open()
journal.step("effect", lambda: os.kill(os.getpid(), signal.SIGKILL))()
"""


def test_with_none_the_lines_are_there_once_the_journal_is_closed(tmp_path):
    world = World(tmp_path)
    world.play(sync="none")
    assert kinds(world.lines())[-1] == "ended"


def test_a_sync_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(SetupFault, match="sync is 'none', 'flush' or 'fsync', not 'sometimes'"):
        Journal(tmp_path / "run.jsonl", sync="sometimes").open()


# divergence


def test_a_replay_that_asks_for_another_step_is_told_what_was_expected(tmp_path):
    world = World(tmp_path)
    world.play()
    before = world.path.read_bytes()
    world.model = scripted_by_request([reply(tool_use("a", "read_file", path="other.txt"))])
    with Journal(world.path) as journal:
        harness = assemble(world.model, {}, journal=journal)
        with pytest.raises(Diverged, match="expected a turn with the prompt 'go'; got a turn with"):
            harness(Run("something else"))
    assert world.path.read_bytes() == before


def test_a_policy_that_speaks_where_it_was_silent_diverges_at_the_next_model_call(tmp_path):
    world = World(tmp_path)
    world.play()
    before = world.path.read_bytes()
    with Journal(world.path) as journal:
        tools = world.tools()
        model = journal.model(world.model)
        harness = assemble(world.model, tools, journal=journal)
        run = Run("go")
        journal.begin_turn(run)
        with pytest.raises(Diverged) as fault:
            model({"messages": [*run.messages, *Run("hurry").messages]})
    assert "expected a model call on 1 message, the last 'go'" in str(fault.value)
    assert "got a model call on 2 messages, the last 'hurry'" in str(fault.value)
    assert world.path.read_bytes() == before and harness


def test_a_brake_that_holds_earlier_than_it_did_diverges(tmp_path):
    world = World(tmp_path)
    world.play()
    with pytest.raises(Diverged, match="got the end of the turn as max_rounds"):
        world.play(brakes=(max_rounds(1),))


def test_marks_of_a_cache_are_no_divergence(tmp_path):
    marked = {"type": "text", "text": "go", "cache_control": {"type": "ephemeral"}}
    with Journal(tmp_path / "run.jsonl") as journal:
        speak = journal.model(lambda request: reply("a"))
        speak({"messages": [{"role": "user", "content": [marked]}]})
    with Journal(tmp_path / "run.jsonl") as journal:
        speak = journal.model(lambda request: reply("b"))
        assert speak({"messages": [{"role": "user", "content": "go"}]})["content"][0]["text"] == "a"


def test_other_tools_and_another_system_prompt_are_told_and_no_divergence(tmp_path):
    world = World(tmp_path)

    def play(system, **more):
        with Journal(world.path, tell=world.told.append) as journal:
            tools = {**world.tools(), **more}
            view = cached(plain(system, schemas(tools)))
            return assemble(world.model, tools, view=view, journal=journal)(Run("go"))

    def look() -> str:
        return "x"

    play("Be brief.")
    lines = world.path.read_bytes().splitlines(keepends=True)
    world.path.write_bytes(b"".join(lines[:-5]))  # two model calls are recorded
    play("Be brief.")
    assert world.told == []
    for changed in (lambda: play("Be loud."), lambda: play("Be brief.", look=look)):
        assert changed().label == "finished"
        assert world.told == [
            f"{world.path}: at step 1 the system prompt or the tools were others. What is recorded"
            " stands; what comes now goes by these"
        ]
        world.told.clear()


def test_a_journaled_model_is_sent_requests_and_says_so(tmp_path):
    with Journal(tmp_path / "run.jsonl") as journal, pytest.raises(SetupFault, match="of_messages"):
        journal.model(scripted(reply("x")))(Run("go").messages)


# failures and interrupts


def test_a_failed_model_call_fails_again_in_a_replay(tmp_path):
    world = World(tmp_path)
    failures = iter([ModelFailed("the API answered 529")])

    def failing(request):
        raise next(failures)

    world.model = failing
    first, again = world.play(), world.play()
    assert (first.label, first.why) == (again.label, again.why)
    assert again.label == "model_error" and "529" in again.why


def test_an_interrupted_turn_is_open_and_goes_on(tmp_path):
    world = World(tmp_path)
    world.die = press_at("after mail")
    assert world.play().label == "interrupted"
    world.die = lambda moment: None
    run = world.play()
    assert run.label == "finished" and world.done.count("mail") == 1
    assert result(run, "c")["content"].startswith("outcome unknown")


def test_an_interrupted_turn_that_was_followed_by_another_is_interrupted_again(tmp_path):
    world = World(tmp_path)
    world.die = press_at("after mail")

    def talk():
        with Journal(world.path) as journal:
            harness = assemble(world.model, world.tools(), journal=journal)
            run = harness(Run("go", world.clock))
            labels = [run.label]
            return harness(run.ask("and now?")), [*labels, run.label]

    (run, labels), (again, same) = talk(), talk()
    assert labels == same == ["interrupted", "finished"]
    assert run.messages == again.messages and world.done.count("mail") == 1


def press_at(moment):
    pressed = []

    def die(now):
        if now == moment and not pressed:
            pressed.append(now)
            raise KeyboardInterrupt

    return die


# steps of one's own


def test_any_function_of_json_can_be_a_step(tmp_path):
    made = []
    for _ in range(2):
        with Journal(tmp_path / "run.jsonl") as journal:
            allow = journal.step("allow", lambda call: made.append(call) or {"allowed": True})
            assert allow({"name": "pay"}) == {"allowed": True}
    assert made == [{"name": "pay"}]


def test_a_step_gives_back_the_first_time_what_it_gives_back_in_a_replay(tmp_path):
    def look():
        with Journal(tmp_path / "run.jsonl") as journal:
            return journal.step("look", lambda pairs: {1: ("a", pairs)})({2: "b"})

    assert look() == look() == {"1": ["a", {"2": "b"}]}


def test_a_step_without_a_name_or_a_function_and_a_run_without_a_word_are_refused(tmp_path):
    with Journal(tmp_path / "run.jsonl") as journal:
        with pytest.raises(SetupFault, match="a step is a name and a function, not None"):
            journal.step(None, len)
        with pytest.raises(SetupFault, match="not 'look', 5"):
            journal.step("look", 5)
    with pytest.raises(SetupFault, match="a journal's run is named by a word, not 5"):
        Journal(tmp_path / "run.jsonl", run=5)


def test_after_a_step_that_could_not_be_written_the_journal_can_be_read(tmp_path):
    with Journal(tmp_path / "run.jsonl") as journal:
        with pytest.raises(NoJournal, match=r"the step look\(\{1\}\) cannot be written, it is"):
            journal.step("look", len)({1})
        journal.step("look", len)([1, 2])
    with Journal(tmp_path / "run.jsonl") as journal:
        assert journal.step("look", len)([1, 2]) == 2


def test_a_step_that_failed_fails_again_with_the_same_words(tmp_path):
    for fails in (True, False):
        with Journal(tmp_path / "run.jsonl") as journal:
            step = journal.step("look", lambda fails=fails: {}["gone"] if fails else "fine")
            with pytest.raises(KeyError, match="gone"):
                step()


def test_a_step_of_ones_own_in_doubt_wants_a_declaration_or_an_answer(tmp_path):
    def killed(*_):
        raise Killed

    with Journal(tmp_path / "run.jsonl") as journal, pytest.raises(Killed):
        journal.step("notify", killed)("ana")
    with Journal(tmp_path / "run.jsonl") as journal, pytest.raises(InDoubt, match="notify"):
        journal.step("notify", lambda who: "sent")("ana")
    with Journal(tmp_path / "run.jsonl") as journal:
        step = journal.step("notify", lambda who: "sent", unknown=lambda who: f"{who}: unknown")
        assert step("ana") == "ana: unknown"
    with Journal(tmp_path / "run.jsonl") as journal:
        assert journal.step("notify", reads(lambda who: "sent"))("ana") == "ana: unknown"


def test_steps_inside_of_a_step_are_passed_over_with_it(tmp_path):
    made = []

    def play():
        with Journal(tmp_path / "run.jsonl") as journal:
            inner = journal.step("inner", lambda n: made.append(n) or n)
            outer = journal.step("outer", reads(lambda: inner(1) + inner(2)))
            return outer(), journal.step("after", lambda: "x")()

    assert play() == play() == (3, "x") and made == [1, 2]


def test_a_step_in_doubt_that_may_be_made_again_replays_what_was_made_inside_of_it(tmp_path):
    made = []

    def play():
        def add():
            first = inner(1)
            if len(made) == 1:
                made.append("killed")
                raise Killed
            return first + inner(2)

        with Journal(tmp_path / "run.jsonl") as journal:
            inner = journal.step("inner", lambda n: made.append(n) or n)
            return journal.step("outer", reads(add))()

    with pytest.raises(Killed):
        play()
    assert play() == 3 and made == [1, "killed", 2]
    assert play() == 3 and made == [1, "killed", 2]


# a tool that plays a child's turn


class Family(World):
    """A world in which the parent has the reading done by a child, under the same journal."""

    def play(self, **given):
        with Journal(self.path, run="r1", tell=self.told.append) as journal:
            child = assemble(self.child, self.tools(), brakes=ROUNDS, journal=journal)

            @reads  # all that it does are steps of its own
            def ask_child(about: str):
                """Have a child look."""
                return child(Run(about, self.clock)).text

            tools = {"ask_child": ask_child, "send_mail": self.tools()["send_mail"]}
            return assemble(self.parent, tools, journal=journal)(Run("go", self.clock))

    def child(self, request):
        seen = str(request["messages"])
        if "sent" not in seen and "unknown" not in seen:
            return reply(tool_use("x", "send_mail", to="ana"))
        return reply("the child is done")

    def parent(self, request):
        self.die("parent after child" if "child is done" in str(request["messages"]) else "now")
        if len(request["messages"]) == 1:
            return reply(tool_use("k", "ask_child", about="the report"))
        return reply("done")


@pytest.mark.parametrize("moment", ["before mail", "after mail", "parent after child"])
def test_a_child_that_died_in_its_turn_is_resumed_in_it(tmp_path, moment):
    world = Family(tmp_path, dies=moment).lives_and_dies()
    with Journal(world.path) as journal:
        assert journal.label is None and journal.prompts == ["go"]
    run = world.play()
    assert run.label == "finished" and result(run, "k")["content"] == "the child is done"
    assert world.done.count("mail") == (moment != "before mail")
    again = world.play()
    assert again.messages == run.messages and world.done.count("mail") <= 1


def test_a_childs_turn_says_in_which_step_it_was_played(tmp_path):
    world = Family(tmp_path)
    world.play()
    turns = [line for line in world.lines() if "turn" in line or "ended" in line]
    assert [line.get("in") for line in turns] == [None, 2, 2, None]


def test_a_child_goes_by_the_clock_of_its_parent(tmp_path):
    world = Family(tmp_path)
    with Journal(world.path) as journal:
        child = assemble(world.child, world.tools(), brakes=(deadline(60),), journal=journal)
        labels = []

        @reads
        def ask_child(about: str):
            run = child(Run(about))  # whose own clock is that of the machine
            labels.append((run.label, run.elapsed))
            return run.text

        harness = assemble(world.parent, {"ask_child": ask_child}, journal=journal)
        run = harness(Run("go", world.clock))
    assert labels == [("finished", 10)] and run.label == "finished" and run.elapsed == 10


def test_an_interrupt_in_a_child_that_was_followed_by_another_turn_comes_again(tmp_path):
    world = Family(tmp_path)

    def talk(presses):
        world.die = press_at("after mail") if presses else (lambda moment: None)
        with Journal(world.path) as journal:
            child = assemble(world.child, world.tools(), journal=journal)

            @reads
            def ask_child(about: str):
                if child(run := Run(about, world.clock)).label == "interrupted":
                    raise KeyboardInterrupt
                return run.text

            harness = assemble(world.parent, {"ask_child": ask_child}, journal=journal)
            run = harness(Run("go", world.clock))
            labels = [run.label]
            return harness(run.ask("and now?")).messages, [*labels, run.label]

    first = talk(presses=True)
    assert first[1] == ["interrupted", "finished"]
    assert talk(presses=False) == first == talk(presses=False)
    assert world.done.count("mail") == 1


def test_steps_of_several_threads_at_once_are_refused_since_no_replay_knows_their_order(tmp_path):
    begun, may_end, faults = Event(), Event(), []

    def slow():
        begun.set()
        may_end.wait(10)
        return "done"

    with Journal(tmp_path / "run.jsonl") as journal, ThreadPoolExecutor(1) as other:
        first = other.submit(journal.step("slow", slow))
        begun.wait(10)
        with pytest.raises(SetupFault, match="one step after the other, and step 1 is under way"):
            journal.step("quick", faults.append)(1)
        may_end.set()
        assert first.result() == "done" and faults == []
        assert journal.step("quick", lambda: 2)() == 2
    with Journal(tmp_path / "run.jsonl") as journal:
        assert journal.steps == 2


def test_what_is_no_json_is_a_fault_and_no_outcome(tmp_path):
    with Journal(tmp_path / "run.jsonl") as journal, pytest.raises(NoJournal, match="no JSON"):
        journal.step("odd", lambda: object())()


def test_a_journal_that_cannot_be_written_stops_the_run_before_the_effect(tmp_path):
    made = []
    journal = Journal(tmp_path / "run.jsonl").open()
    journal.close()
    with pytest.raises(NoJournal, match="is closed"):
        journal.step("pay", lambda: made.append(1))()
    assert made == []


FULL = """
import resource, sys
from harness_zero.journal import Journal, NoJournal
resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))
made = []
journal = Journal(sys.argv[1], run="r").open()
try:
    for number in range(100):
        journal.step("effect", made.append)(number)
except NoJournal as fault:
    print(len(made), fault)
"""


def test_on_a_full_disk_no_effect_is_made_without_its_intent(tmp_path):
    path = tmp_path / "run.jsonl"
    said, _ = python(FULL, path).communicate()
    made, _, fault = said.partition(" ")
    assert fault == f"{path} cannot be written: File too large.\n"
    begun = path.read_text("utf-8").count('"begin"')
    assert 0 < int(made) <= begun <= int(made) + 1
    with Journal(path) as journal:
        assert journal.steps >= int(made)


# late outcomes


def deploying(world, receipts):
    @receipted
    def deploy(to: str, receipt: str):
        """Deploy."""
        receipts.append(receipt)
        world.happens("deploy")
        return "deployed"

    return {"deploy": deploy}


class Deploys(World):
    """A world with a tool whose own process goes on when the harness is dead."""

    def __init__(self, path, **given):
        super().__init__(path, **given)
        self.receipts = []

    def tools(self):
        return deploying(self, self.receipts)

    def model(self, request):
        said = str(request["messages"])
        self.die("late") if "Late news" not in said else None
        if "deploy" not in said:
            return reply(tool_use("d", "deploy", to="live"))
        seen = "Late news" in said or "live since 12:00" in said
        return reply("it is live" if seen else "I cannot tell")


def test_an_outcome_that_its_own_process_left_stands_in_for_the_unknown_one(tmp_path):
    world = Deploys(tmp_path, dies="after deploy").lives_and_dies()
    leave(world.receipts[0], "live since 12:00")
    run = world.play()
    assert result(run, "d")["content"] == "live since 12:00" and run.text == "it is live"
    assert world.done == ["deploy"] and world.play().messages == run.messages
    assert world.told[0].endswith("its own process had left the outcome")


def test_an_outcome_that_comes_later_still_is_told_before_the_turn_is_over(tmp_path):
    world = Deploys(tmp_path, dies="after deploy").lives_and_dies()
    told = []

    def model(request):
        leave(world.receipts[0], "live since 12:05")
        told.append(1)
        return Deploys.model(world, request)

    world.model, plain = model, world.model
    run = world.play()
    assert result(run, "d")["content"].startswith("outcome unknown")
    late = "Late news of deploy (call d), whose outcome was unknown: live since 12:05"
    assert [text for _, text in run.spoken] == [late] and run.text == "it is live"
    world.model = plain
    assert world.play().messages == run.messages and kinds(world.lines()).count("late") == 1


# keys


SECRET = "sk-ant-0123456789abcdef"


def test_no_key_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "hush-hush-hush")
    world = World(tmp_path)
    lines = [
        reply(tool_use("a", "echo", text=f"{SECRET} hush-hush-hush")),
        reply(f"it is {SECRET}"),
    ]
    with Journal(world.path) as journal:
        tools = {"echo": lambda text: f"{text} and {SECRET}"}
        run = assemble(scripted_by_request(lines), tools, journal=journal)(Run(f"use {SECRET}"))
    written = world.path.read_text("utf-8")
    assert "0123456789abcdef" not in written and "hush-hush" not in written
    assert SECRET in str(run.messages)  # the run itself has it
    with Journal(world.path) as journal:
        again = assemble(scripted_by_request([]), tools, journal=journal)(Run(f"use {SECRET}"))
    assert again.label == "finished" and "***" in str(again.messages)


@pytest.mark.parametrize(
    "key",
    ["sk-ant-12345678", "sk-" + "a" * 20, "hf_" + "a" * 20, "AKIA" + "A" * 16]
    + [f"gh{kind}_{'a' * 20}" for kind in "pousr"],
)
def test_the_shortest_key_of_every_shape_is_masked(key):
    assert SHAPED.fullmatch(key) and masked(f"({key})") == "(***)"


def test_a_call_whose_input_lost_its_key_is_not_made_after_a_crash(tmp_path):
    path, made = tmp_path / "run.jsonl", []
    asks = reply(tool_use("a", "echo", text=SECRET))
    with Journal(path) as journal:  # the process dies between the reply and the intent of its call
        journal.begin_turn(run := Run("go"))
        journal.model(lambda request: asks)({"messages": run.messages})
    with Journal(path) as journal:
        model = scripted_by_request([reply("done")])
        run = assemble(model, {"echo": lambda text: made.append(text)}, journal=journal)(Run("go"))
    assert made == [] and run.label == "finished"
    assert "the input held a key" in result(run, "a")["content"]


# growth


def rounds(path, count):
    """A journal of so many rounds, and how many bytes each of its lines has."""
    lines = [reply(tool_use(f"c{n}", "note", what="x" * 100)) for n in range(count)]
    with Journal(path, run="r") as journal:
        tools = {"note": lambda what: what}
        model = scripted_by_request([*lines, reply("done")])
        harness = assemble(model, tools, brakes=(), journal=journal)
        harness(Run("go", lambda: 0.0))
    return [len(line) for line in path.read_bytes().splitlines()]


def test_a_round_writes_four_lines_of_the_same_length_early_and_late(tmp_path):
    sizes = rounds(tmp_path / "run.jsonl", 400)
    assert len(sizes) == 2 + 4 * 400 + 2 + 1
    early, late = sum(sizes[42:82]), sum(sizes[-83:-43])  # ten rounds each
    assert abs(late - early) <= 10 * 16  # the numbers are longer


def test_a_round_under_a_journal_runs_the_same_lines_early_and_late(tmp_path):
    work, seen = [], []

    def note(what: str):
        work.append(sum(seen) - sum(work))
        return what

    def trace(frame, event, arg):
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        seen.append(event == "line")
        return trace

    script = iter([*[reply(tool_use(f"c{n}", "note", what="x")) for n in range(300)], reply("ok")])
    before = sys.gettrace()
    with Journal(tmp_path / "run.jsonl") as journal:
        harness = assemble(lambda _: next(script), {"note": note}, brakes=(), journal=journal)
        run = Run("go", lambda: 0.0)
        sys.settrace(trace)
        try:
            harness(run)
        finally:
            sys.settrace(before)
    assert run.rounds == 301 and {*work[10:]} == {work[10]}


def test_resuming_reads_the_journal_once_and_writes_no_line_of_it_again(tmp_path):
    """Counted in lines of the journal's modules that are run: twice the rounds, twice the work."""
    work = {}
    for count in (100, 200):
        path = tmp_path / f"{count}.jsonl"
        rounds(path, count)
        before = path.read_bytes()
        work[count] = lines_of(lambda path=path: rounds(path, 0))
        assert path.read_bytes() == before
    assert work[200] == pytest.approx(2 * work[100], rel=0.02)
