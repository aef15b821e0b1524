"""Lab 10, try again: its exercises and what an answer to each one promises."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from harness_zero.brief import brief, plural
from harness_zero.desk import Broken, instead
from harness_zero.doubt import fingerprint
from harness_zero.grading.diagnosis import Case
from harness_zero.grading.exercise import Exercise, Lab, Piece
from harness_zero.grading.lab09 import numbered
from harness_zero.grading.surroundings import another_process
from harness_zero.loop import ModelFailed
from harness_zero.messages import Block, Reply, reply, tool_use, user
from harness_zero.ports import Model, Request
from harness_zero.retry import call_failed
from harness_zero.stages.retries import eager

MayPass = Callable[[Exception], bool]
Retried = Callable[..., Model]  # retried(model, sleep, attempts=3)
Key = Callable[[str, Block], str]  # key(run, call)
Once = Callable[..., Callable[..., Any]]  # once(effect, ledger) -> call(key, **input)
Line = dict[str, Any]


# ours, until a learner has written theirs


def pause(failure: Exception, attempt: int) -> float:
    """Seconds to wait after this attempt."""
    asked = getattr(failure, "retry_after", None)
    return 0.5 * 2 ** (attempt - 1) if asked is None else asked


def may_pass(failure: Exception) -> bool:
    """Whether it is worth asking again after this failure."""
    status = getattr(failure, "status", 0)
    return status is None or status in (408, 409, 429) or status >= 500


def retrying(may_pass: MayPass) -> Retried:
    """The wrapper that asks again after the failures that pass by this judgement."""

    def retried(model: Model, sleep: Callable[[float], Any], attempts: int = 3) -> Model:
        def speak(request: Request) -> Reply:
            for attempt in range(1, attempts + 1):
                try:
                    return model(request)
                except ModelFailed as failure:
                    if not may_pass(failure):
                        raise
                    last = failure
                if attempt < attempts:
                    sleep(pause(last, attempt))
            raise ModelFailed(f"{last}; asked {plural(attempts, 'time')}") from last

        return speak

    return retried


def key(run: str, call: Block) -> str:
    """A name for this effect, the same whenever the same call is made again."""
    return fingerprint([run, call["id"], call["input"]])


def once(effect: Callable[..., Any], ledger: dict[str, Any]) -> Callable[..., Any]:
    """The effect, made once for each key; asked again, it says what was said then."""

    def call(key: str, **input: Any) -> Any:
        if key not in ledger:
            ledger[key] = {"input": input, "answer": effect(**input)}
        elif ledger[key]["input"] != input:
            raise ValueError(f"the key {key} was given for {ledger[key]['input']}")
        return ledger[key]["answer"]

    return call


# may_pass


def expect_judged(answer: MayPass, failure: Exception, wanted: bool, what: str, why: str) -> None:
    """This failure must be judged so."""
    got = answer(failure)
    if got is not wanted:
        raise Broken(f"{wanted} for {what}", instead(got), why)


def statuses(answer: MayPass, which: Iterable[int], wanted: bool, why: str) -> None:
    """Failures with these statuses must be judged so."""
    for status in which:
        what = f"a failure with the status {status}"
        expect_judged(answer, call_failed("it failed", status), wanted, what, why)


def a_wrong_request_stays_wrong(answer: MayPass) -> None:
    """400 and its like are answers to what was sent."""
    why = "the same request gets the same answer: somebody has to change it first"
    statuses(answer, (400, 401, 402, 403, 404, 413, 422, 410, 499), False, why)


def a_server_that_is_busy_may_answer_later(answer: MayPass) -> None:
    """Too many requests, and whatever is the server's own trouble."""
    why = "that is the trouble of the moment, and no fault of the request"
    statuses(answer, (429, 500, 502, 503, 504, 529, 599), True, why)


def a_clash_and_a_timeout_may_pass(answer: MayPass) -> None:
    """Two statuses below 500 that are of the moment, too."""
    why = "408 is a request that took too long, 409 one that met another: of the moment, both"
    statuses(answer, (408, 409), True, why)


