"""A notebook as one HTML page that steps without a kernel, without a network, from a file.

    python -m harness_zero.notebook.export NOTEBOOK PAGE.html [--theme dark]

Widgets that are one ES module (the stepper is) go into the page with what they show;
all other outputs show the face that they have for pages without a kernel.
"""

import json
import sys
from html import escape
from pathlib import Path
from typing import Any

import click

from harness_zero.notebook.cache_lens import Lens
from harness_zero.notebook.step import STATIC, Steps

KINDS = (("esm", "js"), ("css", "css"))  # of a widget's files
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
NEEDS_A_NETWORK = ("text/vnd.mermaid",)
TEMPLATE = """{%- extends 'lab/index.html.j2' -%}
{%- block html_head_js_requirejs -%}{%- endblock -%}
{%- block jupyter_widgets -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
"""
PLAY = """<script type="module">
const parsed = (element) => JSON.parse(element.textContent);
const modules = parsed(document.getElementById("widget-modules"));
for (const { esm, css } of modules) {
  document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
}
const loaded = await Promise.all(modules.map(({ esm }) =>
  import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })))));
/** What a widget is given in place of a kernel: its state, and word of each change. */
function modelOf(state) {
  const heard = {};
  return {
    get: (name) => state[name],
    set: (name, value) => {
      const changed = state[name] !== value;
      state[name] = value;
      if (changed) heard[`change:${name}`]?.forEach((then) => then());
    },
    on: (event, then) => (heard[event] ??= new Set()).add(then),
    off: (event, then) => heard[event]?.delete(then),
    save_changes() {},
  };
}
for (const place of document.querySelectorAll("script[data-widget-module]")) {
  const { initialize, render } = loaded[place.dataset.widgetModule].default;
  const model = modelOf(parsed(place)), el = document.createElement("div");
  await initialize?.({ model });
  await render({ model, el });
  place.nextElementSibling.replaceWith(el);
}
</script>"""


def export(notebook: Path | str, page: Path | str, theme: str = "light") -> None:
    """Write a notebook as one page. It is run first, unless its widgets were saved with it."""
    import nbformat

    opened = nbformat.read(notebook, as_version=4)
    if not is_whole(opened):
        play(opened, Path(notebook).parent)
    Path(page).write_text(paged(opened, Path(notebook).stem, theme), encoding="utf-8")


def is_whole(notebook: Any) -> bool:
    """Whether a notebook was run and saved together with what its widgets show."""
    cells = [each for each in notebook.cells if each.cell_type == "code" and each.source.strip()]
    saved = states(notebook)
    views = [data[VIEW]["model_id"] for data in bundles(notebook) if VIEW in data]
    run = all(each.execution_count for each in cells)
    return run and bool(saved) and all(view in saved for view in views)


def play(notebook: Any, folder: Path) -> None:
    """Run all cells where the notebook lies, and keep what the widgets show."""
    from nbclient import NotebookClient

    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=120, resources=resources).execute()


def paged(notebook: Any, title: str, theme: str) -> str:
    """The page, with the widgets' modules once and what each shows in its place."""
    from nbconvert import HTMLExporter
    from nbconvert.preprocessors import TagRemovePreprocessor

    modules: list[dict[str, str]] = []
    saved = states(notebook)
    for data in bundles(notebook):
        for kind in NEEDS_A_NETWORK:
            data.pop(kind, None)
        view = data.pop(VIEW, None)
        state = saved.get(view["model_id"], {}) if view else {}
        if "_esm" in state:
            data["text/html"] = mounted(state, modules, data.get("text/html", ""))
    notebook.metadata.pop("widgets", None)
    exporter = HTMLExporter(raw_template=TEMPLATE, theme=theme)
    # the source of a prediction holds its answer
    hidden = TagRemovePreprocessor(remove_input_tags={"hide-input"}, enabled=True)
    exporter.register_preprocessor(hidden, enabled=True)
    written, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title}})
    known = f'<script type="application/json" id="widget-modules">{in_script(modules)}</script>'
    return written.replace("</body>", f"{known}{PLAY}</body>") if modules else written


def page_of(shown: Steps | Lens, title: str) -> str:
    """A page of its own for one run, to be looked at without a kernel or a network."""
    modules: list[dict[str, str]] = []
    files = {
        f"_{kind}": (STATIC / f"{shown.module}.{end}").read_text("utf-8") for kind, end in KINDS
    }
    body = mounted({**files, "payload": shown.payload}, modules, shown.page())
    known = f'<script type="application/json" id="widget-modules">{in_script(modules)}</script>'
    head = f'<meta charset="utf-8"><title>{escape(title)}</title>'
    return f'<!doctype html><html lang="en">{head}<body>{body}{known}{PLAY}</body></html>'


def mounted(state: dict[str, Any], modules: list[dict[str, str]], face: str) -> str:
    """What a widget shows, before the face that stands there until the widget does."""
    module = {"esm": state["_esm"], "css": state.get("_css", "")}
    if module not in modules:
        modules.append(module)
    shown = {name: value for name, value in state.items() if not name.startswith("_")}
    where = f'type="application/json" data-widget-module="{modules.index(module)}"'
    return f"<script {where}>{in_script(shown)}</script><div>{face}</div>"


def in_script(value: Any) -> str:
    """JSON that cannot end the script that it stands in."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def states(notebook: Any) -> dict[str, dict[str, Any]]:
    """What was saved of each widget, by its id."""
    saved = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    return {name: model["state"] for name, model in saved.items()}


def bundles(notebook: Any) -> list[dict[str, Any]]:
    """What the outputs of all cells can be shown as."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [output.data for cell in cells for output in cell.outputs if "data" in output]


@click.command()
@click.argument("notebook", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("page", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--theme", type=click.Choice(["light", "dark"]), default="light")
def main(notebook: Path, page: Path, theme: str) -> None:
    """Write NOTEBOOK as one HTML PAGE that steps without a kernel and without a network."""
    export(notebook, page, theme)


if __name__ == "__main__":
    sys.exit(main())
