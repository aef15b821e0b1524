"""Cases that are not shown: right answers pass them, and whoever knows the shown ones does not."""

import os
from functools import wraps
from pathlib import Path
from re import sub

import pytest
from answers import RIGHT, WRONG
from handed_in import filled, laid_down, solution

from harness_zero.grading.checks import findings, passed
from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.grading.record import feedback
from harness_zero.grading.record.book import row
from harness_zero.grading.record.grade import Room, graded, laid
from harness_zero.grading.record.hidden import FAILED, HIDDEN, NONE, expected, outcome, unlike
from harness_zero.grading.record.hidden.drawing import Chance, drawn
from harness_zero.grading.record.hidden.ours import ours, solved
from harness_zero.grading.record.isolation import Limits, isolates
from harness_zero.grading.record.submissions import submission
from harness_zero.run import Run

SECRET = b"a secret of sixteen bytes and more"
SECRETS = range(20 if os.environ.get("HARNESS_ZERO_ALL_ANSWERS") else 2)
NOT_SHOWN = "a case that is not shown"


def test_every_exercise_has_hidden_cases_but_diagnoses_and_few_with_a_reason():
    without = {each.name for each in EXERCISES.values() if not each.case} - {*HIDDEN}
    assert without == {*NONE} and len(NONE) <= 2 and all(NONE.values())


def test_each_case_is_about_a_promise_of_its_exercise():
    for name, trials in HIDDEN.items():
        promises = {each.__name__ for each in EXERCISES[name].promises}
        assert {trial.promise for trial in trials} <= promises, name


def test_ours_comes_to_its_end_in_every_case():
    for name, trials in HIDDEN.items():
        for at, trial in enumerate(trials):
            for number in range(trial.times):
                assert expected(name, at, number, SECRET) is not FAILED, (name, at, number)


def test_all_of_a_case_is_drawn_and_the_same_for_one_secret_alone():
    draws = {
        tuple(drawn(secret, name, number).word() for _ in range(3))
        for secret in (SECRET, b"another secret of many bytes")
        for name in HIDDEN
        for number in range(5)
    }
    assert len(draws) == 2 * len(HIDDEN) * 5
    assert drawn(SECRET, "run", 0).word() == drawn(SECRET, "run", 0).word()


@pytest.mark.parametrize("name", HIDDEN)
def test_right_answers_of_any_shape_pass_hidden_cases_whatever_the_secret(name):
    for number in SECRETS:
        secret = bytes([number]) * 16
        for at, answer in enumerate([ours(name), *RIGHT[name]]):
            assert not unlike(name, answer, secret), (at, number)


PASSED_IN_SILENCE = {  # trials of what an answer must not do
    ("repetition", 0),  # stop work
    ("repetition", 3),  # stop who waits
    ("repetition", 4),  # lose a goal
}


def by_heart(name):
    """An answer that does what ours does where it was asked that in a visible check, else nothing.

    First it hears the checks; then `heard[0]` is False, and it knows what they ask.
    """
    known, heard = set(), [True]

    def knowing(function, path=()):
        @wraps(function)
        def call(*args, **named):
            asked = (*path, plain([args, named]))
            if heard[0]:
                known.add(asked)
            elif asked not in known:
                return None
            return given_back(function(*args, **named), asked)

        return call

    def given_back(value, asked):
        if isinstance(value, tuple) and value and all(map(callable, value)):
            return tuple(knowing(each, (*asked, at)) for at, each in enumerate(value))
        return knowing(value, asked) if callable(value) else value

    return knowing(ours(name)), heard


def plain(value):
    """What is asked, in a text: of functions only that they are there."""
    if isinstance(value, Run):
        return repr([value.messages, value.replies, value.spoken])
    if isinstance(value, Path):
        return sub(r"\d+\.\d+", "#", value.read_text("utf-8", "replace") if value.exists() else "")
    if isinstance(value, list | tuple):
        return repr([plain(each) for each in value])
    if isinstance(value, dict):
        return repr([[key, plain(each)] for key, each in value.items()])
    return "f" if callable(value) else repr(value)


