"""What is true of every notebook and every chapter, beyond what comparing outputs can show.

A rule is a function from a notebook to the places that break it.
"""

import ast
import json
import re
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote

import pytest

from harness_zero.course import FOLDERS

ROOT = Path(__file__).parents[1]
CHAPTERS = sorted(ROOT.glob("chapters/*.ipynb"))
LABS = [*sorted(ROOT.glob("labs/[0-9]*/*.ipynb")), *sorted(ROOT.glob("solutions/[0-9]*/*.ipynb"))]
TAGS = {"setup", "predict", "run", "explain", "figure", "exercise", "check", "hint", "live"}
TAGS |= {"case", "reasons", "raises-exception", "hide-input", "nbval-skip"}
MERMAID = "text/vnd.mermaid"
OUTPUT_LINES = 24  # the guide says 20; for a few more nobody has to fold anything
MACHINE = (
    r"/home/\w+|/Users/\w+|/root/|/tmp/tmp\w+|/var/folders/|\b[A-Z]:\\+\w+"
    r"|\bFile ~/|ipykernel_\d+|site-packages"
)


def over(notebooks):
    names = [path.relative_to(ROOT).as_posix() for path in notebooks]
    return pytest.mark.parametrize("path", notebooks, ids=names)


every_notebook, every_chapter = over(CHAPTERS + LABS), over(CHAPTERS)


@every_notebook
def test_a_notebook_has_cell_ids_and_the_kernel_that_everyone_has(path):
    assert strange_formats(read(path)) == []


@every_notebook
def test_a_notebook_was_run_once_from_top_to_bottom(path):
    assert cells_out_of_order(read(path)) == []


@every_notebook
def test_an_error_is_stored_only_where_it_is_meant(path):
    assert unmeant_errors(read(path)) == []


@every_notebook
def test_tags_are_of_the_closed_set(path):
    assert strange_tags(read(path)) == []


@every_notebook
def test_nothing_is_left_out_of_the_comparison_by_a_comment(path):
    assert comparison_comments(read(path)) == []


@every_notebook
def test_no_cell_hides_its_value_behind_a_semicolon_which_nbval_does_not_heed(path):
    assert semicolons(read(path)) == []


@every_notebook
def test_links_lead_to_files_that_are_there_and_in_the_copy_of_a_learner_too(path):
    assert dead_links(read(path), path) == []


@every_notebook
def test_pictures_have_words_for_those_who_do_not_see_them(path):
    assert wordless_pictures(read(path)) == []


@every_notebook
def test_two_amounts_in_dollars_do_not_become_a_formula(path):
    assert formulas_by_accident(read(path)) == []


@every_notebook
def test_an_output_does_not_tell_which_machine_it_came_from(path):
    assert traces_of_a_machine(read(path)) == []


@every_chapter
def test_a_code_cell_has_at_most_15_lines(path):
    assert long_cells(read(path)) == []


@every_chapter
def test_at_most_two_code_cells_stand_in_a_row(path):
    assert long_rows(read(path)) == []


@every_chapter
def test_at_least_half_of_the_code_cells_show_something(path):
    assert silent_majority(read(path)) == []


@every_chapter
def test_a_setup_cell_is_at_most_8_lines_of_imports(path):
    assert busy_setups(read(path)) == []


@every_chapter
def test_an_output_fits_on_a_screen(path):
    assert long_outputs(read(path)) == []


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def source(cell):
    return "".join(cell["source"])


def tags(cell):
    return cell["metadata"].get("tags", [])


def code(notebook):
    """The cells that hold code, each after what to call it."""
    cells = [c for c in notebook["cells"] if c["cell_type"] == "code" and source(c).strip()]
    lines = [source(cell).strip().splitlines()[0] for cell in cells]
    names = [f"code cell {at}: {line}" for at, line in enumerate(lines, 1)]
    return list(zip(names, cells, strict=True))


def outputs(notebook):
    return [(name, output) for name, cell in code(notebook) for output in cell["outputs"]]


def prose(notebook):
    """What the text cells say, without the code that they quote."""
    said = "\n\n".join(source(c) for c in notebook["cells"] if c["cell_type"] == "markdown")
    return re.sub(r"```.*?```|`[^`\n]*`", "", said, flags=re.DOTALL)


def html(notebook):
    pages = [output.get("data", {}).get("text/html", "") for _, output in outputs(notebook)]
    return "\n".join("".join(page) for page in pages)


def strange_formats(notebook):
    ids = [cell.get("id") for cell in notebook["cells"]]
    found = {
        "format": (notebook["nbformat"], notebook["nbformat_minor"]),
        "cells with an id of their own": len(set(ids) - {None}),
        "kernel": notebook["metadata"].get("kernelspec", {}).get("name"),
    }
    due = {"format": (4, 5), "cells with an id of their own": len(ids), "kernel": "python3"}
    return [f"{name}: {found[name]}, not {due[name]}" for name in due if found[name] != due[name]]


