"""Predictions as a reader meets them: in JupyterLab, with a mouse, with keys, and coming back.

Beside them stand code, a difference and a tree, whose colours have to suit every theme.
"""

import nbformat
import pytest

from harness_zero.notebook import project, show
from harness_zero.notebook.diff import show_diff
from harness_zero.notebook.events import event_tree
from harness_zero.stages import s4_termination_labels as s4
from harness_zero.watch import record

ASK = """from harness_zero.notebook import predict

predict(
    {question!r},
    ["2 times", "5 times", "<b>never</b>"],
    answer="5 times",
    because="Tests, two reads, an edit & tests.",
)"""
FACES = (
    """from harness_zero.notebook import project, show
from harness_zero.notebook.events import event_tree
from harness_zero.notebook.diff import show_diff
from harness_zero.stages import s4_termination_labels as s4
from harness_zero.watch import record

show(s4)""",
    "show_diff(3, 4)",
    """event_tree(record(s4.run, *project("login"), "The tests fail."))""",
)
CELLS = "() => window.jupyterapp.shell.currentWidget.context.model.cells.length"
NOTHING_YET = "Choose one. Nobody sees it but you."
NOTED = "You predict “2 times”. Run the next cell, then compare."
VERDICT = "You said “2 times”; it is “5 times”. Tests, two reads, an edit & tests."
# The least contrast of any words below an element: what is drawn is asked of a canvas, since
# a colour may be mixed from others, and what lies behind it is laid on layer by layer.
CONTRAST = """root => {
    const pixel = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const draw = colours => {
        pixel.clearRect(0, 0, 1, 1);
        for (const colour of colours) { pixel.fillStyle = colour; pixel.fillRect(0, 0, 1, 1); }
        return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3).map(value => value / 255);
    };
    const light = rgb => rgb.map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
    const behind = element => element ? [...behind(element.parentElement),
        getComputedStyle(element).backgroundColor] : ['white'];
    const found = [];
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        if (!texts.currentNode.data.trim() || element.closest('style') || !element.offsetParent)
            continue;
        const layers = behind(element), colour = getComputedStyle(element).color;
        const [a, b] = [draw(layers), draw([...layers, colour])].map(light).sort((a, b) => a - b);
        found.push([(b + 0.05) / (a + 0.05), texts.currentNode.data.trim()]);
    }
    return found.sort((a, b) => a[0] - b[0])[0];
}"""


