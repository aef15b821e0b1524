"""Whatever the model, the hooks and the judges say, these hold of every turn."""

from hypothesis import given, settings
from hypothesis import strategies as st

from harness_zero.assembly import assemble
from harness_zero.contracts import all_of, judge, next_speaker, output_type, stop_hook
from harness_zero.desk import asking
from harness_zero.faults import SetupFault
from harness_zero.labels import Label
from harness_zero.loop import ModelFailed
from harness_zero.messages import array_fault, reply, request_fault
from harness_zero.policy import (
    cost_cap,
    deadline,
    in_a_row,
    max_rounds,
    nudge,
    recover,
    structural_stop,
)
from harness_zero.run import Run

COST = 0.25
SHAPE = {"type": "object", "required": ["n"]}
LINES = {
    "call": lambda n: asking(f"c{n}", f"d{n}", cost=COST),
    "done": lambda n: reply("Done.", cost=COST),
    "form": lambda n: reply('{"n": 1}', cost=COST),
    "empty": lambda n: reply(cost=COST),
    "cut": lambda n: asking(f"c{n}", stop_reason="max_tokens", cost=COST),
    "pause": lambda n: reply("...", stop_reason="pause_turn", cost=COST),
    "refusal": lambda n: reply("no", stop_reason="refusal", cost=COST),
    "odd": lambda n: asking(f"c{n}", stop_reason="end_turn", cost=COST),
}
VETO = st.sampled_from([None, "Not yet.", "Look again.", "new", "raise", "", "fail"])
ASIDE = st.sampled_from(
    [
        reply('{"agrees": true, "why": "", "next": "user"}', cost=COST),
        reply('{"agrees": false, "why": "hm", "next": "model"}', cost=COST),
        reply("I do not know.", cost=COST),
        "fail",
    ]
)
SCRIPT = st.lists(st.sampled_from(["call", "done", "form", *LINES]), max_size=14)
LIMITS = {"rounds": st.integers(1, 12), "usd": st.sampled_from([0.5, 1.0, 9.0])}
CONTRACTS = st.lists(
    st.sampled_from(["form", "hook", "hooks", "judge", "speaker"]), max_size=3, unique=True
)


class World:
    """A model, hooks and judges that say what was drawn, and all that they were asked."""

    def __init__(self, script, vetoes, asides):
        self.script, self.vetoes, self.asides = iter(script), iter(vetoes), iter(asides)
        self.sent, self.asked, self.n = [], 0, 0

    def model(self, request):
        self.sent.append(array_fault(request["messages"]))
        self.n += 1
        return LINES[next(self.script, "done")](self.n)

    def aside(self, request):
        assert request_fault(request["messages"]) is None
        self.asked += 1
        said = next(self.asides, None) or reply('{"agrees": false, "why": "no", "next": "model"}')
        if said == "fail":
            raise ModelFailed("down")
        return said

    def hook(self, run, again):
        said = next(self.vetoes, f"veto {len(run.spoken)}")
        if said == "raise":
            raise ValueError("broken")
        if said == "fail":
            raise ModelFailed("down")
        return f"veto {len(run.spoken)}" if said == "new" else said

    def contract(self, stop, name, cap):
        return {
            "form": lambda: output_type(stop, SHAPE),
            "hook": lambda: stop_hook(stop, self.hook, cap),
            "hooks": lambda: stop_hook(stop, all_of(self.hook, judge(self.aside)), cap),
            "judge": lambda: stop_hook(stop, judge(self.aside), cap),
            "speaker": lambda: next_speaker(stop, self.aside),
        }[name]()


@settings(max_examples=400, deadline=None)
@given(
    SCRIPT,
    st.lists(VETO, max_size=10),
    st.lists(ASIDE, max_size=10),
    CONTRACTS,
    st.integers(0, 4),
    st.fixed_dictionaries(LIMITS),
)
def test_arrays_are_valid_ends_are_told_and_no_veto_outlives_a_brake(
    script, vetoes, asides, contracts, cap, limits
):
    world, stop = World(script, vetoes, asides), recover(nudge(structural_stop))
    for name in contracts:
        stop = world.contract(stop, name, cap)
    brakes = max_rounds(limits["rounds"]), cost_cap(limits["usd"]), deadline(60)
    harness = assemble(world.model, {"note": lambda what: what}, stop, brakes)
    run = Run("go", clock=lambda: 0.0)
    try:
        harness(run)
    except SetupFault:
        assert run.label == "interrupted"
    assert run.label is not None and run.why.strip()
    assert {*world.sent} <= {None} and array_fault(run.messages) is None
    assert run.rounds == len(run.replies) + len(run.asides) <= limits["rounds"]
    assert run.cost_usd == sum(r["cost_usd"] for r in [*run.replies, *(a[2] for a in run.asides)])
    assert in_a_row(run, Label.FINISHED) <= cap + 4
    assert run.cost_usd < limits["usd"] + COST + 1e-9
