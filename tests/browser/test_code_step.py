"""The code stepper in a real browser: the line that is lit, its values, the array as it was."""

import json

import pytest
from pages import COUNT_CHANGES, SAVE, WIDTH, both_themes, fresh_notebook, mount, place, told

from harness_zero.messages import reply, said, tool_result, tool_use, tool_uses, user
from harness_zero.models.scripted import scripted
from harness_zero.stages import s1_structural_stop as s1
from harness_zero.watch import record

CELL = """\
from harness_zero.messages import said, tool_result, tool_uses, user
from harness_zero.notebook import project, record, step

def my_loop(model, tools, prompt):
    messages = [user(prompt)]
    while True:
        reply = model(messages)
        messages.append(said(reply))
        calls = tool_uses(reply)
        if not calls:
            return messages
        messages.append(user(*[answer(call, tools) for call in calls]))

def answer(call, tools):
    output = tools[call["name"]](**call["input"])
    return tool_result(call["id"], str(output))
"""
PLAY = 'step(record(my_loop, *project("login"), "Make the tests pass.", code=True), code=my_loop)'
PRESS = """(key) => {
    const root = document.querySelector(".hz-step-button"), began = performance.now();
    root.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
    document.body.getBoundingClientRect();
    return performance.now() - began;
}"""


def loop(model, tools, prompt):
    messages = [user(prompt)]
    while True:
        answered = model(messages)
        messages.append(said(answered))
        calls = tool_uses(answered)
        if not calls:
            return messages
        messages.append(user(*[answer(call, tools) for call in calls]))


def answer(call, tools):
    try:
        output = tools[call["name"]](**call["input"])
    except KeyError as error:  # tools[...] has no such name
        return tool_result(call["id"], str(error), is_error=True)
    return tool_result(call["id"], str(output))


CALLS = reply(tool_use("c1", "read", path="a"), tool_use("c2", "fly"), tokens=70)
DONE = reply("It is done.", tokens=30)


def read(path):
    return f"what stands in {path}"


def followed(run=loop, *script, **given):
    tools = {"read": read}
    return record(run, scripted(*(script or (CALLS, DONE))), tools, "Look.", code=True, **given)


def serious(page):
    """What axe-core finds that keeps somebody out."""
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("() => { document.body.style.minHeight = '100vh'; }")
    found = Axe().run(page, context=".hz-step").response
    assert "color-contrast" in {rule["id"] for rule in found["passes"]}
    grave = [rule for rule in found["violations"] if rule["impact"] in ("serious", "critical")]
    unsure = [rule for rule in found["incomplete"] if rule["id"] == "color-contrast"]
    nodes = [node for rule in [*grave, *unsure] for node in rule["nodes"]]
    return [node["html"] for node in nodes if "hz-step-sign" not in node["html"]]  # too short