def cells_out_of_order(notebook):
    ran = [(name, cell) for name, cell in code(notebook) if "nbval-skip" not in tags(cell)]
    counts = [(name, cell["execution_count"]) for name, cell in ran]
    return [f"[{count}] {name}" for due, (name, count) in enumerate(counts, 1) if count != due]


def unmeant_errors(notebook):
    cells = [(name, cell) for name, cell in code(notebook) if "raises-exception" not in tags(cell)]
    errors = [(name, o) for name, cell in cells for o in cell["outputs"] if "ename" in o]
    return [f"{name}: {error['ename']}" for name, error in errors]


def strange_tags(notebook):
    return sorted({tag for cell in notebook["cells"] for tag in tags(cell)} - TAGS)


def comparison_comments(notebook):
    return [
        name for name, cell in code(notebook) if re.search(r"#\s*(NBVAL|PYTEST)_", source(cell))
    ]


def semicolons(notebook):
    return [name for name, cell in code(notebook) if source(cell).rstrip().endswith(";")]


def dead_links(notebook, path):
    """The links to nowhere; a learner has chapters and labs alone, so these may lead no further."""
    pairs = re.findall(r"""\]\(<?([^)\s>]+)|\b(?:href|src)=["']([^"']+)""", prose(notebook))
    links = [link for pair in pairs for link in pair if link]
    local = [link for link in links if not re.match(r"[A-Za-z]+:|#", link)]
    copied = path.relative_to(ROOT).parts[0] in FOLDERS
    reach = [ROOT / folder for folder in FOLDERS] if copied else [ROOT]
    targets = [(link, path.parent / unquote(link.partition("#")[0])) for link in local]
    return [link for link, target in targets if not leads(target, reach)]


def leads(target, reach):
    there = target.resolve()
    return there.exists() and any(there.is_relative_to(folder) for folder in reach)


def wordless_pictures(notebook):
    page = prose(notebook) + html(notebook)
    images = [
        tag for tag in re.findall(r"<img\b[^>]*>", page) if not re.search(r"""alt=["'][^"']""", tag)
    ]
    drawings = re.findall(r"<svg\b[^>]*>(?!\s*<title>)", page)
    unnamed = [tag for tag in drawings if "aria-label" not in tag and "aria-hidden" not in tag]
    scripts = ["".join(o.get("data", {}).get(MERMAID, "")) for _, o in outputs(notebook)]
    untitled = [script for script in scripts if script and "accTitle" not in script]
    return re.findall(r"!\[\s*\]\([^)]*\)", page) + images + unnamed + untitled


def formulas_by_accident(notebook):
    """JupyterLab and GitHub set what stands between two dollar signs as mathematics."""
    said = [prose({"cells": [cell]}) for cell in notebook["cells"]]
    return [found[0] for text in said for found in re.finditer(r"(?<!\\)\$[^$]*(?<!\\)\$", text)]


def traces_of_a_machine(notebook):
    here = "|".join(re.escape(str(place)) for place in (ROOT, Path.home()) if place.parent != place)
    told = re.compile(f"{here}|{MACHINE}| at 0x[0-9a-f]+")
    return [
        f"{name}: {told.search(text)[0]}" for name, text in texts(notebook) if told.search(text)
    ]


def texts(notebook):
    """All that the outputs hold, as text without colours."""
    plain = [(name, json.dumps(output)) for name, output in outputs(notebook)]
    return [(name, re.sub(r"\\u001b\[[0-9;]*m", "", text)) for name, text in plain]


def long_cells(notebook):
    lengths = [(name, len(source(cell).strip().splitlines())) for name, cell in code(notebook)]
    return [f"{lines} lines in {name}" for name, lines in lengths if lines > 15]


def long_rows(notebook):
    """More than two code cells with nothing to read between them; a hidden one is a question."""
    cells = [cell for cell in notebook["cells"] if source(cell).strip()]
    shown = [cell["cell_type"] == "code" and "hide-input" not in tags(cell) for cell in cells]
    rows = [len(list(row)) for code_is_shown, row in groupby(shown) if code_is_shown]
    return [f"{length} code cells in a row" for length in rows if length > 2]


def silent_majority(notebook):
    cells = [cell for _, cell in code(notebook) if "setup" not in tags(cell)]
    silent = [cell for cell in cells if not cell["outputs"]]
    return [f"{len(silent)} of {len(cells)} show nothing"] if len(silent) * 2 > len(cells) else []


def busy_setups(notebook):
    setups = [(name, source(cell)) for name, cell in code(notebook) if "setup" in tags(cell)]
    return [
        name for name, lines in setups if len(lines.splitlines()) > 8 or not imports_only(lines)
    ]


def imports_only(lines):
    return all(isinstance(line, ast.Import | ast.ImportFrom) for line in ast.parse(lines).body)


def long_outputs(notebook):
    return [
        f"{lines} lines under {name}" for name, lines in heights(notebook) if lines > OUTPUT_LINES
    ]


