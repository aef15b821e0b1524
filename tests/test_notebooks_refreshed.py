"""`make notebooks`: run, cleaned, written back."""

import json

from harness_zero.grading.notebooks import main

CELLS = [
    ("a", "import ipywidgets\nipywidgets.IntSlider()"),
    ("b", "print('hello')"),
]


def notebook(path, *cells):
    """A notebook that was never run."""
    made = [
        {"cell_type": "code", "id": id, "source": source, "metadata": {}, "outputs": []}
        | {"execution_count": None}
        for id, source in cells
    ]
    content = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_running_twice_changes_no_byte_and_keeps_no_view_of_a_widget(tmp_path):
    path = notebook(tmp_path / "one.ipynb", *CELLS)
    assert main([str(path)]) == 0
    first = path.read_bytes()
    assert main([str(path)]) == 0
    assert path.read_bytes() == first
    assert b"hello" in first and b"widget-view" not in first and b"widget-state" not in first


def test_a_notebook_that_fails_is_named_and_left_as_it_was(tmp_path, capsys):
    path = notebook(tmp_path / "two.ipynb", ("a", "1 / 0"))
    before = path.read_bytes()
    assert main([str(path)]) == 1
    assert "code cell 1 (1 / 0) raises ZeroDivisionError" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_file_that_is_no_notebook_is_told(tmp_path, capsys):
    (tmp_path / "three.ipynb").write_text("no json", encoding="utf-8")
    assert main([str(tmp_path / "three.ipynb")]) == 1
    assert main([str(tmp_path / "four.ipynb")]) == 1
    assert capsys.readouterr().err
