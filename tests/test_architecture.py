"""Imports point one way, and a kernel pays little for them."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import harness_zero

HOME = Path(harness_zero.__file__).parent
MODULES = sorted(path for path in HOME.rglob("*.py") if "projects" not in path.parts)
INNER = "faults labels messages ports run loop policy view tools toolbox workspace prefix keys"
VIEWS = "marks compaction full news summary models.told_full"
BESIDE = "busters rounds repetition watchdog contracts layers"
JOURNAL = "journal journal_file journal_clock journal_words journal_steps"
RESUMING = "past late doubt lock resume retry persistent task"
WHO_MAY = "budget children interrupts permission hooks effects"
OTHERS = "runner process patience assembly desk promises watch stages"
MODELS = "models.scripted models.recorded models.tape"
FOLLOWING = "follow authored listing sightings snapshot"
PARTS = (INNER, VIEWS, BESIDE, JOURNAL, RESUMING, WHO_MAY, OTHERS, MODELS, FOLLOWING)
CORE = " ".join(PARTS).split()
OUTER = ("flight", "simulator", "traces", "notebook", "grading", "terminal", "cli", "course")


def name(path):
    """A module's name inside the package: stages.s1_structural_stop."""
    return ".".join(path.relative_to(HOME).with_suffix("").parts).removesuffix(".__init__")


def imported(path, inside_functions=True):
    """The modules that a file imports, by full name."""
    tree = ast.parse(path.read_text("utf-8"))
    nodes = ast.walk(tree) if inside_functions else tree.body
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def is_core(path):
    return any(name(path) == part or name(path).startswith(part + ".") for part in CORE)


CORE_MODULES = [path for path in MODULES if is_core(path)]


@pytest.mark.parametrize("path", CORE_MODULES, ids=name)
def test_the_core_needs_the_standard_library_alone(path):
    foreign = {module.split(".")[0] for module in imported(path)}
    assert foreign <= {*sys.stdlib_module_names, "harness_zero"}


@pytest.mark.parametrize("path", CORE_MODULES, ids=name)
def test_the_core_imports_nothing_that_stands_outside_of_it(path):
    outer = [m for m in imported(path, inside_functions=False) if m.startswith("harness_zero.")]
    assert [m for m in outer if m.split(".")[1] in OUTER] == []


@pytest.mark.parametrize(
    ("module", "may_import"),
    [
        ("brief", set()),
        ("messages", {"brief"}),
        ("labels", set()),
        ("run", {"faults", "labels", "marks", "messages"}),
        ("ports", {"labels", "messages", "run"}),
        ("policy", {"labels", "layers", "messages", "ports", "run"}),
        ("rounds", {"messages", "run"}),
        ("repetition", {"labels", "messages", "policy", "ports", "rounds", "run"}),
        ("watchdog", {"labels", "repetition", "run"}),
        ("marks", {"messages"}),
        ("view", {"faults", "layers", "marks", "messages", "ports", "run"}),
        (
            "compaction",
            {"brief", "faults", "full", "layers", "messages", "ports", "run", "summary"},
        ),
        ("full", {"labels", "layers", "messages", "policy", "ports", "run"}),
        ("news", {"brief", "faults", "labels", "ports", "run"}),
        ("summary", {"brief", "layers", "messages", "ports"}),
        ("loop", {"labels", "messages", "ports", "run"}),
        ("toolbox", {"brief", "doubt", "messages", "ports"}),
        ("doubt", {"faults", "messages"}),
        ("lock", set()),
        ("journal_file", {"faults", "lock"}),
        ("past", {"journal_file"}),
        ("late", {"messages"}),
        ("prefix", {"brief", "marks", "messages"}),
        ("keys", set()),
        ("busters", {"messages", "ports"}),
        ("layers", {"faults"}),
        ("interrupts", {"messages", "ports", "run"}),
        ("hooks", {"brief", "faults", "layers", "loop", "messages", "ports"}),
        ("children", {"brief", "interrupts", "labels", "run"}),
        ("effects", {"doubt"}),
        (
            "permission",
            {
                *("brief", "faults", "hooks", "labels", "layers", "messages"),
                *("policy", "ports", "rounds", "run"),
            },
        ),
        (
            "budget",
            {
                *("doubt", "faults", "interrupts", "labels", "layers"),
                *("loop", "messages", "policy", "ports", "run"),
            },
        ),
    ],
)
def test_policy_and_mechanics_do_not_know_each_other(module, may_import):
    ours = {m.removeprefix("harness_zero.") for m in imported(HOME / f"{module}.py")}
    assert {m for m in ours if (HOME / f"{m}.py").exists()} <= may_import


def test_only_one_file_knows_the_sdk():
    knows = [name(path) for path in MODULES if "anthropic" in imported(path)]
    assert knows == ["models.claude"]


def test_readers_of_traces_import_the_core_alone():
    readers = [path for path in MODULES if name(path).split(".")[0] == "traces"]
    ours = [m for path in readers for m in imported(path) if m.startswith("harness_zero.")]
    assert readers and {m.split(".")[1] for m in ours} & {*OUTER} <= {"traces"}


def test_only_the_reader_of_cassettes_knows_yaml():
    assert [name(path) for path in MODULES if "yaml" in imported(path)] == ["traces.cassettes"]


def test_only_what_grades_and_generates_labs_knows_nbgrader():
    knows = {name(path) for path in MODULES for m in imported(path) if m.startswith("nbgrader")}
    assert all(module.startswith("grading.") for module in knows)


@pytest.mark.parametrize(
    "module",
    [
        "harness_zero",
        "harness_zero.stages.s1_structural_stop",
        "harness_zero.models.recorded",
        "harness_zero.simulator.recording",
        "harness_zero.traces.cassettes",
    ],
)
def test_importing_it_brings_nothing_heavy(module):
    heavy = (
        "anthropic",
        "IPython",
        "ipywidgets",
        "mermaid",
        "nbgrader",
        "rich",
        "click",
        "asyncio",
        "yaml",
    )
    program = f"import sys, {module}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
