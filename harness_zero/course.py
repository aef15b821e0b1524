"""The learner's copy of the course: laid down once, brought up to date, never overwritten.

A notebook counts as changed when the words in its cells changed; running it and
saving it changes only what stands below them. What was laid down is remembered,
so that an update can tell a learner's edit from an older version of ours. Where
it cannot tell, the file is the learner's.
"""

import errno
import hashlib
import itertools
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

FOLDERS = ("chapters", "labs", "docs")
THE_COURSE = {*FOLDERS, "solutions", "harness_zero", "tests", "benchmarks", ".git", ".venv", ".ci"}
OURS = ".harness_zero"  # the folder in the copy that holds what we remember
ELSEWHERE = "Move it away, or name another folder with --to."
IN_THE_WAY = (errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY)

Entry = dict[str, str]  # of one file as it was laid down: a digest of all of it, and of its words


class NotLaid(Exception):
    """The copy could not be made; the sentence says why, and what to do."""


@dataclass
class Laid:
    """What one `lay` did, as names within the copy."""

    new: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    offered: list[str] = field(default_factory=list)  # newer versions, laid beside changed files
    first: bool = False


def checkout() -> Path:
    """The repository that this package runs from."""
    root = Path(__file__).resolve().parents[1]
    if not (root / "chapters").is_dir():
        raise NotLaid(f"No course lies in {root}: clone the repository and type make lab there.")
    return root


def lay(source: Path, copy: Path) -> Laid:
    """Bring the copy up to date with the course in `source`; what the learner changed stays."""
    refuse_unfit(source, copy)
    try:
        record = remembered(copy)
        laid = Laid(first=not record)
        try:
            for name in shipped(source):
                lay_one(name, as_shipped(source / name), copy, record, laid)
        finally:
            remember(copy, record)
    except OSError as fault:
        cures = ELSEWHERE, "Name another folder with --to."
        raise NotLaid(in_words(fault, copy, *cures)) from fault
    except RuntimeError as fault:  # a link that leads round in a circle
        raise NotLaid(f"{copy} cannot be used ({fault}). {ELSEWHERE}") from fault
    return laid


def lay_one(name: str, content: bytes, copy: Path, record: dict[str, Entry], laid: Laid) -> None:
    """Lay one file down, bring it up to date, or lay it beside the learner's own."""
    here, entry = copy / name, entry_of(name, content)
    refuse_links(copy, name)
    if not os.path.lexists(here):
        laid.new.append(name)
    elif record.get(name) == entry:
        return
    elif is_as_laid(here, record.get(name)):
        laid.updated.append(name)
    elif is_as_laid(here, entry):
        record[name] = entry  # the record was lost, or the learner took the newer version over
        return
    else:
        offer(name, content, copy, record, laid)
        return
    put(here, content)
    record[name] = entry


def offer(name: str, content: bytes, copy: Path, record: dict[str, Entry], laid: Laid) -> None:
    """Lay a newer version beside the learner's file, once; a changed offer is the learner's too."""
    entry = entry_of(name, content)
    for beside in names_beside(name):
        here = copy / beside
        if record.get(beside) == entry:
            return
        if not os.path.lexists(here) or is_as_laid(here, record.get(beside)):
            put(here, content)
            record[beside] = entry
            laid.offered.append(beside)
            return


def names_beside(name: str, mark: str = "new") -> Iterator[str]:
    """s1.ipynb → s1.new.ipynb, s1.new2.ipynb, …"""
    path = PurePosixPath(name)
    for number in itertools.chain([""], itertools.count(2)):
        yield str(path.with_name(f"{path.stem}.{mark}{number}{path.suffix}"))


def reset(source: Path, copy: Path, lab: str) -> dict[str, str]:
    """Bring a lab's files back as they are shipped: all that are not, or none if it fails.

    Gives back their names, each with the name under which what stood there is kept.
    """
    refuse_unfit(source, copy)
    try:
        ours = [name for name in shipped(source) if name.startswith(f"labs/{lab}/")]
        if not ours:
            raise NotLaid(f"No lab {lab} lies in {source}; git status may say why.")
        fresh = {name: as_shipped(source / name) for name in ours}
        for name in ours:
            refuse_links(copy, name)
        changed = {name: fresh[name] for name in ours if not is_fresh(copy / name, fresh[name])}
        return exchange(copy, changed) if changed else {}
    except OSError as fault:
        cures = "Move it away.", "See to it that it can be written."
        raise NotLaid(in_words(fault, copy, *cures)) from fault