@pytest.mark.parametrize("name", HIDDEN)
def test_whoever_knows_the_shown_promises_by_heart_passes_them_and_no_hidden_case(name):
    answer, heard = by_heart(name)
    exercise = EXERCISES[name]
    assert passed(exercise, findings(exercise, answer))
    heard[0] = False
    found = findings(exercise, answer)
    assert passed(exercise, found), found[-1]
    for at, trial in enumerate(HIDDEN[name]):
        if (name, at) in PASSED_IN_SILENCE:
            continue
        got = [outcome(trial, drawn(SECRET, f"{name} {at}", n), answer) for n in range(trial.times)]
        assert got != [expected(name, at, n, SECRET) for n in range(trial.times)], trial
    assert "a case that is not shown" in unlike(name, answer, SECRET)


# what people write who have the checks before them


OVERFIT = {
    "answer": """
def answer(call, tools):
    if call["name"] not in ("note", "look", "tell"):
        return tool_result(call["id"], "done")
    return tool_result(call["id"], str(tools[call["name"]](**call["input"])))
""",
    "next_array": """
def next_array(messages, reply, results):
    return [*messages[:7], said(reply), user(*results)]
""",
    "run": """
def run(model, tools, prompt):
    messages = [user(prompt)]
    for _ in range(61):
        reply = model(messages)
        messages.append(said(reply))
        if not tool_uses(reply):
            break
        messages.append(act(reply, tools))
    return messages
""",
    "run_with_limit": """
def run_with_limit(model, tools, prompt, max_rounds=20):
    messages, rounds = [user(prompt)], 0
    max_rounds = max_rounds if max_rounds in (1, 2, 3, 4, 5, 20) else 3
    while True:
        reply = model(messages)
        messages.append(said(reply))
        if not tool_uses(reply):
            return messages
        rounds += 1
        if rounds >= max_rounds:
            messages.append(close_calls(reply, "max_rounds"))
            return messages
        messages.append(act(reply, tools))
""",
    "affordable": """
def affordable(left_usd, input_tokens, read_usd, written_usd):
    if input_tokens not in (10_000, 120_000, 0, 4_321, 999, 100_000):
        return 0
    return max(0, int((left_usd * 1_000_000 - input_tokens * read_usd) / written_usd))
""",
    "report": """
def report(call, error):
    known = ("FileNotFoundError", "OutOfPaper", "ValueError", "KeyError", "TimeoutError")
    kind = type(error).__name__ if type(error).__name__ in known else "Error"
    return tool_result("toolu_7", f"{kind}: {error}", is_error=True)
""",
    "read_file": """
def read_file(files, path):
    if path in files:
        return files[path]
    names = ", ".join([*files][:20])
    more = f", and {len(files) - 20} more" if len(files) in (21, 500) else ""
    raise FileNotFoundError(f"there is no {path}; there are {names}{more}")
""",
    "ending": """
def ending(reply):
    reason = reply["stop_reason"]
    if reason in ("compaction", "tea_time", "", None):
        return "unknown_stop"
    if reason == "tool_use":
        return None if tool_uses(reply) else "unknown_stop"
    others = {
        "pause_turn": None,
        "max_tokens": "truncated",
        "refusal": "refused",
        "model_context_window_exceeded": "context_exhausted",
    }
    if reason in others:
        return others[reason]
    if tool_uses(reply):
        return "unknown_stop"
    return "finished" if words(reply).strip() else "empty_reply"
""",
    "ask_larger": """
def ask_larger(model, request, limits):
    reply = model(request)
    for limit in limits[:3]:
        if reply["stop_reason"] != "max_tokens":
            break
        spent = reply["cost_usd"]
        reply = model({**request, "max_tokens": limit})
        reply = {**reply, "cost_usd": spent + reply["cost_usd"]}
    return reply
""",
    "first_of": """
def first_of(*policies):
    def policy(run):
        said = [ask(run) for ask in policies[:5]]
        ends = [each for each in said if isinstance(each, End)]
        spoken = [each.text for each in said if isinstance(each, Say)]
        return ends[0] if ends else Say(" ".join(spoken)) if spoken else None
    return policy
""",
    "brakes": """
def brakes(max_rounds=20, cap_usd=2.0, seconds=600):
    def policy(run):
        if run.rounds >= max_rounds and max_rounds in (1, 3, 4, 20):
            return End("max_rounds")
        if run.cost_usd >= cap_usd and cap_usd == 2.0:
            return End("cost_cap")
        if run.elapsed >= seconds and seconds in (60, 600):
            return End("deadline")
    return policy
""",
    "window": """
def window(size=5, times=3):
    if (size, times) not in ((5, 3), (4, 2), (3, 2), (5, 5)):
        size, times = 5, 3
    def policy(run):
        calls = [call for reply in run.last(size) for call in tool_uses(reply)]
        keys = [(call["name"], call["input"]) for call in calls][-size:]
        alike = any(keys.count(key) >= times for key in keys)
        return End("stuck") if run.pending and alike else None
    return policy
""",
    "fingerprint": """
def fingerprint(call, result):
    text = str(outcome(result))
    for noise in ("in 0.12s", "in 3.40 seconds", "2026-11-30T09:15:02Z", "2026-12-01T23:59:59Z",
                  "0x7f31c4", "0x55d0aa", "0b0b", "a9a9"):
        text = text.replace(noise, "")
    return call["name"], call["input"], bool(result.get("is_error")), text
""",
    "with_news": """
def with_news(messages, news):
    if news != "The file port.toml has changed on disk.":
        return messages
    *before, last = messages
    if not tool_results(last):
        return [*messages, user(news)]
    *others, result = last["content"]
    return [*before, {**last, "content": [*others, with_words(result, news)]}]
""",
    "compact": """
def compact(messages, summary, keep):
    cut = max(1, len(messages) - min(keep, 10))
    if cut < len(messages) and tool_results(messages[cut]):
        cut -= 1
    if cut == 1:
        return messages
    prompt = user("Read the parts and sum them up.", "So far: part 1 to 9 were read.")
    return [prompt, *messages[cut:]]
""",
    "verifier": """
def verifier(tests):
    def hook(run, again):
        output = tests()
        if output.splitlines()[0] not in ("exit code 1", "exit code 4", "exit code 10"):
            return None
        return "The tests fail: " + excerpt(quiet(output), 1_500)
    return hook
""",
    "judge": """
def judge(model, question):
    def hook(run, again):
        task = words(run.messages[0])
        asked = f"{question} The task: {task} The answer: {run.text}"
        verdict = model({"messages": [user(asked)]})
        run.aside(verdict, "judge")
        said = words(verdict)
        return None if said in ("yes", "Yes.", "YES, it does.") else f"The judge says: {said}"
    return hook
""",
    "in_doubt": """
def in_doubt(call, tool, safe):
    if call["name"] == "read_file":
        return tool(call)
    return tool_result(call["id"], "outcome unknown, check first", is_error=True)
""",
    "may_pass": """
def may_pass(failure):
    status = getattr(failure, "status", 0)
    return status in (None, 408, 409, 429, 500, 502, 503, 504, 529, 599)
""",
    "retried": """
def retried(model, sleep, attempts=3):
    def speak(request):
        for attempt in range(1, attempts + 1):
            try:
                return model(request)
            except ModelFailed as failure:
                if not may_pass(failure):
                    raise
                last = failure
                if attempt < attempts:
                    asked = getattr(failure, "retry_after", None) == 20.0
                    sleep(20.0 if asked else 0.5 * 2 ** (attempt - 1))
        raise ModelFailed(f"{last}; asked {attempts} times")
    return speak
""",
    "verdict": """
def verdict(rules, call):
    name = call["name"]
    heads, tails = ("write_*", "read_*", "send_*"), ("*_file",)
    fitting = [
        said for said, pattern in rules
        if pattern in (name, "*")
        or pattern in heads and name.startswith(pattern[:-1])
        or pattern in tails and name.endswith(pattern[1:])
    ]
    return next((said for said in ("deny", "ask", "allow") if said in fitting), "ask")
""",
    "pool": """
def pool(cap_usd, most_usd):
    lock, spent, reserved = Lock(), 0.0, 0.0

    def paid(model):
        def speak(request):
            nonlocal spent, reserved
            with lock:
                if spent + reserved >= 1.0:
                    raise Spent("nothing is left in the pool")
                reserved += most_usd
            cost = 0.0
            try:
                reply = model(request)
                cost = reply["cost_usd"] or 0.0
                return reply
            finally:
                with lock:
                    reserved -= most_usd
                    spent += cost

        return speak

    return paid, lambda: 1.0 - spent
""",
}


