"""Trying again: what is asked once more, what never is, and that no layer multiplies another."""

import pytest

from harness_zero import drafting
from harness_zero.assembly import assemble
from harness_zero.doubt import keyed, reads
from harness_zero.flight.fly import fly
from harness_zero.flight.names import named
from harness_zero.flight.personas import PERSONAS
from harness_zero.flight.pilots import library
from harness_zero.flight.retrying import asking_again, retrying
from harness_zero.journal import Journal
from harness_zero.labels import Label
from harness_zero.loop import ModelFailed
from harness_zero.messages import reply, tool_result, tool_use, user
from harness_zero.models.claude import RETRIES, claude
from harness_zero.persistent import persistent
from harness_zero.retry import call_failed, given_up, may_pass, pause, retried
from harness_zero.run import Run
from harness_zero.simulator.api import Api
from harness_zero.simulator.on_demand import failed
from harness_zero.stages.retries import eager, whole
from harness_zero.task import until
from harness_zero.toolbox import toolbox

GO = {"messages": [user("go")]}
BUSY = call_failed("the API answered 529", 529)


class Time:
    """A clock that moves when somebody waits, and keeps how long they did."""

    def __init__(self, takes=0.0):
        self.now, self.waits, self.takes = 0.0, [], takes

    def __call__(self):
        self.now += self.takes
        return self.now

    def sleep(self, seconds):
        self.waits.append(seconds)
        self.now += seconds


def model_that(*script):
    """A model with this script, and what it was asked."""
    lines, requests = iter(script), []

    def model(request):
        requests.append(request)
        line = next(lines)
        if isinstance(line, Exception):
            raise line
        return line

    return model, requests


def patient(model, time=None, **how):
    time = time or Time()
    return retried(model, sleep=time.sleep, clock=time, chance=lambda: 0.0, **how)


# the call


def test_a_reply_is_handed_on_as_it_is():
    said = reply("hello")
    model, requests = model_that(said)
    assert patient(model)(GO) is said and requests == [GO]


def test_a_call_that_failed_for_now_is_made_again_with_the_same_request():
    model, requests = model_that(BUSY, call_failed("no answer"), reply("hello"))
    assert patient(model)(GO) == reply("hello") and requests == [GO, GO, GO]


@pytest.mark.parametrize("broke", [ConnectionResetError("gone"), TimeoutError("too long")])
def test_a_connection_that_breaks_is_no_answer(broke):
    model, requests = model_that(broke, reply("hello"))
    assert patient(model)(GO) == reply("hello") and len(requests) == 2


@pytest.mark.parametrize(
    ("status", "passes"),
    [(status, False) for status in (400, 401, 402, 403, 404, 413, 422, 499)]
    + [(status, True) for status in (None, 408, 409, 429, 500, 503, 504, 529)],
)
def test_what_is_wrong_with_the_request_does_not_pass_and_what_is_wrong_with_the_server_may(
    status, passes
):
    assert may_pass(call_failed("it failed", status)) == passes


def test_what_the_server_says_outweighs_the_status():
    assert may_pass(call_failed("come again", 400, should_retry=True))
    assert not may_pass(call_failed("do not", 529, should_retry=False))


def test_a_failure_that_does_not_tell_what_it_was_is_not_asked_again():
    model, requests = model_that(ModelFailed("something"), reply("hello"))
    with pytest.raises(ModelFailed, match=r"^something$"):
        patient(model)(GO)
    assert len(requests) == 1 and not may_pass(OSError("disk full"))


@pytest.mark.parametrize("fault", [KeyError("a slip"), KeyboardInterrupt()])
def test_a_fault_of_the_program_is_not_asked_again(fault):
    model, requests = model_that(reply("x"))

    def broken(request):
        model(request)
        raise fault

    with pytest.raises(type(fault)):
        patient(broken)(GO)
    assert len(requests) == 1


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_it_is_bounded_and_the_last_failure_says_how_often_it_was_asked(attempts):
    model, requests = model_that(*[BUSY] * 10)
    with pytest.raises(ModelFailed, match=f"529; asked {attempts} time"):
        patient(model, attempts=attempts)(GO)
    assert len(requests) == attempts


def test_it_waits_twice_as_long_each_time_and_no_longer_than_eight_seconds():
    time = Time()
    with pytest.raises(ModelFailed):
        patient(model_that(*[BUSY] * 8)[0], time, attempts=8)(GO)
    assert time.waits == [0.5, 1, 2, 4, 8, 8, 8]


def test_chance_takes_off_a_quarter_at_most():
    assert pause(BUSY, 3, lambda: 1.0) == 1.5 and pause(BUSY, 3, lambda: 0.0) == 2.0


@pytest.mark.parametrize(("asked", "waited"), [(20.0, 20.0), (0, 0.0), (0.25, 0.25), (-3, 0.0)])
def test_it_waits_as_long_as_the_server_asks_for(asked, waited):
    time = Time()
    patient(model_that(call_failed("slow down", 429, asked), reply("hello"))[0], time)(GO)
    assert time.waits == [waited]


