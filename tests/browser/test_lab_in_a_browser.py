"""A lab at work in JupyterLab: a promise that broke is stepped through, a kept one opens why."""

import pytest

SAVE = "([path, content]) => window.jupyterapp.serviceManager.contents.save(path, content)"
SETUP = """\
from harness_zero.messages import said, tool_result, tool_uses, user
from harness_zero.notebook import check, mine, progress

def answer(call, tools):
    return tool_result(call["id"], str(tools[call["name"]](**call["input"])))
"""
RIGHT = """\
%%my_harness act
def act(reply, tools):
    return user(*[answer(call, tools) for call in tool_uses(reply)])
"""
LOSES_A_CALL = """\
%%my_harness run
def run(model, tools, prompt):
    messages = [user(prompt)]
    while True:
        reply = model(messages)
        messages.append(said(reply))
        if reply["content"][0]["type"] == "text":
            return messages
        messages.append(act(reply, tools))
"""
CELLS = [SETUP, RIGHT, 'check("act", act)', LOSES_A_CALL, 'check("run", run)', "mine()"]
PLACE = "labs/01_structural_stop/worked.ipynb"


def notebook(cells):
    cells = [
        {"cell_type": "code", "id": f"c{at}", "metadata": {}, "source": source, "outputs": []}
        for at, source in enumerate(cells)
    ]
    content = {"cells": [{**cell, "execution_count": None} for cell in cells]}
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    content |= {"metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return {"type": "notebook", "format": "json", "content": content}


@pytest.fixture
def lab(screen):
    """The page of a lab in which one answer is right and one is wrong, run to its end."""
    screen.open("chapters/start.ipynb")
    screen.page.evaluate(SAVE, [PLACE, notebook(CELLS)])
    screen.open(PLACE)
    screen.run()
    return screen


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_the_case_that_broke_a_promise_opens_by_keyboard_and_steps(lab, theme):
    lab.turn(theme)
    page, fold = lab.page, lab.page.locator(".hz-step-fold > summary")
    fold.wait_for(timeout=15_000)
    assert "BROKEN" in lab.texts() and not page.locator(".hz-step").is_visible()
    fold.focus()
    page.keyboard.press("Enter")
    page.locator(".hz-step").wait_for(timeout=15_000)
    assert page.locator("[aria-current=step]").inner_text().strip().endswith("return messages")
    assert "Here the promise broke." in page.locator(".hz-step-told").inner_text()
    page.get_by_role("button", name="Step back").press("End")
    assert "expected: the calls a, b, c, each made once" in lab.texts()
    assert page.locator(".hz-step-why").inner_text() == "", "a promise is no reason of the loop's"
    assert "never answered" in page.locator(".hz-step-array").inner_text()
    lab.picture(f"broken_{theme.lower()}")
    assert lab.faults() == []


def test_an_answer_that_passed_opens_our_solution_and_shows_as_theirs(lab):
    page = lab.page
    assert "my_harness/act.py is yours" in lab.texts()
    page.get_by_text("Our solution, and why").click()
    assert page.get_by_text("the loop visits every call").is_visible()
    row = page.get_by_role("row").filter(has_text="Answer every call")
    assert "yours" in row.inner_text()
    row.locator("summary").click()
    assert "from . import answer" in row.inner_text()
    assert lab.faults() == []
