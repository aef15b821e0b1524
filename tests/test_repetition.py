"""The repetition detector, always through the real loop: what it stops, and what it lets be."""

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_zero.loop import turn
from harness_zero.messages import array_fault, reply, text, tool_result, tool_use
from harness_zero.policy import first_of, nudge, structural_stop
from harness_zero.repetition import repetition
from harness_zero.run import Run
from harness_zero.view import plain

TESTS, READ = ("run_tests", {}), ("read_file", {"path": "a.py"})


def edit(number):
    return "edit", {"path": "a.py", "new": f"try {number}"}


class Played:
    """A run in which each reply makes some calls, and what comes back for them is given."""

    def __init__(self, *rounds, detector=None, run=None, ids=None):
        self.ids, self.results = ids or count(1), {}
        self.replies = iter([*map(self.asking, rounds), reply("done")])
        self.run = run or Run("go", clock=lambda: 0.0)
        self.play(detector or repetition())

    def asking(self, made):
        if not isinstance(made, list):
            return made
        blocks = [block for each in made for block in self.blocks(each)]
        return reply(*blocks)

    def blocks(self, made):
        if isinstance(made, str):
            return [text(made)]
        (name, input), came = made
        call = tool_use(f"call_{next(self.ids)}", name, **input)
        failed = isinstance(came, Exception)
        self.results[call["id"]] = {**tool_result(call["id"], ""), "content": came}
        if failed:
            self.results[call["id"]] = tool_result(call["id"], str(came), is_error=True)
        return [call]

    def play(self, detector):
        stop = nudge(structural_stop)
        tool = lambda call: self.results[call["id"]]  # noqa: E731
        policy = first_of(stop, detector)
        turn(self.run, policy, plain(), lambda request: next(self.replies), tool)

    @property
    def said(self):
        """The rounds after which the detector spoke: each is an asking and an answering message."""
        return [at // 2 for at, told in self.run.spoken if told.startswith("Nothing new")]


def ended(played):
    return (played.said, played.run.rounds if played.run.label == "stuck" else None)


def again(made, came, times=20):
    return [[(made, came)] for _ in range(times)]


# What it stops


def test_the_same_call_with_the_same_result_is_spoken_about_at_three_and_stopped_at_nine():
    played = Played(*again(TESTS, "1 failed"))
    assert ended(played) == ([3], 9)
    assert played.run.why == "9 times in a row the same call with the same result (run_tests)"
    assert array_fault(played.run.messages) is None


def test_success_exempts_nothing():
    assert ended(Played(*again(edit(1), "ok"))) == ([3], 9)


@pytest.mark.parametrize("period", [2, 3, 4])
def test_a_circle_of_up_to_four_rounds_is_spoken_about_at_three_laps_and_stopped_at_five(period):
    lap = [[(("read_file", {"path": f"{n}.py"}), f"text {n}")] for n in range(period)]
    played = Played(*lap * 9)
    assert ended(played) == ([3 * period], 5 * period)
    assert f"circle of {period}" in played.run.why


def test_a_circle_is_told_in_the_order_in_which_it_is_gone_through():
    lap = [*again(READ, "text", 1), *again(TESTS, "1 failed", 1)]
    assert Played(*lap * 9).run.why.endswith("with the same results (read_file, run_tests)")


@pytest.mark.parametrize("turned", range(3))
def test_a_circle_whose_rounds_are_partly_alike_is_a_circle(turned):
    lap = [*again(TESTS, "1 failed", 2), *again(READ, "text", 1)]
    assert ended(Played(*(lap * 9)[turned:])) == ([9], 15)


def test_wednesday_test_another_edit_and_the_same_failure_is_stopped_at_the_twelfth_test():
    laps = [each for n in range(20) for each in (*again(TESTS, "1 failed", 1), [(edit(n), "ok")])]
    played = Played(*laps)
    assert ended(played) == ([11], 23)
    assert "12 times the same result, whatever was done in between (run_tests)" in played.run.why


def test_the_same_failure_is_stopped_whatever_is_asked_for():
    calls = [[(edit(n), ValueError(f"text not found in line {n}"))] for n in range(20)]
    played = Played(*calls)
    assert ended(played) == ([3], 6)
    assert "the same failure" in played.run.why


def test_in_an_error_neither_what_it_counts_nor_what_it_quotes_is_news():
    calls = [[(edit(n), KeyError(f"the {n}th, {name}"))] for n, name in enumerate("abcdefghi")]
    assert ended(Played(*calls)) == ([3], 6)


@pytest.mark.parametrize(
    "noisy",
    [
        "1 failed in 0.{n}s",
        "1 failed, took {n} ms",
        "2026-11-30T10:{n}:00Z 1 failed",
        "10:00:{n} 1 failed",
        "<object at 0x7f{n}ab>",
        "request 123e4567-e89b-12d3-a456-4266141740{n}: 1 failed",
        "bash: line {n}: pytst: command not found",
    ],
)
def test_what_changes_without_meaning_anything_hides_no_repetition(noisy):
    calls = [[(TESTS, f"collected\n{noisy.replace('{n}', str(n))}\nend")] for n in range(11, 31)]
    assert ended(Played(*calls)) == ([3], 9)


def test_the_models_own_words_hide_no_repetition():
    assert ended(Played(*[[f"idea {n}", (TESTS, "1 failed")] for n in range(20)])) == ([3], 9)


def test_the_order_of_arguments_hides_no_repetition():
    ways = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    assert ended(Played(*[[(("look", ways[n % 2]), "no")] for n in range(20)])) == ([3], 9)


def test_copies_in_one_reply_are_one_round_and_are_spoken_about_once():
    copies = [[(TESTS, "1 failed")] * 6 for _ in range(20)]
    played = Played(*copies)
    assert ended(played) == ([1], 9)
    assert "6 times the same call in one reply" in played.run.spoken[0][1]


def test_copies_hide_no_repetition_when_their_number_changes():
    assert ended(Played(*[[(TESTS, "1 failed")] * (1 + n % 2) for n in range(20)])) == ([3], 9)


def test_several_calls_in_each_reply_are_one_round():
    assert ended(Played(*[[(TESTS, "1 failed"), (READ, "text")] for _ in range(20)])) == ([3], 9)


# What it lets be


def test_a_fix_of_several_edits_is_never_spoken_to():
    laps = [
        each
        for n in range(8, 0, -1)
        for each in (*again(TESTS, f"{n} failed", 1), [(edit(n), "ok")])
    ]
    played = Played(*laps, *again(TESTS, "8 passed", 1))
    assert (played.run.label, played.said) == ("finished", [])


def test_a_fix_is_an_experiment_also_where_a_red_test_is_an_error():
    red = [(TESTS, ValueError(f"{n} failed, the first is 'test_{n}'")) for n in range(12, 0, -1)]
    laps = [each for n, made in enumerate(red) for each in ([made], [(edit(n), "ok")])]
    assert ended(Played(*laps)) == ([], None)


def test_an_edit_after_which_the_outcome_differs_starts_anew():
    laps = [each for n in range(5) for each in (*again(TESTS, "2 failed", 1), [(edit(n), "ok")])]
    more = [each for n in range(5) for each in (*again(TESTS, "1 failed", 1), [(edit(n), "ok")])]
    assert ended(Played(*laps, *more)) == ([], None)


@pytest.mark.parametrize(
    "came",
    ["{n} %", "3 of {n}", '{"state": "running", "part": {n}}', "amount = {n}", "{n} failed"],
)
def test_numbers_of_a_result_that_change_are_news(came):
    calls = [[(TESTS, came.replace("{n}", str(n)))] for n in range(30)]
    assert ended(Played(*calls)) == ([], None)


def test_other_arguments_are_another_call():
    calls = [
        [(("read_file", {"path": "a.log", "offset": n}), "more of the same")] for n in range(9)
    ]
    assert ended(Played(*calls)) == ([], None)


def test_an_outcome_that_came_and_went_is_counted_from_when_it_came_back():
    came = ["1 failed"] * 4 + ["2 failed"] + ["1 failed"] * 4
    laps = [each for n, c in enumerate(came) for each in (*again(TESTS, c, 1), [(edit(n), "ok")])]
    assert ended(Played(*laps)) == ([], None)


def test_two_tools_that_fail_alike_are_two_failures():
    lost = ConnectionError("connection lost")
    calls = [[((f"tool_{n % 2}", {"n": n}), lost)] for n in range(20)]
    assert ended(Played(*calls)) == ([], None)


def test_the_same_words_are_another_result_when_they_are_an_error():
    came = ["no", ValueError("no")]
    assert ended(Played(*[[(TESTS, came[n % 2])] for n in range(20)])) == ([6], 10)


def test_a_failure_that_is_mended_is_forgotten():
    calls = [[(edit(n), ValueError("not found") if n % 3 else "ok")] for n in range(30)]
    assert ended(Played(*calls)) == ([], None)


def test_a_declared_poller_may_wait_eight_times_as_long():
    poll = ("poll_build", {})
    patient = repetition(pollers=("poll_build",))
    assert ended(Played(*again(poll, "pending", 23), detector=patient)) == ([], None)
    assert ended(Played(*again(poll, "pending", 80), detector=patient)) == ([24], 72)
    assert ended(Played(*again(poll, "pending", 80))) == ([3], 9)


def test_while_one_waits_another_look_is_waiting_too():
    rounds = [[(("poll_build", {}), f"{n} %")] if n % 2 else [(READ, "text")] for n in range(60)]
    assert ended(Played(*rounds, detector=repetition(pollers=("poll_build",)))) == ([], None)
    assert ended(Played(*rounds))[1] == 23


# How it speaks


def test_its_words_stand_in_the_last_result_and_are_not_taken_for_the_tools():
    played = Played(*again(TESTS, "1 failed", 5))
    spoken = [m["content"][-1]["content"] for m in played.run.messages[2::2]]
    assert [content for content in spoken if content != "1 failed"] == [
        "1 failed\n\nNothing new: 3 times in a row the same call with the same result (run_tests)."
        " Try another way, or say what keeps you from it. If you are waiting, wait longer."
    ]


@pytest.mark.parametrize("came", ["", [text("1 failed")], []])
def test_its_words_are_told_apart_whatever_the_tool_gave_back(came):
    assert ended(Played(*again(TESTS, came))) == ([3], 9)


def test_a_model_that_heeds_the_words_is_not_stopped():
    assert ended(Played(*again(TESTS, "1 failed", 3), [(READ, "text")])) == ([3], None)


def test_after_the_words_were_heeded_it_speaks_again_before_it_stops():
    rounds = [*again(TESTS, "1 failed", 4), [(READ, "text")], *again(edit(1), "ok")]
    assert ended(Played(*rounds)) == ([3, 8], 14)


def test_where_a_limit_is_reached_as_well_the_label_is_the_plain_one():
    from harness_zero.policy import max_rounds

    limit = first_of(max_rounds(9), repetition())
    assert Played(*again(TESTS, "1 failed"), detector=limit).run.label == "max_rounds"


# Whose rounds count


def test_the_users_message_starts_anew():
    ids, detector = count(1), repetition()
    run = Played(*again(TESTS, "1 failed"), ids=ids).run
    assert (run.label, run.rounds) == ("stuck", 9)
    run.ask("Go on, it takes a while.")
    played = Played(*again(TESTS, "1 failed", 2), detector=detector, run=run, ids=ids)
    assert (run.label, played.run.rounds) == ("finished", 3)


def test_the_harnesss_own_nudge_does_not_start_anew():
    rounds = [each for made in again(TESTS, "1 failed") for each in (made, reply())]
    played = Played(*rounds)
    assert played.run.label == "stuck" and len(played.results) == 20
    assert sum(message["role"] == "assistant" for message in played.run.messages) == 9


def test_results_that_stand_in_messages_of_their_own_are_no_repetition():
    asked = {"role": "assistant", "content": [tool_use("a", "look"), tool_use("b", "look")]}
    answers = [{"role": "user", "content": [tool_result(id, "no")]} for id in "ab"]
    run = Run.of([Run("go").messages[0], asked, *answers])
    assert repetition()(run) is None


def test_a_run_that_is_taken_over_is_spoken_to_once_before_it_is_stopped():
    ids, silent = count(1), lambda run: None
    alone = Played(*again(TESTS, "1 failed", 5), detector=silent, ids=ids).run
    taken = Run.of(alone.messages[:-1], clock=lambda: 0.0)
    ended_at = Played(*again(TESTS, "1 failed"), run=taken, ids=ids)
    assert (len(taken.spoken), taken.label, ended_at.run.rounds) == (1, "stuck", 4)
    later = Run.of(taken.messages[:-4], clock=lambda: 0.0)
    resumed = Played(*again(TESTS, "1 failed"), run=later, ids=ids).run
    assert (resumed.spoken, resumed.label, resumed.rounds) == ([], "stuck", 2)


ALPHABET = [
    (TESTS, "1 failed"),
    (TESTS, "2 failed"),
    (READ, "text"),
    (edit(1), "ok"),
    (edit(2), ValueError("not found")),
    (edit(3), ValueError("not found")),
]
ROUNDS = st.lists(
    st.lists(st.sampled_from(ALPHABET[:3]), min_size=1, max_size=3)
    | st.lists(st.sampled_from(ALPHABET), min_size=1, max_size=1)
    | st.just([ALPHABET[0]]),
    min_size=8,
    max_size=50,
)


@settings(max_examples=150, deadline=None)
@given(ROUNDS)
def test_there_is_never_a_stop_without_a_word_before_it(rounds):
    played = Played(*rounds)
    if played.run.label == "stuck":
        assert played.said and played.said[-1] < played.run.rounds
    assert array_fault(played.run.messages) is None


@settings(max_examples=150, deadline=None)
@given(ROUNDS, st.integers(1, 40))
def test_a_resume_forgets_nothing(rounds, cut):
    whole = Played(*rounds).run
    kept = [m for m in whole.messages if m["role"] == "user"][: cut + 1]
    until = 2 * len(kept) - 1
    if until >= len(whole.messages):
        return
    done = sum(message["role"] == "assistant" for message in whole.messages[:until])
    rest = Played(
        *rounds[done:], run=Run.of(whole.messages[:until], clock=lambda: 0.0), ids=count(1000)
    )
    assert (rest.run.label, rest.run.why) == (whole.label, whole.why)
    assert done + rest.run.rounds == whole.rounds


@settings(max_examples=100, deadline=None)
@given(ROUNDS, st.sampled_from(["s", " ms"]), st.integers(0, 99))
def test_noise_and_words_change_no_verdict(rounds, unit, seed):
    def noisy(at, made, came):
        if isinstance(came, Exception):
            return made, ValueError(f"{came} {seed + at}")
        return made, f"{came} in 0.{seed + at}{unit}"

    loud = [[f"idea {at}", *(noisy(at, *each) for each in some)] for at, some in enumerate(rounds)]
    quiet, noised = Played(*rounds), Played(*loud)
    assert (quiet.run.label, quiet.said) == (noised.run.label, noised.said)


def test_it_says_nothing_to_a_run_in_which_nothing_was_done():
    assert repetition()(Run("go")) is None


def test_it_keeps_no_state_and_may_be_asked_by_several_runs_in_turn():
    detector = repetition()
    runs = [Played(*again(TESTS, "1 failed"), detector=detector).run for _ in range(2)]
    assert [run.rounds for run in runs] == [9, 9]
    half = Run.of(runs[0].messages[:9])
    assert detector(half) is None and detector(half) is None
    assert detector(Run.of(runs[0].messages[:5])) is None
