"""Answers to lab 10: right ones of several shapes, and what people get wrong."""

import json
from hashlib import sha256

from harness_zero.grading.lab10 import key, may_pass, once, pause, retrying
from harness_zero.loop import ModelFailed

# may_pass


def may_pass_by_cases(failure):
    if not hasattr(failure, "status"):
        return False
    if failure.status is None:
        return True
    return failure.status >= 500 or failure.status in {408, 409, 429}


def may_pass_by_trying(failure):
    try:
        status = failure.status
    except AttributeError:
        return False
    return status in (None, 408, 409, 429) or status // 100 == 5


def may_pass_by_a_match(failure):
    match getattr(failure, "status", -1):
        case None | 408 | 409 | 429:
            return True
        case status:
            return status > 499


def judging(known=(None, 408, 409, 429), untold=0, from_=500, to=600):
    """A judgement with one thing changed."""

    def may_pass(failure):
        status = getattr(failure, "status", untold)
        return status in known or (status is not None and from_ <= status < to)

    return may_pass


# retried

retried = retrying(may_pass)


def retried_while_it_may(model, sleep, attempts=3):
    def speak(request):
        attempt = 1
        while True:
            try:
                return model(request)
            except ModelFailed as failure:
                if not may_pass(failure):
                    raise
                if attempt >= attempts:
                    raise ModelFailed(f"gave up: {failure}") from failure
                sleep(pause(failure, attempt))
            attempt += 1

    return speak


class Patient:
    def __init__(self, model, sleep, attempts):
        self.model, self.sleep, self.attempts = model, sleep, attempts

    def __call__(self, request, attempt=1):
        try:
            return self.model(request)
        except ModelFailed as failure:
            again = may_pass(failure)
            if again and attempt < self.attempts:
                self.sleep(pause(failure, attempt))
                return self(request, attempt + 1)
            if not again:
                raise
            raise ModelFailed(str(failure)) from None


def retried_by_a_class(model, sleep, attempts=3):
    return Patient(model, sleep, attempts)


def wrapping(
    kind=ModelFailed,
    judge=may_pass,
    given=lambda attempts: attempts,
    first=1,
    wait=pause,
    always=False,
    last=lambda failure: ModelFailed(f"{failure}; that was the last time"),
    sent=lambda request, attempt: request,
    cannot=lambda failure: failure,
    once_for_all=False,
):
    """A wrapper with one thing changed."""

    def retried(model, sleep, attempts=3):
        counted = [first]

        def speak(request):
            attempts_ = given(attempts)
            if not once_for_all:
                counted[0] = first
            while True:
                try:
                    return model(sent(request, counted[0]))
                except kind as failure:
                    if not judge(failure):
                        raise cannot(failure) from None
                    over = counted[0] - first + 1 >= attempts_
                    if always or not over:
                        sleep(wait(failure, counted[0]))
                    if over:
                        raise last(failure) from None
                    counted[0] += 1

        return speak

    return retried


def retried_at_once(model, sleep, attempts=3):
    return retried(model, sleep, attempts)({"messages": []})


def gives_nothing(model, sleep, attempts=3):
    inner = retried(model, sleep, attempts)

    def speak(request):
        inner(request)

    return speak


def asks_after_it_was_answered(model, sleep, attempts=3):
    def speak(request):
        for attempt in range(1, attempts + 1):
            try:
                said = model(request)
            except ModelFailed as failure:
                if not may_pass(failure):
                    raise
                last = failure
                if attempt < attempts:
                    sleep(pause(failure, attempt))
        try:
            return said
        except UnboundLocalError:
            raise ModelFailed(str(last)) from None

    return speak


def says_nothing_in_the_end(model, sleep, attempts=3):
    def speak(request):
        for attempt in range(1, attempts + 1):
            try:
                return model(request)
            except ModelFailed as failure:
                if not may_pass(failure):
                    raise
                if attempt < attempts:
                    sleep(pause(failure, attempt))

    return speak


def gives_the_failure_back(model, sleep, attempts=3):
    def speak(request):
        for attempt in range(1, attempts + 1):
            try:
                return model(request)
            except ModelFailed as failure:
                if not may_pass(failure):
                    raise
                last = failure
            if attempt < attempts:
                sleep(pause(last, attempt))
        return ModelFailed(f"{last}; asked {attempts} times")

    return speak


# key


def key_as_json(run, call):
    return json.dumps({"run": run, "id": call["id"], "input": call["input"]}, sort_keys=True)


def key_with_the_name(run, call):
    asked = json.dumps([run, call["name"], call["id"], call["input"]], sort_keys=True)
    return sha256(asked.encode()).hexdigest()[:32]


def key_of_pairs(run, call):
    pairs = sorted(call["input"].items())
    return repr((run, call["id"], pairs))


def naming(run=lambda run: run, id=lambda call: call["id"], input=lambda call: call["input"]):
    """A key with one thing changed."""

    def key(run_, call):
        return json.dumps([run(run_), id(call), input(call)], sort_keys=True)

    return key


def glued(run, call):
    return run + call["id"] + json.dumps(call["input"], sort_keys=True)


