"""Compaction: one deliberate jump, from which on requests only grow again."""

import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_zero.assembly import assemble, of_messages
from harness_zero.compaction import LAST, compacted, payback
from harness_zero.faults import SetupFault
from harness_zero.full import FULL, when_full
from harness_zero.labels import Label
from harness_zero.layers import WrongOrder
from harness_zero.loop import ModelFailed
from harness_zero.messages import (
    array_fault,
    reply,
    request_fault,
    tool_result,
    tool_use,
    user,
    words,
)
from harness_zero.models.scripted import scripted
from harness_zero.models.told_full import told_full
from harness_zero.notebook import offline_api
from harness_zero.policy import cost_cap, max_rounds, structural_stop
from harness_zero.prefix import rendering
from harness_zero.run import Run
from harness_zero.summary import HEADING, gist, transcript, written_by
from harness_zero.view import cached, plain

LONG = "x" * 250  # about a hundred tokens
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}


def grown(run, rounds, result=LONG, *blocks):
    """A run that made so many calls more."""
    for _ in range(rounds):
        call = tool_use(f"c{len(run.messages)}", "look")
        run.hear(reply(*blocks, call))
        run.answer(tool_result(run.begin()["id"], result))
    return run


def requests(view, rounds, *blocks):
    """A run, and what was sent in each of its rounds."""
    run, sent = Run("find it"), []
    for _ in range(rounds):
        sent.append(as_sent(view(run)))
        grown(run, 1, LONG, *blocks)
    return run, [*sent, as_sent(view(run))]


def as_sent(request):
    """A request as it is now; a plain one holds the run's own list, which grows."""
    return {**request, "messages": [*request["messages"]]}


def summarised(request):
    """The words of the summary in a request; nothing if there is none."""
    return next((words(m) for m in request["messages"] if HEADING in words(m)), "")


def test_a_run_that_fits_is_sent_as_it_stands():
    run, sent = requests(compacted(plain(), at=10_000), 10)
    assert sent[-1] == plain()(run)


def test_the_prompt_and_the_last_rounds_stay_and_a_summary_stands_between():
    run, sent = requests(compacted(plain(), lambda left: f"{len(left)} left", at=1_500, keep=2), 9)
    first = next(each for each in sent if summarised(each))
    prompt, summary, *last = first["messages"]
    assert (prompt, words(summary)) == (user("find it"), f"{HEADING}\n14 left")
    assert last == run.messages[15:19]
    assert sent[-1]["messages"] == [prompt, summary, *run.messages[15:]]


def test_between_two_jumps_requests_only_grow():
    _, sent = requests(compacted(plain(), at=3_000), 60)
    jumps = [k for k, (a, b) in enumerate(pairwise(map(rendering, sent))) if not b.startswith(a)]
    assert len(jumps) == 4
    assert all(later - earlier >= 8 for earlier, later in pairwise(jumps))


def test_every_request_is_one_that_can_be_sent():
    for blocks in [(), (THOUGHT,), ("Let me look.",)]:
        _, sent = requests(compacted(plain(), at=500, keep=1), 40, *blocks)
        assert [request_fault(each["messages"]) for each in sent] == [None] * 41


def test_a_summary_is_written_once_a_jump_and_each_reads_the_one_before():
    asked = []
    view = compacted(plain(), lambda left: asked.append(left) or f"notes {len(asked)}", at=3_000)
    _, sent = requests(view, 50)
    told = [summarised(each) for each in sent]
    assert len(asked) == len({*told} - {""}) > 2
    assert words(asked[1][0]) == f"{HEADING}\nnotes 1"
    assert all(len(left) < 30 for left in asked)


def test_plain_summaries_of_summaries_have_one_heading_and_each_call_once():
    _, sent = requests(compacted(plain(), at=3_000), 60)
    told = summarised(sent[-1])
    assert told.count(HEADING) == 1
    kept = sum(message["role"] == "assistant" for message in sent[-1]["messages"])
    assert told.count("call look") == 60 - kept