def test_a_wait_that_would_take_too_long_is_not_begun():
    time = Time()
    model, requests = model_that(call_failed("limit", 429, 3600), reply("hello"))
    with pytest.raises(ModelFailed, match="limit; asked 1 time"):
        patient(model, time)(GO)
    assert time.waits == [] and len(requests) == 1


def test_time_that_the_attempts_took_counts():
    time = Time(takes=40.0)
    model, requests = model_that(*[BUSY] * 10)
    with pytest.raises(ModelFailed):
        patient(model, time, attempts=10, within=100)(GO)
    assert len(requests) == 3


def test_who_wants_to_hear_of_it_is_told():
    told = []
    patient(model_that(BUSY, reply("hello"))[0], tell=told.append)(GO)
    assert told == ["the API answered 529; asked again in 0.5 s"]


def test_two_layers_of_it_do_not_multiply():
    model, requests = model_that(*[BUSY] * 20)
    with pytest.raises(ModelFailed):
        patient(patient(model))(GO)
    assert len(requests) == 3


def test_around_the_sdk_it_adds_nothing():
    api = Api(lambda body: failed(529, retry_after=0.001))
    with pytest.raises(ModelFailed):
        patient(claude(api))(GO)
    assert len(api.log) == 1 + RETRIES


def test_all_attempts_are_one_step_of_the_journal(tmp_path):
    model, _ = model_that(BUSY, BUSY, reply("done"))
    with Journal(tmp_path / "run.jsonl") as journal:
        run = assemble(patient(model), {}, journal=journal)(Run("go"))
    assert run.label is Label.FINISHED and journal.steps == 1


def test_a_step_that_failed_is_replayed_under_the_same_label_without_asking(tmp_path):
    asked = []

    def played(*script):
        model, requests = model_that(*script)
        asked.append(requests)
        with Journal(tmp_path / "run.jsonl") as journal:
            return assemble(patient(model), {}, journal=journal)(Run("go"))

    first, second = played(*[BUSY] * 3), played(reply("too late"))
    assert (first.label, first.why) == (second.label, second.why)
    assert first.label is Label.MODEL_ERROR and [len(each) for each in asked] == [3, 0]


def test_what_was_given_up_tells_nothing_that_would_have_it_asked_again():
    assert not may_pass(given_up(BUSY, 3))


# a tool whose connection breaks


class Server:
    """A mail server whose connection breaks around its effect, and which may know keys."""

    def __init__(self, *breaks):
        self.breaks, self.sent, self.known, self.asked = [*breaks], [], {}, 0

    def send(self, to, key=""):
        self.asked += 1
        when = self.breaks.pop(0) if self.breaks else ""
        if when == "before":
            raise ConnectionError("connection lost")
        if not key or key not in self.known:
            self.sent.append(to)
            self.known[key] = f"sent to {to}"
        if when == "after":
            raise ConnectionError("connection lost")
        return self.known[key]


def answer(server, declare, call=None):
    """What a call is answered with, by a persistent tool that is declared so."""
    if declare is keyed:

        @keyed
        def send_mail(to: str, key: str = "") -> str:
            return server.send(to, key)
    else:

        @declare
        def send_mail(to: str) -> str:
            return server.send(to)

    tools = persistent({"send_mail": send_mail}, sleep=lambda seconds: None, chance=lambda: 0)
    return toolbox(tools)(call or tool_use("c1", "send_mail", to="ana"))


@pytest.mark.parametrize("breaks", [("before",), ("after",), ("after", "before")])
def test_a_tool_that_takes_a_key_is_called_again_and_the_effect_is_made_once(breaks):
    server = Server(*breaks)
    assert answer(server, keyed) == tool_result("c1", "sent to ana")
    assert server.sent == ["ana"] and server.asked == 1 + len(breaks) and len(server.known) == 1


def test_a_tool_that_only_reads_is_called_again():
    server = Server("before", "before")
    assert answer(server, reads) == tool_result("c1", "sent to ana")


@pytest.mark.parametrize("when", ["before", "after"])
def test_of_any_other_tool_the_outcome_is_unknown_and_it_is_not_called_again(when):
    server = Server(when)
    result = answer(server, lambda function: function)
    assert result["is_error"] and "outcome unknown" in result["content"]
    assert "Check first" in result["content"] and server.asked == 1


def test_a_connection_that_stays_broken_leaves_the_effect_unknown():
    server = Server(*["after"] * 9)
    assert "outcome unknown" in answer(server, keyed)["content"] and server.asked == 3
    told = answer(Server(*["before"] * 9), reads)["content"]
    assert told == "ConnectionError: connection lost"


