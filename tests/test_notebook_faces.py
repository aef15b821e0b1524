"""Diagrams, code, differences, trees and predictions: what a kernel shows, and a page without one.

How a prediction behaves in a browser, tests/browser/test_predict.py says.
"""

import math
import re
import types
from functools import lru_cache, partial, wraps
from html.parser import HTMLParser

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mermaid.flowchart import FlowChart, Link, Node
from nbclient import NotebookClient

from harness_zero.assembly import play
from harness_zero.faults import SetupFault
from harness_zero.labels import End, Label, Say
from harness_zero.loop import turn
from harness_zero.messages import reply, said, tool_result, tool_use, user
from harness_zero.models.scripted import scripted
from harness_zero.notebook import diagram, predict, project, show, show_messages
from harness_zero.notebook.diff import compared, show_diff
from harness_zero.notebook.events import NotARun, event_tree
from harness_zero.notebook.predict import BadPrediction
from harness_zero.notebook.source import NoSource
from harness_zero.run import Run
from harness_zero.stages import s1_structural_stop, s2_brakes, stage
from harness_zero.stages.s1_structural_stop import answer, run
from harness_zero.watch import record

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


def face(shown):
    """The page of a shown thing, without its stylesheet."""
    return re.sub(r"<style>.*?</style>\s*", "", shown._repr_html_(), flags=re.DOTALL)


def words(page):
    """What stands on a page when its markup is gone."""
    reader = HTMLParser(convert_charrefs=True)
    found = []
    reader.handle_data = found.append
    reader.feed(page)
    return "".join(found)


class Counter:
    """Counts."""

    limit = 3

    @staticmethod
    def up(by=1):
        # a comment
        return [by, "<b>bold</b>", b"&"]


def test_code_shows_its_source_as_it_stands():
    assert repr(show(answer)) == (
        "def answer(call, tools):\n"
        '    """Make one call and wrap what it returns."""\n'
        '    output = tools[call["name"]](**call["input"])\n'
        '    return tool_result(call["id"], str(output))'
    )


def test_several_pieces_of_code_stand_one_under_the_other():
    both = repr(show(run, answer))
    assert both == f"{show(run)!r}\n\n\n{show(answer)!r}"
    assert face(show(run, answer)).count("<pre>") == 2


def test_a_module_is_shown_whole():
    assert repr(show(s1_structural_stop)).startswith('"""Stage 1, the structural stop')
    assert repr(show(s1_structural_stop)).endswith("demonstrate(run)")


def test_a_method_is_shown_from_its_own_margin():
    assert repr(show(Counter.up)).splitlines()[:2] == ["@staticmethod", "def up(by=1):"]


def test_what_wraps_a_function_does_not_hide_it():
    @wraps(answer)
    def wrapping(*given):
        return answer(*given)

    assert repr(show(wrapping)) == repr(show(lru_cache(answer))) == repr(show(answer))


@pytest.mark.parametrize("code", [run, Counter, s1_structural_stop, Counter.up])
def test_the_page_says_what_the_text_says_and_nothing_in_it_is_markup(code):
    page = face(show(code))
    assert words(page).strip() == repr(show(code))
    assert set(re.findall(r"<(\w+)", page)) == {"div", "pre", "span"}


def test_words_of_the_language_are_told_apart_on_the_page():
    page = face(show(Counter))
    assert '<span class="keyword">class</span> <span class="name">Counter</span>:' in page
    assert '<span class="string">"""Counts."""</span>' in page
    assert '<span class="comment"># a comment</span>' in page
    assert '<span class="number">3</span>' in page


def test_a_string_over_several_lines_is_closed_on_each_of_them():
    def long():
        """One.

        Two.
        """

    for line in face(show(long)).splitlines():
        assert line.count("<span") == line.count("</span>")


def test_showing_twice_shows_the_same_and_tells_no_address():
    def all_faces():
        return show(Counter, run), show_diff(1, 2), event_tree(SUM)

    assert all_faces() == all_faces()
    assert not any(" at 0x" in repr(shown) + shown._repr_html_() for shown in all_faces())


