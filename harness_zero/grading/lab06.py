"""Lab 06, the repetition detector: its exercises and what an answer to each one promises."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import count
from math import ceil
from typing import Any

from harness_zero import policy, repetition, rounds
from harness_zero.assembly import of_messages
from harness_zero.brief import brief, cut
from harness_zero.desk import Broken
from harness_zero.flight.fly import Flown, fly
from harness_zero.flight.pilots import with_detectors
from harness_zero.flight.place import POLLERS
from harness_zero.grading.diagnosis import (
    Case,
    every_call_is_answered_in_the_next_message,
    the_array_holds_what_the_model_said,
)
from harness_zero.grading.exercise import Exercise, Lab, Piece
from harness_zero.grading.lab05 import (
    after,
    asked_about,
    at_this_moment,
    expect_end,
    expect_silence,
    told,
)
from harness_zero.labels import End, Say
from harness_zero.loop import turn
from harness_zero.messages import (
    Block,
    Reply,
    reply,
    tool_result,
    tool_results,
    tool_use,
    tool_uses,
    with_words,
)
from harness_zero.ports import Policy
from harness_zero.run import Run
from harness_zero.stages import s5_repetition_detector as s5
from harness_zero.toolbox import toolbox
from harness_zero.view import plain
from harness_zero.watch import Recording

Window = Callable[..., Policy]
Fingerprint = Callable[[Block, Block], Any]
Circle = Callable[[list], tuple[int, int]]
Detector = Callable[..., Policy]


# ours, until a learner has written theirs


def fingerprint(call: Block, result: Block) -> Any:
    """What was asked for and what came back, without noise."""
    said = rounds.NOISE.sub("#", rounds.outcome(result))
    return call["name"], call["input"], bool(result.get("is_error")), said


def circle(keys: Sequence[Any]) -> tuple[int, int]:
    """How often the end of the keys went through one circle, and how long it is."""
    best = 0, 1
    for period in range(1, 1 + min(len(keys), 4)):
        lap, times = keys[-period:], 1
        while keys[-period * (times + 1) : -period * times] == lap:
            times += 1
        best = max(best, (times, period), key=lambda each: each[0])
    return best


def detector(pollers: Collection[str] = POLLERS) -> Policy:
    """The library's detector, which knows the poller of the flights."""
    return repetition.repetition(pollers=pollers)


# window


def made(answer: Callable[..., Any], *given: Any, **named: Any) -> Policy:
    """The policy that an answer makes, once it is one at all."""
    found = answer(*given, **named)
    if not callable(found):
        why = "it is called once, the policy that it gives back before every message"
        raise Broken("a policy back: a function of the run", told(found), why)
    return found


def looks(*names: str) -> list[Reply]:
    """Replies that each look at something."""
    numbers = count(1)
    return [reply(tool_use(f"c{next(numbers)}", "look", at=name)) for name in names]


ALIKE = "the same tool with the same arguments, three times among five calls"


def the_third_call_alike_is_stuck_before_it_is_made(window: Window) -> None:
    """Whether the three stand in a row or not."""
    late = (
        asked_about(made(window), after(*looks(*"AAA"))),
        asked_about(made(window), after(*looks(*"AAAA"))),
    )
    if late[0] is None and isinstance(late[1], End):
        why = "times=3: the third is the one that is too many"
        raise Broken("End('stuck') while the third A waits", "none until the fourth waits", why)
    for names in ("AAA", "BAAA", "ABABA", "ABCAA", "BCABAA"):
        when = f"while the last call of {' '.join(names)} waits"
        expect_end(made(window), after(*looks(*names)), "stuck", when, ALIKE)


def two_calls_alike_are_no_repetition(window: Window) -> None:
    """Nor is any number of calls that differ."""
    for names in ("A", "AA", "ABCDE", "ABAB", "AABBC"):
        when = f"while the last call of {' '.join(names)} waits"
        expect_silence(made(window), after(*looks(*names)), when, ALIKE)


def what_is_older_than_five_calls_is_forgotten(window: Window) -> None:
    """The window moves on."""
    for names in ("ABCDEAFA", "AABCDA", "AABCDEA"):
        when = f"while the last call of {' '.join(names)} waits"
        why = "only the last five calls are in the window"
        expect_silence(made(window), after(*looks(*names)), when, why)


def another_tool_or_another_argument_is_another_call(window: Window) -> None:
    """Tool and arguments, both."""
    page = [reply(tool_use(f"p{n}", "read_file", path="a", offset=n)) for n in range(5)]
    tool = [reply(tool_use(f"t{n}", name, path="a")) for n, name in enumerate(["cut", "read"] * 2)]
    why = "who reads page after page calls the same tool, and does not go in circles"
    expect_silence(made(window), after(*page), "for five pages of one file", why)
    expect_silence(made(window), after(*tool), "for two tools by turns, twice", ALIKE)