def heights(notebook):
    """How many lines stand under each cell; a face other than plain text folds by itself."""
    return [
        (name, sum(len(shown(output).splitlines()) for output in cell["outputs"]))
        for name, cell in code(notebook)
    ]


def shown(output):
    data = output.get("data", {"text/plain": ""})
    return "".join(output.get("text", "")) + ("".join(data["text/plain"]) if len(data) == 1 else "")


def written(*cells, **metadata):
    kernel = {"kernelspec": {"name": "python3"}}
    return {"cells": cells, "metadata": metadata or kernel, "nbformat": 4, "nbformat_minor": 5}


def cell(lines, *outputs, count=1, tags=(), id="a"):
    kind = {"cell_type": "code", "execution_count": count, "outputs": outputs}
    return {**kind, "id": id, "metadata": {"tags": [*tags]}, "source": lines}


def words(lines, id="w"):
    return {"cell_type": "markdown", "id": id, "metadata": {}, "source": lines}


def printed(lines):
    return {"output_type": "stream", "name": "stdout", "text": lines}


def page(markup):
    return {"output_type": "display_data", "data": {"text/html": markup, "text/plain": "a page"}}


def drawn(script):
    return {"output_type": "display_data", "data": {MERMAID: script, "text/plain": "a --> b"}}


ERROR = {"output_type": "error", "ename": "KeyError", "evalue": "", "traceback": []}
BREACHES = [
    (strange_formats, written(cell("1"), cell("2"))),
    (strange_formats, written(cell("1"), kernelspec={"name": "my-env"})),
    (cells_out_of_order, written(cell("1", count=2))),
    (cells_out_of_order, written(cell("1", count=None))),
    (unmeant_errors, written(cell("{}[1]", ERROR))),
    (strange_tags, written(cell("1", tags=["solution"]))),
    (comparison_comments, written(cell("# NBVAL_IGNORE_OUTPUT\n1"))),
    (semicolons, written(cell("len('a');"))),
    (wordless_pictures, written(words("![](loop.svg)"))),
    (wordless_pictures, written(words('<img src="loop.svg" alt="">'))),
    (wordless_pictures, written(cell("1", page("<svg viewBox='0 0 1 1'><g/></svg>")))),
    (wordless_pictures, written(cell("1", drawn("flowchart LR\n  a --> b")))),
    (formulas_by_accident, written(words("It cost $2.02 of $2.00."))),
    (traces_of_a_machine, written(cell("1", printed("/home/ann/course/x.py")))),
    (traces_of_a_machine, written(cell("1", printed("<function f at 0x7f00>")))),
    (traces_of_a_machine, written(cell("1", printed(f"in {ROOT}")))),
    (traces_of_a_machine, written(cell("1", {**ERROR, "traceback": ["File \x1b[32m~/x.py"]}))),
    (long_cells, written(cell("1\n" * 16))),
    (long_rows, written(*[cell("1")] * 3)),
    (silent_majority, written(cell("1"), cell("2"), cell("3", printed("3")))),
    (busy_setups, written(cell("import ast\n" * 9, tags=["setup"]))),
    (busy_setups, written(cell("import ast\nx = 1", tags=["setup"]))),
    (long_outputs, written(cell("1", printed("a\n" * 20), printed("b\n" * 5)))),
]
CLEAN = written(
    words(
        "See [the labs](../labs), ![a loop](../chapters#a), [that](https://x.org), `[this](no)`."
    ),
    cell("import ast", tags=["setup"], id="b"),
    cell("1", printed("1\n" * 24), count=2, id="c"),
    words("A pause.", id="p"),
    cell("2", page("<svg aria-label='a loop'></svg>\n" * 50), count=3, id="d"),
    cell("4", drawn("flowchart LR\n  accTitle: a loop\n  a --> b"), count=4, id="g"),
    words("Rest.", id="e"),
    cell("{}[1]", ERROR, tags=["raises-exception"], count=5, id="f"),
    cell("predict()", printed("?"), tags=["hide-input"], count=6, id="h"),
    cell("3", printed("3"), count=7, id="i"),
)


@pytest.mark.parametrize(("rule", "notebook"), BREACHES)
def test_a_rule_sees_what_breaks_it(rule, notebook):
    assert len(rule(notebook)) == 1


@pytest.mark.parametrize("rule", sorted({rule for rule, _ in BREACHES}, key=lambda r: r.__name__))
def test_a_rule_is_silent_where_all_is_well(rule):
    assert rule(CLEAN) == []


@pytest.mark.parametrize(
    "link", ["no.ipynb", "/etc/hosts", "../../etc", "no%20where#there", "../tests"]
)
def test_a_dead_link_is_seen(link):
    here = ROOT / "chapters" / "sample.ipynb"
    assert dead_links(written(words(f"[here]({link})")), here) == [link]
    assert dead_links(CLEAN, here) == []


def test_a_solution_may_lead_to_all_of_the_course():
    here = ROOT / "solutions" / "01" / "01.ipynb"
    assert dead_links(written(words("[here](../../docs)")), here) == []
