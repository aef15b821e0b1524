"""The crash lab in JupyterLab: the instant is chosen with a mouse or with keys."""

import pytest
from pages import PAGE, SAVE, WIDTH, both_themes, fresh_notebook

from harness_zero.notebook.crash_lab import HEADS, NOTE, ONCE, STATIC, payload

MOUNT = """async ([esm, css, state]) => {
    document.head.append(Object.assign(document.createElement("style"), {textContent: css}));
    const blob = new Blob([esm], {type: "text/javascript"});
    const module = await import(URL.createObjectURL(blob));
    const el = document.querySelector("main");
    module.default.render({model: {get: (name) => state[name]}, el});
}"""
LAB = "from harness_zero.notebook import crash_lab\n\ncrash_lab()"
LAST = "33 of 33"
VISIBLE = """() => {
    const list = document.querySelector('.hz-crash ol').getBoundingClientRect();
    const death = document.querySelector('.hz-crash .death').getBoundingClientRect();
    return death.top >= list.top && death.bottom <= list.bottom;
}"""


@pytest.fixture
def lab(screen):
    screen.open("chapters/start.ipynb")
    content = {"type": "notebook", "format": "json", "content": fresh_notebook(LAB)}
    screen.page.evaluate(SAVE, ["crashes.ipynb", content])
    screen.open("crashes.ipynb")
    screen.run()
    screen.shows(".hz-crash", 1)
    yield screen.page.locator(".hz-crash")
    assert screen.faults() == []


def test_it_opens_at_the_mail_and_shows_where_the_process_died(lab, screen):
    assert lab.get_by_role("status").inner_text() == (
        "The process dies in step 7, send_mail: effect made, nothing written."
    )
    assert lab.locator("li.left").count() == 15 and lab.locator("li.added").count() == 8
    assert lab.locator("td.twice").all_inner_texts() == ["2, twice!", "2, twice!"]
    screen.wait_for(VISIBLE)
    screen.picture("crash_lab")


def test_the_keyboard_chooses_the_instant_and_no_key_reaches_the_notebook(lab, screen):
    slider = lab.get_by_role("slider")
    slider.focus()
    for key, place in (("Home", "1 of 33"), ("ArrowRight", "2 of 33"), ("End", LAST)):
        screen.page.keyboard.press(key)
        assert lab.locator(".place").inner_text() == place
    assert slider.get_attribute("aria-valuetext") == "step 8, model: outcome written"
    for key in ("a", "b", "d", "d"):
        screen.page.keyboard.press(key)
    assert screen.page.locator(".jp-Notebook .jp-Cell").count() == 1
    outline = screen.page.evaluate("() => getComputedStyle(document.activeElement).outline")
    assert "solid 2px" in outline


def test_buttons_go_one_instant_on_and_stop_at_the_ends(lab, screen):
    lab.get_by_role("slider").focus()
    screen.page.keyboard.press("End")
    on = lab.get_by_role("button", name="One instant later")
    assert on.get_attribute("aria-disabled") == "true"
    on.click(force=True)
    assert lab.locator(".place").inner_text() == LAST
    lab.get_by_role("button", name="One instant earlier").click()
    assert lab.locator(".torn").count() == 1 and "cut off" in lab.locator(".torn").inner_text()


def test_a_line_opens_as_it_stands_in_the_file(lab):
    line = lab.locator("li.left").last
    assert not line.locator("code").is_visible()
    line.locator("summary").click()
    assert line.locator("code").inner_text().startswith('{"begin":7,"tool":"send_mail"')


@both_themes
def test_nothing_that_axe_finds_keeps_anybody_out(browser, theme):
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(color_scheme=theme, offline=True)
    page = context.new_page()
    page.set_content(PAGE)
    files = [(STATIC / f"crash_lab.{kind}").read_text("utf-8") for kind in ("js", "css")]
    told = {**payload(), "once": ONCE, "heads": HEADS, "note": NOTE}
    page.evaluate(MOUNT, [*files, {"payload": told, "at": 18}])
    found = Axe().run(page, context=".hz-crash").response
    assert "color-contrast" in {rule["id"] for rule in found["passes"]}
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found["violations"]] == []
    page.set_viewport_size({"width": 420, "height": 800})
    wide, room = page.evaluate(WIDTH)
    assert wide <= room
    context.close()