def no_answer_at_all_may_pass(answer: MayPass) -> None:
    """The connection broke."""
    what = "a failure with the status None"
    why = "no answer came, so the connection broke; the next one may hold"
    expect_judged(answer, call_failed("connection lost"), True, what, why)


def what_does_not_tell_is_not_asked_again(answer: MayPass) -> None:
    """Somebody nearer to the API has given it up, or nobody knows what it was."""
    why = "whoever raised it does not say what it was: an SDK, say, that has tried three times"
    what = "a failure without an attribute `status`"
    expect_judged(answer, ModelFailed("given up"), False, what, why)
    odd = call_failed("given up", 0)
    expect_judged(answer, odd, False, "a failure with the status 0", "0 is no status")


# retried


class Asked:
    """A model with a script; it notes what it was asked, and how long somebody slept."""

    def __init__(self, *script: Reply | BaseException) -> None:
        self.script, self.requests, self.sleeps = [*script], list[Any](), list[float]()

    def model(self, request: Request) -> Reply:
        """Say the next line, or fail as it says."""
        self.requests.append(request)
        if len(self.requests) > len(self.script):
            why = "the script is over: somebody asks again and does not stop"
            raise Broken(f"at most {plural(len(self.script), 'request')}", "one more", why)
        line = self.script[len(self.requests) - 1]
        if isinstance(line, BaseException):
            raise line
        return deepcopy(line)

    def sleep(self, seconds: float) -> None:
        """Sleep without sleeping."""
        self.sleeps.append(seconds)

    def wrapped(self, answer: Retried, *attempts: int) -> Model:
        """The wrapper around this model."""
        wrapped = answer(self.model, self.sleep, *attempts)
        if not callable(wrapped):
            raise Broken("a model back, to be called with a request", instead(wrapped), WRAPS)
        return wrapped


REQUEST: Request = {"messages": [user("Go.")]}
HELLO = reply("Hello.")
WRAPS = "a wrapper has the signature of what it wraps, so the loop knows nothing of it"


def busy(status: int | None = 529, retry_after: float | None = None) -> ModelFailed:
    """A failure that may pass."""
    return call_failed("the API is overloaded", status, retry_after)


def outcome(model: Model, request: Request = REQUEST) -> Any:
    """What a model gives back, or the failure that it raises."""
    try:
        got = model(deepcopy(request))
    except ModelFailed as failure:
        return failure
    refuse_unraised(got)
    return got


def refuse_unraised(got: Any) -> None:
    """An error that is given back stops nobody."""
    if isinstance(got, BaseException):
        why = "whoever called takes what comes back for an answer: `raise`, and not `return`"
        raise Broken("an error that is raised", f"one that is given back: {brief(got)}", why)


def expect_reply(got: Any, wanted: Reply, when: str, why: str) -> None:
    """A model must have given back this reply."""
    if got != wanted:
        raise Broken(f"the reply {wanted['content'][0]['text']!r} {when}", instead(got), why)


def expect_asked(asked: Asked, times: int, when: str, why: str) -> None:
    """The model must have been asked so often, with the same request each time."""
    if len(asked.requests) != times:
        got = plural(len(asked.requests), "request")
        raise Broken(f"{plural(times, 'request')} {when}", got, why)
    for each in asked.requests:
        if each != REQUEST:
            what = "the same request each time, as it was given"
            raise Broken(what, brief(each, 160), "it is that one that got no answer")


def expect_failed(got: Any, when: str, why: str) -> None:
    """A model must have failed with ModelFailed."""
    if not isinstance(got, ModelFailed):
        raise Broken(f"a ModelFailed {when}", instead(got), why)