def is_fresh(here: Path, content: bytes) -> bool:
    """Whether a file holds the words and marks that we ship, and nothing that they gave."""
    if here.is_symlink() or not here.is_file():
        return False
    found = here.read_bytes()
    if found == content or not here.name.endswith(".ipynb"):
        return found == content
    if words(here.name, found) != words(here.name, content):
        return False
    return marks(found) == marks(content) and not has_run(found)


def marks(content: bytes) -> Any:
    """What a notebook says to the tools of the course: its kernel, and each cell's tags and grade.

    What else stands in its metadata Jupyter writes by itself when it saves.
    """
    notebook = json.loads(content)
    try:
        kernel = notebook["metadata"].get("kernelspec", {}).get("name")
        metadata = [
            cell["metadata"] for cell in notebook["cells"] if "".join(cell["source"]).strip()
        ]
        return kernel, [(sorted(each.get("tags", [])), each.get("nbgrader")) for each in metadata]
    except (KeyError, TypeError, AttributeError):
        return None


def has_run(content: bytes) -> bool:
    """Whether a notebook shows that a cell of it was run."""
    cells = json.loads(content)["cells"]
    return any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


def exchange(copy: Path, fresh: Mapping[str, bytes]) -> dict[str, str]:
    """Lay files down and keep what stood in their places beside them: of all of them or of none."""
    record, kept = remembered(copy), {}
    with ExitStack() as tidy, ExitStack() as undo:
        # all are written before one is moved, so that a disk that is full moves nothing
        drafts = {name: draft(copy / name, content, tidy) for name, content in fresh.items()}
        for name, content in fresh.items():
            kept[name] = keep_beside(copy, name, undo)
            with naming(copy / name):
                os.replace(drafts[name], copy / name)
            record[name] = entry_of(name, content)
        remember(copy, record)
        undo.pop_all()
    return kept


def keep_beside(copy: Path, name: str, undo: ExitStack) -> str:
    """Move what stands in a place beside it, until that is undone; its new name, if any."""
    here = copy / name
    if not os.path.lexists(here):
        undo.callback(here.unlink, missing_ok=True)
        return ""
    if here.is_dir() and not here.is_symlink():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), here)
    beside = next(n for n in names_beside(name, "old") if not os.path.lexists(copy / n))
    undo.callback(put_back, copy / beside, here)
    os.rename(here, copy / beside)
    return beside


def put_back(beside: Path, here: Path) -> None:
    """Undo a move, if it was made."""
    if os.path.lexists(beside):
        os.replace(beside, here)


def shipped(source: Path) -> Iterator[str]:
    """The names of all files of the course, without what tools leave among them."""
    for folder in FOLDERS:
        for path in sorted((source / folder).rglob("*")):
            name = path.relative_to(source)
            if path.is_file() and not any(part.startswith((".", "__")) for part in name.parts):
                yield name.as_posix()


def as_shipped(path: Path) -> bytes:
    """A file as a learner first sees it: nothing stands under a prediction."""
    if path.suffix != ".ipynb":
        return path.read_bytes()
    try:
        return clear_outputs(path.read_bytes())
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise NotLaid(f"{path} is no notebook; git status may say why.") from fault


def clear_outputs(content: bytes) -> bytes:
    """The same notebook as if it had never been run."""
    notebook = json.loads(content)
    notebook["metadata"].pop("widgets", None)
    notebook["metadata"].get("language_info", {}).pop("version", None)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
            cell["metadata"].pop("execution", None)
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def entry_of(name: str, content: bytes) -> Entry:
    """What is remembered of a file."""
    return {"all": digest(content), "words": digest(words(name, content))}


def words(name: str, content: bytes) -> bytes:
    """What a person wrote: a notebook's cells, blank ones left out; all of any other file."""
    if not name.endswith(".ipynb"):
        return content
    try:
        cells = json.loads(content)["cells"]
        written = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError):
        return content
    return json.dumps([cell for cell in written if cell[1].strip()]).encode()


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def is_as_laid(here: Path, entry: Entry | None) -> bool:
    """Whether a file still holds the words with which it was laid down. A link was never ours."""
    if entry is None or here.is_symlink() or is_odd(here):
        return False
    return digest(words(here.name, here.read_bytes())) == entry.get("words")