def test_characters_that_would_turn_a_line_around_are_spelled_out(tmp_path):
    code = tmp_path / "turned.py"
    code.write_text("def f():\n    return '\u202egnp\x0c'\n", encoding="utf-8")
    made = {}
    exec(compile(code.read_text("utf-8"), code, "exec"), made)
    assert repr(show(made["f"])).endswith(r"return '\u202egnp\x0c'")
    assert r"\u202egnp\x0c" in face(show(made["f"]))


EMPTY = types.ModuleType("empty")
MADE = {}
exec("def made(): pass", MADE)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (len, "len is built into Python and has no source in Python"),
        (int, "int is built into Python"),
        ([].append, "append is built into Python"),
        (math, "Python keeps no source of math"),
        (str.join, "Python keeps no source of join"),
        (EMPTY, "Python keeps no source of empty"),
        (MADE["made"], "Python keeps no source of made: it is empty, is not written in Python"),
        (lambda: 1, "a lambda has no source of its own; write it with def"),
        (partial(run, None), "show the function that it calls, run"),
        (partial(partial), "show the function that it calls, partial"),
        (3, "only a function, a class or a module has source; this is of type int"),
        ("run", "this is of type str"),
        (None, "this is of type NoneType"),
        (Counter(), "this is of type Counter"),
        (property(len), "this is of type property"),
    ],
)
def test_what_has_no_source_is_refused_in_one_sentence(code, sentence):
    with pytest.raises(NoSource) as caught:
        show(run, code)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (0, "there is no stage 0; there are 1 to 5"),
        (-1, "there is no stage -1"),
        (6, "there is no stage 6"),
        (2.0, "only a function, a class or a module has source; this is of type float"),
        (len, "len is built into Python"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_sentence(code, sentence):
    for pair in ((1, code), (code, 1)):
        with pytest.raises(NoSource, match=re.escape(sentence)):
            show_diff(*pair)


def test_to_show_nothing_is_refused():
    with pytest.raises(NoSource, match="there is nothing to show"):
        show()


def before(tell):
    tell(1)
    if tell(2):
        return tell(3)
    tell(4)
    tell(5)
    tell(6)
    tell(7)
    tell(8)
    return tell(9)


def after(tell):
    tell(1)
    if tell(2):
        return tell(3)
    if tell(0):
        return tell(3)
    tell(4)
    tell(5)
    tell(6)
    tell(7)
    tell(8)
    return tell(10)


def test_a_difference_is_told_by_signs_and_counts_and_folds_what_did_not_change():
    assert repr(show_diff(before, after)).splitlines() == [
        "--- test_notebook_faces.before",
        "+++ test_notebook_faces.after",
        "- def before(tell):",
        "+ def after(tell):",
        "      tell(1)",
        "      if tell(2):",
        "          return tell(3)",
        "+     if tell(0):",
        "+         return tell(3)",
        "      tell(4)",
        "      tell(5)",
        "      tell(6)",
        "      tell(7)",
        "      tell(8)",
        "-     return tell(9)",
        "+     return tell(10)",
        "(+4 -2)",
    ]


def test_lines_far_from_a_change_are_folded_and_open_on_demand():
    assert "@@ 17 unchanged lines @@" in repr(show_diff(2, 3)).splitlines()
    page = face(show_diff(2, 3))
    assert ">17 unchanged lines</summary><pre>" in page
    assert "messages.append(said(reply))" in words(page)


def test_a_changed_line_has_its_sign_a_tag_and_a_word_for_who_hears_it():
    page = face(show_diff(before, after))
    assert page.count('<ins><span role="img" aria-label="added">+</span>') == 4
    assert page.count('<del><span role="img" aria-label="removed">\N{MINUS SIGN}</span>') == 2
    assert 'aria-label="4 lines added, 2 removed">(+4 \N{MINUS SIGN}2)</span>' in page


def test_stages_are_compared_by_number_without_the_lines_that_only_run_them():
    by_number = repr(show_diff(1, 2))
    assert by_number.startswith("--- s1_structural_stop\n+++ s2_brakes\n")
    assert "__main__" not in by_number and "__main__" not in face(show_diff(1, 2))
    assert "__main__" in repr(show_diff(run, s2_brakes))


def test_what_is_the_same_has_an_empty_difference():
    same = show_diff(turn, turn)
    assert repr(same).splitlines()[-1] == "(+0 -0)" and "no line differs" in face(same)
    assert {line[0] for line in repr(same).splitlines()[2:-1]} == {"@"}


def test_an_if_is_added_together_with_its_own_return():
    added = [line[2:] for line in repr(show_diff(1, 2)).splitlines() if line.startswith("+ ")]
    at = next(n for n, line in enumerate(added) if "rounds >= max_rounds" in line)
    assert added[at + 2] == "            return messages"


@given(*[st.lists(st.sampled_from(["a", "b", "", "  c", '"' * 3])).map("\n".join)] * 2)
def test_a_difference_holds_both_versions_whole(old, new):
    lines = compared(old, new)
    kept = {sign: [text for s, text, _ in lines if s in (" ", sign)] for sign in "+-"}
    assert (kept["-"], kept["+"]) == (old.splitlines(), new.splitlines())


TOOLS = {"add": lambda x, y: x + y}
ASKS = reply("Both.", tool_use("a", "add", x=2, y=3), tool_use("b", "fly", to="<b>"))
SCRIPT = ASKS, reply("It is\n5.")
SUM = record(stage(4), scripted(*SCRIPT), TOOLS, "What is 2 + 3?")
TREE = [
    "turn 1",
    "├─ prompt: What is 2 + 3?",
    "├─ round 1",
    "│  ├─ reply tool_use: Both.",
    "│  ├─ call a: add(x=2, y=3)",
    "│  ├─ result a: 5",
    "│  ├─ call b: fly(to='<b>')",
    "│  └─ result b: error: no tool named 'fly'",
    "├─ round 2",
    "│  └─ reply end_turn: It is | 5.",
    "└─ end: finished",
]


def test_a_run_is_a_tree_of_what_happened_in_order():
    assert repr(event_tree(SUM)).splitlines() == TREE


def test_the_page_of_a_tree_is_a_nested_list_with_the_same_words():
    page = face(event_tree(SUM))
    on_page, in_text = words(page.replace("<li", " <li")), repr(event_tree(SUM))
    assert re.findall(r"\w+", on_page) == re.findall(r"\w+", in_text)
    assert page.count("<ul>") == page.count("</ul>") == 4
    assert '<li class="result failed"><b>result</b> <code>b</code>' in page


def test_an_array_alone_does_not_tell_why_the_model_or_the_harness_stopped():
    tree = repr(event_tree(SUM.messages)).splitlines()
    assert tree[3] == "│  ├─ reply: Both." and tree[-1] == "└─ end: of the array"


def test_what_stage_4_gives_back_has_its_label_and_stage_1_has_none():
    ends = [repr(event_tree(stage(4)(scripted(*SCRIPT), TOOLS, "go"))).splitlines()[-1]]
    ends += [repr(event_tree(record(run, scripted(reply("hi")), {}, "go"))).splitlines()[-1]]
    assert ends == ["└─ end: finished", "└─ end: without a label"]


def test_a_lost_run_tells_which_calls_have_no_result_and_what_took_it_down():
    tree = repr(event_tree(record(run, scripted(*SCRIPT), TOOLS, "go"))).splitlines()
    assert tree[5:] == [
        "│  ├─ result a: none",
        "│  ├─ call b: fly(to='<b>')",
        "│  └─ result b: none",
        "└─ end: lost: NoSuchTool: there is no tool 'fly'; there are add",
    ]


def test_a_result_that_answers_no_call_is_said_to():
    tree = repr(event_tree([user("go"), said(ASKS), user(tool_result("z", "5"))]))
    assert "result z: answers no call: 5" in tree


def test_a_new_prompt_opens_a_turn_and_its_rounds_are_counted_anew():
    messages = [user("a"), said(reply("b")), user("c"), said(reply("d"))]
    tree = repr(event_tree(messages)).splitlines()
    assert [line for line in tree if "turn" in line or "round" in line] == [
        "turn 1",
        "└─ round 1",
        "turn 2",
        "├─ round 1",
    ]


def told_to_go_on():
    """A run whose policy speaks after an empty reply."""

    def policy(run):
        if run.last_word and not run.last_word["content"]:
            run.last_word = None
            return Say("Go on.")
        return End(Label.FINISHED, "it spoke") if run.text else None

    script = scripted(reply(), reply("Done."))
    return turn(
        Run("go"), policy, lambda r: {"messages": r.messages}, lambda r: script(r["messages"]), None
    )


def test_a_policys_words_open_no_turn_and_an_empty_reply_has_a_round():
    assert repr(event_tree(told_to_go_on())).splitlines() == [
        "turn 1",
        "├─ prompt: go",
        "├─ round 1",
        "│  ├─ reply end_turn: empty",
        "│  └─ words: Go on.",
        "├─ round 2",
        "│  └─ reply end_turn: Done.",
        "└─ end: finished: it spoke",
    ]


def test_the_middle_of_a_long_turn_is_folded():
    script = [reply(tool_use(str(n), "add", x=n, y=n)) for n in range(60)]
    shown = event_tree(play(scripted(*script), TOOLS, "go", max_rounds=50))
    assert "├─ ... 41 more rounds ..." in repr(shown).splitlines()
    assert len(repr(shown).splitlines()) == 40
    assert ">41 more rounds</summary>" in face(shown) and "round</b> <code>25" in face(shown)


def test_nothing_in_a_tree_is_markup_or_moves_the_cursor():
    shown = event_tree([user("<b>\x1b[1m\u202e"), said(reply(tool_use("<i>", "<u>")))])
    assert "<b>\\x1b[1m\\u202e" in repr(shown)
    assert "&lt;b&gt;\\x1b[1m\\u202e" in face(shown)
    assert set(re.findall(r"<(\w+)", face(shown))) <= {"div", "ul", "li", "b", "code", "span"}


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        ([], "there is no message in this"),
        ("go", "this is of type str"),
        (None, "this is of type NoneType"),
        ([{}], "message 0 is no dict with the role user or assistant: {}"),
        ([user("go"), 3], "message 1 is no dict"),
        ([user("go"), {"role": "user", "content": [{}]}], "message 1 "),
    ],
)
def test_what_is_no_run_is_refused_in_one_sentence(run, sentence):
    with pytest.raises(NotARun, match=re.escape(sentence)) as caught:
        event_tree(run)
    assert str(caught.value).endswith("of a recording, a run, or a list of messages")


