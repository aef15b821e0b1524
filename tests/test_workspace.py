"""The tools of a workspace: what they do, what they say, and the wall that they hold."""

import os
import resource
import socket
import stat
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_zero.tools import schemas
from harness_zero.workspace import (
    LISTED,
    SHOWN,
    OutsideWorkspace,
    WorkspaceFault,
    opened,
    workspace,
)

LINUX = sys.platform == "linux"
SECRET = "the secret beyond the wall"


@pytest.fixture
def folder(tmp_path):
    """A workspace's folder, with something beside it that must stay as it is."""
    (tmp_path / "beyond").mkdir()
    (tmp_path / "beyond" / "secret.txt").write_text(SECRET)
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


@pytest.fixture
def read(folder):
    return workspace(folder)["read_file"]


@pytest.fixture
def write(folder):
    return workspace(folder)["write_file"]


@pytest.fixture
def as_anybody():
    """A folder where file modes count, also when root runs the tests."""
    with tempfile.TemporaryDirectory() as place:
        if os.geteuid() != 0:
            yield Path(place)
            return
        os.chown(place, 65534, 65534)
        os.setresuid(65534, 65534, 0)
        try:
            yield Path(place)
        finally:
            os.setresuid(0, 0, 0)


def tree(folder):
    """All that stands in a folder: names, contents, modes and where links lead."""
    return {
        str(place): os.readlink(place)
        if place.is_symlink()
        else (place.stat().st_mode, place.is_file() and place.read_bytes())
        for place in Path(folder).rglob("*")
    }


# What the tools do


def test_what_was_written_is_read(read, write):
    assert write("auth.py", "def login():\n    pass\n") == "wrote 2 lines to auth.py"
    assert read("auth.py") == "def login():\n    pass\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [("", "0 lines"), ("a", "1 line"), ("a\n", "1 line"), ("a\nb", "2 lines"), ("\n\n", "2 lines")],
)
def test_the_lines_written_are_counted(write, content, said):
    assert write("a.txt", content) == f"wrote {said} to a.txt"


def test_a_file_holds_the_very_bytes_that_were_meant(write, read, folder):
    content = "\ufeffeins\nzwei\r\ndrei\rvier €\U0001f409\n\n"
    write("a.txt", content)
    assert (folder / "a.txt").read_bytes() == content.encode("utf-8")
    assert read("a.txt") == content


def test_missing_folders_are_made(write, folder):
    assert write("src/deep/a.py", "x = 1\n") == "wrote 1 line to src/deep/a.py"
    assert (folder / "src" / "deep" / "a.py").read_text() == "x = 1\n"


def test_a_new_file_has_the_mode_that_any_new_file_has(write, folder):
    (folder / "usual").write_text("")
    write("new", "")
    assert (folder / "new").stat().st_mode == (folder / "usual").stat().st_mode


def test_an_existing_file_keeps_its_mode(write, folder):
    (folder / "go.sh").write_text("old")
    (folder / "go.sh").chmod(0o750)
    write("go.sh", "new")
    assert stat.S_IMODE((folder / "go.sh").stat().st_mode) == 0o750
    assert (folder / "go.sh").read_text() == "new"


def test_a_file_is_exchanged_in_one_instant(write, folder):
    (folder / "a.txt").write_text("old")
    with (folder / "a.txt").open() as opened_before:
        write("a.txt", "new")
        assert opened_before.read() == "old"


def test_a_path_inside_may_be_given_absolutely(read, write, folder):
    assert write(f"{folder}/a.txt", "x") == "wrote 1 line to a.txt"
    assert read(f"{folder}/./sub/../a.txt") == "x"


def test_a_link_that_stays_inside_is_followed(read, write, folder):
    (folder / "a.txt").write_text("old")
    (folder / "link.txt").symlink_to("a.txt")
    assert write("link.txt", "new") == "wrote 1 line to a.txt"
    assert read("link.txt") == "new"
    assert (folder / "link.txt").is_symlink()


@pytest.mark.parametrize("name", ["two words.txt", "it's.txt", 'a"b.txt', "ü€.txt", "-rf", "a\nb"])
def test_any_name_is_a_name(read, write, name):
    write(name, "x")
    assert read(name) == "x"


def test_the_folder_may_have_any_name_and_be_reached_by_a_link(tmp_path):
    (tmp_path / "my 'own\" wörk").mkdir()
    (tmp_path / "link").symlink_to("my 'own\" wörk")
    tools = workspace(tmp_path / "link")
    tools["write_file"]("a.txt", "x")
    assert tools["read_file"](str(tmp_path / "link" / "a.txt")) == "x"
    assert tools["run_command"]("cat a.txt") == "exit code 0\nx"