def a_reply_is_handed_on(answer: Retried) -> None:
    """Where nothing fails, nothing is asked again."""
    asked = Asked(HELLO)
    got = outcome(asked.wrapped(answer))
    expect_reply(got, HELLO, "where the model answers at once", "that is what was asked for")
    expect_asked(asked, 1, "where the model answers at once", "there is no reason for another")
    if asked.sleeps:
        why = "whoever got an answer waits for nothing"
        raise Broken("no sleep where the model answers at once", f"{asked.sleeps}", why)


def a_failure_that_may_pass_is_asked_again(answer: Retried) -> None:
    """The same request, until it is answered."""
    for status in (529, 429, None):
        asked, when = Asked(busy(status), busy(status), HELLO), f"after two failures ({status})"
        got = outcome(asked.wrapped(answer))
        expect_reply(got, HELLO, when, "the third attempt was answered")
        expect_asked(asked, 3, when, "each failure is followed by one attempt more")


def a_failure_that_cannot_pass_is_raised_at_once(answer: Retried) -> None:
    """Unchanged, and without a wait."""
    for failure in (call_failed("wrong key", 401), ModelFailed("given up")):
        asked = Asked(failure, HELLO)
        got, when = outcome(asked.wrapped(answer)), f"where the model fails with {failure}"
        expect_asked(asked, 1, when, "may_pass says that it is not worth it")
        if got is not failure:
            why = "the failure says what is the matter, and nobody knows it better"
            raise Broken(f"that very failure {when}", instead(got), why)
        if asked.sleeps:
            raise Broken(f"no sleep {when}", f"{asked.sleeps}", "there is nothing to wait for")


def it_is_bounded(answer: Retried) -> None:
    """So many attempts in all, and then it fails."""
    for attempts in (3, 1, 5):
        asked, when = Asked(*[busy()] * attempts), f"with attempts={attempts}, and no answer"
        got = outcome(asked.wrapped(answer, attempts))
        expect_failed(got, when, "the loop has a label for a model that failed; it needs to know")
        expect_asked(asked, attempts, when, "`attempts` counts all of them, the first one too")
    asked = Asked(*[busy()] * 3)
    outcome(answer(asked.model, asked.sleep))
    expect_asked(asked, 3, "without `attempts`, and no answer", "three is what it is unless given")


def two_of_them_do_not_multiply(answer: Retried) -> None:
    """What this one gives up, another one around it does not begin anew."""
    asked = Asked(*[busy()] * 9)
    got = outcome(answer(asked.wrapped(answer), asked.sleep))
    expect_failed(got, "of one wrapper around the other", "it was asked often enough")
    why = "three times three: raise a new ModelFailed at the end, one that has no status"
    expect_asked(asked, 3, "of one wrapper around the other", why)
    if "overloaded" not in str(got):
        why = "what the last failure said has to be in the words of the new one"
        raise Broken("a failure that still says what was the matter", f"{got}", why)


def it_waits_longer_each_time(answer: Retried) -> None:
    """By `pause`, between two attempts."""
    asked = Asked(*[busy()] * 4)
    outcome(asked.wrapped(answer, 4))
    if asked.sleeps != [0.5, 1.0, 2.0]:
        why = "pause(failure, attempt) between two attempts, counted from 1; none after the last"
        raise Broken("sleeps of 0.5, 1 and 2 s in four attempts", f"{asked.sleeps}", why)


def it_waits_as_long_as_the_server_says(answer: Retried) -> None:
    """`retry_after` of the failure that was just met."""
    asked = Asked(busy(429, 20.0), busy(), HELLO)
    outcome(asked.wrapped(answer))
    if asked.sleeps != [20.0, 1.0]:
        what = "sleeps of 20 s, as the first failure asks for, and of 1 s"
        why = "pause takes the failure that was just met: this server says when it has room again"
        raise Broken(what, f"{asked.sleeps}", why)