class Reader:
    """Somebody who reads a notebook and answers its questions."""

    def __init__(self, screen):
        self.screen, self.page = screen, screen.page

    def opens(self, *cells, name="asked.ipynb"):
        """Open a notebook of these cells and run it."""
        lay(self.screen, name, cells)
        self.comes_back(name)
        return self

    def comes_back(self, name="asked.ipynb"):
        """Open the notebook anew, and run it."""
        self.screen.open(name)
        self.runs()

    def runs(self):
        self.screen.run()
        self.screen.shows(".hz-predict .compare", self.page.evaluate(CELLS) - 1)

    def question(self):
        return self.page.locator(".hz-predict").first

    def choice(self, words):
        return self.question().get_by_role("radio", name=words)

    def button(self, words):
        return self.question().get_by_role("button", name=words, exact=True)

    def said(self):
        return self.question().get_by_role("status").inner_text()

    def presses(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def focused(self):
        """What would take the next key, by its label or its words."""
        return self.page.evaluate(
            "() => { const e = document.activeElement; return (e.labels?.[0] ?? e).innerText; }"
        )


def lay(screen, name, cells):
    """Lay a notebook of these cells where JupyterLab finds it."""
    made = [nbformat.v4.new_code_cell(cell) for cell in cells]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    content = nbformat.v4.new_notebook(cells=made, metadata=kernel)
    address = screen.address.replace("/lab/tree/", "/api/contents/").format(name)
    sent = screen.page.request.put(address, data={"type": "notebook", "content": content})
    assert sent.ok, sent.text()


QUESTION = ASK.format(question="How often is the <i>model</i> called?"), "print('ran')"


@pytest.fixture
def reader(screen):
    yield Reader(screen)
    assert screen.faults() == []


def test_the_answer_waits_until_one_has_chosen_and_compares(reader):
    reader.opens(*QUESTION)
    assert reader.said() == NOTHING_YET
    reader.button("Compare").click(force=True)
    assert reader.said() == NOTHING_YET
    reader.question().get_by_text("5 times").click()
    reader.question().get_by_text("2 times").click()
    assert reader.said() == NOTED and reader.choice("2 times").is_checked()
    assert "two reads" not in reader.page.locator(".jp-Notebook .jp-OutputArea").first.inner_html()
    reader.button("Compare").click()
    assert reader.said() == VERDICT


def test_before_comparing_no_choice_stands_out_and_the_answer_stands_nowhere(reader):
    reader.opens(*QUESTION)
    reader.choice("2 times").click()
    rows = reader.question().locator("label")
    assert {row.get_attribute("class") for row in rows.all()} <= {None, ""}
    assert reader.question().locator(".tag").all_inner_texts() == ["", "", ""]


def test_after_comparing_words_and_not_colour_alone_tell_the_answer_and_the_choice_is_kept(reader):
    reader.opens(*QUESTION)
    reader.choice("2 times").click()
    reader.button("Compare").click()
    tags = reader.question().locator(".tag").all_inner_texts()
    assert tags == ["your prediction", "the answer", ""]
    reader.choice("5 times").click(force=True)
    assert reader.choice("2 times").is_checked() and reader.said() == VERDICT


def test_one_may_predict_again(reader):
    reader.opens(*QUESTION)
    assert reader.button("Predict again").count() == 0
    reader.choice("2 times").click()
    reader.button("Compare").click()
    reader.button("Predict again").click()
    assert reader.said() == NOTHING_YET and reader.focused() == "2 times"
    reader.runs()
    assert reader.said() == NOTHING_YET


def test_the_keyboard_alone_chooses_and_compares(reader):
    reader.opens(*QUESTION)
    reader.choice("2 times").focus()
    reader.presses("ArrowDown", "ArrowUp")
    assert reader.said() == NOTED
    reader.presses("Tab")
    assert reader.focused() == "Compare"
    reader.presses("Enter")
    assert reader.said() == VERDICT and reader.focused() == "Compare"
    reader.presses("Shift+Tab", "ArrowDown")
    assert reader.choice("2 times").is_checked() and reader.said() == VERDICT


def test_where_the_focus_is_can_be_seen(reader):
    reader.opens(*QUESTION)
    reader.choice("2 times").focus()
    for key in ("ArrowDown", "Tab"):
        reader.presses(key)
        outline = reader.page.evaluate("() => getComputedStyle(document.activeElement).outline")
        assert "solid 2px" in outline


def test_keys_that_are_pressed_in_a_question_are_no_shortcuts_of_the_notebook(reader):
    reader.opens(*QUESTION)
    reader.choice("5 times").click()
    for place in (reader.choice("5 times"), reader.button("Compare")):
        place.focus()
        for key in ("a", "b", "d", "d", "x", "m", "y", "Shift+M", "Shift+L", "Enter"):
            reader.presses(key)
            assert reader.page.evaluate(CELLS) == 2
        assert reader.page.locator(".jp-MarkdownCell").count() == 0
        assert reader.page.locator(".jp-mod-editMode").count() == 0


def test_shortcuts_with_a_modifier_stay_the_notebooks_own(reader):
    reader.opens(*QUESTION)
    reader.choice("5 times").focus()
    saved = "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
    reader.presses("Control+s")
    reader.screen.wait_for(saved)


def test_an_answer_is_there_again_when_the_cell_is_run_again(reader):
    reader.opens(*QUESTION)
    reader.choice("2 times").click()
    reader.runs()
    assert reader.said() == NOTED and reader.choice("2 times").is_checked()


def test_an_answer_is_there_again_when_the_notebook_is_opened_again(reader):
    reader.opens(*QUESTION)
    reader.choice("2 times").click()
    reader.button("Compare").click()
    reader.comes_back()
    assert reader.said() == VERDICT


def test_another_notebook_and_another_question_have_answers_of_their_own(reader):
    reader.opens(*QUESTION)
    reader.choice("2 times").click()
    other = ASK.format(question="And how often a tool?")
    reader.opens(other, QUESTION[0], "", name="asked.ipynb")
    statuses = reader.page.locator(".hz-predict").get_by_role("status").all_inner_texts()
    assert statuses == [NOTHING_YET, NOTED]
    reader.opens(*QUESTION, name="other.ipynb")
    assert reader.said() == NOTHING_YET


def test_what_somebody_else_left_in_the_browser_does_no_harm(reader):
    reader.opens(*QUESTION)
    reader.choice("2 times").click()
    for strange in ("{", "null", '{"chosen": 7}', '{"chosen": "length"}', '{"chosen": -1}'):
        reader.page.evaluate(
            "strange => Object.keys(localStorage).filter(k => k.startsWith('harness-zero/predict'))"
            ".forEach(key => localStorage.setItem(key, strange))",
            strange,
        )
        reader.runs()
        assert reader.said() == NOTHING_YET


def test_what_looks_like_markup_is_shown_as_it_was_written(reader):
    reader.opens(*QUESTION)
    assert "How often is the <i>model</i> called?" in reader.question().inner_text()
    assert reader.choice("<b>never</b>").count() == 1
    assert reader.question().locator("i").count() == 0


def test_a_question_and_its_parts_have_names_for_who_hears_them(reader):
    reader.opens(*QUESTION)
    named = reader.page.get_by_role("group", name="Predict: How often is the <i>model</i> called?")
    assert named.get_by_role("radio").count() == 3
    assert reader.button("Compare").get_attribute("aria-disabled") == "true"
    reader.choice("5 times").click()
    assert reader.button("Compare").get_attribute("aria-disabled") == "false"


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_every_word_of_a_question_can_be_read(reader, theme):
    reader.opens(*QUESTION)
    reader.screen.turn(theme)
    states = [lambda: None, reader.choice("2 times").click, reader.button("Compare").click]
    for at, act in enumerate(states):
        act()
        least, words = reader.question().evaluate(CONTRAST)
        assert least >= 4.5, words
        reader.screen.picture(f"predict_{at}_{theme.lower()}")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_every_word_of_code_a_difference_and_a_tree_can_be_read(screen, theme):
    lay(screen, "faces.ipynb", FACES)
    screen.open("faces.ipynb")
    screen.turn(theme)
    screen.run()
    for fold in screen.page.locator(".hz-diff summary").all():
        fold.click()
    for shown in (".hz-code", ".hz-diff", ".hz-tree"):
        least, words = screen.page.locator(f".jp-OutputArea {shown}").first.evaluate(CONTRAST)
        assert least >= 4.5, (shown, words)
    screen.picture(f"faces_{theme.lower()}")
    assert screen.faults() == []


@pytest.mark.parametrize(
    "colours", ["color: #222; background: white", "color: #ddd; background: #111"]
)
def test_on_a_page_without_a_theme_every_word_can_be_read_too(browser, colours):
    page = browser.new_page()
    faces = show(s4), show_diff(3, 4), event_tree(record(s4.run, *project("login"), "go"))
    body = "".join(shown._repr_html_() for shown in faces)
    page.set_content(f'<body style="{colours}">{body.replace("<details", "<details open")}</body>')
    least, words = page.locator("body").evaluate(CONTRAST)
    page.close()
    assert least >= 4.5, words


def test_a_key_pressed_on_a_fold_opens_it_and_does_nothing_else(screen):
    lay(screen, "faces.ipynb", FACES)
    screen.open("faces.ipynb")
    screen.run()
    screen.page.locator(".hz-diff .hz-head").click()
    screen.page.locator(".hz-diff summary").first.focus()
    for key in ("Enter", "b", "d", "d"):
        screen.page.keyboard.press(key)
        assert screen.page.evaluate(CELLS) == 3
    assert screen.page.locator(".hz-diff details[open]").count() == 1
    assert screen.page.locator(".jp-mod-editMode").count() == 0