def test_a_command_runs_in_the_folder(folder):
    tools = workspace(str(folder))
    assert tools["run_command"]("echo hello > a.txt; ls") == "exit code 0\na.txt\n"
    assert tools["read_file"]("a.txt") == "hello\n"


def test_commands_may_be_run_by_something_else(folder):
    tools = workspace(folder, run=lambda command, place: f"{command} in {place}")
    assert tools["run_command"]("ls") == f"ls in {os.path.realpath(folder)}"


def test_a_model_can_be_told_of_the_tools(folder):
    told = {one["name"]: one for one in schemas(workspace(folder))}
    assert list(told) == ["read_file", "write_file", "run_command"]
    assert told["write_file"]["input_schema"]["required"] == ["path", "content"]
    assert all(one["description"] for one in told.values())


# What they say


def test_a_missing_file_is_answered_with_the_files_that_are_there(read, folder):
    (folder / "src" / "__pycache__").mkdir(parents=True)
    (folder / ".git").mkdir()
    for name in ["b.py", "a.py", "src/c.py", "src/__pycache__/c.pyc", ".git/config"]:
        (folder / name).write_text("")
    with pytest.raises(FileNotFoundError) as error:
        read("auth.py")
    holds = "the workspace holds a.py, b.py, src/c.py"
    assert str(error.value) == f"there is no file 'auth.py'; {holds}"


def test_the_files_that_are_named_are_bounded(read, folder):
    for number in range(100):
        (folder / f"{number:03}.txt").write_text("")
    with pytest.raises(FileNotFoundError, match=r"000\.txt, .* and more$") as error:
        read("auth.py")
    assert str(error.value).count(".txt") == LISTED


def test_in_an_empty_workspace_a_missing_file_is_missing_too(read):
    with pytest.raises(FileNotFoundError, match="the workspace holds no files"):
        read("auth.py")


@pytest.mark.parametrize(
    ("name", "named"),
    [
        (b"a\nb", r"'a\nb'"),
        (b"\x1b[31m", r"'\x1b[31m'"),
        pytest.param(
            b"\xff", r"'\udcff'", marks=pytest.mark.skipif(not LINUX, reason="no such name")
        ),
    ],
)
def test_names_that_nobody_could_print_are_named_safely(read, folder, name, named):
    Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("")
    with pytest.raises(FileNotFoundError) as error:
        read("auth.py")
    assert str(error.value).endswith(f"the workspace holds {named}")


def test_a_path_through_a_file_is_a_missing_file(read, folder):
    (folder / "a.py").write_text("")
    with pytest.raises(FileNotFoundError, match=r"no file 'a\.py/b\.py'; .* holds a\.py"):
        read("a.py/b.py")


def test_a_folder_is_answered_with_its_files(read, write, folder):
    (folder / "src").mkdir()
    (folder / "src" / "a.py").write_text("")
    with pytest.raises(IsADirectoryError, match=r"'src' is a folder, .*; it holds src/a\.py"):
        read("src")
    with pytest.raises(IsADirectoryError, match=r"'src' is a folder, .*; it holds src/a\.py"):
        write("src", "x")
    with pytest.raises(IsADirectoryError, match=r"'\.' is a folder"):
        read(".")