def arguments_in_another_order_are_the_same_call(window: Window) -> None:
    """A dict is known by its entries."""
    given = {"path": "a", "limit": 9}, {"limit": 9, "path": "a"}, {"path": "a", "limit": 9}
    run = after(*[reply(tool_use(f"o{n}", "read_file", **each)) for n, each in enumerate(given)])
    when = "for read_file(path, limit), read_file(limit, path), read_file(path, limit)"
    why = "two dicts with the same entries are equal; what is made of them as text may differ"
    expect_end(made(window), run, "stuck", when, why)


def all_calls_of_a_reply_are_in_the_window(window: Window) -> None:
    """A reply may make several, and more than a window holds."""
    three = reply(*[tool_use(f"c{n}", "look", at="A") for n in range(3)])
    when, why = "for three calls alike in one reply", "what counts are calls, and not replies"
    expect_end(made(window), after(three), "stuck", when, why)
    four = reply(*[tool_use(f"c{n}", "look", at=name) for n, name in enumerate("BCDE")])
    last = reply(*[tool_use(f"d{n}", "look", at="A") for n in range(3)])
    when = "for B C D E in one reply, then A A A in another"
    expect_end(made(window), after(four, last), "stuck", when, "the newest five are in the window")
    six = reply(*[tool_use(f"c{n}", "look", at=name) for n, name in enumerate("AABCDE")])
    again = reply(tool_use("d", "look", at="A"))
    why = "a window of five holds five calls, however they came"
    expect_silence(made(window), after(six, again), "for A A B C D E in one reply, then A", why)


def where_no_call_waits_it_has_nothing_to_hold(window: Window) -> None:
    """Nothing has been asked for yet, or the calls are made, or the model has answered."""
    why = "it holds between the asking and the running; else there is nothing to keep from running"
    expect_silence(made(window), Run("go", lambda: 0.0), "before the model has spoken", why)
    done = after(*looks(*"AAA"), answered=True)
    expect_silence(made(window), done, "after the calls were made", why)
    said = after(*looks(*"AAA"), reply("That is all."))
    expect_silence(made(window), said, "at an answer in words", why)


def the_next_message_of_the_user_empties_the_window(window: Window) -> None:
    """Who asks again wants it done again."""
    run = after(*looks(*"AA"), reply("done"))
    run.ask("Once more, please.")
    run.hear(looks("A")[0])
    why = "run.last(n) gives the replies of this turn; run.replies those of the whole run"
    expect_silence(made(window), run, "for a call that was made twice, in the turn before", why)


def size_and_times_are_its_arguments(window: Window) -> None:
    """So that one can try others."""
    why = "window(size, times): how many calls it looks at, and how many alike are too many"
    run = after(*looks(*"ABCA"))
    expect_end(made(window, 4, 2), run, "stuck", "for A B C A, with window(4, 2)", why)
    expect_silence(made(window, 3, 2), run, "for A B C A, with window(3, 2)", why)
    run = after(*looks(*"AAAA"))
    expect_silence(made(window, 5, 5), run, "for A A A A, with window(5, 5)", why)


def it_keeps_no_memory_of_its_own(window: Window) -> None:
    """Asked often, of one run or of several, it says what is true of the run that it is given."""
    given, fresh = made(window), after(*looks(*"A"))
    why = "it is asked more than once about the same moment; the run remembers, the policy reads"
    for _ in range(4):
        expect_silence(given, fresh, "however often it is asked of a run with one call", why)
    asked_about(given, after(*looks(*"AAA")))
    expect_silence(given, fresh, "of the run with one call, after it was asked of another", why)


# fingerprint


def pair(said: Any, *, error: bool = False, id: str = "a", **input: Any) -> tuple[Block, Block]:
    """A call of a tool, and what came back for it."""
    call = tool_use(id, "run", **(input or {"tests": "all"}))
    result = tool_result(id, "", is_error=error)
    return call, {**result, "content": said}


def expect_same(answer: Fingerprint, one: tuple, other: tuple, why: str) -> None:
    """Two pairs of a call and its result must have the same fingerprint."""
    marks = mark(answer, one), mark(answer, other)
    if marks[0] != marks[1]:
        said = shown(one), shown(other)
        raise Broken(f"one fingerprint of {said[0]} and {said[1]}", f"{differing(*marks)}", why)


def expect_other(answer: Fingerprint, one: tuple, other: tuple, why: str) -> None:
    """Two pairs of a call and its result must have different fingerprints."""
    marks = mark(answer, one), mark(answer, other)
    if marks[0] == marks[1]:
        said = shown(one), shown(other)
        got = f"the same: {brief(marks[0], 160)}"
        raise Broken(f"two fingerprints of {said[0]} and {said[1]}", got, why)


def mark(answer: Fingerprint, given: tuple[Block, Block]) -> Any:
    """The fingerprint of a pair, which has to be as it was afterwards."""
    before = deepcopy(given)
    found = answer(*given)
    if given != before:
        why = "call and result stand in the run's own array; who reads does not write"
        raise Broken("call and result to stay as they were", brief(given, 200), why)
    if found is None:
        raise Broken("something that can be compared", "None", "None is equal to every other None")
    return found