def asked(**other):
    given = {"question": "2 < 3?", "choices": ["yes", "no"], "answer": "yes"}
    return predict(**{**given, "because": "2 comes <before> 3.", **other})


def test_a_prediction_has_a_face_of_text_that_does_not_tell_the_answer():
    assert repr(asked()) == "Predict: 2 < 3?\n  ( ) yes\n  ( ) no\n  Then run the next cell."


def test_on_a_page_without_a_kernel_the_answer_is_folded_and_nothing_in_it_is_markup():
    page = asked().folded()
    asked_for, answer = page.split("<details")
    assert "2 &lt; 3?" in asked_for and "before" not in asked_for
    assert "<b>yes</b>: 2 comes &lt;before&gt; 3." in answer


def test_a_prediction_is_noted_without_its_answer_and_compares_kindly():
    assert asked().note("no") == "You predict “no”. Run the next cell, then compare."
    assert asked().verdict("yes") == "Yes, “yes”. 2 comes <before> 3."
    assert asked().verdict("no") == "You said “no”; it is “yes”. 2 comes <before> 3."


def test_a_choice_that_is_a_sentence_gives_its_full_stop_to_the_sentence_around_it():
    said = asked(choices=["It is.", "It is not."], answer="It is.").verdict("It is not.")
    assert said.startswith("You said “It is not”; it is “It is”. 2 comes")