def test_a_binary_file_is_counted_not_shown(read, folder):
    (folder / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0" + b"x" * 1989)
    with pytest.raises(ValueError) as error:
        read("logo.png")
    assert str(error.value) == "'logo.png' is a binary file of 2,000 bytes; it is not shown"


def test_text_that_is_not_utf_8_is_told_where(read, folder):
    (folder / "old.txt").write_bytes("café".encode("latin-1"))
    with pytest.raises(ValueError, match=r"'old\.txt' is not UTF-8 text: byte 0xe9 at position 3"):
        read("old.txt")


def test_text_that_ends_within_a_character_is_not_utf_8(read, folder):
    (folder / "torn.txt").write_bytes("€".encode()[:2])
    with pytest.raises(ValueError, match="not UTF-8 text"):
        read("torn.txt")


def test_a_large_file_is_read_up_to_a_limit_and_says_so(read, folder):
    (folder / "big.log").write_bytes(b"ab" + "€".encode() * SHOWN)
    shown, said = read("big.log").rsplit("\n", 1)
    assert shown == "ab" + "€" * ((SHOWN - 2) // 3)
    assert said == "[... cut: these are the first 100,000 of 300,002 bytes ...]"


def test_a_file_of_the_limit_is_shown_whole(read, folder):
    (folder / "big.log").write_bytes(b"a" * SHOWN)
    assert read("big.log") == "a" * SHOWN


def test_a_file_larger_than_memory_is_no_danger(read, folder):
    with (folder / "huge").open("wb") as file:
        file.truncate(1 << 43)
    with pytest.raises(ValueError, match="'huge' is a binary file of 8,796,093,022,208 bytes"):
        read("huge")


def test_what_would_make_a_reader_wait_for_ever_is_refused(read, write, folder, monkeypatch):
    monkeypatch.chdir(folder)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock")
        for path in ("pipe", "sock"):
            for tool in (read, lambda path: write(path, "x")):
                with pytest.raises(OSError, match=f"'{path}' is a pipe, a socket or a device"):
                    tool(path)


def test_a_link_or_a_pipe_put_in_a_files_place_after_it_was_looked_at_is_not_read(folder):
    (folder / "link").symlink_to("../beyond/secret.txt")
    os.mkfifo(folder / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(OSError), opened(folder / name, name):
            pytest.fail("opened")


def test_links_in_a_circle_are_told(read, write, folder):
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    with pytest.raises(OSError, match="'a' is a link that leads round in a circle"):
        read("a")
    with pytest.raises(OSError, match="'b' is a link that leads round in a circle"):
        write("b", "x")


def test_a_read_only_file_is_not_written(write, folder):
    (folder / "a.txt").write_text("old")
    (folder / "a.txt").chmod(0o444)
    with pytest.raises(PermissionError, match=r"^'a\.txt' is read-only$"):
        write("a.txt", "new")
    assert (folder / "a.txt").read_text() == "old"


def test_what_the_system_refuses_is_told_without_this_machines_paths(as_anybody):
    tools = workspace(as_anybody)
    (as_anybody / "closed").mkdir()
    (as_anybody / "closed.txt").write_text("x")
    (as_anybody / "closed.txt").chmod(0o000)
    (as_anybody / "closed").chmod(0o000)
    with pytest.raises(PermissionError, match=r"^'closed\.txt' cannot be read: permission denied$"):
        tools["read_file"]("closed.txt")
    with pytest.raises(PermissionError, match=r"^'closed/a' cannot be read: permission denied$"):
        tools["read_file"]("closed/a")
    with pytest.raises(
        PermissionError, match=r"^'closed/b/c' cannot be written: permission denied"
    ):
        tools["write_file"]("closed/b/c", "x")


def test_a_path_through_a_file_is_not_written(write, folder):
    (folder / "a.py").write_text("")
    with pytest.raises(NotADirectoryError, match=r"'a\.py/b/c\.py' cannot be written: a\.py is"):
        write("a.py/b/c.py", "x")


@pytest.mark.parametrize("path", ["new/", "new/.", "new/../"])
def test_a_path_that_names_a_folder_is_not_written(write, folder, path):
    with pytest.raises(IsADirectoryError):
        write(path, "x")
    assert list(folder.iterdir()) == []


def test_a_write_that_fails_leaves_everything_as_it_was(write, folder):
    (folder / "a.txt").write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match=r"^'a\.txt' cannot be written: file too large$"):
            write("a.txt", "x" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [place.read_text() for place in folder.iterdir()] == ["old"]


def test_a_name_that_is_too_long_is_told(write, folder):
    with pytest.raises(OSError, match="cannot be written: file name too long"):
        write("x" * 300, "content")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("path", ["", " ", "\n"])
def test_an_empty_path_is_told(read, write, path):
    with pytest.raises(ValueError, match="the path is empty; name a file"):
        read(path)
    with pytest.raises(ValueError, match="the path is empty; name a file"):
        write(path, "x")


@pytest.mark.parametrize("path", ["a\0b", "\0", "x" * 5000, "a/" * 1_000_000])
def test_what_is_no_path_is_told_in_a_short_sentence(read, write, path):
    for tool in (read, lambda path: write(path, "x")):
        with pytest.raises(ValueError, match="is no path") as error:
            tool(path)
        assert len(str(error.value)) < 300


def test_half_a_character_is_told(read, write, folder):
    with pytest.raises(ValueError, match="path holds half a character"):
        read("\ud800")
    with pytest.raises(ValueError, match="content holds half a character"):
        write("a.txt", "x\udfff")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "input", "words"),
    [
        ("read_file", {"path": 3}, "path must be a string, not int"),
        ("read_file", {"path": None}, "path must be a string, not NoneType"),
        ("write_file", {"path": "a", "content": {}}, "content must be a string, not dict"),
        ("write_file", {"path": ["a"], "content": ""}, "path must be a string, not list"),
        ("run_command", {"command": b"ls"}, "command must be a string, not bytes"),
        ("read_file", {}, "read_file takes path; it was given nothing"),
        ("read_file", {"file": "a"}, "read_file takes path; it was given file"),
        ("write_file", {"path": "a"}, "write_file takes path and content; it was given path"),
        (
            "run_command",
            {"command": "ls", "timeout": 5},
            "run_command takes command; it was given command and timeout",
        ),
    ],
)
def test_wrong_arguments_are_told_in_our_own_words(folder, name, input, words):
    with pytest.raises(TypeError) as error:
        workspace(folder)[name](**input)
    assert str(error.value) == words


def test_too_many_arguments_are_told_in_our_own_words(read):
    with pytest.raises(TypeError) as error:
        read("a", "b")
    assert str(error.value) == "read_file takes path; it was given 'a' and 'b'"


# The folder


@pytest.mark.parametrize(
    ("name", "words"),
    [("missing", "does not exist"), ("a.txt", "is not a folder"), ("dangling", "does not exist")],
)
def test_a_workspace_is_a_folder_that_is_there(tmp_path, name, words):
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "dangling").symlink_to("nothing")
    with pytest.raises(WorkspaceFault, match=f"{name} {words}"):
        workspace(tmp_path / name)