def shown(given: tuple[Block, Block]) -> str:
    """A call and its result, as one would write them."""
    call, result = given
    asked = ", ".join(f"{name}={value!r}" for name, value in call["input"].items())
    failed = " (an error)" if result.get("is_error") else ""
    return f"{call['name']}({asked}) -> {brief(result['content'], 60)}{failed}"


def differing(one: Any, other: Any) -> str:
    """Two fingerprints that differ."""
    return f"{brief(one, 120)} and {brief(other, 120)}"


def the_same_call_with_the_same_result_is_known_again(answer: Fingerprint) -> None:
    """Whatever its id is."""
    why = "every call has an id of its own; with it in the key nothing ever repeats"
    expect_same(answer, pair("1 failed", id="a"), pair("1 failed", id="b"), why)


def what_came_back_belongs_to_it(answer: Fingerprint) -> None:
    """Another result is news, also where only a number differs."""
    why = "edit, test, edit, test: the call is the same, and what came back is the progress"
    expect_other(answer, pair("3 failed"), pair("2 failed"), why)
    why = "a build that tells how far it is moves on"
    expect_other(answer, pair("running: part 4"), pair("running: part 5"), why)


def what_was_asked_for_belongs_to_it(answer: Fingerprint) -> None:
    """The tool, and all arguments."""
    why = "ten edits that are each answered with ok are ten edits"
    expect_other(answer, pair("ok", path="a", new="1"), pair("ok", path="a", new="2"), why)
    call, result = pair("ok")
    expect_other(answer, (call, result), ({**call, "name": "lint"}, result), why)
    why = "what was asked for was meant: NOISE is for what came back, never for the arguments"
    expect_other(answer, pair("ok", since="0.41s"), pair("ok", since="3.40s"), why)
    why = "a name in capitals is another name, for a file and in a result"
    expect_other(answer, pair("ok", path="A"), pair("ok", path="a"), why)
    expect_other(answer, pair("no file A"), pair("no file a"), why)


def the_order_of_the_arguments_means_nothing(answer: Fingerprint) -> None:
    """Two dicts with the same entries are the same arguments."""
    why = "the same arguments, written in another order"
    expect_same(answer, pair("ok", path="a", new="1"), pair("ok", new="1", path="a"), why)


NOISY = (
    ("a duration", "1 failed in 0.12s", "1 failed in 3.40 seconds"),
    ("a date and a time", "2026-11-30T09:15:02Z no route", "2026-12-01T23:59:59Z no route"),
    ("an id", f"request {'0b' * 4}-{'1c' * 2}-{'2d' * 2}-{'3e' * 2}-{'4f' * 6} refused", ""),
    ("an address", "<Cache at 0x7f31c4> is empty", "<Cache at 0x55d0aa> is empty"),
)


def noise_does_not_belong_to_it(answer: Fingerprint) -> None:
    """Durations, times, ids, addresses."""
    for what, one, other in NOISY:
        then = other or one.replace("0b0b", "a9a9")
        why = f"{what} is new each time and tells nothing: noise"
        expect_same(answer, pair(one), pair(then), why)


def an_error_is_told_from_a_result_that_says_the_same(answer: Fingerprint) -> None:
    """The mark counts, and where it is missing that is no error."""
    why = "is_error says whether the tool failed, or only speaks of a failure"
    expect_other(answer, pair("not found"), pair("not found", error=True), why)
    call, result = pair("not found")
    result = {name: value for name, value in result.items() if name != "is_error"}
    spelt = {**result, "is_error": False}
    expect_same(answer, (call, result), (call, spelt), "without is_error a result is no error")


def what_a_detector_said_after_it_does_not_belong_to_it(answer: Fingerprint) -> None:
    """Advice stands in the result; what the tool said is as it was."""
    call, result = pair("1 failed")
    advised = with_words(result, "Nothing new: try another way.")
    why = "with our own advice in the key, whoever is advised begins at one again: outcome(result)"
    expect_same(answer, (call, result), (call, advised), why)


def a_result_may_be_a_list_of_blocks(answer: Fingerprint) -> None:
    """The API allows both."""
    blocks = [{"type": "text", "text": "1 failed"}]
    others = [{"type": "text", "text": "0 failed"}]
    expect_same(answer, pair(blocks), pair(deepcopy(blocks), id="b"), "the same blocks, twice")
    expect_other(answer, pair(blocks), pair(others), "the text in the blocks is what was said")


# circle


def expect_circle(answer: Circle, keys: Iterable[Any], times: int, period: int, why: str) -> None:
    """So many times around a circle of so many keys."""
    given = [*keys]
    before = deepcopy(given)
    found = answer(given)
    if given != before:
        raise Broken("the list of keys to stay as it was", brief(given, 120), "who reads, reads")
    if not isinstance(found, tuple | list) or len(found) != 2:
        why = "both are needed: how often it was gone through says how serious it is"
        raise Broken("a pair: how many times, and of how many keys", brief(found, 120), why)
    if tuple(found) != (times, period):
        why = slip(tuple(found), times, period) or why
        names = " ".join(map(str, before)) or "no keys at all"
        got = f"{found[0]} times a circle of {found[1]}"
        raise Broken(f"{times} times a circle of {period} for {names}", got, why)


