"""The stepper in a real browser: in JupyterLab, on a page without a kernel, by keys and mouse."""

import json

import pytest
from pages import COUNT_CHANGES, SAVE, WIDTH, both_themes, fresh_notebook, mount, place, told

from harness_zero.messages import reply, said, tool_result, tool_use, user
from harness_zero.run import Run
from harness_zero.watch import Recording

SETUP = """\
from harness_zero.assembly import assemble
from harness_zero.notebook import project
from harness_zero.notebook.step import step
from harness_zero.run import Run
"""
PLAY = """\
model, tools = project("cart")
harness = assemble(lambda request: model(request["messages"]), tools)
step(harness(Run("Make the tests pass.")))
"""
COUNTER = """\
import anywidget, traitlets

class Counter(anywidget.AnyWidget):
    _esm = '''export default {
        initialize: ({model}) => model.set("n", 2),
        render({model, el}) {
            const button = document.createElement("button");
            const update = () => { button.textContent = `counted ${model.get("n")}`; };
            button.addEventListener("click", () => model.set("n", model.get("n") + 1));
            model.on("change:n", update), update(), el.append(button);
        }}'''
    n = traitlets.Int(0).tag(sync=True)

Counter()
"""


def serious(page):
    """What axe-core finds that keeps somebody out.

    JupyterLab's body has no height, and axe takes for hidden what reaches out of it.
    """
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("() => { document.body.style.minHeight = '100vh'; }")
    found = Axe().run(page, context=".hz-step").response
    assert "color-contrast" in {rule["id"] for rule in found["passes"]}
    grave = [rule for rule in found["violations"] if rule["impact"] in ("serious", "critical")]
    return [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in grave]


@pytest.fixture
def shown(browser):
    """Shows a run on a page with nothing of Jupyter around, which no script may disturb."""
    contexts, errors = [], []

    def show(run, theme="light"):
        context = browser.new_context(color_scheme=theme, offline=True, reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: errors.append(dialog.message))
        mount(page, run)
        return page

    yield show
    for context in contexts:
        context.close()
    assert errors == []


def value(page, name):
    row = page.locator(".hz-step-fact", has=page.get_by_text(name, exact=True))
    return row.locator(".hz-step-value").inner_text()


def block(page, words):
    return page.locator(".hz-step-block", has_text=words)


CALLS = reply(tool_use("c1", "read", path="a"), tool_use("c2", "read", path="b"), tokens=70)
RESULTS = user(tool_result("c1", "aaa\n" * 40), tool_result("c2", "no such file", is_error=True))
DONE = reply("It is done.", tokens=30)
SHORT = Recording([user("Look."), said(CALLS), RESULTS, said(DONE)], [CALLS, DONE], "finished")


def long(rounds):
    messages = [user("Go on.")]
    for n in range(rounds):
        messages.append(said(reply(tool_use(f"c{n}", "read", n=n))))
        messages.append(user(tool_result(f"c{n}", f"number {n}")))
    return messages


def test_in_jupyterlab_a_run_is_stepped_through_by_keys_and_mouse(screen):
    screen.open("chapters/start.ipynb")
    content = {"type": "notebook", "format": "json", "content": fresh_notebook(SETUP, PLAY)}
    screen.page.evaluate(SAVE, ["stepping.ipynb", content])
    screen.open("stepping.ipynb")
    for theme in ("Light", "Dark"):
        screen.turn(theme)
        screen.run()
        page, stepper = screen.page, screen.page.locator(".hz-step")
        stepper.wait_for(timeout=15_000)
        assert place(page) == "1 of 12" and told(page) == "The user speaks."
        page.get_by_role("button", name="Step forward").click()
        assert told(page) == "Round 1. The model asks for run_command."
        for key in "abxddmyzMj12":  # each of them does something to a notebook in command mode
            page.keyboard.press(key)
        page.keyboard.press("ArrowRight")
        assert place(page) == "3 of 12"
        assert value(page, "rounds") == "1 of 50"
        screen.picture(f"stepper_{theme.lower()}")
        page.keyboard.press("End")
        assert told(page).endswith("The run ends: finished.")
        assert value(page, "label") == "finished"
        screen.picture(f"stepper_end_{theme.lower()}")
        assert serious(page) == []
        block(page, "wrote 8 lines to cart.py").click()
        page.keyboard.press("r")
        assert '"tool_use_id": "call_5"' in page.locator(".hz-step-linked").last.inner_text()
        screen.picture(f"stepper_raw_{theme.lower()}")
        page.keyboard.press("Home")
        assert place(page) == "1 of 12"
        assert len(page.evaluate(CELLS)) == 2
    assert screen.faults() == []