def numbered(run, call):
    numbered.calls = getattr(numbered, "calls", 0) + 1
    return f"{run}/{numbered.calls}"


# once


def once_with_two_questions(effect, ledger):
    def call(key, **input):
        entry = ledger.get(key)
        if entry is not None:
            if entry["asked"] != input:
                raise ValueError(f"{key} is taken")
            return entry["said"]
        said = effect(**input)
        ledger[key] = {"asked": input, "said": said}
        return said

    return call


def once_in_pairs(effect, ledger):
    def call(key, **input):
        try:
            asked, said = ledger[key]
        except KeyError:
            said = effect(**input)
            ledger[key] = (input, said)
            return said
        if asked == input:
            return said
        raise ValueError("this key stands for something else")

    return call


class Teller:
    def __init__(self, effect, ledger):
        self.effect, self.ledger = effect, ledger

    def __call__(self, key, **input):
        written = json.dumps(input, sort_keys=True)
        if key in self.ledger:
            before, said = self.ledger[key]
            if before != written:
                raise ValueError(key)
            return said
        said = self.effect(**input)
        self.ledger[key] = [written, said]
        return said


def once_by_a_class(effect, ledger):
    return Teller(effect, ledger)


def heeding(
    known=lambda key, ledger: key in ledger,
    place=lambda ledger: ledger,
    name=lambda key, input: key,
    kept=lambda said: said,
    compares=True,
    error=ValueError,
    first=False,
    given=lambda effect, key, input: effect(**input),
    again=lambda entry: entry["answer"],
):
    """A bank with one thing changed."""

    def once(effect, ledger):
        ledger = place(ledger)

        def call(key, **input):
            where = name(key, input)
            if not known(where, ledger):
                if first:
                    ledger[where] = {"input": input, "answer": None}
                said = given(effect, key, input)
                ledger[where] = {"input": input, "answer": kept(said)}
                return said
            if compares and ledger[where]["input"] != input:
                raise error(f"the key {key} was given for something else")
            return again(ledger[where])

        return call

    return once


def swallowing(effect, ledger):
    inner = once(effect, ledger)

    def call(key, **input):
        try:
            return inner(key, **input)
        except OSError as error:
            return str(error)

    return call


def gives_the_error_back(effect, ledger):
    def call(key, **input):
        if key not in ledger:
            ledger[key] = {"input": input, "answer": effect(**input)}
        elif ledger[key]["input"] != input:
            return ValueError(f"{key} is taken")
        return ledger[key]["answer"]

    return call


def makes_it_and_then_refuses(effect, ledger):
    def call(key, **input):
        if key in ledger and ledger[key]["input"] == input:
            return ledger[key]["answer"]
        said = effect(**input)
        if key in ledger:
            raise ValueError(key)
        ledger[key] = {"input": input, "answer": said}
        return said

    return call


# doubled


def doubled():
    return "c", 5


def doubled_in_a_list():
    return ["c", 5]


def doubled_in_capitals():
    return "C", 5


RIGHT = {
    "may_pass": [may_pass, may_pass_by_cases, may_pass_by_trying, may_pass_by_a_match, judging()],
    "retried": [retried, retried_while_it_may, retried_by_a_class, wrapping()],
    "key": [key, key_as_json, key_with_the_name, key_of_pairs, naming()],
    "once": [once, once_with_two_questions, once_in_pairs, once_by_a_class, heeding()],
    "doubled": [doubled, doubled_in_a_list, doubled_in_capitals],
}