def slip(found: tuple, times: int, period: int) -> str:
    """What went wrong, where the pair itself tells; else nothing."""
    if found == (period, times) and times != period:
        return "the pair is turned round: first how many times, then of how many keys"
    if found[0] == times and found[1] > period:
        return "of two that are alike the shorter: take a new one only if its times is larger"
    if period == 4 and found == (1, 1):
        return "a circle may be of four keys, too: range(1, 5) ends with 4"
    return ""


LAST = "what counts is the end of the list: what the run is doing now"


def one_key_over_and_over_is_a_circle_of_one(answer: Circle) -> None:
    """Counted from the end."""
    for keys, times in (("AAA", 3), ("A" * 9, 9), ("BCAAA", 3), ("A", 1)):
        expect_circle(answer, keys, times, 1, LAST)


def what_is_over_is_no_circle(answer: Circle) -> None:
    """Whoever does something else has left it."""
    for keys in ("AAAAB", "ABABABC", "ABCDEFG", "AAAB"):
        expect_circle(answer, keys, 1, 1, LAST)


def two_three_or_four_by_turns_are_a_circle(answer: Circle) -> None:
    """It may begin anywhere."""
    why = "whoever does two things by turns never does one of them twice in a row"
    expect_circle(answer, "ABABAB", 3, 2, why)
    expect_circle(answer, "XYABABA", 2, 2, why)
    expect_circle(answer, "ABCABCABC", 3, 3, why)
    expect_circle(answer, "ZABCDABCDABCDABCD", 4, 4, why)
    expect_circle(answer, "AABAABAAB", 3, 3, why)


def only_whole_laps_count(answer: Circle) -> None:
    """A lap that is half gone through is none."""
    why = "from the end backwards: the last lap is whole, and so is each before it"
    expect_circle(answer, "BABAB", 2, 2, why)
    expect_circle(answer, "CABCABC", 2, 3, why)
    expect_circle(answer, "CDABCDABCD", 2, 4, why)


def the_circle_that_was_gone_through_most_often_counts(answer: Circle) -> None:
    """And of two alike the shorter."""
    why = "A A A A is four times A, and not two times A A"
    expect_circle(answer, "AAAA", 4, 1, why)
    expect_circle(answer, "ABABABAB", 4, 2, "four times A B, and not two times A B A B")
    why = "two times A, and two times X A A: of two that are alike the shorter"
    expect_circle(answer, "XAAXAA", 2, 1, why)
    expect_circle(answer, "XAAXAAXAA", 3, 3, "three times X A A, and only two times A")


def a_circle_of_five_is_none(answer: Circle) -> None:
    """Four is the longest that is looked for."""
    why = "the longer a circle may be, the more often work looks like one; here it ends at four"
    expect_circle(answer, "ABCDE" * 3, 1, 1, why)


def without_keys_nothing_was_gone_through(answer: Circle) -> None:
    """A detector is asked before the first call, too."""
    expect_circle(answer, "", 0, 1, "no key, no lap: (0, 1)")


def keys_are_compared_and_nothing_else(answer: Circle) -> None:
    """They may be lists, or dicts."""
    keys = [[("look", {"at": n % 2}, False, "dark")] for n in range(6)]
    expect_circle(answer, keys, 3, 2, "a fingerprint holds a dict, so it can only be compared")


# the learner's own detector

WORDS = "Nothing new: "
Asked = tuple[str, dict[str, Any]]
LOOK: Asked = ("look", {"at": "A"})
TESTS: Asked = ("run_tests", {})

Does = Callable[[int], list[tuple[Asked, str]]]  # in the n-th round: calls, and what comes back


@dataclass
class Played:
    """What a detector said to a run: its words and its end, each with the round."""

    words: list[tuple[int, str]]
    end: tuple[int, End] | None
    run: Run

    def spoke(self, since: int = 1) -> list[int]:
        """The rounds in which it spoke."""
        return [at for at, _ in self.words if at >= since]

    @property
    def ended(self) -> int:
        """The round in which it ended the turn; 0 if it did not."""
        return self.end[0] if self.end else 0

    def in_words(self) -> str:
        """What became of it."""
        at = ", ".join(map(str, self.spoke()[:5])) + " and more" * (len(self.words) > 5)
        spoke = f"words in round {at}" if self.words else "no word"
        return f"{spoke}; {f'an end in round {self.ended}' if self.end else 'no end'}"


