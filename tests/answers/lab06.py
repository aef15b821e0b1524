"""Answers to lab 06: right ones of several shapes, and what people get wrong."""

import json

from harness_zero.flight.place import POLLERS
from harness_zero.grading.lab06 import circle, fingerprint
from harness_zero.labels import End, Label, Say
from harness_zero.messages import tool_results, tool_uses
from harness_zero.policy import brake
from harness_zero.repetition import repetition
from harness_zero.rounds import NOISE, outcome
from harness_zero.stages import s5_repetition_detector as s5

# window


def window_backwards(size=5, times=3):
    def policy(run):
        calls = []
        for reply in run.backwards():
            for call in reversed(tool_uses(reply)):
                if len(calls) < size:
                    calls.append([call["name"], call["input"]])
        alike = max((calls.count(call) for call in calls), default=0)
        return End("stuck", "alike") if run.pending and alike >= times else None

    return policy


def window_of_strings(size=5, times=3):
    def policy(run):
        if run.pending == []:
            return None
        asked = [call for reply in run.last(size) for call in tool_uses(reply)]
        keys = [json.dumps([call["name"], call["input"]], sort_keys=True) for call in asked]
        counts = {key: keys[-size:].count(key) for key in keys[-size:]}
        return End(Label.STUCK) if times <= max(counts.values()) else None

    return policy


def window_of(keys=None, when=None, calls=None, end=None, fixed=None):
    """A window with one thing changed."""

    def window(size=5, times=3):
        size, times = fixed or (size, times)

        def policy(run):
            if not (when or (lambda run: run.pending))(run):
                return None
            asked = (calls or in_window)(run, size)
            found = [(keys or by_both)(call) for call in asked]
            if any(found.count(key) >= times for key in found):
                return (end or End)(*(() if end else ("stuck", "alike")))
            return None

        return policy

    return window


def in_window(run, size):
    return [call for reply in run.last(size) for call in tool_uses(reply)][-size:]


def by_both(call):
    return call["name"], call["input"]


def repr_of_both(call):
    return repr(by_both(call))


def in_a_row(size=5, times=3):
    def policy(run):
        keys = [by_both(call) for call in in_window(run, size)][-times:]
        alike = len(keys) == times and keys.count(keys[-1]) == times
        return End("stuck") if run.pending and alike else None

    return policy


def window_that_remembers(size=5, times=3):
    seen = []

    def policy(run):
        if not run.pending:
            return None
        seen.extend(by_both(call) for call in run.pending)
        recent = seen[-size:]
        return End("stuck") if any(recent.count(key) >= times for key in recent) else None

    return policy


# fingerprint


def fingerprint_as_text(call, result):
    error = "error" if result.get("is_error") else "ok"
    asked = json.dumps(call["input"], sort_keys=True)
    return f"{call['name']} {asked} {error} {NOISE.sub('#', outcome(result))}"


def fingerprint_as_dict(call, result):
    return {
        "asked": {"name": call["name"], "input": call["input"]},
        "failed": result.get("is_error", False) is True,
        "came": NOISE.sub("", outcome(result)),
    }


def marks(asked=by_both, came=None, failed=True):
    """A fingerprint with one thing changed."""

    def fingerprint(call, result):
        said = came(result) if came else NOISE.sub("#", outcome(result))
        error = (bool(result.get("is_error")),) if failed is True else ()
        return asked(call), said, *(error if failed is True else (failed or (lambda r: 0))(result),)

    return fingerprint


def fingerprint_that_pops(call, result):
    failed = result.pop("is_error", False)
    return call["name"], call["input"], failed, NOISE.sub("#", outcome(result))


# circle


def circle_by_steps(keys):
    found = []
    for period in (1, 2, 3, 4):
        same = 0
        while same + period < len(keys) and keys[-1 - same] == keys[-1 - same - period]:
            same += 1
        laps = (same + period) // period
        if len(keys) >= period:
            found.append((laps, -period))
    laps, period = max(found, default=(0, -1))
    return laps, -period


def circle_of_chunks(keys):
    best = [0, 1]
    for period in range(1, 5):
        chunks = [keys[at - period : at] for at in range(len(keys), period - 1, -period)]
        times = 0
        for chunk in chunks:
            if chunk != chunks[0]:
                break
            times += 1
        if times > best[0]:
            best = [times, period]
    return best


def circling(periods=range(1, 5), better=lambda times, best: times > best, start=(0, 1), lap=None):
    """A circle with one thing changed."""

    def circle(keys):
        best = start
        for period in periods:
            last, times = (lap or (lambda keys, period: keys[-period:]))(keys, period), 1
            while last and keys[-period * (times + 1) : -period * times] == last:
                times += 1
            if last and better(times, best[0]):
                best = times, period
        return best

    return circle


