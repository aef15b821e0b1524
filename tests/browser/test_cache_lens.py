"""The cache lens in a real browser: in JupyterLab, on pages without a kernel, by keys and mouse."""

import json

import pytest
from pages import SAVE, WIDTH, both_themes, fresh_notebook, put

from harness_zero.messages import reply, said, tool_result, tool_use, user
from harness_zero.notebook.cache_lens import cache_lens
from harness_zero.view import marked

RUN = """\
from harness_zero.messages import reply, said, tool_result, tool_use, user
from harness_zero.notebook import cache_lens
from harness_zero.view import marked

messages, requests = [user("Mend it.")], []
for n in range(12):
    requests.append(marked({"system": "You mend projects. " * 200, "messages": [*messages]}))
    messages.append(said(reply("I look.", tool_use(f"c{n}", "read_file", path=f"{n}.py"))))
    messages.append(user(tool_result(f"c{n}", f"{n}: " + "x = 1\\n" * 200)))
"""
LOOK = "cache_lens(requests)"


def requests(rounds, **fields):
    messages, sent = [user("Mend it.")], []
    for n in range(rounds):
        sent.append(marked({"system": "Be kind. " * 500, **fields, "messages": [*messages]}))
        messages.append(said(reply("I look.", tool_use(f"c{n}", "read_file", path=f"{n}.py"))))
        messages.append(user(tool_result(f"c{n}", f"{n}: " + "x = 1\n" * 200)))
    return sent


def told(page):
    return page.locator(".hz-lens-told").inner_text()


def value(page, name):
    row = page.locator(".hz-lens-fact", has=page.get_by_text(name, exact=True))
    return row.locator(".hz-lens-value").inner_text()


def way(page, name):
    return page.get_by_role("radio", name=name)


def serious(page):
    """What axe-core finds that keeps somebody out; the contrast of all words is looked at."""
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("() => { document.body.style.minHeight = '100vh'; }")
    found = Axe().run(page, context=".hz-lens").response
    assert "color-contrast" in {rule["id"] for rule in found["passes"]}
    grave = [rule for rule in found["violations"] if rule["impact"] in ("serious", "critical")]
    return [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in grave]


@pytest.fixture
def shown(browser):
    """Shows a lens on a page with nothing of Jupyter around, which no script may disturb."""
    contexts, errors = [], []

    def show(run, theme="light", width=1000):
        size = {"width": width, "height": 900}
        context = browser.new_context(color_scheme=theme, offline=True, viewport=size)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: errors.append(dialog.message))
        put(page, "cache_lens", cache_lens(run).payload)
        return page

    yield show
    for context in contexts:
        context.close()
    assert errors == []


def test_in_jupyterlab_a_round_is_looked_at_and_busted_by_keys(screen):
    screen.open("chapters/start.ipynb")
    content = {"type": "notebook", "format": "json", "content": fresh_notebook(RUN, LOOK)}
    screen.page.evaluate(SAVE, ["lens.ipynb", content])
    screen.open("lens.ipynb")
    for theme in ("Light", "Dark"):
        screen.turn(theme)
        screen.run()
        page = screen.page
        page.locator(".hz-lens").wait_for(timeout=15_000)
        assert told(page).startswith("Round 2 goes on where round 1 ended")
        screen.picture(f"cache_lens_{theme.lower()}")
        page.get_by_role("button", name="Round forward").click()
        for key in "abxddmyzMj12":  # each of them does something to a notebook in command mode
            page.keyboard.press(key)
        page.keyboard.press("ArrowRight")
        assert told(page).startswith("Round 4 goes on")
        page.keyboard.press("ArrowDown")
        assert way(page, "clock at the top").is_checked()
        assert told(page).startswith("Round 4 parts from round 3 at byte 27 of system, block 0")
        assert page.locator(".hz-lens mark").all_inner_texts() == ["2", "3"]
        screen.picture(f"cache_lens_busted_{theme.lower()}")
        assert serious(page) == []
        assert len(page.evaluate(CELLS)) == 2
    assert screen.faults() == []


CELLS = "() => window.jupyterapp.shell.currentWidget.context.model.toJSON().cells"