def play(given: Policy, does: Does, rounds: int = 60, run: Run | None = None) -> Played:
    """Play a run through the loop, in which all that comes back is known, and listen."""
    played = Played([], None, run or Run("go", clock=lambda: 0.0))
    results: dict[str, str] = {}

    @policy.brake
    def listening(run: Run) -> Say | End | None:
        word = asked_about(given, run)
        if isinstance(word, End):
            played.end = run.rounds, word
        elif isinstance(word, Say):
            played.words.append((run.rounds, str(word.text)))
        elif word is not None:
            why = "a policy gives back Say(words), End(label, why), or None"
            raise Broken("None, a Say or an End", told(word), why, at_this_moment(run))
        return word

    def model(request: Any) -> Reply:
        number = played.run.rounds + 1
        blocks = []
        for at, ((name, input), came) in enumerate(does(number)):
            blocks.append(tool_use(f"r{len(played.run.replies)}c{at}", name, **input))
            results[blocks[-1]["id"]] = came
        return reply(f"Round {number}: let me see.", *blocks) if blocks else reply("Done.")

    def tool(call: Block) -> Block:
        return tool_result(call["id"], results[call["id"]])

    stop = policy.first_of(policy.structural_stop, policy.max_rounds(rounds), listening)
    turn(played.run, stop, plain(), model, tool)
    return played


def again(*steps: tuple[Asked, str]) -> Does:
    """The same steps by turns, over and over."""
    return lambda n: [steps[(n - 1) % len(steps)]]


def later(does: Does) -> Does:
    """Three rounds of other work, and then this."""
    return lambda n: [edit(100 + n)] if n <= 3 else does(n - 3)


def edit(number: int) -> tuple[Asked, str]:
    """An edit that differs from all others, and is done."""
    return ("edit", {"path": "auth.py", "new": f"try {number}"}), "ok"


def monday(n: int) -> list[tuple[Asked, str]]:
    """Test and edit by turns, one failure less each time."""
    if n > 16:
        return []
    return [(TESTS, f"{8 - n // 2} failed in 0.{n}s")] if n % 2 else [edit(n)]


def wednesday(n: int) -> list[tuple[Asked, str]]:
    """Test and edit by turns, always another edit, and the same failure."""
    return [(TESTS, f"1 failed in 0.{n + 10}s")] if n % 2 else [edit(n)]


def pages(n: int) -> list[tuple[Asked, str]]:
    """The same call, and each time another page."""
    return [(("next_page", {}), f"page {n}: names")] if n <= 30 else []


def files(n: int) -> list[tuple[Asked, str]]:
    """Another file each time, and each is ok."""
    return [(("write_file", {"path": f"{n}.txt", "text": "x"}), "ok")] if n <= 30 else []


def beside(n: int) -> list[tuple[Asked, str]]:
    """The same file read along with each edit."""
    return [(LOOK, "dark"), edit(n)] if n <= 30 else []


def waiting(n: int) -> list[tuple[Asked, str]]:
    """A build that only says that it is running."""
    return [((POLLERS[0], {}), json.dumps({"state": "running"}))] if n <= 30 else []


def looking_while_waiting(n: int) -> list[tuple[Asked, str]]:
    """The same, beside a look at something else."""
    return [(LOOK, "dark"), *waiting(n)] if n <= 30 else []


def expect_no_word(played: Played, what: str, why: str) -> None:
    """Neither words nor an end."""
    if played.words or played.end:
        raise Broken(f"no word to {what}", played.in_words(), why, played.run.messages)


TIME = 4  # rounds that a model is given to heed a word


def expect_stop(played: Played, what: str, soonest: int, latest: int, why: str) -> None:
    """One word, some rounds in which to heed it, and then the end."""
    array, spoke = played.run.messages, played.spoke()
    ending = played.end[1].label if played.end else "stuck"
    if ending != "stuck":
        got = f"the label {cut(str(ending), 60)}"
        raise Broken("the label stuck", got, "the label says what was seen", array)
    if not soonest <= played.ended <= latest:
        expected = f"an end in round {soonest} to {latest} of {what}"
        raise Broken(expected, played.in_words(), why, array)
    if not spoke or spoke[0] > played.ended - TIME:
        expected = f"words {TIME} rounds before the end of {what}, or earlier"
        why = "advice comes first, and whoever is advised has to be given time to heed it"
        raise Broken(expected, played.in_words(), why, array)
    if len(spoke) > 1:
        expected = f"one word about {what}, as long as nothing else is done"
        why = "who says it in every round is not heard any more; told_since(run, rounds) knows it"
        raise Broken(expected, played.in_words(), why, array)


def where_something_new_comes_back_it_is_silent(answer: Detector) -> None:
    """Work that looks the same from outside."""
    for does, what, why in (
        (monday, "test, edit, test, edit, with fewer failures each time", "that is progress"),
        (pages, "the same call with another page each time", "what came back is new"),
        (files, "30 different files, each written and ok", "what was asked for is new"),
        (beside, "30 different edits, the same file read along each time", "one call is new"),
    ):
        expect_no_word(play(made(answer), does), what, why)


def the_same_over_and_over_is_stopped(answer: Detector) -> None:
    """Not before the ninth round, since some look eight times; not after the twentieth."""
    why = "some look eight times whether something has changed, and then go on"
    played = play(made(answer), again((LOOK, "dark")))
    expect_stop(played, "the same call with the same result", 9, 20, why)