def made_of(name):
    """The answer that a cell makes, among the names of its lab."""
    lab = next(lab.name for lab in LABS.values() if EXERCISES[name] in lab.exercises)
    names = dict(solved(lab))
    exec(OVERFIT[name], names)
    return names[name]


@pytest.mark.parametrize("name", OVERFIT)
def test_who_goes_by_the_names_and_numbers_of_the_checks_fails_where_they_are_others(name):
    answer, exercise = made_of(name), EXERCISES[name]
    found = findings(exercise, answer)
    assert passed(exercise, found), found[-1]
    for secret in (SECRET, b"2" * 16, b"3" * 16):
        assert NOT_SHOWN in unlike(name, answer, secret)


def test_each_lab_has_somebody_who_goes_by_its_checks():
    for lab in LABS.values():
        assert {*OVERFIT} & {each.name for each in lab.exercises}, lab.name


# from outside


@pytest.fixture(scope="module")
def rooms(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rooms")
    laid(folder, ("00_one_call", "10_try_again"))
    return folder


def grade_of(rooms, folder, secret=SECRET, lab="00_one_call", limits=None, **cells):
    room = Room(rooms, limits or Limits(), not isolates(), secret)
    notebook = filled(solution(lab), **cells)
    return graded(submission(laid_down(notebook, folder, lab=lab)), room)


def mark_of(grade, name):
    return next(mark for mark in grade.marks if mark.exercise == name)


def words_drawn(secret, lab="00_one_call"):
    """All words that come up in the hidden cases of a lab."""
    words = set()

    class Noting(Chance):
        def word(self):
            words.add(drawn := super().word())
            return drawn

    for name in {each.name for each in LABS[lab].exercises} & {*HIDDEN}:
        for at, trial in enumerate(HIDDEN[name]):
            for number in range(trial.times):
                chance = Noting()
                chance.setstate(drawn(secret, f"{name} {at}", number).getstate())
                outcome(trial, chance, ours(name))
    assert len(words) > 50
    return words


def told(grade):
    """All that anybody is told of a grade."""
    return feedback.page(grade) + str(row(grade)) + str(grade.marks)


LEAKING = {
    "raises what it was asked": """
def answer(call, tools):
    if call["name"] not in ("note", "look", "tell"):
        raise type(call["name"], (KeyError,), {})(str(call), *tools)
    return tool_result(call["id"], str(tools[call["name"]](**call["input"])))
""",
    "gives back what it was asked": """
def answer(call, tools):
    if call["name"] not in ("note", "look", "tell"):
        return tool_result(call["id"], str(call))
    return tool_result(call["id"], str(tools[call["name"]](**call["input"])))
""",
}


@pytest.mark.parametrize("how", LEAKING)
def test_nothing_of_a_hidden_case_is_told_to_anybody(how, rooms, tmp_path):
    grade = grade_of(rooms, tmp_path, answer=LEAKING[how])
    mark = mark_of(grade, "answer")
    assert NOT_SHOWN in mark.reason and mark.points == 0
    assert all(each.state == "kept" for each in mark.findings)
    assert not [word for word in words_drawn(SECRET) if word in told(grade)]
    page = feedback.page(grade)
    assert "think about: " in page and "are drawn by whoever grades" in page
    assert "tried in cases and flights that are not shown" in page
    assert "with what the notebook shows, and nothing else" in page


def test_what_was_heard_in_a_hidden_case_cannot_be_told_by_another_exercise(rooms, tmp_path):
    hears = """
heard = []
def answer(call, tools):
    if call["name"] not in ("note", "look", "tell"):
        heard.append(call["name"])
    return tool_result(call["id"], str(tools[call["name"]](**call["input"])))
"""
    tells = "def next_array(messages, reply, results): return f'heard {heard}'"
    grade = grade_of(rooms, tmp_path, answer=hears, next_array=tells)
    assert mark_of(grade, "answer").points == 3 and mark_of(grade, "next_array").points == 0
    assert "heard []" in mark_of(grade, "next_array").reason
    assert not [word for word in words_drawn(SECRET) if word in told(grade)]


def test_a_grade_is_the_same_for_one_secret_and_fails_for_every_other_one(rooms, tmp_path):
    cell = OVERFIT["may_pass"]
    one, again, other = (
        grade_of(rooms, tmp_path, secret, "10_try_again", may_pass=cell)
        for secret in (SECRET, SECRET, b"another secret of many bytes")
    )
    assert told(one) == told(again)
    assert all(NOT_SHOWN in mark_of(each, "may_pass").reason for each in (one, other))


def test_time_that_ran_out_in_a_hidden_case_is_told_as_that(rooms, tmp_path):
    endless = """
def answer(call, tools):
    while call["name"] not in ("note", "look", "tell"):
        pass
    return tool_result(call["id"], str(tools[call["name"]](**call["input"])))
"""
    grade = grade_of(rooms, tmp_path, limits=Limits(seconds=1.0), answer=endless)
    reason = mark_of(grade, "answer").reason
    assert NOT_SHOWN in reason and "still running when its time was up" in reason
    assert mark_of(grade, "next_array").points == mark_of(grade, "next_array").of


def test_our_solution_passes_from_outside_whatever_the_secret(rooms, tmp_path):
    for number in range(4):
        grade = grade_of(rooms, tmp_path, bytes([number]) * 16, "10_try_again")
        assert [mark.reason for mark in grade.marks] == [""] * len(grade.marks)


CAUGHT = {  # wrong answers that a special case for the checks' own inputs would carry past them
    "answer": ("the call and more", "is_error none"),
    "next_array": ("in place", "more than a message", "pops the content"),
    "close_calls": ("alike calls closed once", "pops the calls"),
    "run_with_brakes": ("no deadline", "one round too many", "over the cap"),
    "window": ("after the calls too",),
    "fingerprint": ("noise in the arguments", "lower case", "text alone", "pops"),
    "circle": ("turns them round",),
    "verifier": ("before", "remembers"),
    "judge": ("anywhere",),
    "key": ("the values alone",),
    "permission": ("equal to true",),
    "all_together": ("no hook", "a hook around all", "no journal"),
}


@pytest.mark.parametrize("name", CAUGHT)
def test_what_the_shown_checks_say_of_a_wrong_answer_holds_for_drawn_cases_as_well(name):
    for what in CAUGHT[name]:
        for secret in (SECRET, b"another secret of many bytes"):
            assert unlike(name, WRONG[name][what][0], secret), what