def test_an_answer_is_kept_under_a_name_of_its_own_for_every_question_and_notebook(monkeypatch):
    keys = {asked().key(), asked(question="?").key(), asked(answer="no").key()}
    monkeypatch.setenv("JPY_SESSION_NAME", "/somewhere/else.ipynb")
    keys |= {asked().key()}
    assert len(keys) == 4 and asked().key() == asked().key()
    assert all(re.fullmatch("harness-zero/predict/[0-9a-f]{24}", key) for key in keys)


def test_characters_that_no_page_can_hold_are_spelled_out_in_a_question():
    strange = asked(question="\x1b[1m\ud800?", because="\u202e")
    assert strange.question == r"\x1b[1m\ud800?" and strange.because == r"\u202e"
    repr(strange).encode(), strange.folded().encode()


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"answer": "maybe"}, "the answer 'maybe' is none of the choices ['yes', 'no']"),
        ({"choices": []}, "a prediction has two choices at least, and this one has 0"),
        ({"choices": ["yes"]}, "and this one has 1"),
        ({"choices": "yes no"}, "are a list of words, and these are of type str"),
        ({"choices": {"yes", "no"}}, "and these are of type set"),
        ({"choices": ["yes", 2]}, "every choice is words, and one of these is of type int"),
        ({"choices": ["yes", "yes"]}, "the choice 'yes' stands there twice"),
        ({"choices": ["yes", " "]}, "one of them is ' '"),
        ({"question": ""}, "one of them is ''"),
        ({"question": 2}, "the question of a prediction is words, and this one is of type int"),
        ({"answer": True}, "the answer of a prediction is words"),
        ({"because": None}, "the because of a prediction is words"),
    ],
)
def test_a_prediction_that_nobody_could_make_is_refused_in_one_sentence(other, sentence):
    with pytest.raises(BadPrediction, match=re.escape(sentence)):
        asked(**other)