def test_a_resumed_run_is_sent_alike():
    view = compacted(plain(), at=3_000)
    run, sent = requests(view, 60)
    for go_on in (view, compacted(plain(), at=3_000)):
        assert go_on(Run.of(run.messages)) == sent[-1]


def test_a_run_whose_messages_were_taken_back_is_cut_anew():
    view = compacted(plain(), at=3_000)
    run, sent = requests(view, 60)
    del run.messages[41:]
    assert view(run) == sent[20]


def test_last_rounds_that_do_not_fit_do_not_have_it_cut_in_every_round():
    asked = []
    requests(compacted(plain(), lambda left: asked.append(left) or "notes", at=700), 60)
    assert len(asked) <= 30


def test_a_summary_that_grows_and_grows_is_still_written_once_a_jump():
    asked = []
    view = compacted(plain(), lambda left: asked.append(1) or LONG * 40, at=3_000)
    requests(view, 60)
    assert len(asked) == 4


def test_thinking_in_the_last_rounds_is_left_out_and_the_rounds_are_told_in_words():
    run, sent = requests(compacted(plain(), at=3_000, keep=2), 60, THOUGHT)
    jump = next(k for k, each in enumerate(sent) if summarised(each))
    (_, told) = sent[jump]["messages"]
    assert LAST in words(told) and words(told).count("result: xxx") == 2 + len(
        [m for m in run.messages[1 : 2 * jump - 3] if m["role"] == "user"]
    )
    assert sent[jump + 1]["messages"][2:] == run.messages[2 * jump + 1 : 2 * jump + 3]


def test_a_model_that_writes_the_summary_is_paid_by_the_run():
    asked = []

    def model(request):
        asked.append(request)
        return reply("It looked.", tokens=7, cost=0.25)

    run, sent = requests(compacted(plain(), written_by(model), at=3_000), 18)
    assert "It looked." in summarised(sent[-1])
    assert (len(asked), run.cost_usd, run.tokens) == (1, 0.25, 7)
    assert array_fault(run.messages) is None and "It looked." not in str(run.messages)
    assert request_fault(asked[0]["messages"]) is None and "tools" not in asked[0]


def test_a_model_without_a_word_to_say_leaves_the_plain_summary():
    _, sent = requests(compacted(plain(), written_by(lambda request: reply()), at=3_000), 18)
    assert "call look({})" in summarised(sent[-1])


def test_if_its_model_fails_the_turn_ends_and_the_next_one_tries_again():
    lines = iter([ModelFailed("529"), reply("notes")])

    def model(request):
        line = next(lines)
        if isinstance(line, Exception):
            raise line
        return line

    view = compacted(plain(), written_by(model), at=3_000)
    harness = assemble(lambda request: reply("done"), {}, view=view)
    run = harness(grown(Run("find it"), 18))
    assert run.label == Label.MODEL_ERROR
    assert harness(run.ask("try again")).label == Label.FINISHED


def test_the_plain_summary_keeps_the_users_words_whole_and_cuts_the_rest():
    run = grown(Run("find it"), 1).ask("and then mend it " * 20)
    assert gist(run.messages).splitlines() == [
        "find it",
        "call look({})",
        gist(run.messages[2:3]),
        "and then mend it " * 20,
    ]
    assert len(gist(run.messages[2:3])) < 200


def test_a_plain_summary_does_not_grow_for_ever():
    run = grown(Run("find it"), 1_000)
    told = summarised(compacted(plain(), at=3_000)(run))
    assert len(told) < 21_000 and "characters cut" in told


class Window:
    """A model with a window: it refuses what is longer, and makes calls as long as it is asked."""

    def __init__(self, characters, rounds=30, breaks_off=False):
        self.characters, self.rounds, self.breaks_off = characters, rounds, breaks_off
        self.sent, self.refused = [], 0

    def __call__(self, request):
        if len(str(request["messages"])) > self.characters:
            self.refused += 1
            if self.breaks_off:
                return reply("I was about to", stop_reason="model_context_window_exceeded")
            raise ModelFailed(
                "the API answered 400: prompt is too long: 208423 tokens > 200000 maximum"
            )
        self.sent.append(as_sent(request))
        if len(self.sent) > self.rounds:
            return reply("done")
        return reply(tool_use(f"c{len(self.sent)}", "look"))