def each_call_begins_anew(answer: Retried) -> None:
    """A wrapper is made once and called in every round."""
    asked = Asked(busy(), busy(), HELLO, busy(), busy(), HELLO)
    wrapped = asked.wrapped(answer)
    for number in (1, 2):
        why = "the attempts are those of a call; the next round has its own"
        expect_reply(outcome(wrapped), HELLO, f"in call {number} of the same wrapper", why)
    if asked.sleeps != [0.5, 1.0] * 2:
        raise Broken("sleeps of 0.5 and 1 s in each call", f"{asked.sleeps}", why)


def a_slip_in_the_program_is_not_asked_again(answer: Retried) -> None:
    """Only a model that failed is; whatever else is raised passes."""
    for slip in (KeyError("messages"), KeyboardInterrupt()):
        asked, kind = Asked(slip, HELLO), type(slip).__name__
        wrapped, why = asked.wrapped(answer), "catch ModelFailed and nothing wider"
        try:
            got = wrapped(deepcopy(REQUEST))
        except BaseException as raised:
            if raised is not slip:
                raise
        else:
            raise Broken(f"the {kind} itself, where the model raises one", instead(got), why)
        expect_asked(asked, 1, f"where the model raises {kind}", why)


# key

CALL = tool_use("c1", "pay", invoice=17, usd=412)
SAME = "whoever makes the call again, in another process perhaps, has to come to the same key"


def made(answer: Key, run: str, call: Block) -> str:
    """A key, once it is one at all."""
    got = answer(run, deepcopy(call))
    if not isinstance(got, str) or not got:
        raise Broken("a key, which is a text", instead(got), "it is sent along, and written down")
    return got


def expect_keys(answer: Key, other: tuple[str, Block], same: bool, what: str, why: str) -> None:
    """The key of another call must be that of CALL in run 1, or must not."""
    first, second = made(answer, "run 1", CALL), made(answer, *other)
    if (first == second) != same:
        expected = f"{'the same key' if same else 'another key'} for {what}"
        raise Broken(expected, f"{brief(first)} and {brief(second)}", why)


def a_call_that_is_made_again_has_the_same_key(answer: Key) -> None:
    """Also if it was read from a file in the meantime."""
    again = {"type": "tool_use", "id": "c1", "name": "pay", "input": {"invoice": 17, "usd": 412}}
    expect_keys(answer, ("run 1", again), True, "an equal call", SAME)
    here = made(answer, "run 1", CALL)
    with another_process():
        there = made(answer, "run 1", again)
    if here != there:
        why = "`hash` gives another number in every process; json.dumps and hashlib do not"
        raise Broken("the same key in another process", f"{brief(here)} and {brief(there)}", why)


def the_order_of_the_input_does_not_count(answer: Key) -> None:
    """JSON objects have no order."""
    turned = {**CALL, "input": {"usd": 412, "invoice": 17}}
    why = "it asks for the same thing: sort before you write it down"
    expect_keys(answer, ("run 1", turned), True, "the same input in another order", why)


def what_the_harness_adds_does_not_count(answer: Key) -> None:
    """A mark of a cache moves on from round to round."""
    marked = {**CALL, "cache_control": {"type": "ephemeral"}}
    why = "a mark of the cache is no part of what is asked for: take the id and the input alone"
    expect_keys(answer, ("run 1", marked), True, "the same call with a cache mark", why)


def another_run_has_another_key(answer: Key) -> None:
    """Tomorrow's call may have the same id and input."""
    why = "ids are counted anew in every run: tomorrow's payment would be taken for today's"
    expect_keys(answer, ("run 2", CALL), False, "the same call in run 2", why)


def another_call_has_another_key(answer: Key) -> None:
    """A second call with the same input is meant as a second one."""
    second = {**CALL, "id": "c2"}
    why = "the model asks for it a second time, and may mean it: a reminder, say"
    expect_keys(answer, ("run 1", second), False, "a call c2 with the same input", why)


def another_input_has_another_key(answer: Key) -> None:
    """A key names one effect."""
    for input in ({"invoice": 17, "usd": 413}, {"invoice": 17}, {"invoice": "17", "usd": 412}):
        what, why = f"the input {input}", "under one key two effects would be taken for one"
        expect_keys(answer, ("run 1", {**CALL, "input": input}), False, what, why)