@pytest.fixture
def shown(browser):
    """Shows a run on a page with nothing of Jupyter around, which no script may disturb."""
    contexts, errors = [], []

    def show(run, theme="light", **more):
        context = browser.new_context(color_scheme=theme, offline=True, reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        mount(page, run, **more)
        page.get_by_role("button", name="Step forward").focus()
        return page

    yield show
    for context in contexts:
        context.close()
    assert errors == []


def lit(page):
    """The lines that are lit, as they stand in the source."""
    return [row.strip() for row in page.locator(".hz-step-lit code").all_inner_texts()]


def values(page):
    """What stands under the code: each name, its value, and what became of it."""
    rows = page.locator(".hz-step-values .hz-step-fact").all()
    return {
        row.locator(".hz-step-name").inner_text(): (
            row.locator(".hz-step-value").inner_text(),
            row.locator(".hz-step-mark").inner_text(),
        )
        for row in rows
    }


def kinds(page):
    return page.locator(".hz-step-array .hz-step-kind").all_inner_texts()


def test_each_step_lights_the_statement_that_ran_and_shows_what_it_left(shown):
    page = shown(followed())
    assert lit(page) == ["def loop(model, tools, prompt):"] and kinds(page) == []
    assert told(page) == "loop is called." and values(page)["prompt"] == ("'Look.'", "new")
    page.keyboard.press("ArrowRight")
    assert lit(page) == ["messages = [user(prompt)]"] and kinds(page) == ["text"]
    assert values(page) == {"messages": ("[1 message]", "new"), "prompt": ("'Look.'", "")}
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert lit(page) == ["answered = model(messages)"] and kinds(page) == ["text"]
    assert told(page).endswith("Round 1. The model asks for read and fly.")
    page.keyboard.press("ArrowRight")
    assert lit(page) == ["messages.append(said(answered))"]
    assert kinds(page) == ["text", "tool_use", "tool_use"]
    assert told(page).endswith("The reply enters the array.")
    assert values(page)["messages"] == ("[2 messages]", "changed")
    assert page.locator(".hz-step-block", has_text="new").count() == 2
    page.keyboard.press("ArrowLeft")
    assert lit(page) == ["answered = model(messages)"] and kinds(page) == ["text"]


def test_who_called_waits_while_a_helper_is_at_work(shown):
    page = shown(followed())
    while "answer is called." not in told(page):
        page.keyboard.press("ArrowRight")
    waiting = page.locator(".hz-step-waits")
    assert waiting.locator("code").inner_text().strip().startswith("messages.append(user(*[")
    assert "waits here" in waiting.inner_text()
    while "raises" not in told(page):
        page.keyboard.press("ArrowRight")
    assert values(page)["raises"][1] == "error"
    assert lit(page) == ['output = tools[call["name"]](**call["input"])']


def test_by_the_message_one_goes_from_one_to_the_next(shown):
    page = shown(followed())
    seen = []
    for _ in range(5):
        page.keyboard.press("PageDown")
        seen.append(lit(page))
    assert seen == [
        ["messages = [user(prompt)]"],
        ["answered = model(messages)"],
        ["messages.append(said(answered))"],
        ["messages.append(user(*[answer(call, tools) for call in calls]))"],
        ["answered = model(messages)"],
    ]
    page.get_by_role("button", name="Previous message").click()
    assert lit(page) == seen[3]
    page.get_by_role("button", name="Next message").press("End")
    assert lit(page) == ["return messages"] and "returns" in values(page)
    page.keyboard.press("Home")
    assert place(page).startswith("1 of ")


def test_the_current_line_has_a_sign_a_number_and_a_name_for_who_does_not_see_it(shown):
    page = shown(followed())
    page.keyboard.press("PageDown")
    current = page.locator("[aria-current=step]")
    assert current.count() == 1 and current.locator(".hz-step-sign").inner_text() == "\u25b8"
    first = loop.__code__.co_firstlineno
    assert current.locator(".hz-step-number").first.inner_text() == str(first + 1)
    assert told(page).startswith(f"Line {first + 1} of loop.")
    page.get_by_role("group", name="The code", exact=True).focus()
    page.get_by_role("group", name="Values at this line").focus()
    page.get_by_role("group", name="answer", exact=True).wait_for()


@both_themes
def test_nothing_that_axe_finds_keeps_anybody_out(shown, theme):
    page = shown(followed(), theme)
    for key in ("PageDown", "PageDown", "PageDown", *["ArrowRight"] * 4, "End"):
        page.keyboard.press(key)
        assert serious(page) == []


def test_in_the_code_the_arrows_up_and_down_scroll(shown):
    page = shown(followed())
    page.keyboard.press("End")
    before = page.locator(".hz-step-linked").inner_text()
    page.get_by_role("group", name="The code", exact=True).press("ArrowUp")
    assert page.locator(".hz-step-linked").inner_text() == before
    page.get_by_role("group", name="The code", exact=True).press("ArrowLeft")
    assert lit(page) == ["if not calls:"]


def filled(model, tools, prompt):
    messages = [user(prompt)]
    messages.append(said(model(messages)))
    messages.append(user(tool_result("c1", "not known yet"), tool_result("c2", "?")))
    messages[2]["content"][0] = tool_result("c1", "known")
    return messages


def test_a_result_that_was_another_one_before_is_shown_as_it_was(shown):
    page = shown(followed(filled))
    for _ in range(3):
        page.keyboard.press("PageDown")
    text = page.locator(".hz-step-array").inner_text
    assert "not known yet" in text()
    page.keyboard.press("ArrowRight")
    assert "not known yet" not in text() and "known" in text()
    page.keyboard.press("ArrowLeft")
    assert "not known yet" in text()


def hostile(model, tools, prompt):
    word = "<img src=x onerror=alert(1)>\u202e"
    return [user(word + prompt), said(model([]))]


def test_source_and_values_are_shown_and_never_run(shown):
    page = shown(followed(hostile, DONE))
    page.keyboard.press("ArrowRight")
    assert page.locator(".hz-step-code :is(img, script)").count() == 0
    assert "<img src=x onerror=alert(1)>" in page.locator(".hz-step-source").inner_text()
    assert values(page)["word"][0] == "'<img src=x onerror=alert(1)>\\u202e'"


def test_it_opens_where_it_is_told_to(shown):
    page = shown(followed(), opens=4)
    assert lit(page) == ["messages.append(said(answered))"]
    assert told(page).endswith("The reply enters the array. Here the promise broke.")
    page.keyboard.press("ArrowLeft")
    assert "broke" not in told(page)


def test_what_was_not_followed_is_said_and_the_messages_go_on(shown):
    asks = [reply(tool_use(f"c{n}", "read", path="a")) for n in range(1_500)]
    page = shown(followed(loop, *asks, DONE))
    assert "20,000 steps are shown" in page.locator(".hz-step-code").inner_text()
    page.keyboard.press("End")
    assert lit(page) == [] and "No line was followed here." in page.locator(".hz-step").inner_text()
    assert told(page) == "Round 1501. The model answers and asks for nothing."


def test_a_step_touches_a_handful_of_nodes_and_takes_no_time_however_long_the_run(shown):
    asks = [reply(tool_use(f"c{n}", "read", path="a")) for n in range(1_000)]
    page, changes = shown(followed(s1.run, *asks, DONE)), []
    page.get_by_role("slider").fill("6000")
    page.evaluate(COUNT_CHANGES)
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft") * 3:
        page.evaluate("() => { window.changes = 0; }")
        page.get_by_role("button", name="Step forward").press(key)
        changes.append(page.evaluate("async () => { await 0; return window.changes; }"))
    assert max(changes) < 90
    assert sorted(page.evaluate(PRESS, "ArrowRight") for _ in range(20))[10] < 50


@both_themes
def test_at_twice_the_size_nothing_runs_over_the_edge(shown, theme):
    page = shown(followed(), theme)
    page.set_viewport_size({"width": 400, "height": 700})
    page.keyboard.press("End")
    wide, window = page.evaluate(WIDTH)
    assert wide <= window and serious(page) == []


def test_in_jupyterlab_a_learners_own_loop_is_stepped_through(screen):
    screen.open("chapters/start.ipynb")
    content = {"type": "notebook", "format": "json", "content": fresh_notebook(CELL, PLAY)}
    screen.page.evaluate(SAVE, ["code.ipynb", content])
    screen.open("code.ipynb")
    for theme in ("Light", "Dark"):
        screen.turn(theme)
        screen.run()
        page = screen.page
        page.locator(".hz-step").wait_for(timeout=15_000)
        page.get_by_role("button", name="Step forward").click()
        assert lit(page) == ["messages = [user(prompt)]"]
        for _ in range(2):
            page.keyboard.press("PageDown")
        assert lit(page) == ["messages.append(said(reply))"]
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        assert lit(page) == ["def answer(call, tools):"]
        screen.picture(f"code_{theme.lower()}")
        assert serious(page) == []
        page.keyboard.press("End")
        assert lit(page) == ["return messages"]
    assert screen.faults() == []


@both_themes
def test_a_page_from_a_file_steps_with_no_network_and_no_kernel(browser, tmp_path, theme):
    from harness_zero.notebook.export import export

    (tmp_path / "run.ipynb").write_text(json.dumps(fresh_notebook(CELL, PLAY)), "utf-8")
    export(tmp_path / "run.ipynb", tmp_path / "run.html", theme)
    context = browser.new_context(offline=True)
    page, errors = context.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "run.html").as_uri())
    page.get_by_role("button", name="Step forward").focus()
    page.keyboard.press("End")
    assert lit(page) == ["return messages"] and serious(page) == []
    context.close()
    assert errors == []
