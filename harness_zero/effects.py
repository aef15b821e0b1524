"""Executor and applier, in miniature: who proposes an effect is not who makes it real.

The executor is the run. Its tools write proposals into an outbox and give back a **reference**,
made of what is proposed and not of where it stands; nothing happens. The applier takes a
reference and looks at **evidence** that it owns: the proposal whose reference it is, the file as
it is now, somebody's approval, the tests that it has run itself. What the run says of these is
a claim, and a claim is no evidence.

So a replay is safe: an executor that runs again proposes the same things under the same
references, and what the applier has made real is not made again.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

from harness_zero.doubt import fingerprint, reads

Check = Callable[[Path], str | None]  # of a folder with the edit in it: what is wrong, or None
Approved = Callable[["Proposal"], bool]


@dataclass(frozen=True)
class Proposal:
    """A file as it should become, and the fingerprint of the file that this is based on."""

    path: str
    text: str
    based_on: str

    @property
    def reference(self) -> str:
        """What it is known by: the same for the same proposal, whoever makes it and when."""
        return fingerprint(asdict(self))[:12]


class Outbox:
    """Proposals in a folder, each under its reference. What is put there twice is there once."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def put(self, proposal: Proposal) -> str:
        """Keep a proposal; gives back its reference."""
        self.place.mkdir(parents=True, exist_ok=True)
        written = json.dumps(asdict(proposal), ensure_ascii=False)
        (self.place / proposal.reference).write_text(written, encoding="utf-8")
        return proposal.reference

    def get(self, reference: str) -> Proposal | None:
        """What lies under this reference; nothing if nothing does."""
        if reference not in self.references:
            return None
        try:
            return Proposal(**json.loads((self.place / reference).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):  # cut off while it was written, or no proposal
            return None

    @property
    def references(self) -> list[str]:
        """All references, in no order that means anything."""
        return sorted(path.name for path in self.place.glob("*"))


def executor(folder: Path, outbox: Outbox) -> Mapping[str, Callable[..., str]]:
    """Tools for a run, which reads the folder and writes nothing into it."""

    @reads
    def read_file(path: str) -> str:
        """Read a text file. The path is relative to the top folder."""
        return text_of(folder, path)

    @reads
    def propose_edit(path: str, text: str) -> str:
        """Propose what a text file should become. Nothing happens before it is applied."""
        reference = outbox.put(Proposal(path, text, fingerprint(text_of(folder, path))))
        return f"proposed as {reference}; nothing has happened yet"

    return {"read_file": read_file, "propose_edit": propose_edit}


@dataclass
class Applier:
    """It makes proposals real, each at most once, and each only on evidence of its own."""

    folder: Path
    outbox: Outbox
    approved: Approved
    check: Check
    applied: list[str] = field(default_factory=list)

    def apply(self, reference: str) -> str:
        """Make it real and say so, or say why not. Evidence that cannot be had is missing."""
        proposal = self.outbox.get(reference)
        if proposal is None:
            return f"{reference}: refused: nobody proposed this"
        if proposal.reference != reference:
            return f"{reference}: refused: this is not what was proposed under this reference"
        if reference in self.applied:
            return f"{reference}: applied before; it is not applied again"
        try:
            if why := self.missing(proposal):
                return f"{reference}: refused: {why}"
            put(self.folder, proposal)
        except Exception as error:
            return f"{reference}: refused: {type(error).__name__}: {error}"
        self.applied.append(reference)
        return f"{reference}: applied to {proposal.path}"

    def missing(self, proposal: Proposal) -> str | None:
        """Which evidence is missing before this may become real; None if none is."""
        if not inside(self.folder, proposal.path):
            return f"{proposal.path} leads outside the folder"
        if fingerprint(text_of(self.folder, proposal.path)) != proposal.based_on:
            return f"{proposal.path} is no longer what the edit was based on"
        if not self.approved(proposal):
            return "nobody has approved it"
        return self.tried(proposal)

    def tried(self, proposal: Proposal) -> str | None:
        """What the check finds in a copy of the folder with the edit in it."""
        with TemporaryDirectory() as place:
            copy = copytree(self.folder, Path(place) / "copy", ignore_dangling_symlinks=True)
            put(copy, proposal)
            return self.check(copy)


def put(folder: Path, proposal: Proposal) -> None:
    """Write the file."""
    path = folder / proposal.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(proposal.text.encode())


def text_of(folder: Path, path: str) -> str:
    """A file's text with its own line ends; of one that is not there, nothing."""
    if inside(folder, path):
        with suppress(FileNotFoundError):
            return (folder / path).read_bytes().decode()
    return ""


def inside(folder: Path, path: str) -> bool:
    """Whether a path stays in the folder."""
    return (folder / path).resolve().is_relative_to(folder.resolve())
