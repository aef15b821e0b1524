"""The house rules of a test run: notebooks are compared in earnest, and what is not run is said.

They stand at the root and not in tests/, so that `pytest --nbval chapters` keeps them too.
"""

import os
import shutil
from collections import Counter

import pytest

NOT_RUN = "NOT RUN: "


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A notebook's cell that nbval passes, though nothing was compared, is a failure."""
    result = yield
    if item.path.suffix == ".ipynb" and (fault := incomparable(item.cell)):
        pytest.fail(f"{item.path.name}, {item.name}: {fault}", pytrace=False)
    return result


def incomparable(cell):
    """Why comparing a cell's stored output with a new one says nothing, in words; else None."""
    if cell.source.strip() and cell.execution_count is None:
        return "it was never run, so nbval compares nothing; run it, or tag it nbval-skip"
    if " at 0x" in str(cell.outputs):
        return "its output holds an object's address, which is another one in every run"
    return None


@pytest.fixture(scope="session")
def needs():
    """The path of the first of some programs that is there: `needs("bwrap", to="isolate runs")`.

    Where none is, the test is not run; that is said at the end, and under CI it fails.
    """

    def needs(*programs, to, install):
        found = next(filter(None, map(shutil.which, programs)), None)
        return found or missing(f"{to}: no {' or '.join(programs)} found; {install}")

    return needs


def missing(reason):
    """Leave a test out because a part is missing, which under CI is a failure."""
    if os.environ.get("CI", "").lower() in ("", "0", "false"):
        pytest.skip(NOT_RUN + reason)
    pytest.fail(NOT_RUN + reason, pytrace=False)


def pytest_terminal_summary(terminalreporter):
    """What was left out because a part is missing, loudly."""
    skipped = [report.longrepr[2] for report in terminalreporter.stats.get("skipped", [])]
    left_out = Counter(why.partition(NOT_RUN)[2] for why in skipped if NOT_RUN in why)
    if left_out:
        terminalreporter.section("not everything was tested", red=True, bold=True)
    for reason, tests in left_out.items():
        terminalreporter.line(f"{NOT_RUN}{reason} ({tests} tests)", red=True, bold=True)