def its_parts_do_not_run_together(answer: Key) -> None:
    """run 1 and c11 are not run 11 and c1."""
    one, other = made(answer, "1", {**CALL, "id": "1c"}), made(answer, "11", {**CALL, "id": "c"})
    if one == other:
        why = "parts that are glued together lose their border: make a list of them"
        raise Broken("another key for run 11, call c than for run 1, call 1c", brief(one), why)


# once


class Bank:
    """An effect that counts."""

    def __init__(self, answer: Any = "paid", fails: int = 0) -> None:
        self.paid, self.answer, self.fails = list[Any](), answer, fails

    def pay(self, **input: Any) -> Any:
        """Pay, or refuse before anything has happened."""
        if self.fails:
            self.fails -= 1
            raise OSError("the bank is closed")
        self.paid.append(input)
        return self.answer if self.answer != "paid" else f"paid {input['usd']}"


def opened(answer: Once, bank: Bank, ledger: dict[str, Any]) -> Callable[..., Any]:
    """The function of an answer, once it is one at all."""
    call = answer(bank.pay, ledger)
    if not callable(call):
        why = "once(effect, ledger) gives back what is called instead of the effect"
        raise Broken("a function call(key, **input)", instead(call), why)
    return call


def expect_paid(bank: Bank, times: int, when: str, why: str) -> None:
    """The effect must have been made so often."""
    if len(bank.paid) != times:
        expected = f"{plural(times, 'effect')} {when}"
        raise Broken(expected, plural(len(bank.paid), "effect"), why)


def expect_said(got: Any, wanted: Any, when: str, why: str) -> None:
    """This must have been answered."""
    if got != wanted or type(got) is not type(wanted):
        raise Broken(f"{wanted!r} {when}", brief(got, 120), why)


def a_new_key_makes_the_effect(answer: Once) -> None:
    """With the input that it was given, and without the key."""
    bank = Bank()
    got = opened(answer, bank, {})("k1", invoice=17, usd=412)
    expect_paid(bank, 1, "for a key that is new", "somebody wants it")
    if bank.paid != [{"invoice": 17, "usd": 412}]:
        why = "effect(**input); the key is for the ledger"
        raise Broken("the effect called with invoice=17, usd=412", brief(bank.paid[0]), why)
    expect_said(got, "paid 412", "back, which is what the effect says", "the model reads it")


def a_known_key_makes_nothing_and_gets_the_same_answer(answer: Once) -> None:
    """As often as it comes."""
    bank = Bank()
    call = opened(answer, bank, {})
    said = [call("k1", invoice=17, usd=412) for _ in range(3)]
    expect_paid(bank, 1, "for the same key three times", "that is what the key is for")
    why = "whoever asks again wants to know how it ended: give the first answer once more"
    expect_said(said, ["paid 412"] * 3, "for the same key three times", why)


def another_key_makes_another_effect(answer: Once) -> None:
    """Also if the input is the same."""
    bank = Bank()
    call = opened(answer, bank, {})
    call("k1", invoice=17, usd=412)
    call("k2", invoice=17, usd=412)
    why = "the key decides, and not the input: two keys are two effects that are meant"
    expect_paid(bank, 2, "for two keys with the same input", why)


def nothing_is_an_answer_too(answer: Once) -> None:
    """An effect may give back None, or an empty text."""
    for given in (None, "", 0):
        bank = Bank(given)
        call = opened(answer, bank, {})
        said = [call("k1", usd=1) for _ in range(2)]
        why = f"it was made, and it said {given!r}: ask whether the key is in the ledger"
        expect_paid(bank, 1, f"where the effect gives back {given!r}", why)
        expect_said(said, [given] * 2, "each time", why)