def words_come_before_a_stop(answer: Detector) -> None:
    """Once, early, and in words that `outcome` knows."""
    played = play(made(answer), again((LOOK, "dark")))
    spoke, what = played.spoke(), "the same call with the same result"
    if not spoke or not 2 <= spoke[0] <= 8:
        expected = f"words in round 2 to 8 of {what}"
        why = "words are cheap, and a wrong stop costs the goal: advice comes first"
        raise Broken(expected, played.in_words(), why, played.run.messages)
    if not played.words[0][1].startswith(WORDS):
        expected, got = f"words that begin with {WORDS!r}", repr(cut(played.words[0][1], 80))
        why = "by that outcome(result) knows them from what the tool said; else they are news"
        raise Broken(expected, got, why, played.run.messages)


def noise_hides_nothing(answer: Detector) -> None:
    """How long it took is no news."""
    played = play(made(answer), later(lambda n: [(TESTS, f"1 failed in 0.{n + 10}s")]))
    why = "how long the tests took is noise; and the model's words are no part of it either"
    what = "three edits, then the same test, which tells how long it took"
    expect_stop(played, what, 12, 23, why)


def circles_of_two_three_and_four_are_stopped(answer: Detector) -> None:
    """Not before the fourth lap is done, and within fifty rounds."""
    for names in ("AB", "ABC", "ABCD"):
        steps = [(("look", {"at": name}), f"dark in {name}") for name in names]
        played = play(made(answer), again(*steps))
        what, why = (
            f"{' '.join(names)} by turns",
            "no call comes twice in a row, and nothing is new",
        )
        expect_stop(played, what, 4 * len(names), 50, why)


def wednesday_is_stopped_whatever_is_edited(answer: Detector) -> None:
    """Not before the eighth test: an edit may always be the right one."""
    played = play(made(answer), wednesday)
    why = "the edits differ, so no circle closes; what comes again is the test and its result"
    expect_stop(played, "test, another edit, the same failure", 15, 40, why)


def who_waits_is_not_stopped(answer: Detector) -> None:
    """The poller of the flights says "running" thirty times, alone and beside another call."""
    for does, what in (
        (waiting, f"{POLLERS[0]} says that it is running"),
        (looking_while_waiting, f"{POLLERS[0]} and another call in each reply say the same"),
    ):
        played = play(made(answer), does)
        if played.end:
            why = "to wait is to ask the same again; which tools are asked for that one has to be"
            why += " told"
            expected = f"no end while {what}, 30 times"
            raise Broken(expected, played.in_words(), why, played.run.messages)


def a_poll_long_ago_excuses_nothing(answer: Detector) -> None:
    """One poll, and then the same look over and over."""
    played = play(made(answer), lambda n: waiting(n) if n == 1 else [(LOOK, "dark")])
    why = "nobody waits any more: what excuses a run is a poller in its newest round"
    expect_stop(played, f"{POLLERS[0]} once, then always the same look", 10, 21, why)


def pollers_is_its_argument(answer: Detector) -> None:
    """Other tools may be asked in order to wait, and then only these."""
    name = "wait"
    told = "the tools that wait are an argument: repetition(pollers=(...)) has to heed it"
    try:
        given = made(answer, pollers=(name,))
    except TypeError as error:
        if "pollers" not in str(error) and "argument" not in str(error):
            raise
        raise Broken("a parameter pollers", str(error), told) from None
    played = play(given, lambda n: [((name, {}), "running")] if n <= 30 else [])
    if played.end:
        expected = f"no end while {name} says the same 30 times, with pollers=({name!r},)"
        raise Broken(expected, played.in_words(), told, played.run.messages)
    played = play(given, waiting)
    if not played.end:
        expected = f"an end for {POLLERS[0]}, 30 times the same, with pollers=({name!r},)"
        raise Broken(expected, played.in_words(), told, played.run.messages)


def another_repetition_gets_a_word_of_its_own(answer: Detector) -> None:
    """What was said of the first is no warning for the second."""
    for second, what in ((again((("listen", {}), "silence")), "listen"), (wednesday, "the tests")):

        def does(n: int, second: Does = second) -> list[tuple[Asked, str]]:
            return [(LOOK, "dark")] if n <= 6 else second(n - 6)

        played = play(made(answer), does)
        if not [at for at in played.spoke(since=8) if at < (played.ended or 99)]:
            expected = f"words also about {what}, from round 7 on, before it is stopped"
            why = "the model heeded the first word: it does something else now"
            raise Broken(expected, played.in_words(), why, played.run.messages)


def the_next_message_of_the_user_begins_anew(answer: Detector) -> None:
    """Six rounds, an answer, and the user wants it again."""
    given = made(answer)
    run = play(given, lambda n: [(LOOK, "dark")] if n <= 6 else []).run
    run.ask("Look again, please.")
    played = play(given, lambda n: [(LOOK, "dark")] if n <= 6 else [], run=run)
    if played.end:
        why = "run.last(n) gives the replies of this turn; what was before is another story"
        raise Broken("no end in six rounds of a new turn", played.in_words(), why, run.messages)


