"""What the README says is so."""

import json
import re
from pathlib import Path

from harness_zero.models.claude import REACH

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def block(language, holding=""):
    """The first block of this language with these words in it."""
    return next(text for kind, text in BLOCKS if kind == language and holding in text)


def test_the_ten_lines_print_what_stands_under_them(capsys):
    exec(compile(block("python"), "README.md", "exec"), {})
    assert capsys.readouterr().out == block("", "2 rounds")


def test_the_script_of_failures_prints_what_stands_under_it(capsys, monkeypatch):
    for name in REACH:
        monkeypatch.delenv(name, raising=False)
    exec(compile(block("python", "on_demand"), "README.md", "exec"), {})
    assert capsys.readouterr().out == block("", "pause_turn")


def test_its_two_commands_are_verbs_of_the_makefile():
    verbs = re.findall(r"^make (\w+)", block("", "make lab"), re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert verbs == ["lab", "test"]
    assert all(re.search(rf"^{verb}:", makefile, re.MULTILINE) for verb in verbs)


def test_its_picture_is_the_one_that_chapter_01_draws():
    chapter = json.loads((ROOT / "chapters" / "01_structural_stop.ipynb").read_text("utf-8"))
    cell = next(cell for cell in chapter["cells"] if cell["id"] == "flowchart")
    assert block("mermaid").strip() == "".join(cell["outputs"][0]["data"]["text/vnd.mermaid"])


def test_every_line_of_its_map_names_something_that_is_there():
    folder = ROOT
    for line in block("", "chapters/").splitlines():
        name = line.split()[0]
        folder = folder if line.startswith(" ") else ROOT
        assert (folder / name).exists(), line
        folder = ROOT / name if not line.startswith(" ") else folder


def test_its_links_lead_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_stage_1_is_as_long_as_it_says():
    said = int(re.search(r"s1_structural_stop.py`, (\d+) lines", README)[1])
    stage = ROOT / "harness_zero" / "stages" / "s1_structural_stop.py"
    assert len(stage.read_text("utf-8").splitlines()) == said