@both_themes
def test_a_page_from_a_file_needs_no_kernel_and_no_network(browser, tmp_path, theme):
    from harness_zero.notebook.export import export

    source, page_file = tmp_path / "lens.ipynb", tmp_path / f"{theme}.html"
    source.write_text(json.dumps(fresh_notebook(RUN, LOOK)), "utf-8")
    export(source, page_file, theme)
    context = browser.new_context(color_scheme=theme, offline=True)
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(page_file.as_uri())
    page.locator(".hz-lens").wait_for(timeout=15_000)
    page.get_by_role("button", name="Last round").click()
    assert told(page).startswith("Round 12 goes on where round 11 ended")
    assert serious(page) == [] and errors == []
    context.close()


@both_themes
def test_every_way_to_send_the_run_can_be_read(shown, theme):
    page = shown(requests(6), theme)
    assert value(page, "read") != "0" and value(page, "not cached") == "0"
    names = page.get_by_role("radio").all()
    assert len(names) == 10
    for each in names:
        each.check()
        assert page.locator(".hz-lens-does").inner_text()
        assert serious(page) == []


def test_the_first_byte_that_differs_is_marked_in_both_requests(shown):
    page = shown(requests(6))
    way(page, "clock at the top").check()
    pieces = page.locator(".hz-lens-piece").all_inner_texts()
    assert "14:32:0" in pieces[0] and "14:32:2" in pieces[1]
    assert page.locator(".hz-lens mark").all_inner_texts() == ["0", "2"]
    again = page.locator('.hz-lens-lines > li[data-state="again"]').first
    assert (
        again.inner_text().startswith("▸ system, block 1")
        or "system, block 1" in again.inner_text()
    )


def test_shared_blocks_unfold(shown):
    page = shown(requests(6))
    fold = page.get_by_role("button", name="blocks the same")
    assert fold.get_attribute("aria-expanded") == "false"
    fold.press("Enter")
    assert fold.get_attribute("aria-expanded") == "true"
    assert page.locator('.hz-lens-lines [data-state="same"] [data-state="same"]').count() == 2


def test_the_figures_of_a_round_add_up(shown):
    page = shown(requests(6))
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    numbers = [
        int(value(page, name).replace(",", "")) for name in ("read", "written", "not cached")
    ]
    assert value(page, "tokens") == f"about {sum(numbers):,}"
    assert page.locator(".hz-lens-place").inner_text() == "round 6 of 6"


def test_without_marks_the_sentence_says_why_nothing_is_cached(shown):
    bare = [{"messages": r["messages"], "system": "Be kind."} for r in requests(3)]
    plain = [{**r, "messages": [unmarked(m) for m in r["messages"]]} for r in bare]
    page = shown(plain)
    assert "Nothing is marked, so nothing is cached." in told(page)
    assert page.locator(".hz-lens-courses tbody tr").first.inner_text().endswith("not cached")


def unmarked(message):
    content = [{k: v for k, v in b.items() if k != "cache_control"} for b in message["content"]]
    return {**message, "content": content}


def test_what_a_request_holds_is_text_and_never_markup(shown):
    page = shown(requests(3, system="<img src=x onerror=alert(1)>\u202e" + "Be kind. " * 400))
    page.get_by_role("button", name="blocks the same").click()
    words = page.locator(".hz-lens-lines").first.inner_text()
    assert "<img src=x onerror=alert(1)>\\u202e" in words


@both_themes
def test_a_narrow_page_scrolls_in_one_direction(shown, theme):
    page = shown(requests(6), theme, width=420)
    wide, inner = page.evaluate(WIDTH)
    assert wide <= inner


def test_a_thousand_rounds_are_turned_over_at_once(shown):
    page = shown(requests(1_000))
    took = page.evaluate("""() => {
        const [forward, last] = ["Round forward", "Last round"].map((name) =>
            [...document.querySelectorAll("button")].find((b) => b.textContent.endsWith(name)));
        const start = performance.now();
        last.click();
        return performance.now() - start;
    }""")
    assert told(page).startswith("Round 1000 goes on") and took < 1_000
