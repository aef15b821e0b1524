"""All parts together: whatever happens, what is sent is valid and each end has a name."""

import tempfile
from collections import deque
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from threading import get_ident
from time import monotonic

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from offline import new_api, post

import harness_zero
from harness_zero.assembly import accounted, assemble, of_messages
from harness_zero.budget import Pool
from harness_zero.children import delegate, delegate_all
from harness_zero.compaction import compacted
from harness_zero.contracts import judge, stop_hook
from harness_zero.faults import SetupFault
from harness_zero.full import when_full
from harness_zero.journal import Journal
from harness_zero.labels import Label
from harness_zero.loop import ModelFailed
from harness_zero.messages import array_fault, reply, tool_use, words
from harness_zero.models.more_room import more_room
from harness_zero.models.told_full import told_full
from harness_zero.news import news
from harness_zero.permission import Rule, denials
from harness_zero.policy import deadline, nudge, recover, structural_stop
from harness_zero.policy import max_rounds as limited
from harness_zero.promises import PROMISES
from harness_zero.repetition import repetition
from harness_zero.run import Run
from harness_zero.simulator.examples import body
from harness_zero.summary import TASK, written_by
from harness_zero.tools import schemas
from harness_zero.view import cached, plain

LOOP = Path(harness_zero.__file__).parent / "loop.py"
COST = 0.05

SAID = {
    "done": lambda n: reply("Done.", cost=COST),
    "look": lambda n: reply(tool_use(f"l{n}", "look", at=n), cost=COST),
    "again": lambda n: reply(tool_use(f"a{n}", "look", at=0), cost=COST),
    "write": lambda n: reply(tool_use(f"w{n}", "write", at=n), cost=COST),
    "both": lambda n: reply(
        tool_use(f"x{n}", "look", at=n), tool_use(f"y{n}", "write", at=n), cost=COST
    ),
    "unknown": lambda n: reply(tool_use(f"u{n}", "fly", at=n), cost=COST),
    "empty": lambda n: reply(cost=COST),
    "cut": lambda n: reply(tool_use(f"t{n}", "write", at=n), stop_reason="max_tokens", cost=COST),
    "full": lambda n: reply(stop_reason="model_context_window_exceeded", cost=COST),
    "pause": lambda n: reply("...", stop_reason="pause_turn", cost=COST),
    "refusal": lambda n: reply("No.", stop_reason="refusal", cost=COST),
    "odd": lambda n: reply(tool_use(f"o{n}", "look", at=n), stop_reason="end_turn", cost=COST),
    "dear": lambda n: reply(tool_use(f"d{n}", "look", at=n), cost=4 * COST),
}
FAULTS = {
    "fails": ModelFailed("overloaded"),
    "breaks": ValueError("broken"),
    "interrupt": KeyboardInterrupt(),
    "set-up": SetupFault("put together wrongly"),
}
TASKS = st.lists(st.sampled_from(["look", "write", "empty", "cut", "fails"]), max_size=4)
ENDS = st.sampled_from(["done", "refusal", "interrupt"])
CHILD = st.builds(lambda said, end: " ".join([*said, end]), TASKS, ENDS)
AGREES = '{"agrees": true, "why": "so it is"}'


def test_the_loop_is_byte_for_byte_what_chapter_05_shows():
    """It was last touched by `a run tells its limits and what was said to the model`."""
    known = "6bd2e68e7aebd2b7dc2c69797cb6ac7666282b53196fb84470f921ea9eb3a121"
    assert sha256(LOOP.read_bytes()).hexdigest() == known