CELL = "class Point:\n    'A point.'\n    def far(self):\n        return '<b>'"
REFUSED = [
    "show(Bare)",
    "show(lambda: 1)",
    "show_diff(1, 9)",
    "event_tree([])",
    "predict('?', [], '', '')",
]
IMPORTS = """
from harness_zero.notebook import predict, show
from harness_zero.notebook.events import event_tree
from harness_zero.notebook.diff import show_diff
"""


def test_in_a_kernel_without_a_person_every_face_is_shown_and_every_fault_is_a_sentence():
    asking = "predict('?', ['a', 'b'], answer='b', because='c')"
    shown = [
        ("show(Point)", CELL),
        ("show_diff(1, 2)", repr(show_diff(1, 2))),
        (asking, "Predict: ?"),
    ]
    cells = [IMPORTS, f"{CELL}\nclass Bare:\n    x = 1", *[code for code, _ in shown], *REFUSED]
    outputs = executed(cells)[2:]
    for (_, text), output in zip(shown, outputs, strict=False):
        assert output["data"]["text/plain"].startswith(text) and "text/html" in output["data"]
    assert "application/vnd.jupyter.widget-view+json" in outputs[2]["data"]
    said = [output["traceback"] for output in outputs[len(shown) :]]
    assert [len(lines) for lines in said] == [1] * len(REFUSED)
    assert said[0][0].startswith("NoSource: Python keeps no source of Bare: it is a class of this")


def executed(cells):
    """The last output of each cell, run in a kernel without a person; None where there is none."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, kernel_name="python3", allow_errors=True).execute()
    return [cell.outputs[-1] if cell.outputs else None for cell in notebook.cells]


def test_a_fault_is_no_exception_that_a_harness_could_turn_into_text_for_the_model():
    assert all(issubclass(fault, SetupFault) for fault in (NoSource, NotARun, BadPrediction))


def test_an_array_is_shown_a_line_a_block(capsys):
    model, tools = project("login")
    show_messages(run(model, tools, "go")[:4])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "  0  user       text         go"
    assert lines[1].startswith("  1  assistant  tool_use     call_1  run_command(")
    assert len(lines) == 5 and all(len(line) <= 88 for line in lines)


@pytest.mark.parametrize(
    ("odd", "line"),
    [
        (None, "no list of messages: None"),
        ({"role": "user"}, "no list of messages: {'role': 'user'}"),
        ([{"content": "go"}], "  0  is no dict with the role user or assistant: {'content': 'go'}"),
        ([{"role": "user", "content": None}], "  0  has no list of content blocks: None"),
        (
            [{"role": "user", "content": ["go"]}],
            "  0  holds something that is no content block: 'go'",
        ),
        (
            [{"role": "user", "content": [{"type": "text"}]}],
            "  0  holds a text whose text is no text",
        ),
    ],
)
def test_what_is_no_message_is_shown_as_what_it_is(capsys, odd, line):
    show_messages(odd)
    assert capsys.readouterr().out.startswith(line)


def test_a_call_whose_input_is_no_object_is_shown_too(capsys):
    call = {"type": "tool_use", "id": "a", "name": "add", "input": [2, 3]}
    show_messages([{"role": "assistant", "content": [call]}])
    assert "add([2, 3])" in capsys.readouterr().out
