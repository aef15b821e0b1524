"""Conda and Binder lead to the same environment, and every version in it is pinned."""

import os
import re
import shlex
import subprocess
import sysconfig
import tomllib
import venv
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CONDA = (ROOT / "environment.yml").read_text("utf-8")
PIP_PART = re.findall(r"^ {6}- (.+)$", CONDA, re.MULTILINE)
PINS = [
    line for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines() if line[0] != "#"
]


def test_conda_takes_the_oldest_python_that_the_project_promises():
    floor = PROJECT["requires-python"].removeprefix(">=")
    assert f"  - python={floor}\n" in CONDA


def test_conda_installs_what_a_learner_needs_in_the_pinned_versions():
    assert PIP_PART == ["-c constraints.txt", "-e .[course]"]
    assert "course" in PROJECT["optional-dependencies"]


def test_a_constraint_is_a_name_and_a_version_and_nothing_else():
    assert [pin for pin in PINS if not re.fullmatch(r"[\w.-]+==[\w.]+", pin)] == []


def test_every_package_of_this_environment_is_pinned():
    pinned = {plain(pin.partition("==")[0]) for pin in PINS}
    installed = distributions(path=[sysconfig.get_path("purelib")])  # not what tools brought along
    here = {plain(package.name) for package in installed}
    assert here - pinned <= {"harness-zero", "pip", "setuptools", "wheel"}


def plain(name):
    """A package's name, in the one of its spellings that can be compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_what_conda_hands_to_pip_installs_and_imports(tmp_path):
    venv.create(tmp_path, with_pip=True)
    python = tmp_path / "bin" / "python"
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    installed = subprocess.run([*pip, *shlex.split(" ".join(PIP_PART))], cwd=ROOT)
    if installed.returncode and not os.environ.get("CI"):
        network_or_skip(pip)
    assert installed.returncode == 0
    imports = "import harness_zero, jupyterlab; print(harness_zero.__file__)"
    imported = subprocess.run([python, "-c", imports], cwd=tmp_path, capture_output=True, text=True)
    assert imported.stdout.strip() == str(ROOT / "harness_zero" / "__init__.py"), imported.stderr


def network_or_skip(pip):
    """Where not even one small package comes, nothing is known about the others."""
    if subprocess.run(
        [*pip, "--no-cache-dir", "--force-reinstall", "--no-deps", "click"]
    ).returncode:
        pytest.skip("NOT RUN: install what conda hands to pip: no package index answers; go online")