def the_ledger_outlives_the_process(answer: Once) -> None:
    """What is in it is known to the next one."""
    bank, ledger = Bank(), dict[str, Any]()
    opened(answer, bank, ledger)("k1", usd=412)
    got = opened(answer, bank, ledger)("k1", usd=412)
    why = "keep it in the ledger that you were given: a variable of your own dies with the process"
    expect_paid(bank, 1, "for two processes with one ledger", why)
    expect_said(got, "paid 412", "in the second process", why)
    opened(answer, bank, {})("k1", usd=412)
    expect_paid(bank, 2, "where another bank has a ledger of its own", "ledgers are not shared")


def what_failed_was_not_made(answer: Once) -> None:
    """This bank refuses before it pays."""
    bank = Bank(fails=1)
    call = opened(answer, bank, {})
    try:
        got = call("k1", usd=412)
    except OSError:
        pass
    else:
        why = "whoever asked has to know that it did not happen"
        raise Broken("the effect's own OSError", instead(got), why)
    expect_said(call("k1", usd=412), "paid 412", "when the bank is asked again", NOT_MADE)
    expect_paid(bank, 1, "after a failure and a second try", NOT_MADE)


NOT_MADE = "the effect raised, so nothing was made: write the key down when there is an answer"


def a_key_stands_for_one_input(answer: Once) -> None:
    """The same key for something else is a slip, and is said to be."""
    bank = Bank()
    call = opened(answer, bank, {})
    call("k1", invoice=17, usd=412)
    why = "it asks for something else under a known name: to say `paid` would be a lie"
    try:
        got = call("k1", invoice=18, usd=99)
    except ValueError:
        got = None
    else:
        refuse_unraised(got)
        raise Broken("a ValueError for the key k1 with another input", instead(got), why)
    expect_paid(bank, 1, "for a key that comes with another input", why)


# which retry doubled the effect


def a_call_is_begun_when_its_reply_is_whole(lines: list[Line]) -> int | None:
    """No tool starts from a reply that may still break off."""
    whole = True
    for at, line in enumerate(lines, 1):
        whole = "whole" in line or (whole and "ask" not in line)
        if "begin" in line and not whole:
            return at
    return None


def no_request_is_sent_again_that_cannot_pass(lines: list[Line]) -> int | None:
    """After a wrong request there is no second attempt."""
    wrong = False
    for at, line in enumerate(lines, 1):
        if "ask" in line and wrong:
            return at
        wrong = line.get("failed") in (400, 401, 404)
    return None


def a_call_made_again_has_the_key_that_it_had(lines: list[Line]) -> int | None:
    """By its id one knows the call."""
    keys: dict[str, str] = {}
    for at, line in enumerate(lines, 1):
        if "begin" in line and keys.setdefault(line["begin"], line["key"]) != line["key"]:
            return at
    return None


def no_model_call_has_more_than_three_attempts(lines: list[Line]) -> int | None:
    """Each round is asked three times at most."""
    for at, line in enumerate(lines, 1):
        if line.get("attempt", 0) > 3:
            return at
    return None


def the_bank_pays_once_for_each_key(lines: list[Line]) -> int | None:
    """The ledger is heeded."""
    paid: set[str] = set()
    for at, line in enumerate(lines, 1):
        if "paid" in line:
            if line["key"] in paid:
                return at
            paid.add(line["key"])
    return None


def paid_twice() -> list[Line]:
    """What a harness did that asks again, and begins a call as soon as its block is there."""
    lines: list[Line] = [{"ask": "round 1", "attempt": 1}, {"failed": 529}]
    attempts = iter((2, 3))
    ledger: dict[str, Any] = {}

    def stream() -> Any:
        attempt = next(attempts)
        lines.append({"ask": "round 1", "attempt": attempt})
        pays = tool_use(f"c{attempt - 1}", "pay", invoice=17, usd=412)
        lines.append({"block": pays["id"], "name": "pay", "input": pays["input"]})
        yield pays
        if attempt == 2:
            lines.append({"failed": "connection lost"})
            raise ConnectionError
        lines.append({"whole": "tool_use"})

    def bank(call: Block) -> Block:
        name = key("run 1", call)[:8]
        lines.append({"begin": call["id"], "key": name})
        pay = once(lambda **input: lines.append({"paid": input["usd"], "key": name}), ledger)
        pay(name, **call["input"])
        lines.append({"done": call["id"]})
        return call

    eager(stream, bank)
    return [*lines, {"ask": "round 2", "attempt": 1}, {"whole": "end_turn"}]