def with_all_parts(
    model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=monotonic, more=()
):
    """The library with every part around it that may leave a run as it is."""
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "journal") as journal:
        pool = Pool(cap_usd, most_usd=cap_usd)
        speak = accounted(told_full(of_messages(model)), journal, pool)
        agree = journal.step("check", lambda: None)
        harness = assemble(
            speak,
            tools,
            stop_hook(when_full(structural_stop), lambda run, again: agree()),
            [limited(max_rounds), deadline(seconds)],
            compacted(plain(), written_by(speak)),
            more,
            journal,
            pool,
            rules=[Rule("allow", "*")],
            before=[lambda call: call],
            after=[lambda call, came: came],
        )
        run = harness(Run(prompt, clock))
        return run.messages, run.label


@pytest.mark.parametrize("promise", [promise for _, promise in PROMISES], ids=lambda p: p.__name__)
def test_with_all_parts_around_it_the_library_keeps_what_every_stage_promises(promise):
    promise(with_all_parts)


class Session(RuleBasedStateMachine):
    """A run of many turns, in a harness with all parts, in a world that does as it is told."""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.apis, self.next = {}, {}  # an API for each thread
        self.says, self.happens, self.answers, self.vetoes = deque(), deque(), deque(), deque()
        self.heard, self.prompts, self.labels, self.children = 0, [], [], []
        self.refused = []  # requests; to raise it would be one more failure of the model
        self.run, self.journal, self.seen_in_the_world = None, None, "nothing"

    @initialize(
        cap=st.sampled_from([0.3, 1.0, 50.0]),
        rounds=st.integers(2, 12),
        at=st.sampled_from([150, 600, 1e6]),
        veto_cap=st.integers(1, 3),
    )
    def set_up(self, cap, rounds, at, veto_cap):
        self.cap, self.rounds, self.at, self.veto_cap = cap, rounds, at, veto_cap
        self.start()

    def start(self):
        """A process: whatever was in memory is new, what is in the journal is there."""
        self.journal = Journal(self.folder / "journal", run="machine").open()
        self.pool = Pool(self.cap, most_usd=5 * COST)
        limits = limited(self.rounds), deadline(1e9)
        child = assemble(self.child, {"look": self.look, "write": self.write}, pool=self.pool)
        tools = {
            "look": self.look,
            "write": self.write,
            "delegate": delegate(child, kept=self.children.append),
            "delegate_all": delegate_all(child, kept=self.children.append),
        }
        speak = accounted(more_room(told_full(self.model), 9_000), self.journal, self.pool)
        check = self.journal.step("check", self.check)
        stop = recover(nudge(when_full(structural_stop)))
        stop = stop_hook(stop, lambda run, again: check(), self.veto_cap)
        self.harness = assemble(
            speak,
            tools,
            stop_hook(stop, judge(speak)),
            limits,
            cached(compacted(plain("Work.", schemas(tools)), written_by(speak), at=self.at)),
            [repetition(), denials()],
            self.journal,
            self.pool,
            rules=[Rule("allow", "look"), Rule("allow", "delegate*"), Rule("deny", "fly")],
            ask=lambda call: self.answers.popleft() if self.answers else True,
            before=[lambda call: "not now" if call["input"].get("at") == 7 else call],
            after=[lambda call, came: {**came, "content": f"{came['content']} (seen)"}],
            news=[news(self.journal.step("world", lambda: self.seen_in_the_world), "world")],
        )

    # the world

    def model(self, request):
        if "You judge" in str(request.get("system")):
            return self.judged(request, reply(AGREES, cost=COST))
        if TASK in words(request["messages"][0]):
            return self.judged(request, reply("So far so good.", cost=COST))
        self.heard += 1
        return self.say(request, self.says.popleft() if self.says else "done", self.heard)

    def child(self, request):
        script = words(request["messages"][0]).split()
        n = sum(message["role"] == "assistant" for message in request["messages"])
        return self.say(request, script[n] if n < len(script) else "done", n)

    def say(self, request, said, n):
        if isinstance(said, list):
            tasks = {"tasks": said} if len(said) > 1 else {"task": said[0]}
            name = "delegate_all" if len(said) > 1 else "delegate"
            return self.judged(request, reply(tool_use(f"h{n}", name, **tasks), cost=COST))
        if said in FAULTS:
            self.judged(request, reply("ok"))
            raise FAULTS[said]
        return self.judged(request, SAID[said](n))

    def look(self, at: int) -> str:
        """Look at something."""
        return self.befall(f"saw {at}")

    def write(self, at: int) -> str:
        """Write something."""
        return self.befall(f"wrote {at}")

    def befall(self, told):
        happens = self.happens.popleft() if self.happens else "ok"
        if happens in FAULTS:
            raise FAULTS[happens]
        return told

    def check(self):
        return self.vetoes.popleft() if self.vetoes else None

    def judged(self, request, reply):
        """Hold a request against the rules of the API, which then hears what is said to it."""
        api = self.apis.setdefault(get_ident(), new_api(lambda request: self.next[get_ident()]))
        self.next[get_ident()] = reply
        answer = post(api, body(**{"max_tokens": 9_000, **request}))
        if (fault := array_fault(request["messages"])) or answer.status == 400:
            self.refused.append(fault or answer.body)
        return reply

    # what may come

    @rule(said=st.lists(st.sampled_from([*SAID, *SAID, *FAULTS]), min_size=1, max_size=8))
    def the_model_will_say(self, said):
        self.says.extend(said)

    @rule(tasks=st.lists(CHILD, min_size=1, max_size=3))
    def the_model_will_delegate(self, tasks):
        self.says.append(tasks)

    @rule(happens=st.lists(st.sampled_from(["ok", "ok", "breaks", "interrupt"]), max_size=5))
    def the_tools_will(self, happens):
        self.happens.extend(happens)

    @rule(answers=st.lists(st.sampled_from([True, False, "not there"]), min_size=1, max_size=5))
    def whoever_is_asked_will_say(self, answers):
        self.answers.extend(answers)

    @rule(
        vetoes=st.lists(st.sampled_from([None, "Not yet.", "Look again."]), min_size=1, max_size=4)
    )
    def the_hook_will_say(self, vetoes):
        self.vetoes.extend(vetoes)

    @rule(text=st.sampled_from(["rain", "sun", "nothing"]))
    def the_world_is_now(self, text):
        self.seen_in_the_world = text

    @rule(number=st.integers(1, 3))
    def a_turn_is_played(self, number):
        prompt = f"Part {number}."
        run = self.run.ask(prompt) if self.run else Run(prompt)
        self.prompts.append(prompt)
        self.run = run
        try:
            self.harness(run)
        except SetupFault as fault:
            assert "put together wrongly" in str(fault), fault
        self.labels.append(run.label)
        self.ended_well()

    def ended_well(self):
        """Every end has a label and a why, every array is valid, and money is held."""
        assert self.refused == []
        for each in (self.run, *self.children):
            assert isinstance(each.label, Label)
            assert each.why
            assert array_fault(each.messages) is None, each.messages
            assert not each.pending
            failed = each.label is Label.MODEL_ERROR
            assert not failed or each.why in ("overloaded", "ValueError: broken"), each.why
        assert self.pool.reserved == 0
        assert self.pool.spent_usd < self.pool.cap_usd + self.pool.most_usd + 1e-9

    @precondition(lambda self: self.labels and self.labels[-1] is not Label.INTERRUPTED)
    @rule()
    def it_is_started_again(self):
        """What the journal holds is played again: nothing is asked, and all is as it was."""
        before, heard = (self.run.messages, self.labels, self.pool.spent), self.heard
        self.journal.close()
        self.start()
        run, labels = None, []
        for prompt in self.prompts:
            run = self.harness(run.ask(prompt) if run else Run(prompt))
            labels.append(run.label)
        self.run = run
        assert (run.messages, labels, self.pool.spent) == before
        assert self.heard == heard

    def teardown(self):
        if self.journal:
            self.journal.close()
        rmtree(self.folder)


Session.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestWhateverHappens = Session.TestCase
