"""Views: what the model is sent, and how a limit's last round can be kept for an answer."""

from harness_zero.assembly import assemble
from harness_zero.messages import array_fault, reply, tool_use
from harness_zero.notebook import offline_api
from harness_zero.policy import deadline, max_rounds
from harness_zero.run import Run
from harness_zero.tools import schemas
from harness_zero.view import last_answer, plain

NO_TOOLS = {"type": "none"}


def look(where: str) -> str:
    """Look somewhere."""
    return f"nothing in {where}"


TOOLS = {"look": look}
WITH_TOOLS = plain("You look.", schemas(TOOLS))


def looking_for_ever(requests):
    """A model that looks on unless it may not, as the API holds it to, and what it was sent."""

    def model(request):
        requests.append(request)
        if request.get("tool_choice") == NO_TOOLS:
            return reply("I found nothing so far.")
        return reply(tool_use(f"call_{len(requests)}", "look", where="the hall"))

    return model


def played(view, *brakes):
    """One turn of that model, and the requests that it was sent."""
    requests = []
    run = assemble(looking_for_ever(requests), TOOLS, brakes=brakes, view=view)(Run("where?"))
    return run, requests


def test_in_the_last_round_the_model_may_call_no_tool_and_answers():
    run, requests = played(last_answer(WITH_TOOLS), max_rounds(3))
    assert [request.get("tool_choice") for request in requests] == [None, None, NO_TOOLS]
    assert (run.text, run.rounds) == ("I found nothing so far.", 3)
    assert array_fault(run.messages) is None


def test_without_it_the_last_call_is_not_executed_and_there_is_no_answer():
    run, _ = played(WITH_TOOLS, max_rounds(3))
    assert (run.label, run.text) == ("max_rounds", "")


def test_nothing_else_in_the_request_changes():
    _, requests = played(last_answer(WITH_TOOLS), max_rounds(2))
    last = requests[-1]
    assert (last["tools"], last["system"]) == (schemas(TOOLS), "You look.")
    assert last["messages"][:1] == requests[0]["messages"][:1]


def test_a_limit_of_one_round_allows_an_answer_and_no_call():
    run, _ = played(last_answer(WITH_TOOLS), max_rounds(1))
    assert (run.text, run.rounds) == ("I found nothing so far.", 1)


def test_rounds_count_anew_in_the_next_turn():
    requests = []
    view, brakes = last_answer(WITH_TOOLS), [max_rounds(2)]
    harness = assemble(looking_for_ever(requests), TOOLS, brakes=brakes, view=view)
    harness(harness(Run("where?")).ask("and now?"))
    assert [request.get("tool_choice") for request in requests] == [None, NO_TOOLS] * 2


def test_without_a_limit_on_rounds_there_is_no_last_one():
    ticks = iter(range(0, 900, 10))
    run = Run("where?", clock=lambda: next(ticks))
    requests = []
    view = last_answer(WITH_TOOLS)
    assemble(looking_for_ever(requests), TOOLS, brakes=[deadline(100)], view=view)(run)
    assert run.label == "deadline" and not any("tool_choice" in each for each in requests)


def test_a_request_without_tools_is_sent_as_it_stands():
    requests = []

    def model(request):
        requests.append(request)
        return reply("hello")

    assemble(model, {}, brakes=[max_rounds(1)], view=last_answer(plain()))(Run("hello"))
    assert requests[0].keys() == {"messages"}


def test_the_api_takes_a_request_that_allows_no_tool():
    requests = []
    api = offline_api(looking_for_ever(requests))
    run = assemble(api, TOOLS, brakes=[max_rounds(2)], view=last_answer(WITH_TOOLS))(Run("where?"))
    assert (run.label, run.text) == ("finished", "I found nothing so far.")
    assert requests[1]["tool_choice"] == NO_TOOLS
