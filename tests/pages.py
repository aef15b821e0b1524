"""A stepper alone on a page of a test's own: the module and its styles, nothing of Jupyter."""

import pytest

from harness_zero.notebook.account import account
from harness_zero.notebook.payload import payload
from harness_zero.notebook.step import STATIC

SAVE = "([path, content]) => window.jupyterapp.serviceManager.contents.save(path, content)"
MOUNT = """async ([esm, css, payload]) => {
    document.head.append(Object.assign(document.createElement("style"), {textContent: css}));
    const blob = new Blob([esm], {type: "text/javascript"});
    const module = await import(URL.createObjectURL(blob));
    const model = {get: (name) => name === "payload" ? payload : undefined, set() {}};
    module.default.render({model, el: document.querySelector("main")});
}"""
PAGE = """<!doctype html><html lang="en"><title>a run</title>
<style>:root { color-scheme: light dark; background: Canvas }</style><main></main></html>"""
COUNT_CHANGES = """() => {
    window.changes = 0;
    new MutationObserver((records) => {
        for (const {addedNodes, removedNodes} of records) {
            window.changes += addedNodes.length + removedNodes.length + 1;
        }
    }).observe(document.querySelector(".hz-step"), {subtree: true, childList: true,
        attributes: true, characterData: true});
}"""
both_themes = pytest.mark.parametrize("theme", ["light", "dark"])
WIDTH = "() => [document.documentElement.scrollWidth, innerWidth]"


def mount(page, run, **code):
    """Show a run on an empty page; `code` says more of its code, if that was followed."""
    sent = payload(account(run))
    if code:
        sent["code"] |= code
    put(page, "stepper", sent)


def put(page, module, sent):
    """Show a widget on an empty page."""
    files = [(STATIC / f"{module}.{kind}").read_text("utf-8") for kind in ("js", "css")]
    page.set_content(PAGE)
    page.evaluate(MOUNT, [*files, sent])


def fresh_notebook(*sources):
    cells = [
        {"cell_type": "code", "id": f"cell-{at}", "execution_count": None, "outputs": []}
        | {"metadata": {}, "source": source}
        for at, source in enumerate(sources)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def told(page):
    return page.locator(".hz-step-told").inner_text()


def place(page):
    return page.locator(".hz-step-place").inner_text()