TOOLS = {"look": lambda: LONG}


def through(model, limit=2, **sizes):
    """A turn of this model with a view that is compacted where the context is full."""
    view = compacted(plain(), **sizes)
    stop = when_full(structural_stop, limit)
    return assemble(told_full(model), TOOLS, stop, [max_rounds(99)], view)(Run("find it"))


@pytest.mark.parametrize("breaks_off", [False, True])
def test_a_window_that_is_full_is_made_room_in_and_the_run_goes_on(breaks_off):
    model = Window(6_000, 16, breaks_off)
    run = through(model)
    assert (run.label, run.text, model.refused) == (Label.FINISHED, "done", 1)
    assert all(request_fault(request["messages"]) is None for request in model.sent)
    assert array_fault(run.messages) is None


def test_the_apis_own_refusal_is_known_and_answered_by_a_compaction():
    calls = iter([*[reply(tool_use(f"c{n}", "look")) for n in range(12)], reply("done")])
    api, small = offline_api(lambda request: next(calls)), plain("You look.")

    def view(run):
        return {**small(run), "model": "claude-haiku-4-5"}  # of 200,000 tokens

    tools, stop = {"look": lambda: "x" * 80_000}, when_full(structural_stop)
    shown = cached(compacted(view, at=1e9))
    run = assemble(told_full(api), tools, stop, [max_rounds(20)], shown)(Run("find it"))
    assert (run.label, run.text, [said for _, said in run.spoken]) == ("finished", "done", [FULL])


def test_the_sign_to_cut_does_not_stand_behind_results_that_nobody_has_read():
    model = Window(6_000, 16)
    through(model)
    assert FULL not in str(model.sent) and HEADING in str(model.sent[-1])


@pytest.mark.parametrize("breaks_off", [False, True])
@pytest.mark.parametrize("limit", [0, 1, 2])
def test_a_window_that_stays_full_ends_the_turn_after_so_many_tries(limit, breaks_off):
    model = Window(10, breaks_off=breaks_off)
    run = through(model, limit)
    assert (run.label, model.refused) == (Label.CONTEXT_EXHAUSTED, limit + 1)
    assert f"{limit} compaction" in run.why and array_fault(run.messages) is None


def test_a_window_that_is_full_again_and_again_is_no_loop_of_compactions():
    model = Window(2_500, 200)
    run = through(model)
    assert (run.label, model.refused) == (Label.CONTEXT_EXHAUSTED, 3)


def test_the_next_turn_may_try_anew():
    model = Window(2_500, 200)
    run = through(model)
    harness = assemble(told_full(model), TOOLS, when_full(structural_stop), view=compacted(plain()))
    harness(run.ask("go on"))
    assert model.refused > 4


def test_a_few_large_rounds_are_cut_down_to_two():
    model = Window(1_700, 4)
    run = through(model, keep=9)
    assert run.label == Label.FINISHED and model.refused <= 2


def test_at_least_one_round_is_kept():
    with pytest.raises(SetupFault, match="keep is 0"):
        compacted(plain(), keep=0)


@pytest.mark.parametrize("at", [0, -1, float("nan"), "100", None])
def test_a_view_is_compacted_at_a_number_of_tokens(at):
    with pytest.raises(SetupFault, match="at a number of tokens, and at is"):
        compacted(plain(), at=at)


@pytest.mark.parametrize("told", [None, 5, ["a"], {}, {"content": []}])
def test_a_summary_is_words_or_a_reply(told):
    view = compacted(plain(), lambda left_out: told, at=300)
    with pytest.raises(SetupFault, match="a summary is words, or a model's reply, and not"):
        requests(view, 20)