DOUBLED_CASE = Case(
    paid_twice,
    {
        "a": no_request_is_sent_again_that_cannot_pass,
        "b": no_model_call_has_more_than_three_attempts,
        "c": a_call_is_begun_when_its_reply_is_whole,
        "d": a_call_made_again_has_the_key_that_it_had,
        "e": the_bank_pays_once_for_each_key,
    },
    whys={
        "d": "c1 and c2 are two calls, with two ids: the model said the second one anew",
        "e": "it was given two keys, and paid once for each",
        "b": "round 1 has three attempts, and all of them were allowed",
    },
    noun="line",
    first=1,
    counted=lambda lines: lines,
    shown=numbered,
)


MAY_PASS = Exercise(
    name="may_pass",
    title="What is worth asking again",
    minutes=6,
    difficulty="easy",
    lines=2,
    points=3,
    objectives=(4,),
    takes="may_pass(failure)",
    promises=(
        a_wrong_request_stays_wrong,
        a_server_that_is_busy_may_answer_later,
        a_clash_and_a_timeout_may_pass,
        no_answer_at_all_may_pass,
        what_does_not_tell_is_not_asked_again,
    ),
    piece=Piece("may_pass", borrowed=lambda: may_pass),
)

RETRIED = Exercise(
    name="retried",
    title="Ask again, and not for ever",
    minutes=15,
    difficulty="hard",
    lines=13,
    points=6,
    objectives=(4,),
    takes="retried(model, sleep, attempts=3)",
    promises=(
        a_reply_is_handed_on,
        a_failure_that_may_pass_is_asked_again,
        a_failure_that_cannot_pass_is_raised_at_once,
        it_is_bounded,
        it_waits_longer_each_time,
        it_waits_as_long_as_the_server_says,
        two_of_them_do_not_multiply,
        each_call_begins_anew,
        a_slip_in_the_program_is_not_asked_again,
    ),
    piece=Piece("retried", borrowed=retrying, needs=("may_pass",)),
)

KEY = Exercise(
    name="key",
    title="A name for an effect",
    minutes=7,
    difficulty="easy",
    lines=1,
    points=3,
    objectives=(4,),
    takes="key(run, call)",
    promises=(
        a_call_that_is_made_again_has_the_same_key,
        the_order_of_the_input_does_not_count,
        what_the_harness_adds_does_not_count,
        another_run_has_another_key,
        another_call_has_another_key,
        another_input_has_another_key,
        its_parts_do_not_run_together,
    ),
    piece=Piece("key", borrowed=lambda: key),
)

ONCE = Exercise(
    name="once",
    title="A bank that knows a key again",
    minutes=12,
    difficulty="medium",
    lines=7,
    points=5,
    objectives=(4,),
    takes="once(effect, ledger)",
    promises=(
        a_new_key_makes_the_effect,
        a_known_key_makes_nothing_and_gets_the_same_answer,
        another_key_makes_another_effect,
        nothing_is_an_answer_too,
        the_ledger_outlives_the_process,
        what_failed_was_not_made,
        a_key_stands_for_one_input,
    ),
)

DOUBLED = Exercise(
    name="doubled",
    title="Which retry paid twice",
    minutes=6,
    difficulty="medium",
    lines=1,
    points=2,
    objectives=(4,),
    takes="doubled()",
    promises=DOUBLED_CASE.promises(),
    case=DOUBLED_CASE,
)

LAB = Lab("10_try_again", "Try again", (MAY_PASS, RETRIED, KEY, ONCE, DOUBLED))