CELLS = "() => window.jupyterapp.shell.currentWidget.context.model.toJSON().cells"


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Two pages made from one notebook, light and dark; besides steppers it has another widget."""
    from harness_zero.notebook.export import export

    folder = tmp_path_factory.mktemp("export")
    source = folder / "run.ipynb"
    source.write_text(json.dumps(fresh_notebook(SETUP, PLAY, PLAY, COUNTER)), "utf-8")
    for theme in ("light", "dark"):
        export(source, folder / f"{theme}.html", theme)
    return folder


@both_themes
def test_a_page_from_a_file_steps_with_no_network_and_no_kernel(browser, exported, theme):
    context = browser.new_context(offline=True)
    page, asked, errors = context.new_page(), [], []
    page.set_default_timeout(10_000)
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((exported / f"{theme}.html").as_uri())
    page.get_by_role("button", name="counted 2").click()
    page.get_by_role("button", name="counted 3").wait_for()
    page.locator(".hz-step").nth(1).evaluate("stepper => stepper.remove()")
    page.get_by_role("button", name="Step forward").focus()
    page.keyboard.press("End")
    assert place(page) == "12 of 12" and value(page, "label") == "finished"
    page.keyboard.press("ArrowLeft")
    assert told(page) == "1 result comes back."
    assert serious(page) == []
    context.close()
    assert errors == [] and [url for url in asked if not url.startswith(("file:", "blob:"))] == []


@both_themes
def test_nothing_that_axe_finds_keeps_anybody_out(shown, theme):
    page = shown(SHORT, theme)
    for key in ("Home", "ArrowRight", "End", "r"):
        page.get_by_role("button", name="Step forward").focus()
        page.keyboard.press(key)
        assert serious(page) == []


def test_each_step_says_what_happens(shown):
    page = shown(SHORT)
    sentences = [told(page)]
    for _ in range(3):
        page.get_by_role("button", name="Step forward").click()
        sentences.append(told(page))
    assert sentences == [
        "The user speaks.",
        "Round 1. The model asks for read and read.",
        "2 results come back, 1 error among them.",
        "Round 2. The model answers and asks for nothing. The run ends: finished.",
    ]
    assert page.locator("[aria-live=polite]").inner_text() == sentences[-1]


def test_a_block_has_a_name_for_whoever_does_not_see_it(shown):
    page = shown(SHORT)
    page.get_by_role("slider").fill("3")
    page.get_by_role("button", name="message 2, user: error c2 answers message 1 new").focus()


def test_what_is_new_is_marked_in_words(shown):
    page = shown(SHORT)
    page.get_by_role("button", name="Step forward").click()
    assert page.locator(".hz-step-block", has_text="new").count() == 2
    assert "new" not in block(page, "Look.").inner_text()


def test_a_call_and_its_result_know_each_other(shown):
    page = shown(SHORT)
    page.get_by_role("button", name="Step forward").click()
    assert "not answered yet" in block(page, 'read(path="b")').inner_text()
    page.get_by_role("button", name="Step forward").click()
    assert "answered in message 2" in block(page, 'read(path="b")').inner_text()
    assert "answers message 1" in block(page, "no such file").inner_text()
    block(page, "no such file").hover()
    linked = page.locator(".hz-step-linked").all_inner_texts()
    assert len(linked) == 2 and all("c2" in words for words in linked)
    block(page, 'read(path="a")').click()
    page.locator(".hz-step-told").hover()
    assert all("c1" in words for words in page.locator(".hz-step-linked").all_inner_texts())


def test_kinds_are_told_apart_without_colours(shown):
    picture = {"role": "user", "content": PICTURE}
    page = shown([user("Hi."), *SHORT.messages[1:3], picture, said(DONE)])
    page.get_by_role("button", name="Last step").click()
    names = "text tool_use tool_use tool_result error image odd text"
    assert page.locator(".hz-step-kind").all_inner_texts() == names.split()
    assert page.locator(".hz-step-glyph").all_inner_texts() == [*GLYPHS]


GLYPHS = "\u203a\u2192\u2192\u2190\u2715\u25a7?\u2039"
PICTURE = [
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 99}},
    {"type": "odd", "value": 1},
]


def test_long_blocks_fold_and_any_block_shows_its_json(shown):
    page = shown(SHORT)
    page.get_by_role("button", name="Last step").click()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    long_one = page.locator(".hz-step-selected")
    assert "… 37 more lines" in long_one.inner_text()
    assert page.locator(":focus").get_attribute("aria-expanded") == "false"
    page.keyboard.press("Enter")
    assert "more lines" not in long_one.inner_text()
    assert page.locator(":focus").get_attribute("aria-expanded") == "true"
    page.keyboard.press("r")
    assert '"tool_use_id": "c1"' in long_one.inner_text()
    long_one.locator(".hz-step-raw").click()
    assert '"tool_use_id"' not in long_one.inner_text()


def test_by_the_slider(shown):
    page = shown(SHORT)
    page.get_by_role("slider").fill("3")
    assert place(page) == "3 of 4"
    page.get_by_role("slider").press("ArrowRight")
    page.get_by_role("slider").press("ArrowDown")
    assert place(page) == "3 of 4"
    assert page.get_by_role("slider").get_attribute("aria-valuetext") == "3 of 4"


def test_the_focus_is_never_lost(shown):
    page = shown(SHORT)
    page.get_by_role("button", name="Last step").click()
    page.keyboard.press("ArrowUp")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
        assert page.locator(".hz-step-head:focus").count() == 1
    page.get_by_role("button", name="Step back").press("Enter")
    assert page.get_by_role("button", name="Step back").get_attribute("aria-disabled") == "true"
    assert page.locator(".hz-step-button:focus").count() == 1


def test_what_a_tool_said_is_shown_and_never_run(shown):
    hostile = "<img src=x onerror=alert(1)><script>alert(2)</script>\x1b[31m\u202eevil"
    messages = [user(hostile), said(reply(tool_use("<b>i</b>", "<b>x</b>", path="<b>x</b>")))]
    page = shown((messages, "<b>stuck</b>"))
    page.get_by_role("button", name="Last step").click()
    shown = page.locator(".hz-step").inner_text()
    assert "<img src=x onerror=alert(1)><script>alert(2)</script>" in shown
    assert "\\x1b[31m\\u202eevil" in shown and "The run ends: <b>stuck</b>." in shown
    assert page.locator(".hz-step :is(img, script, b)").count() == 0


def test_whatever_a_block_lacks_or_holds_it_is_shown(shown):
    kinds = ["text", "tool_use", "tool_result", "image", "thinking", "server_tool_use"]
    values = [None, 1, "", [], {}, [None, 1, "a", ["b"], {"type": 1}], {"type": "text"}]
    keys = ["text", "id", "tool_use_id", "name", "input", "content", "source"]
    blocks = [{"type": kind} | dict.fromkeys(keys, v) for kind in kinds for v in values]
    blocks += [{"type": kind} for kind in kinds]
    page = shown([{"role": "assistant", "content": blocks}, {"role": "nobody", "content": None}])
    assert page.locator(".hz-step-block").count() == len(blocks)
    page.get_by_role("button", name="Last step").click()
    assert told(page) == "A message with the role nobody."


def test_text_from_right_to_left_stays_in_its_block(shown):
    page = shown([user("مرحبا: 123")])
    found = page.locator(".hz-step-text")
    assert found.evaluate("e => getComputedStyle(e).direction") == "rtl"
    assert found.evaluate("e => getComputedStyle(e).unicodeBidi") == "isolate"


def test_unpaired_blocks_are_named(shown):
    page = shown([*SHORT.messages[:2], user(tool_result("zz", "?")), said(CALLS)])
    page.get_by_role("button", name="Last step").click()
    assert "answers no call" in block(page, "zz").inner_text()
    assert page.locator(".hz-step-wrong", has_text="never answered").count() == 4
    assert value(page, "array").startswith("broken: messages 1 and 2: c1, c2 asked for")


def test_what_a_policy_said_stands_beside_the_step_at_which_it_said_it(shown):
    run = Run("go")
    run.hear(reply())
    run.say("Please continue.")
    run.limits = {"rounds": 4, "usd": 0.5}
    page = shown(run)
    page.get_by_role("button", name="Step forward").click()
    assert told(page) == "Round 1. The model says nothing, so nothing enters the array."
    assert value(page, "policy") == "says “Please continue.”"
    assert value(page, "rounds") == "1 of 4" and value(page, "spend") == "$0.00 of $0.50"
    page.get_by_role("button", name="Step forward").click()
    assert told(page) == "The policy's words enter the array."


def test_of_long_words_of_a_policy_the_first_line_stands_beside_the_array(shown):
    run = Run("go")
    for said_by_it in ("The tests fail.\n1 failed\n2 passed", "no " * 90):
        run.hear(reply("Done."))
        run.say(said_by_it)
    page = shown(run)
    page.get_by_role("button", name="Step forward").click()
    assert value(page, "policy") == "says “The tests fail. …”"
    page.get_by_role("button", name="Step forward").click()
    assert "2 passed" in page.locator(".hz-step-array").inner_text()
    page.get_by_role("button", name="Step forward").click()
    assert value(page, "policy") == f"says “{('no ' * 90)[:160]} …”"


def test_an_empty_run_and_one_that_broke_down_are_shown(shown):
    page = shown([])
    assert told(page) == "Nothing to step through: the array is empty."
    page.get_by_role("button", name="Step forward").click(force=True)
    page = shown(Recording([user("go")], [], None, fault="KeyError: 'read'"))
    assert told(page) == "The user speaks. The run ended in an error."
    assert "KeyError: 'read'" in page.locator(".hz-step-side").inner_text()


def test_a_step_touches_a_handful_of_nodes_however_long_the_run(shown):
    page, changes = shown(long(1_000)), []
    page.get_by_role("slider").fill("1500")
    page.evaluate(COUNT_CHANGES)
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft"):
        page.evaluate("() => { window.changes = 0; }")
        page.get_by_role("button", name="Step forward").press(key)
        changes.append(page.evaluate("async () => { await 0; return window.changes; }"))
    assert max(changes) < 60
    page.get_by_role("button", name="Last step").press("End")
    assert place(page) == "2,001 of 2,001"
    assert page.locator(".hz-step *").count() < 2_500


def test_earlier_blocks_come_when_asked_for(shown):
    page = shown(long(1_000))
    page.get_by_role("button", name="Last step").click()
    earlier = page.get_by_role("button", name="earlier blocks")
    assert earlier.inner_text() == "1,881 earlier blocks: show 120"
    earlier.press("Enter")
    assert page.locator(".hz-step-block").count() == 240
    assert page.locator(".hz-step-head:focus").count() == 1


def test_five_thousand_rounds_open(shown):
    page = shown(long(5_000))
    page.get_by_role("button", name="Last step").click()
    assert place(page) == "10,001 of 10,001"


@both_themes
def test_at_twice_the_size_nothing_runs_over_the_edge(shown, theme):
    run = Recording([user("x" * 500), *SHORT.messages[1:]], SHORT.replies, "finished")
    page = shown(run, theme)
    page.set_viewport_size({"width": 400, "height": 700})  # 800 pixels, magnified twice
    page.get_by_role("button", name="Last step").click()
    wide, window = page.evaluate(WIDTH)
    assert wide <= window
    assert serious(page) == []


def test_the_prefix_of_a_request_is_a_bar_and_its_numbers(shown):
    declared = {"cache_read_input_tokens": 900, "cache_creation_input_tokens": 80}
    calls = {**CALLS, "usage": {**declared, "input_tokens": 20, "output_tokens": 9}}
    page = shown(
        Recording([user("Look."), said(calls), RESULTS, said(DONE)], [calls, DONE], "finished")
    )
    assert value(page, "prefix") == "not declared"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert value(page, "prefix") == "read 900, written 80, not cached 20"
    assert page.locator(".hz-step-prefix .hz-step-bar > span").count() == 3
    assert serious(page) == []


def test_a_run_that_declares_no_input_has_no_prefix_to_show(shown):
    assert shown(SHORT).locator(".hz-step-prefix").is_hidden()
