"""The course as a learner meets it: in JupyterLab, in a browser, without a network."""

import json
from pathlib import Path

import pytest

CONTENT = "() => window.jupyterapp.shell.currentWidget.context.model.toJSON()"
ROOT = Path(__file__).parents[2]
CHAPTERS = sorted(path.stem for path in ROOT.glob("chapters/*.ipynb"))
LABS = sorted(path.name for path in ROOT.glob("labs/[0-9]*"))
THEMES = ("Light", "Dark")
DIAGRAM = "text/vnd.mermaid"
DRAWN = ".jp-RenderedMermaid img[src^='data:image/svg+xml']"
LOST = ".jp-Notebook :text-matches('^(Error displaying|Loading) widget')"


def test_the_front_page_opens_and_leads_to_a_chapter(screen):
    screen.open("chapters/start.ipynb")
    screen.picture("start")
    screen.page.locator(".jp-Notebook a[href*='/chapters/0']").first.click()
    screen.wait_for("() => /chapters.0/.test(window.jupyterapp.shell.currentWidget.context?.path)")
    assert screen.faults() == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_runs_to_its_end_and_draws_its_diagrams(screen, chapter):
    screen.open(f"chapters/{chapter}.ipynb")
    for theme in THEMES:
        screen.turn(theme)
        ran = screen.run()
        assert unmeant_errors(ran) == []
        assert not_run(ran) == []
        screen.shows(DRAWN, diagrams(ran))
        screen.shows(LOST, 0)
        screen.picture(f"{chapter}_{theme.lower()}")
    assert screen.faults() == []


def test_a_notebook_that_is_saved_keeps_its_widgets_for_tomorrow(screen):
    screen.open("chapters/01_structural_stop.ipynb")
    screen.run()
    screen.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    screen.wait_for("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    saved = screen.page.evaluate(CONTENT)["metadata"]["widgets"]
    assert any("stepper" in json.dumps(kept).lower() for kept in saved.values())


def test_the_menus_of_those_who_grade_stay_away(screen):
    screen.open("chapters/start.ipynb")
    assert screen.page.locator(".lm-MenuBar-itemLabel", has_text="Nbgrader").count() == 0
    assert screen.page.locator(".lm-MenuBar-itemLabel", has_text="Kernel").count() == 1


@pytest.mark.parametrize("lab", LABS)
def test_an_untouched_lab_runs_to_its_end_and_says_not_done_yet(screen, lab):
    screen.open(f"labs/{lab}/{lab}.ipynb")
    for theme in THEMES:
        screen.turn(theme)
        ran = screen.run()
        assert unmeant_errors(ran) == []
        assert not_run(ran) == []
        assert "not done yet" in screen.texts()
        assert "Traceback" not in screen.texts()
        screen.picture(f"lab_{lab}_{theme.lower()}")
    assert screen.faults() == []


def not_run(notebook):
    return [c["source"] for c in code(notebook) if c["source"].strip() and not c["execution_count"]]


def unmeant_errors(notebook):
    cells = [c for c in code(notebook) if "raises-exception" not in c["metadata"].get("tags", [])]
    return [(o["ename"], o["evalue"]) for c in cells for o in c["outputs"] if "ename" in o]


def diagrams(notebook):
    """How many there are, in outputs and in text."""
    outputs = [output for cell in code(notebook) for output in cell["outputs"]]
    texts = [c["source"] for c in notebook["cells"] if c["cell_type"] == "markdown"]
    fences = sum(text.count("```mermaid") for text in texts)
    return fences + sum(DIAGRAM in output.get("data", {}) for output in outputs)


def code(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
