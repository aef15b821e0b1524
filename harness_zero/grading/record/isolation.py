"""Where a learner's process runs: no network, nothing of this machine to see, and limits."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import cache_from_source
from itertools import count
from pathlib import Path
from py_compile import compile as compiled
from shutil import which

import harness_zero

PACKAGE = Path(harness_zero.__file__).parent
SERVING = [  # what the process needs to serve, and any answer may use in part
    "__init__",
    "brief",
    "doubt",
    "faults",
    "keys",
    "labels",
    "loop",
    "marks",
    "messages",
    "ports",
    "run",
    "models/__init__",
    "models/scripted",
    "grading/__init__",
    "grading/record/__init__",
    "grading/record/protocol",
    "grading/record/errors",
    "grading/record/handles",
    "grading/record/proxies",
    "grading/record/peer",
    "grading/record/lending",
    "grading/record/keeping",
    "grading/record/scratch",
    "grading/record/mirror",
    "grading/record/imports",
    "grading/record/worker",
    "grading/surroundings",
]
BEGIN = (
    "import sys; sys.path.insert(0, {!r});"
    " from harness_zero.grading.record.worker import main; main()"
)
FIRST_USER = 210_000  # of users that nobody is; a learner's process is one of them
PACKAGES = "lib/python3*/*-packages"
SYSTEM = ("/", "/usr", "/tmp")  # folders that are there anyhow
APART = [f"--unshare-{what}" for what in ("pid", "net", "ipc", "uts", "cgroup-try")]
USERS = count(os.getpid() * 1000 % 1_000_000)


@dataclass(frozen=True)
class Limits:
    """What a learner's process may use."""

    seconds: float = 2.0  # for an exercise, and for a cell
    memory: int = 1_000_000_000  # bytes of addresses
    processes: int = 64  # threads among them
    file: int = 10_000_000  # bytes of one
    disk: int = 20_000_000  # bytes of all
    files: int = 64  # open at once
    cpu: int = 60  # seconds in all


def lay_inside(folder: Path, files: Mapping[str, str], once: Path) -> Path:
    """What a learner's process may see of the package, in a folder; all is compiled once."""
    for name, text in files.items():
        content = text.encode()
        source = once / sha256(content).hexdigest() / f"{name}.py"
        target = folder / "harness_zero" / f"{name}.py"
        if not source.exists():
            source.parent.mkdir(parents=True, exist_ok=True)
            source.write_bytes(content)
            compiled(str(source), dfile=f"/course/harness_zero/{name}.py", doraise=True)
        cached = Path(cache_from_source(str(target)))
        cached.parent.mkdir(parents=True, exist_ok=True)
        os.link(source, target)
        os.link(cache_from_source(str(source)), cached)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def begun(inside: Path, settings: dict, limits: Limits, isolated: bool) -> subprocess.Popen[bytes]:
    """A learner's process, which serves through its standard input and output."""
    seen = "/course" if isolated else str(inside)
    argv = [python(), "-I", "-S", "-B", "-c", BEGIN.format(seen), json.dumps(settings)]
    around = [*walls(inside, limits), *bounds(limits)] if isolated else weak_bounds(limits)
    return subprocess.Popen(
        [*around, *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"},
        bufsize=0,
        start_new_session=True,
    )


def python() -> str:
    """The interpreter without an environment around it."""
    return str(Path(sys.executable).resolve())


def walls(inside: Path, limits: Limits) -> list[str]:
    """bubblewrap's part: what there is to see, and who one is."""
    base = str(Path(sys.base_prefix).resolve())
    lent = [] if base == "/usr" else [*parents(base), "--ro-bind", base, base]
    links = [each for name in ("bin", "lib", "lib64") for each in link(name)]
    return [
        *("bwrap", *(APART if os.geteuid() == 0 else ["--unshare-all"])),
        *("--die-with-parent", "--new-session", "--clearenv"),
        *("--setenv", "HOME", "/tmp", "--setenv", "PATH", "/usr/bin:/bin"),
        *("--setenv", "LANG", "C.UTF-8"),
        *("--size", str(limits.disk), "--perms", "1777", "--tmpfs", "/tmp", "--chdir", "/tmp"),
        *("--ro-bind", "/usr", "/usr", *links, *lent, "--ro-bind", str(inside), "/course"),
        *(each for folder in covered(base) for each in ("--tmpfs", folder, "--remount-ro", folder)),
        *("--proc", "/proc", "--dev", "/dev", "--hostname", "course"),
        *("--size", str(limits.disk), "--perms", "1777", "--tmpfs", "/dev/shm"),
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        *(as_root() if os.geteuid() == 0 else ["--cap-drop", "ALL"]),
    ]


def covered(base: str) -> list[str]:
    """What lies in the folders that are seen and is not to be seen: this course, and packages."""
    seen = [Path("/usr"), Path(base)]
    packages = {each for root in (*seen, Path("/usr/local")) for each in root.glob(PACKAGES)}
    there = {each.resolve() for each in (*packages, PACKAGE.parent)}
    within = [each for each in there if any(each.is_relative_to(root) for root in seen)]
    return sorted(str(each) for each in within if not there & {*each.parents})


def link(name: str) -> list[str]:
    """One of the system's folders at the root, as it is here: a link, a folder, or none."""
    path = Path("/", name)
    if path.is_symlink():
        return ["--symlink", os.readlink(path), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.is_dir() else []


def parents(folder: str) -> list[str]:
    """The folders above one, for everybody to pass."""
    above = [str(each) for each in reversed(Path(folder).parents) if str(each) not in SYSTEM]
    return [each for path in above for each in ("--perms", "0755", "--dir", path)]


def as_root() -> list[str]:
    """Where root grades: limits do not bind root, so a learner's process is nobody."""
    kept = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
    user = str(FIRST_USER + next(USERS))
    return [
        *("--cap-drop", "ALL", *(each for cap in kept for each in ("--cap-add", cap))),
        *("/usr/bin/setpriv", "--reuid", user, "--regid", user, "--clear-groups"),
        *("--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"),
    ]


def bounds(limits: Limits) -> list[str]:
    """prlimit's part: how much of everything."""
    return [
        *("prlimit", f"--as={limits.memory}", f"--cpu={limits.cpu}", "--core=0"),
        *(f"--nofile={limits.files}", f"--fsize={limits.file}", f"--nproc={limits.processes}"),
    ]


def weak_bounds(limits: Limits) -> list[str]:
    """The bounds that hold without walls; a number of processes would bind the grader's user."""
    return bounds(limits)[:-1] if which("prlimit") else []


@cache
def isolates() -> str:
    """Why there is no isolation here; nothing if there is."""
    if missing := [name for name in ("bwrap", "prlimit") if not which(name)]:
        return f"{' and '.join(missing)} not found (install bubblewrap and util-linux)"
    argv = [*walls(PACKAGE, Limits()), *bounds(Limits()), python(), "-I", "-S", "-c", "pass"]
    tried = subprocess.run(argv, capture_output=True, text=True, cwd="/")
    return "" if tried.returncode == 0 else f"bubblewrap: {tried.stderr.strip()[:200]}"