def test_any_other_failure_is_told_as_it_is():
    def broken(to):
        raise ValueError("no such address")

    tools = persistent({"send_mail": reads(broken)})
    told = toolbox(tools)(tool_use("c1", "send_mail", to="ana"))["content"]
    assert told == "ValueError: no such address"


def test_the_model_does_not_see_the_key_and_cannot_give_one():
    server = Server()
    result = answer(server, keyed, tool_use("c1", "send_mail", to="ana", key="mine"))
    assert result["is_error"] and server.sent == []


# the whole task


def test_a_task_whose_check_passes_is_played_once():
    for keep in (False, True):
        tried, office = drafting.tried(1, keep)
        assert tried.passed and tried.attempts == 1 and office.mails == 1


@pytest.mark.parametrize(("keep", "mails", "talks"), [(False, 3, 3), (True, 1, 1)])
def test_what_was_done_stays_done_and_only_a_kept_conversation_knows_of_it(keep, mails, talks):
    tried, office = drafting.tried(3, keep)
    assert tried.passed and tried.attempts == 3
    assert (office.mails, len(tried.runs)) == (mails, talks)


def test_kept_costs_more_and_more_and_reset_costs_the_same_each_time():
    kept, reset = [[drafting.tried(n, keep)[0].tokens for n in (3, 30)] for keep in (True, False)]
    assert reset[1] == 10 * reset[0] and kept[1] > 35 * kept[0]


def test_the_attempts_are_bounded_and_the_last_fault_is_told():
    plays = []

    def harness(run):
        plays.append(run)
        run.label = Label.FINISHED
        return run

    tried = until(lambda: "no total", harness, "go", attempts=4)
    assert len(plays) == tried.attempts == 4 and not tried.passed and tried.fault == "no total"


def test_what_the_check_said_is_told_where_the_conversation_is_kept():
    faults = iter(["no total", None])
    harness = assemble(lambda request: reply("done"), {})
    tried = until(lambda: next(faults), harness, "go", keep=True)
    assert "no total" in tried.runs[0].messages[2]["content"][0]["text"]


@pytest.mark.parametrize("label", ["interrupted", "busy", "cost_cap", "model_error", "refused"])
def test_a_turn_that_was_ended_from_outside_is_not_played_again(label):
    def harness(run):
        run.label = Label(label)
        return run

    assert until(lambda: "no", harness, "go").attempts == 1


def test_costs_are_those_of_all_attempts():
    harness = assemble(lambda request: reply("done", cost=0.5, tokens=7), {})
    tried = until(lambda: "no", harness, "go", attempts=3)
    assert tried.cost_usd == 1.5 and tried.tokens == 21


# a tool that is begun before the reply is whole


def stream_that_breaks(times):
    """A stream whose connection breaks behind its first call, so many times."""
    asked = [0]

    def stream():
        asked[0] += 1
        yield tool_use(f"call_{asked[0]}", "send_mail", to="ana")
        if asked[0] <= times:
            raise ConnectionError("connection lost")
        yield tool_use(f"call_{asked[0]}b", "send_mail", to="ben")

    return stream


@pytest.mark.parametrize(("draft", "mails"), [(eager, 3), (whole, 2)])
def test_a_call_that_is_begun_before_the_reply_is_whole_is_made_twice(draft, mails):
    sent = []

    def tool(call):
        sent.append(call["input"]["to"])
        return tool_result(call["id"], "sent")

    assert len(draft(stream_that_breaks(1), tool)) == 2
    assert len(sent) == mails and draft(stream_that_breaks(9), tool) == []


# in flight

FAULTS = ("529", "429", "lost-reply", "lost-before", "lost-after")


def flights(world, faults=FAULTS):
    return [f"{who}/{world}/{fault}@2#{n}" for who in PERSONAS for fault in faults for n in (0, 1)]


def counted(harness, names):
    flown = fly(harness, names)
    return sum(each.reached for each in flown), sum(each.kind == "effect doubled" for each in flown)


def test_with_a_key_no_broken_connection_doubles_an_effect():
    names = flights("keyed-mail", ("lost-before", "lost-after"))
    assert counted(library, names)[1] > 0
    assert counted(retrying, names) == (len(names), 0)


def test_without_a_key_trying_again_mends_nothing_behind_the_effect():
    names = flights("one-mail", ("lost-before", "lost-after"))
    assert counted(retrying, names) == counted(library, names) == counted(asking_again, names)


def test_asking_a_model_again_loses_no_flight_and_doubles_nothing():
    names = flights("one-mail", ("529", "429", "lost-reply"))
    before, after = fly(library, names), fly(asking_again, names)
    worse = [b for b, a in zip(before, after, strict=True) if b.reached and not a.reached]
    assert worse == [] and not [each for each in after if each.kind == "effect doubled"]


def test_the_keyed_world_is_in_no_block_and_can_be_flown_by_name():
    assert named("diligent/keyed-mail/calm#0").lay().goal() is False
    assert fly(2, "diligent/keyed-mail/calm#1")[0].kind == "reached"
