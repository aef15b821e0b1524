"""The widgets' modules are plain JavaScript, and their JSDoc types are checked."""

import subprocess
from pathlib import Path

import pytest

STATIC = sorted(Path(__file__).parents[1].glob("harness_zero/notebook/static/*.js"))
COMPILER = "typescript@5.9.3"
STRICT = ["--noEmit", "--allowJs", "--checkJs", "--strict", "--noImplicitAny", "false"]
PAGE = ["--target", "es2022", "--module", "es2022", "--lib", "es2022,dom,dom.iterable"]
RULES = [*STRICT, *PAGE, "--moduleResolution", "bundler"]


def compiled(npm, path):
    """What the compiler says of a module; nothing if it has no fault to find."""
    command = [npm, "exec", "--yes", "--package", COMPILER, "--", "tsc", *RULES, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr if done.returncode else ""


@pytest.fixture(scope="module")
def npm(needs):
    return needs("npm", to="types of the widgets' modules", install="install Debian's package npm")


@pytest.mark.parametrize("path", STATIC, ids=lambda path: path.name)
def test_the_types_of_a_module_hold(npm, path):
    assert compiled(npm, path) == ""


def test_a_wrong_type_is_seen(npm, tmp_path):
    (tmp_path / "wrong.js").write_text("/** @type {number} */\nexport const n = 'two';\n")
    assert "not assignable" in compiled(npm, tmp_path / "wrong.js")


@pytest.mark.parametrize("path", STATIC, ids=lambda path: path.name)
def test_a_module_imports_nothing_and_asks_nobody(path):
    source = path.read_text("utf-8")
    for word in (
        "import ",
        "import(",
        "fetch(",
        "XMLHttpRequest",
        "http://",
        "https://",
        "innerHTML",
    ):
        assert word not in source, word
