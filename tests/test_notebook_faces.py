"""Diagrams and predictions: what a kernel shows, and what a page without one shows."""

import pytest
from mermaid.flowchart import FlowChart, Link, Node

from harness_zero.notebook import diagram, predict, project, show, show_messages
from harness_zero.stages.s1_structural_stop import run

ASK, TELL = Node("ask", 'say "go"'), Node("tell", "told")
CHART = FlowChart("talk", [ASK, TELL], [Link(ASK, TELL, message='a "word"'), Link(TELL, ASK)])


def test_a_diagram_has_a_script_for_mermaid_and_lines_for_everyone_else():
    bundle = diagram(CHART)._repr_mimebundle_()
    assert bundle["text/vnd.mermaid"] == (
        "flowchart TB\n"
        "    accTitle: talk\n"
        '    ask_["say #quot;go#quot;"]\n'
        '    tell_["told"]\n'
        '    ask_ -->|"a #quot;word#quot;"| tell_\n'
        "    tell_ --> ask_"
    )
    assert bundle["text/plain"] == 'say "go" -- a "word" --> told\ntold --> say "go"'


def test_showing_a_diagram_twice_shows_the_same():
    shown = diagram(CHART)
    assert shown._repr_mimebundle_() == shown._repr_mimebundle_()


def test_a_name_that_mermaid_keeps_for_itself_is_given_another_one():
    end, call = Node("end"), Node("call")
    script = diagram(FlowChart("ends", [end, call], [Link(call, end)])).script
    assert script.splitlines()[2:] == ['    end_["end"]', '    call_["call"]', "    call_ --> end_"]


def asked():
    return predict("2 < 3?", ["yes", "no"], answer="yes", because="2 comes <before> 3.")


def test_a_prediction_has_a_face_of_text_that_does_not_tell_the_answer():
    assert repr(asked()) == "Predict: 2 < 3?\n  ( ) yes\n  ( ) no\n  Then run the next cell."


def test_on_a_page_without_a_kernel_the_answer_is_folded_and_nothing_in_it_is_markup():
    page = asked()._repr_mimebundle_()["text/html"]
    assert "<details>" in page and "2 &lt; 3?" in page and "&lt;before&gt;" in page


def test_a_prediction_compares_kindly():
    assert asked().verdict("yes").startswith("Yes: yes.")
    assert asked().verdict("no") == "You said no; it is yes. 2 comes <before> 3."


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_answer_waits_until_one_has_chosen_and_compares():
    question, choices, said, compare = asked().live().children
    assert compare.layout.display == "none" and said.value == ""
    choices.children[1].click()
    assert "You predict <b>no</b>" in said.value and "it is yes" not in said.value
    compare.click()
    assert "You said no; it is yes." in said.value
    assert "2 &lt; 3?" in question.value


def test_an_answer_that_is_no_choice_is_refused():
    with pytest.raises(ValueError, match="maybe"):
        predict("?", ["yes", "no"], answer="maybe", because="")


def test_source_is_shown_as_it_stands(capsys):
    show(run)
    assert capsys.readouterr().out.startswith("def run(model, tools, prompt):\n")


def test_an_array_is_shown_a_line_a_block(capsys):
    model, tools = project("login")
    show_messages(run(model, tools, "go")[:4])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "  0  user       text         go"
    assert lines[1].startswith("  1  assistant  tool_use     call_1  run_command(")
    assert len(lines) == 5 and all(len(line) <= 88 for line in lines)