WRONG = {
    "may_pass": {
        "nothing": (lambda failure: False, "the trouble of the moment"),
        "all from 400 on": (judging(from_=400), "False for a failure with the status 400"),
        "all below 500 as well": (
            judging(known=(None, 408, 409, 410, 429)),
            "False for a failure with the status 410",
        ),
        "529 alone": (judging(from_=529, to=530), "True for a failure with the status 500"),
        "a list of three": (judging(known=(None, 429)), "of the moment, both"),
        "no answer is no": (judging(known=(408, 409, 429)), "so the connection broke"),
        "untold is no answer": (judging(untold=None), "an SDK, say, that has tried three times"),
        "every one has a status": (
            lambda failure: failure.status is None or judging()(failure),
            "AttributeError",
        ),
        "words": (lambda failure: "yes" if may_pass(failure) else "no", "got:      'no'"),
    },
    "retried": {
        "no wrapper": (lambda model, sleep, attempts=3: None, "a model back"),
        "asked at once": (retried_at_once, "got:"),
        "nothing back": (gives_nothing, "the reply 'Hello.' where the model answers at once"),
        "asks on": (asks_after_it_was_answered, "the script is over"),
        "never again": (lambda model, sleep, attempts=3: model, "after two failures (529)"),
        "whatever fails": (wrapping(judge=lambda failure: True), "says that it is not worth it"),
        "no answer is no failure": (
            wrapping(judge=lambda failure: getattr(failure, "status", 0) is not None),
            "after two failures (None)",
        ),
        "what cannot pass in other words": (
            wrapping(cannot=lambda failure: ModelFailed(f"failed: {failure}")),
            "nobody knows it better",
        ),
        "one too many": (wrapping(given=lambda attempts: attempts + 1), "somebody asks again"),
        "one too few": (wrapping(given=lambda attempts: attempts - 1), "the third attempt was"),
        "always three": (wrapping(given=lambda attempts: 3), "at most 1 request"),
        "the last failure": (wrapping(last=lambda failure: failure), "three times three"),
        "the failure given back": (gives_the_failure_back, "`raise`, and not `return`"),
        "nothing in the end": (says_nothing_in_the_end, "it needs to know"),
        "without a word": (
            wrapping(last=lambda failure: ModelFailed("gave up")),
            "what was the matter",
        ),
        "a sleep at the end": (wrapping(always=True), "none after the last"),
        "no sleep": (wrapping(wait=lambda failure, attempt: 0), "got:      [0, 0, 0]"),
        "the same each time": (
            wrapping(wait=lambda failure, attempt: pause(failure, 1)),
            "got:      [0.5, 0.5, 0.5]",
        ),
        "counted from nought": (wrapping(first=0), "got:      [0.25, 0.5, 1"),
        "by its own clock": (
            wrapping(wait=lambda failure, attempt: 0.5 * 2 ** (attempt - 1)),
            "this server says when",
        ),
        "another request": (
            wrapping(sent=lambda request, attempt: {**request, "attempt": attempt}),
            "it is that one that got no answer",
        ),
        "once for all": (wrapping(once_for_all=True), "in call 2 of the same wrapper"),
        "whatever is raised": (
            wrapping(
                kind=Exception,
                judge=lambda failure: isinstance(failure, KeyError) or may_pass(failure),
            ),
            "catch ModelFailed and nothing wider",
        ),
    },
    "key": {
        "a number": (lambda run, call: hash(run + call["id"]), "a key, which is a text"),
        "nothing": (lambda run, call: None, "a key, which is a text"),
        "a hash": (
            lambda run, call: str(
                hash(json.dumps([run, call["id"], call["input"]], sort_keys=True))
            ),
            "another number in every process",
        ),
        "a new one each time": (numbered, "has to come to the same key"),
        "as it came": (
            lambda run, call: f"{run} {call['id']} {call['input']}",
            "sort before you write it down",
        ),
        "the whole call": (
            lambda run, call: json.dumps([run, call], sort_keys=True),
            "a mark of the cache is no part",
        ),
        "without the run": (naming(run=lambda run: ""), "tomorrow's payment"),
        "without the id": (naming(id=lambda call: ""), "may mean it: a reminder"),
        "without the input": (
            naming(input=lambda call: ""),
            "the input {'invoice': 17, 'usd': 413}",
        ),
        "the values alone": (
            naming(input=lambda call: sorted(map(str, call["input"].values()))),
            "the input {'invoice': '17', 'usd': 412}",
        ),
        "glued": (glued, "make a list of them"),
    },
    "once": {
        "no function": (lambda effect, ledger: None, "call(key, **input)"),
        "never made": (
            lambda effect, ledger: lambda key, **input: "paid 412",
            "1 effect for a key",
        ),
        "with the key": (
            heeding(given=lambda effect, key, input: effect(key=key, **input)),
            "the key is for the ledger",
        ),
        "no answer": (
            heeding(given=lambda effect, key, input: str(effect(**input) and "")),
            "which is what the effect says",
        ),
        "made each time": (
            lambda effect, ledger: lambda key, **input: effect(**input),
            "1 effect for the same key three times",
        ),
        "known already": (
            heeding(again=lambda entry: "known already"),
            "give the first answer once more",
        ),
        "by the input": (
            heeding(name=lambda key, input: json.dumps(input, sort_keys=True)),
            "the key decides, and not the input",
        ),
        "whether it is something": (
            heeding(known=lambda key, ledger: bool(ledger.get(key, {}).get("answer"))),
            "ask whether the key is in the ledger",
        ),
        "answers as text": (heeding(kept=str), "[None, None] each time"),
        "a ledger of its own": (heeding(place=lambda ledger: {}), "dies with the process"),
        "noted before": (heeding(first=True), "write the key down when there is an answer"),
        "a failure is an answer": (swallowing, "has to know that it did not happen"),
        "whatever it asks for": (heeding(compares=False), "would be a lie"),
        "another error": (heeding(error=KeyError), "KeyError"),
        "an error given back": (gives_the_error_back, "`raise`, and not `return`"),
        "made, and then refused": (makes_it_and_then_refuses, "with another input"),
    },
    "doubled": {
        "the keys": (lambda: ("d", 11), "the model said the second one anew"),
        "the bank": (lambda: ("e", 12), "given two keys"),
        "too often": (lambda: ("b", 9), "all of them were allowed"),
        "a wrong request": (lambda: ("a", 3), "keeps that promise"),
        "where it was paid": (lambda: ("c", 6), "look further up"),
        "before it": (lambda: ("c", 4), "look down"),
        "a letter alone": (lambda: "c", "a letter of a, b, c, d, e"),
    },
}