def it_remembers_nothing_but_what_the_run_says(answer: Detector) -> None:
    """One policy, asked of several runs."""
    given = made(answer)
    first = play(given, again((LOOK, "dark")))
    expect_no_word(play(given, monday), "a healthy run after a stuck one", "the run remembers")
    then = play(given, again((LOOK, "dark")))
    why = "the policy reads, the run remembers: then a resumed run is judged like any other"
    if then.ended != first.ended:
        expected = f"the same end as in the first run, in round {first.ended}"
        raise Broken(expected, f"round {then.ended}", why)
    if then.spoke() != first.spoke():
        expected = f"the same as in the first run: {first.in_words()}"
        raise Broken(expected, f"in a second one that is its like: {then.in_words()}", why)


UNSEEN = tuple(
    f"{persona}/{world}/calm#{seed}"
    for first in (900, 1200)
    for seed, (persona, world) in enumerate(
        (
            (persona, world)
            for persona in (
                "diligent",
                "double-checking",
                "polling",
                "stubborn",
                "alternating",
                "spending",
            )
            for world in (
                "login-bug",
                "murky-bug",
                "build",
                "many-pages",
                "shelves",
                "lost-config",
            )
        ),
        first,
    )
)


@dataclass(frozen=True)
class Score:
    """What a detector is worth in the flights: goals kept, and rounds wasted a flight."""

    goals: int
    wasted: float

    def __str__(self) -> str:
        return f"{self.goals} goals, {self.wasted:.1f} rounds wasted a flight"


LIMIT_ALONE = Score(54, 13.9)  # 50 rounds and no detector, in the same flights; a test flies them
WINDOW = Score(22, 2.9)  # and with a window of five
KEPT, WASTED = 0.95, 0.7  # of what the limit alone keeps, and of what it wastes


def scored(flown: Flown) -> Score:
    """The score of some flights."""
    wasted = sum(each.wasted for each in flown) / len(flown)
    return Score(sum(each.reached for each in flown), round(wasted, 1))


def in_flights_it_has_not_seen_it_keeps_the_goals_and_saves_rounds(answer: Detector) -> None:
    """72 flights under a limit of 50 rounds, in which nothing is broken on purpose."""
    flown = fly(with_detectors(policy.brake(made(answer)), name="yours"), UNSEEN)
    crashed = next((each for each in flown if each.kind == "crashed"), None)
    if crashed:
        raise Broken(
            "no crash", str(crashed).replace("\n ", ";"), "a policy that raises ends a run"
        )
    score = scored(flown)
    least, most = ceil(KEPT * LIMIT_ALONE.goals), WASTED * LIMIT_ALONE.wasted
    if score.goals < least or score.wasted > most:
        expected = f"{least} goals or more, {most:.1f} rounds wasted a flight or fewer"
        lost = next((each for each in flown if each.kind in TOO_EARLY), None)
        why = f"the limit alone: {LIMIT_ALONE}; a window of five: {WINDOW}"
        why += f"; one that yours lost: {lost.flight}" if lost and score.goals < least else ""
        raise Broken(expected, str(score), why)


TOO_EARLY = ("stopped too early", "gave up too early")


# a diagnosis: a false alarm


def the_same_call_brings_the_same_result_but_for_noise(run: Recording) -> int | None:
    """Whatever a detector that reads arguments alone takes for granted."""
    known: dict[str, str] = {}
    for at, message in enumerate(run.messages):
        calls = tool_uses(run.messages[at - 1]) if at else []
        for call, result in zip(calls, tool_results(message), strict=False):
            if "not executed" in str(result["content"]):
                continue
            key = json.dumps([call["name"], call["input"]], sort_keys=True)
            came = rounds.NOISE.sub("#", rounds.outcome(result))
            if known.setdefault(key, came) != came:
                return at
    return None


def no_call_that_was_made_fails(run: Recording) -> int | None:
    """No result is marked as an error, but for calls that were not made."""
    for at, message in enumerate(run.messages):
        for result in tool_results(message):
            if result.get("is_error") and "not executed" not in str(result["content"]):
                return at
    return None


def no_edit_is_made_twice(run: Recording) -> int | None:
    """Each one is new."""
    made: list[dict[str, Any]] = []
    for at, message in enumerate(run.messages):
        for call in tool_uses(message):
            if call["name"] == "edit" and call["input"] in made:
                return at
            made.append(call["input"]) if call["name"] == "edit" else None
    return None