def is_odd(here: Path) -> bool:
    """Whether this is a pipe, a socket or a device, which nobody should wait for."""
    return here.exists() and not here.is_file() and not here.is_dir()


def remembered(copy: Path) -> dict[str, Entry]:
    """What was laid down before. Without a readable record: nothing, so all is the learner's."""
    try:
        record: Any = json.loads((copy / OURS / "laid.json").read_bytes())
        return {name: entry for name, entry in record.items() if isinstance(entry, dict)}
    except (FileNotFoundError, ValueError, AttributeError, RecursionError):
        return {}


def remember(copy: Path, record: dict[str, Entry]) -> None:
    """Write the record down, if there is anything to write."""
    if record != remembered(copy):
        put(copy / OURS / "laid.json", json.dumps(record, indent=1).encode())


def put(path: Path, content: bytes) -> None:
    """Write all of a file or none of it, whatever happens in between."""
    with ExitStack() as tidy, naming(path):
        os.replace(draft(path, content, tidy), path)


def draft(path: Path, content: bytes, tidy: ExitStack) -> Path:
    """Write a file down beside its place; where it has not taken it by then, it is tidied away."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    tidy.callback(remove, beside)
    with naming(path):
        beside.write_bytes(content)
    return beside


def remove(path: Path) -> None:
    """Remove a file, where it is there and that is possible."""
    with suppress(OSError):
        path.unlink()


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """What fails meanwhile is told of this file, and not of its draft."""
    try:
        yield
    except OSError as fault:
        fault.filename = str(path)
        raise


def refuse_unfit(source: Path, copy: Path) -> None:
    """Say in a sentence why this folder cannot hold the copy."""
    for folder in (copy, copy / OURS, *(copy / name for name in FOLDERS)):
        if folder.is_symlink():
            raise NotLaid(f"{folder} is a link; the course is laid into a real folder. {ELSEWHERE}")
        if folder.exists() and not folder.is_dir():
            raise NotLaid(f"{folder} is a file, where a folder should be. {ELSEWHERE}")
    place, course = copy.resolve(), source.resolve()
    if place == place.parent:
        raise NotLaid("The course is not laid into the root of the disk: name a folder.")
    inside = place.relative_to(course).parts[:1] if place.is_relative_to(course) else None
    if inside is not None and (not inside or inside[0] in THE_COURSE):
        raise NotLaid(f"{copy} is where the course itself lies. Name another folder with --to.")


def refuse_links(copy: Path, name: str) -> None:
    """Say which folder on the way to a file is a link, which may lead out of the copy."""
    for above in PurePosixPath(name).parents:
        if (copy / above).is_symlink():
            raise NotLaid(f"{copy / above} is a link, where a real folder should be. {ELSEWHERE}")


def in_words(fault: OSError, copy: Path, in_the_way: str, otherwise: str) -> str:
    """What the machine says, as a sentence that tells what to do: one cure for what lies there."""
    if fault.errno in (errno.ENOSPC, errno.EDQUOT):
        return "The disk is full; no file of yours was changed. Free some space and type it again."
    where, cure = fault.filename or copy, in_the_way if fault.errno in IN_THE_WAY else otherwise
    return f"{where} cannot be used ({fault.strerror}). {cure}"


def told(laid: Laid, folder: str) -> str:
    """What was done, for the learner; an update is told file by file."""
    parts = {"new": laid.new, "brought up to date": laid.updated}
    beside = {"newer than the one you changed, laid beside it": laid.offered}
    counts = [f"{len(names)} {what}" for what, names in (parts | beside).items() if names]
    by_name = beside if laid.first else parts | beside
    lines = [f"  {what}: {name}" for what, names in by_name.items() for name in names]
    return "\n".join([f"{folder} is ready: {', '.join(counts) or 'nothing new'}.", *lines])


def brought_back(kept: Mapping[str, str], lab: str, folder: str) -> str:
    """What a reset did, for the learner."""
    if not kept:
        return f"Nothing is changed in {folder}labs/{lab}/, so nothing was moved."
    lines = [
        f"{folder}{name} is as it is shipped."
        + (f" Yours is kept in {folder}{beside}." if beside else "")
        for name, beside in kept.items()
    ]
    reload = "If it is open in JupyterLab, reload it: File → Reload Notebook from Disk."
    return "\n".join([*lines, reload])