def test_whatever_stands_in_a_call_or_a_result_can_be_summarised():
    image, odd = {"type": "image", "source": {}}, {"source": 1}
    result = {**tool_result("a", ""), "content": [{"type": "text", "text": None}, image, odd, "x"]}
    asked = {"role": "assistant", "content": [tool_use("a", "look", at={1})]}
    for summary in (gist, transcript):
        assert 'look({"at": "{1}"})' in (told := summary([user("go"), asked, user(result)]))
        assert "[image]" in told


def test_another_refusal_is_no_full_context():
    def model(request):
        raise ModelFailed("the API answered 400: messages: at least one message is required")

    with pytest.raises(ModelFailed):
        told_full(model)({"messages": []})


def test_a_brake_cannot_be_wrapped_in_it():
    with pytest.raises(WrongOrder):
        when_full(cost_cap(1))


def test_a_tools_result_that_says_the_same_is_no_sign():
    run = grown(grown(Run("find it"), 5), 1, f"a file in which stands: {FULL}")
    assert not summarised(compacted(plain(), at=10_000)(run))


@given(
    st.lists(st.sampled_from(["call", "words", "full", "ask", "cut off"]), max_size=40),
    st.integers(1, 5),
    st.integers(100, 1_500),
)
@settings(deadline=None)
def test_whatever_happens_in_a_run_it_is_cut_at_the_same_places_after_a_resume(events, keep, at):
    view, run, sent = compacted(plain(), at=at, keep=keep), Run("find it"), []
    for event in events:
        if event == "call":
            grown(run, 1)
        elif event == "words":
            grown(run, 1).say("advice")
        elif event == "full":
            run.hear({**reply(), "stop_reason": "model_context_window_exceeded"})
            run.say(FULL)
        elif event == "ask":
            run.hear(reply("done"))
            run.ask("and now?")
        else:
            run.hear(reply(tool_use(f"c{len(run.messages)}", "look"), stop_reason="max_tokens"))
        sent.append(view(run))
        assert request_fault(sent[-1]["messages"]) is None
        again = compacted(plain(), at=at, keep=keep)(Run.of(run.messages))
        assert again == sent[-1]


def calls_made(view, run, rounds):
    """How many functions it takes to send so many rounds more."""
    made = 0

    def count(frame, event, arg):
        nonlocal made
        made += event in ("call", "c_call")

    for _ in range(rounds):
        grown(run, 1)
        sys.setprofile(count)
        try:
            view(run)
        finally:
            sys.setprofile(None)
    return made


def test_a_round_takes_as_much_work_in_a_long_run_as_in_a_short_one():
    view, run = compacted(plain(), at=1_000), Run("find it")
    early = calls_made(view, run, 60)
    grown(run, 1_000)
    view(run)
    assert calls_made(view, run, 60) <= 1.25 * early


def test_what_a_compaction_costs_and_when_it_has_paid_is_told_in_words():
    told = payback(left_out=100_000, kept=8_000, summary=2_000, read=0.1, write=1.25, output=5)
    # asked 100,000 + 5 x 2,000; written anew 10,000 x (1.25 - 0.1); saved 98,000 x 0.1 a round
    assert told.rounds == 13
    assert (
        "121,500 tokens" in str(told) and "9,800 a round" in str(told) and "13 rounds" in str(told)
    )


def test_a_summary_that_no_model_writes_pays_sooner():
    assert payback(100_000, 8_000, 2_000, by_model=False).rounds == 2


def test_the_cheaper_reading_is_the_later_a_compaction_pays():
    rounds = [payback(100_000, 8_000, 2_000, read=read).rounds for read in (0.1, 0.05, 0.025)]
    assert rounds == [13, 25, 50]


def test_a_summary_as_long_as_what_it_replaces_never_pays():
    told = payback(1_000, 100, 1_000)
    assert told.rounds is None and "never" in str(told)


def test_the_scripted_model_of_messages_plays_a_compacted_run_too():
    run = assemble(of_messages(scripted(reply("done"))), {}, view=compacted(plain(), at=1_000))
    assert run(grown(Run("find it"), 20)).label == Label.FINISHED