def false_alarm() -> Recording:
    """A healthy fix, stopped by a detector that reads tools and arguments alone."""
    said = iter(
        ["3 failed in 0.41s", "3 failed in 0.38s", "2 failed in 0.40s", "0 failed in 0.39s"]
    )
    tools: dict[str, Callable] = {
        "read_file": lambda path: "def total(cart): ...",
        "edit": lambda path, old, new: "ok",
        "run_tests": lambda: next(said),
    }

    edits = count(1)

    def change(old: str, new: str) -> Block:
        return tool_use(f"e{next(edits)}", "edit", path="cart.py", old=old, new=new)

    replies = iter(
        [
            reply(tool_use("t1", "run_tests")),
            reply(tool_use("r1", "read_file", path="cart.py")),
            reply("The rounding, perhaps.", change("int(x)", "round(x)")),
            reply(tool_use("t2", "run_tests")),
            reply("Then the tax.", change("tax", "tax / 100")),
            reply(tool_use("t3", "run_tests")),
            reply("One less. And the discount.", change("sum(", "discounted(")),
            reply(tool_use("t4", "run_tests")),
        ]
    )
    run = Run("The tests of the cart fail. Fix it.", clock=lambda: 0.0)
    detector = s5.repetition(window=9, times=4)
    policies = policy.first_of(policy.structural_stop, policy.max_rounds(20), detector)
    turn(run, policies, plain(), of_messages(lambda messages: next(replies)), toolbox(tools))
    return Recording(run.messages, run.replies, run.label, run.why)


FALSE_ALARM_CASE = Case(
    false_alarm,
    {
        "a": no_call_that_was_made_fails,
        "b": every_call_is_answered_in_the_next_message,
        "c": no_edit_is_made_twice,
        "d": the_same_call_brings_the_same_result_but_for_noise,
        "e": the_array_holds_what_the_model_said,
    },
    whys={"a": "the last call was not made: what stands in message 16 is the detector's doing"},
)


WINDOW_OF_FIVE = Exercise(
    name="window",
    title="A window of five",
    minutes=10,
    difficulty="easy",
    lines=7,
    points=3,
    objectives=(1, 3),
    takes="window(size=5, times=3)",
    promises=(
        it_keeps_no_memory_of_its_own,
        the_third_call_alike_is_stuck_before_it_is_made,
        another_tool_or_another_argument_is_another_call,
        arguments_in_another_order_are_the_same_call,
        two_calls_alike_are_no_repetition,
        what_is_older_than_five_calls_is_forgotten,
        all_calls_of_a_reply_are_in_the_window,
        where_no_call_waits_it_has_nothing_to_hold,
        the_next_message_of_the_user_empties_the_window,
        size_and_times_are_its_arguments,
    ),
    piece=Piece("repetition", borrowed=lambda: s5.repetition),
)

FALSE_ALARM = Exercise(
    name="false_alarm",
    title="A false alarm",
    minutes=5,
    difficulty="medium",
    lines=1,
    points=2,
    objectives=(1,),
    takes="false_alarm()",
    promises=FALSE_ALARM_CASE.promises(),
    case=FALSE_ALARM_CASE,
)

FINGERPRINT = Exercise(
    name="fingerprint",
    title="What belongs in the key",
    minutes=5,
    difficulty="easy",
    lines=3,
    points=3,
    objectives=(3,),
    takes="fingerprint(call, result)",
    promises=(
        the_same_call_with_the_same_result_is_known_again,
        what_came_back_belongs_to_it,
        what_was_asked_for_belongs_to_it,
        the_order_of_the_arguments_means_nothing,
        noise_does_not_belong_to_it,
        an_error_is_told_from_a_result_that_says_the_same,
        what_a_detector_said_after_it_does_not_belong_to_it,
        a_result_may_be_a_list_of_blocks,
    ),
    piece=Piece("fingerprint", borrowed=lambda: fingerprint),
)

CIRCLE = Exercise(
    name="circle",
    title="Going in circles",
    minutes=15,
    difficulty="medium",
    lines=8,
    points=4,
    objectives=(3,),
    takes="circle(keys)",
    promises=(
        one_key_over_and_over_is_a_circle_of_one,
        what_is_over_is_no_circle,
        two_three_or_four_by_turns_are_a_circle,
        only_whole_laps_count,
        the_circle_that_was_gone_through_most_often_counts,
        a_circle_of_five_is_none,
        without_keys_nothing_was_gone_through,
        keys_are_compared_and_nothing_else,
    ),
    piece=Piece("circle", borrowed=lambda: circle),
)

DETECTOR = Exercise(
    name="repetition",
    title="A detector of your own",
    minutes=25,
    difficulty="hard",
    lines=16,
    points=8,
    objectives=(1, 3),
    takes="repetition()",
    promises=(
        where_something_new_comes_back_it_is_silent,
        words_come_before_a_stop,
        the_same_over_and_over_is_stopped,
        it_remembers_nothing_but_what_the_run_says,
        noise_hides_nothing,
        circles_of_two_three_and_four_are_stopped,
        wednesday_is_stopped_whatever_is_edited,
        who_waits_is_not_stopped,
        a_poll_long_ago_excuses_nothing,
        pollers_is_its_argument,
        another_repetition_gets_a_word_of_its_own,
        the_next_message_of_the_user_begins_anew,
        in_flights_it_has_not_seen_it_keeps_the_goals_and_saves_rounds,
    ),
    piece=Piece("repetition", borrowed=lambda: detector),
)

LAB = Lab(
    "06_repetition_detector",
    "The repetition detector",
    (WINDOW_OF_FIVE, FALSE_ALARM, FINGERPRINT, CIRCLE, DETECTOR),
)