def circle_without_a_guard(keys):
    best = 0, 1
    for period in range(1, 5):
        lap, times = keys[-period:], 1
        while keys[-period * (times + 1) : -period * times] == lap:
            times += 1
        if times > best[0]:
            best = times, period
    return best


def circle_with_sets(keys):
    return (len(keys), 1) if len(set(keys)) == 1 else circle(keys)


def circle_counts_alike(keys):
    return (keys.count(keys[-1]), 1) if keys else (0, 1)


def circle_that_turns_them_round(keys):
    keys.reverse()
    return circle(keys[::-1])


# repetition


def rounds_of(run, most=40):
    late = [each for message in run.messages[-2 * most :] for each in tool_results(message)]
    came = {result["tool_use_id"]: result for result in late}
    asked = [[c for c in tool_uses(each) if c["id"] in came] for each in run.last(most)]
    return [[(call, came[call["id"]]) for call in calls] for calls in asked if calls]


def told_since(run, rounds):
    since = len(run.messages) - 2 * rounds
    return any(at > since and "Nothing new: " in words for at, words in run.spoken)


WORDS = "Nothing new: you have done this before, and the same came back."


def detecting(
    mark=fingerprint,
    circles=(3, 9),
    tries=(6, 12),
    pollers=POLLERS,
    words=WORDS,
    label="stuck",
    rounds=rounds_of,
    told=told_since,
    moment=lambda run: run.last_word is None,
    go_round=circle,
    excused=lambda found, pollers: waits(found[-1], pollers),
):
    """The worked answer, with one thing changed."""

    def repetition(pollers=pollers):
        def policy(run):
            found = rounds(run)
            if not moment(run) or not found:
                return None
            if excused(found, pollers):
                return None
            keys = [[mark(call, result) for call, result in each] for each in found]
            times, period = go_round(keys)
            count, since, (speak, stop) = times, times * period, circles
            if times < speak:
                count, since = keys.count(keys[-1]), len(keys) - keys.index(keys[-1])
                speak, stop = tries
            if count < speak:
                return None
            if words and not told(run, since):
                return Say(words)
            return End(label, "the same again") if count >= stop else None

        return policy

    return repetition


def waits(calls, pollers=POLLERS):
    return any(call["name"] in pollers for call, _ in calls)


def by_one_count(pollers=POLLERS):
    def policy(run):
        rounds = rounds_of(run)
        if run.last_word or not rounds or waits(rounds[-1], pollers):
            return None
        keys = [[fingerprint(*pair) for pair in each] for each in rounds]
        count = keys.count(keys[-1])
        if count >= 10 and told_since(run, len(keys) - keys.index(keys[-1])):
            return End(Label.STUCK, f"{count} times")
        told = told_since(run, len(keys) - keys.index(keys[-1]))
        return Say("Nothing new: again.") if 10 > count >= 5 and not told else None

    return policy


def the_librarys(pollers=POLLERS):
    return repetition(pollers=pollers)


def marked_and_patient(pollers=POLLERS):
    return brake(repetition(pollers=pollers, repeating=(4, 10), retrying=(5, 11)))


def with_the_thought(run, most=40):
    """The model's words in the key."""
    found = rounds_of(run, most)
    asked = [reply for reply in run.last(most) if tool_uses(reply)][: len(found)]
    return [
        [({**call, "input": {**call["input"], "thought": reply["content"][0]}}, result)]
        for reply, ((call, result), *_) in zip(asked, found, strict=False)
    ]


def of_all_turns(run, most=40):
    late = [each for message in run.messages for each in tool_results(message)]
    came = {result["tool_use_id"]: result for result in late}
    asked = [[c for c in tool_uses(each) if c["id"] in came] for each in run.replies[-most:]]
    return [[(call, came[call["id"]]) for call in calls] for calls in asked if calls]


def remembering():
    seen = []

    def policy(run):
        rounds = rounds_of(run)
        if run.last_word or not rounds or waits(rounds[-1]):
            return None
        seen.append([fingerprint(*pair) for pair in rounds[-1]])
        count = seen.count(seen[-1])
        if count >= 10:
            return End("stuck", "again")
        told = told_since(run, 40)
        return Say(WORDS) if count >= 5 and not told else None

    return policy


def and_a_limit(pollers=POLLERS):
    """The worked answer, and a limit that nobody asked for."""
    answer = detecting()(pollers)
    return lambda run: End("stuck", "long") if run.rounds > 31 else answer(run)


