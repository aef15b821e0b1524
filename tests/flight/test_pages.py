"""The pages about flights say what the code does."""

import contextlib
import io
import re
from pathlib import Path

from harness_zero.flight import names
from harness_zero.flight.page import NEEDS, PAGE, page
from harness_zero.flight.personas import PERSONAS

WRITING = Path(__file__).parents[2] / "docs" / "writing_flights.md"


def fenced(page, language):
    """What stands between fences of this language."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return [inside for name, inside in blocks if name == language]


def test_the_page_about_all_flights_is_current():
    told = PAGE.read_text("utf-8")
    assert told == page(), "run: python -m harness_zero.flight.page"


def test_every_persona_world_and_fault_says_what_it_does_and_which_patch_it_needs():
    told = PAGE.read_text("utf-8")
    for name in [*PERSONAS, *names.WORLDS, *names.FAULTS, *names.RARE]:
        section = re.search(rf"^### {name}\n\n.+\nNeeds: .+\.$", told, re.MULTILINE)
        assert section, name
    assert {*NEEDS} == {*PERSONAS, *names.WORLDS, *names.FAULTS, *names.RARE}


def test_the_code_on_the_page_about_writing_flights_runs_and_prints_what_it_says():
    before = [*PERSONAS], [*names.WORLDS]
    told = WRITING.read_text("utf-8")
    code = "".join(fenced(told, "python"))
    (printed,) = fenced(told, "")
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(code, str(WRITING), "exec"), {"__name__": "page"})
    finally:
        for registry, known in zip((PERSONAS, names.WORLDS), before, strict=True):
            for name in [*registry]:
                if name not in known:
                    del registry[name]
    assert out.getvalue() == printed


def test_a_persona_and_a_world_fit_into_twenty_lines_each():
    told = WRITING.read_text("utf-8")
    for code in fenced(told, "python"):
        functions = re.split(r"\n\n\n(?=def )", code)
        assert all(len(function.splitlines()) <= 20 for function in functions)