@pytest.mark.parametrize("folder", ["", None, 3])
def test_a_workspace_is_named_by_a_path(folder):
    with pytest.raises(WorkspaceFault, match=f"{folder!r} is not the path of a folder"):
        workspace(folder)


def test_a_folder_that_cannot_be_written_is_no_workspace(as_anybody):
    as_anybody.chmod(0o555)
    with pytest.raises(WorkspaceFault, match="cannot be written"):
        workspace(as_anybody)


# The wall


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../beyond/secret.txt",
        "a/../../beyond/secret.txt",
        "/etc/passwd",
        "../ws-not/a.txt",
        "to_file",
        "to_folder/secret.txt",
        "absolute",
        "to_nothing",
        "up/beyond/secret.txt",
        "chain",
        "circle/../to_folder/secret.txt",
        "circle/../to_file",
    ],
)
def test_what_leads_outside_is_neither_read_nor_written(read, write, folder, path):
    links = {
        "to_file": "../beyond/secret.txt",
        "to_folder": "../beyond",
        "absolute": str(folder.parent / "beyond" / "secret.txt"),
        "to_nothing": "../beyond/new.txt",
        "up": "..",
        "chain": "to_file",
        "circle": "circle",
    }
    for name, target in links.items():
        (folder / name).symlink_to(target)
    before = tree(folder.parent)
    said = f"{path!r} leads outside the workspace; only files inside it can be reached"
    for tool in (read, lambda path: write(path, "x")):
        with pytest.raises(OutsideWorkspace) as error:
            tool(path)
        assert str(error.value) == said
    assert tree(folder.parent) == before


PIECES = ["..", ".", "", "a", "b", "c", "a.txt", "ws", "beyond", "secret.txt", "new.txt", "{abs}"]
paths = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("/".join)
links = st.dictionaries(st.sampled_from("abc"), paths, max_size=3)


@settings(max_examples=150, deadline=None, database=None)
@given(links=links, nested=links, path=paths)
def test_whatever_the_links_and_the_path_nothing_outside_is_read_or_changed(links, nested, path):
    with tempfile.TemporaryDirectory() as top:
        beyond, folder = Path(top, "beyond"), Path(top, "ws")
        (folder / "sub").mkdir(parents=True)
        beyond.mkdir()
        (beyond / "secret.txt").write_text(SECRET)
        for place, targets in ((folder, links), (folder / "sub", nested)):
            for name, target in targets.items():
                (place / name).symlink_to(target.format(abs=top) or ".")
        read, write, _ = workspace(folder).values()
        for tried in (path.format(abs=top), f"sub/{path}", f"a/../{path}", f"{path}/a.txt"):
            attempt(read, tried)
            before = tree(beyond)
            attempt(lambda path: write(path, "intruder"), tried)
            assert tree(beyond) == before
            assert sorted(os.listdir(top)) == ["beyond", "ws"]


def attempt(tool, path):
    """Use the tool; whatever it says, no secret is in it, and no bug of ours."""
    try:
        said = tool(path)
    except (OSError, ValueError) as error:
        said = str(error)
    assert SECRET not in said
