"""An output type: what has the form, what is told of what has not, and how often."""

import pytest
from pydantic import BaseModel, field_validator

from harness_zero.assembly import assemble, of_messages
from harness_zero.contracts import NotInForm, UnknownSchema, output, output_type, stop_hook
from harness_zero.desk import Desk, asking
from harness_zero.faults import SetupFault
from harness_zero.layers import WrongOrder
from harness_zero.messages import reply
from harness_zero.policy import max_rounds, nudge, structural_stop
from harness_zero.run import Run


class Verdict(BaseModel):
    """Whether the tests pass, and how many there are."""

    passed: bool
    count: int


SCHEMA = {
    "type": "object",
    "properties": {"passed": {"type": "boolean"}, "count": {"type": "integer"}},
    "required": ["passed", "count"],
}
GOOD = '{"passed": true, "count": 3}'
KINDS = pytest.mark.parametrize("kind", [Verdict, SCHEMA], ids=["pydantic", "schema"])


def play(kind, *script, limit=2, brakes=(), stop=structural_stop):
    desk = Desk(*script)
    stop = output_type(stop, kind, limit)
    return assemble(of_messages(desk.model), desk.tools, stop, brakes)(Run("go"))


@KINDS
def test_an_answer_in_form_ends_the_turn_and_is_a_value(kind):
    run = play(kind, asking("a"), reply(GOOD))
    assert run.label == "finished" and run.spoken == []
    value = output(run.text, kind)
    assert (value if kind is SCHEMA else value.model_dump()) == {"passed": True, "count": 3}


@KINDS
def test_what_is_wrong_goes_back_in_words_and_a_better_answer_counts(kind):
    run = play(kind, reply("All good!"), reply('{"passed": true}'), reply(GOOD))
    assert run.label == "finished" and run.rounds == 3
    first, second = (text for _, text in run.spoken)
    assert "Your answer cannot be read" in first and "JSON" in first and "count" in second


@KINDS
def test_after_two_answers_that_were_sent_back_the_turn_ends(kind):
    run = play(kind, *[reply("hm")] * 9)
    assert (run.label, run.rounds, len(run.spoken)) == ("veto_cap", 3, 2)
    assert run.why.startswith("output type: not in form after 3 tries: ")


def test_a_call_in_between_starts_the_count_anew():
    bad = reply("hm")
    assert play(SCHEMA, bad, bad, asking("a"), bad, bad, bad).rounds == 6


def test_a_reply_that_asks_for_a_tool_is_not_looked_at():
    assert play(SCHEMA, reply("I look", asking("a")["content"][0]), reply(GOOD)).spoken == []


@pytest.mark.parametrize("reason", ["max_tokens", "refusal"])
def test_a_reply_that_did_not_finish_is_not_looked_at(reason):
    run = play(SCHEMA, reply(GOOD[:9], stop_reason=reason))
    assert run.label in ("truncated", "refused") and run.spoken == []


def test_a_brake_holds_over_a_bad_form():
    run = play(SCHEMA, *[reply("hm")] * 9, brakes=[max_rounds(2)])
    assert (run.label, run.rounds) == ("max_rounds", 2)


def test_a_brake_cannot_be_wrapped():
    with pytest.raises(WrongOrder):
        output_type(max_rounds(3), SCHEMA)


def test_the_form_says_nothing_of_the_work_and_a_hook_around_it_does():
    desk = Desk(reply("Done."), reply(GOOD), asking("a"), reply(GOOD))
    hook = lambda run, again: None if desk.done else "Nothing was done."  # noqa: E731
    stop = stop_hook(output_type(nudge(structural_stop), SCHEMA), hook)
    run = assemble(of_messages(desk.model), desk.tools, stop)(Run("go"))
    assert run.label == "finished" and len(run.spoken) == 2


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"Here it is:\n\n```\n{GOOD}\n```\nThat is all.",
    ],
)
def test_the_json_stands_alone_or_in_one_fence(text):
    assert output(text, SCHEMA) == {"passed": True, "count": 3}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"Here it is: {GOOD}", "no JSON"),
        (f"```\n{GOOD}\n```\n```\n{GOOD}\n```", "2 fenced blocks"),
        ("", "no JSON"),
        (GOOD[:-1], "no JSON"),
        ('{"passed": true, "count": NaN}', "NaN is no number to JSON"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_what_else_stands_there_is_not_mended(text, words):
    with pytest.raises(NotInForm, match=words):
        output(text, SCHEMA)


def test_a_model_is_told_of_five_faults_at_once():
    wanted = {"type": "object", "required": [str(n) for n in range(9)]}
    with pytest.raises(NotInForm) as told:
        output("{}", wanted)
    assert str(told.value).count("has no") == 5 and str(told.value).endswith("; and more")


@pytest.mark.parametrize("kind", [None, str, 3, [SCHEMA], Verdict(passed=True, count=1).count])
def test_what_is_no_form_is_refused_when_the_contract_is_made(kind):
    with pytest.raises(SetupFault, match="a pydantic model or a JSON schema"):
        output_type(structural_stop, kind)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"oneOf": []}, "'oneOf'"),
        ({"properties": {"a": {"$ref": "#"}}}, r"the schema.a asks for '\$ref'"),
        ({"items": {"type": "float"}}, "'float'"),
        ({"anyOf": [{"type": "string", "format": "email"}]}, "'format'"),
        ({"items": 3}, "is no schema but 3"),
    ],
)
def test_a_schema_that_is_checked_in_part_is_refused(schema, words):
    with pytest.raises(UnknownSchema, match=words):
        output_type(structural_stop, schema)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": ["string", {}]}, "'{}'"),
        ({"type": []}, "has type: .*; that has to be a type, or a list of some"),
        ({"enum": "abc"}, "has enum: 'abc'; that has to be a list of values"),
        ({"anyOf": []}, "a list of schemas"),
        ({"properties": ["a"]}, "an object of schemas by name"),
        ({"required": "name"}, "a list of names"),
        ({"items": {"pattern": "["}}, r"the schema.items has pattern: '\['; .* regular expression"),
        ({"minLength": "3"}, "a whole number from 0 up"),
        ({"maximum": None}, "a number"),
    ],
)
def test_a_schema_whose_words_mean_nothing_is_refused_before_an_answer_comes(schema, words):
    with pytest.raises(UnknownSchema, match=words):
        output_type(structural_stop, schema)


@pytest.mark.parametrize("kind", ["integer", "number"])
def test_a_number_too_large_for_any_is_told_to_the_model(kind):
    with pytest.raises(NotInForm, match="1e999 is no number to JSON"):
        output("1e999", {"type": kind})


def test_half_a_character_in_an_answer_is_spelled_out_in_what_the_model_is_told():
    with pytest.raises(NotInForm) as told:
        output('{"\\ud800": 1}', {"additionalProperties": {"type": "string"}})
    assert str(told.value) == r"the answer.\ud800 must be a string, and is 1"


def test_a_validator_that_breaks_is_a_fault_in_words_and_not_the_models():
    class Breaks(BaseModel):
        """A verdict whose validator has a slip."""

        count: int

        @field_validator("count")
        @classmethod
        def known(cls, count):
            return {}[count]

    with pytest.raises(SetupFault, match=r"raised KeyError: 3 \(in known, line .*ValueError"):
        output('{"count": 3}', Breaks)