SLOW = ("poll_build", "read_file", "list_files")  # taken for pollers


def asked_while_the_next_call_waits(pollers=POLLERS):
    return detecting(moment=lambda run: bool(run.pending))(pollers)


def knows_one_poller(pollers=POLLERS):
    return detecting()()


def told_in_a_closure(pollers=POLLERS):
    """It says its word once, however many runs it is asked about."""
    told = []
    answer = detecting(told=lambda run, since: bool(told))(pollers)

    def policy(run):
        word = answer(run)
        told.extend([word] if isinstance(word, Say) else [])
        return word

    return policy


def diagnosed():
    return "d", 12


def diagnosed_aloud():
    return ["D", 12]


RIGHT = {
    "window": [s5.repetition, window_backwards, window_of_strings, window_of()],
    "false_alarm": [diagnosed, diagnosed_aloud, lambda: (" d", 12)],
    "fingerprint": [fingerprint, fingerprint_as_text, fingerprint_as_dict, marks()],
    "circle": [circle, circle_by_steps, circle_of_chunks, circling()],
    "repetition": [
        detecting(),
        by_one_count,
        the_librarys,
        marked_and_patient,
        asked_while_the_next_call_waits,
    ],
}

WRONG = {
    "window": {
        "as text": (window_of(keys=repr_of_both), "read_file(limit, path)"),
        "in a row": (in_a_row, "while the last call of A B A B A waits"),
        "the tool alone": (
            window_of(keys=lambda call: call["name"]),
            "for five pages of one file",
        ),
        "the arguments alone": (window_of(keys=lambda call: call["input"]), "two tools by turns"),
        "the id as well": (
            window_of(keys=lambda call: (call["id"], call["input"])),
            "End('stuck') while the last call of A A A waits",
        ),
        "five replies": (
            window_of(calls=lambda run, size: [c for r in run.last(size) for c in tool_uses(r)]),
            "however they came",
        ),
        "one call of a reply": (
            window_of(calls=lambda run, size: [tool_uses(r)[0] for r in run.last(size)]),
            "for three calls alike in one reply",
        ),
        "all that was ever called": (
            window_of(calls=lambda run, size: [c for r in run.last(99) for c in tool_uses(r)]),
            "only the last five calls",
        ),
        "all turns": (
            window_of(
                calls=lambda run, size: [c for r in run.replies for c in tool_uses(r)][-size:]
            ),
            "in the turn before",
        ),
        "after the calls too": (window_of(when=lambda run: True), "after the calls were made"),
        "where there is an answer": (
            window_of(when=lambda run: run.last_word),
            "at an answer in words",
        ),
        "always five and three": (window_of(fixed=(5, 3)), "with window(4, 2)"),
        "more than three": (
            lambda size=5, times=3: s5.repetition(size, times + 1),
            "none until the fourth waits",
        ),
        "says it": (window_of(end=lambda: Say("Again?")), "got:      Say('Again?')"),
        "another label": (window_of(end=lambda: End("max_rounds")), "the label max_rounds"),
        "remembers": (window_that_remembers, "however often it is asked"),
        "no policy": (lambda size=5, times=3: None, "a policy back: a function of the run"),
    },
    "false_alarm": {
        "no number": (lambda: "d", "a letter of a, b, c, d, e"),
        "an error": (lambda: ("a", 16), "a: no call that was made fails"),
        "not executed": (lambda: ("b", 16), "every call is answered"),
        "the edits": (lambda: ("c", 9), "no edit is made twice"),
        "what was said": (lambda: ("e", 16), "the array holds what the model said"),
        "noise": (lambda: ("d", 8), "look down"),
        "where it was stopped": (lambda: ("d", 16), "look further up"),
    },
    "fingerprint": {
        "no result": (lambda call, result: (call["name"], call["input"]), "3 failed"),
        "no arguments": (marks(asked=lambda call: call["name"]), "ten edits"),
        "no tool": (marks(asked=lambda call: call["input"]), "lint(tests='all')"),
        "the id": (marks(asked=lambda call: str(call)), "an id of its own"),
        "as it was written": (
            marks(asked=lambda call: (call["name"], str(call["input"]))),
            "order",
        ),
        "letter by letter": (marks(came=outcome), "a duration is new each time"),
        "no digits": (
            marks(came=lambda result: "".join(c for c in outcome(result) if not c.isdigit())),
            "what came back is the progress",
        ),
        "noise in the arguments": (
            marks(
                asked=lambda call: (
                    call["name"],
                    NOISE.sub("#", str(sorted(call["input"].items()))),
                )
            ),
            "never for the arguments",
        ),
        "lower case": (
            lambda call, result: fingerprint_as_text(call, result).strip().lower(),
            "a name in capitals",
        ),
        "no error": (marks(failed=None), "or only speaks of a failure"),
        "is_error as it stands": (
            marks(failed=lambda result: result.get("is_error")),
            "without is_error a result is no error",
        ),
        "advice": (
            marks(came=lambda result: NOISE.sub("#", str(result["content"]))),
            "with our own advice in the key",
        ),
        "pops": (fingerprint_that_pops, "call and result to stay"),
        "nothing": (lambda call, result: None, "equal to every other None"),
        "text alone": (
            marks(came=lambda result: NOISE.sub("#", result["content"].partition("\n\nNoth")[0])),
            "'list' object has no attribute",
        ),
    },
    "circle": {
        "of one": (circling(periods=(1,)), "3 times a circle of 2"),
        "up to three": (circling(periods=range(1, 4)), "range(1, 5) ends with 4"),
        "up to five": (circling(periods=range(1, 6)), "here it ends at four"),
        "the longest": (
            circling(better=lambda times, best: times >= best),
            "of two that are alike the shorter",
        ),
        "the first": (
            circling(better=lambda times, best: best < 2 and times > best),
            "only two times A",
        ),
        "no guard": (circle_without_a_guard, "an end"),
        "begins with one": (circling(start=(1, 1)), "0 times a circle of 1 for no keys"),
        "all alike": (circle_counts_alike, "got:      3 times a circle of 1"),
        "the beginning": (circling(lap=lambda keys, period: keys[:period]), "for B C A A A"),
        "a set": (circle_with_sets, "unhashable"),
        "turns them round": (circle_that_turns_them_round, "the list of keys to stay"),
        "a number": (lambda keys: circle(keys)[0], "a pair: how many times"),
        "the other way round": (lambda keys: circle(keys)[::-1], "the pair is turned round"),
    },
    "repetition": {
        "a window": (s5.repetition, "test, edit, test, edit"),
        "letter by letter": (detecting(mark=marks(came=outcome)), "which tells how long it took"),
        "no result": (detecting(mark=marks(came=lambda result: "")), "no word to test, edit"),
        "no arguments": (
            detecting(mark=marks(asked=lambda call: call["name"])),
            "words in round 12",
        ),
        "hasty": (detecting(circles=(3, 6)), "some look eight times"),
        "no words": (detecting(words=""), "advice comes first"),
        "words that are news": (detecting(words="You repeat yourself."), "begin with 'Nothing new"),
        "the same words again": (
            detecting(told=lambda run, since: since >= 9),
            "in round 3, 4, 5, 6, 7 and more",
        ),
        "words alone": (detecting(circles=(3, 99), tries=(6, 99)), "no end"),
        "the thought": (detecting(rounds=with_the_thought), "got:      no word; no end"),
        "circles alone": (detecting(tries=(99, 99)), "the edits differ"),
        "hasty on Wednesday": (detecting(tries=(3, 5)), "an end in round 15 to 40"),
        "no poller": (detecting(pollers=()), "which tools are asked for that"),
        "a poller alone": (
            detecting(
                excused=lambda found, pollers: {c["name"] for c, _ in found[-1]} <= {*pollers}
            ),
            "and another call in each reply",
        ),
        "a poll long ago": (
            detecting(excused=lambda found, pollers: any(waits(each, pollers) for each in found)),
            "nobody waits any more",
        ),
        "one poller by heart": (knows_one_poller, "with pollers=('wait',)"),
        "no parameter": (lambda: detecting()(), "a parameter pollers"),
        "a closure": (told_in_a_closure, "in a second one that is its like"),
        "warned once": (
            detecting(told=lambda run, since: bool(run.spoken)),
            "words also about listen",
        ),
        "all turns": (detecting(rounds=of_all_turns), "this turn"),
        "remembers": (remembering, "the same end as in the first run"),
        "another label": (detecting(label="max_rounds"), "the label says what was seen"),
        "no policy": (lambda: None, "a policy back: a function of the run"),
        "asked with nothing": (lambda: lambda: None, "positional argument"),
        "a slip": (lambda: lambda run: run.rounds.nothing, "has no attribute 'nothing'"),
        "a string": (lambda: lambda run: "stuck" if run.rounds > 8 else None, "None, a Say or an"),
        "a limit besides": (and_a_limit, "52 goals or more"),
        "late": (detecting(circles=(5, 10), tries=(12, 19), pollers=SLOW), "9.7 rounds wasted"),
    },
}
