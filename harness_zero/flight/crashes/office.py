"""The office: an invoice is to be paid and a mail to be sent, in a folder that outlives a process.

What happens outside of the harness stands in `effects.jsonl`: what the model was asked, what was
paid and what was mailed. The bank knows a key again and pays once for it; the mail does not.
"""

import json
import os
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from harness_zero.assembly import assemble
from harness_zero.doubt import keyed, reads
from harness_zero.flight.crashes.reaper import Reaper
from harness_zero.journal import Journal
from harness_zero.messages import (
    Message,
    Reply,
    reply,
    request_fault,
    tool_results,
    tool_use,
    tool_uses,
)
from harness_zero.policy import deadline, max_rounds
from harness_zero.ports import Request
from harness_zero.run import Run

PROMPT = "Pay the invoice in invoice.txt, then mail its number to Ana."
FILES = {"invoice.txt": "invoice 17: $412", "address.txt": "Ana <ana@example.org>"}
SECONDS = {"model": 5.0, "read_file": 1.0, "pay": 20.0, "send_mail": 2.0, "list_sent": 1.0}
NEVER = 10_000.0  # a deadline that holds nobody up

Result = tuple[str, str, bool]  # the tool, what it said, and whether that was an error


class Office:
    """One process in the office: its memory and its clock begin anew, the folder does not."""

    def __init__(self, folder: Path, reaper: Reaper, seconds: float = NEVER) -> None:
        self.folder, self.reaper, self.seconds = folder, reaper, seconds
        self.log, self.now = folder / "effects.jsonl", 0.0
        self.invalid: list[str] = []  # why requests would have been refused
        self.doubts: list[str] = []

    def happens(self, name: str, **what: Any) -> None:
        """An effect: it takes its time, and stands in the log in one instant."""

        def go() -> None:
            file = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.write(file, json.dumps({"did": name, **what}).encode() + b"\n")
            os.close(file)
            self.now += SECONDS[name]

        self.reaper.effect(name, go)

    def tools(self) -> dict[str, Any]:
        """The four tools, and what each declares for the case of doubt."""

        @reads
        def read_file(path: str) -> str:
            """Read a file."""
            self.happens("read_file", path=path)
            return FILES[path]

        @keyed
        def pay(invoice: int, usd: int, key: str) -> str:
            """Pay an invoice. The bank pays once for a key, however often it is asked."""
            self.happens("pay", key=key)
            return f"paid ${usd}"

        def send_mail(to: str, body: str) -> str:
            """Send a mail."""
            self.happens("send_mail", body=f"{to}: {body}")
            return "sent"

        @reads
        def list_sent() -> str:
            """List the mails that were sent."""
            self.happens("list_sent")
            sent = [line["body"] for line in lines(self.log) if line["did"] == "send_mail"]
            return "\n".join(sent) or "none"

        return {
            "read_file": read_file,
            "pay": pay,
            "send_mail": send_mail,
            "list_sent": list_sent,
        }

    def model(self, request: Request) -> Reply:
        """A careful model: it reads every result, and looks before it does a thing again."""
        if fault := request_fault(request["messages"]):
            self.invalid.append(fault)
        self.happens("model")
        asked = effects(self.log)["model"]
        step = next_step(results(request["messages"]))
        if isinstance(step, str):
            return reply(step, tokens=100, cost=0.01)
        # a provider gives every call a new id, also when it is asked the same once more
        calls = zip("ab", step, strict=False)
        asks = [tool_use(f"call_{asked}{letter}", name, **it) for letter, (name, it) in calls]
        return reply(*asks, tokens=100, cost=0.01)

    def play(self, journal: Path | None) -> Run:
        """Play the turn in this process, with a journal or without."""
        self.reaper.start()
        brakes, run = (max_rounds(12), deadline(self.seconds)), Run(PROMPT, lambda: self.now)
        if journal is None:
            return assemble(self.model, self.tools(), brakes=brakes)(run)
        with Journal(journal, run="office", tell=self.doubts.append) as opened:
            file = opened.scribe.file
            assert file
            file.append = partial(self.reaper.line, write=file.append)  # type: ignore[method-assign]
            return assemble(self.model, self.tools(), brakes=brakes, journal=opened)(run)


def results(messages: list[Message]) -> list[Result]:
    """What the tools have said so far, by name."""
    names = {call["id"]: call["name"] for message in messages for call in tool_uses(message)}
    return [
        (names[block["tool_use_id"]], str(block["content"]), block.get("is_error", False))
        for message in messages
        for block in tool_results(message)
    ]


def next_step(seen: list[Result]) -> list[tuple[str, dict[str, Any]]] | str:
    """Read, pay, mail, done. After an error of the mail: look first."""
    mail = [("send_mail", {"to": "ana@example.org", "body": "17"})]
    done = [name for name, _, _ in seen]
    if "read_file" not in done:
        return [("read_file", {"path": "invoice.txt"}), ("read_file", {"path": "address.txt"})]
    if "pay" not in done:
        return [("pay", {"invoice": 17, "usd": 412})]
    name, said, failed = seen[-1]
    if name == "pay" or (name == "list_sent" and "17" not in said):
        return mail
    if name == "send_mail" and failed:
        return [("list_sent", {})]
    return "The invoice is paid, and Ana knows its number."


def lines(path: Path) -> list[dict[str, Any]]:
    """What a file of JSON lines holds, as far as there is one."""
    written = path.read_text("utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in written]


def effects(log: Path) -> Counter[str]:
    """How often each thing happened; `paid` counts what the bank paid, once for a key."""
    happened = lines(log)
    counted = Counter(line["did"] for line in happened)
    counted["paid"] = len({line["key"] for line in happened if line["did"] == "pay"})
    return counted
