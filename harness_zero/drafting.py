"""A report that a check sends back until it has a total: the task that chapter 10 tries again.

The model is as good in a new conversation as in the old one: the n-th draft has a total, whoever
writes it. So what differs is what the attempts cost, and what they do twice.
"""

import json
from collections.abc import Callable
from typing import Any

from harness_zero.assembly import assemble
from harness_zero.messages import Reply, reply, tool_results, tool_use, tool_uses
from harness_zero.ports import Request
from harness_zero.task import Tried, until

PROMPT = "Write the report on notes.txt, and mail Ana that it is there."
NOTES = "Sold in the week: " + ", ".join(f"day {n}: {n * 17} pieces" for n in range(1, 60))
DRAFT = "Report on the week. " + "Sales went up, and then they went on. " * 8


class Office:
    """Where the report lies and the mails go out. It stays as it is, whoever forgets."""

    def __init__(self, needed: int) -> None:
        self.needed, self.drafts, self.mails = needed, 0, 0

    def tools(self) -> dict[str, Callable[..., Any]]:
        """Notes to read, a report to write, a mail to send."""

        def read_notes() -> str:
            """Read the notes."""
            return NOTES

        def write_report(text: str) -> str:
            """Write the report, or write it anew."""
            self.drafts += 1
            return "written"

        def send_mail(to: str) -> str:
            """Send Ana a mail that the report is there."""
            self.mails += 1
            return "sent"

        return {"read_notes": read_notes, "write_report": write_report, "send_mail": send_mail}

    def check(self) -> str | None:
        """Whether the report is as it should be; else what is missing."""
        return None if self.drafts >= self.needed else "the report has no total"


def writer(request: Request) -> Reply:
    """A model that reads what it is given: the notes once, a draft for each word of the user."""
    messages = request["messages"]
    asked = [at for at, message in enumerate(messages) if not tool_results(message)]
    said = [at for at in asked if messages[at]["role"] == "user"]
    done = [call["name"] for message in messages for call in tool_uses(message)]
    lately = [call["name"] for message in messages[said[-1] :] for call in tool_uses(message)]
    id, size = f"call_{len(messages)}", len(json.dumps(messages)) // 4
    if "read_notes" not in done:
        step = tool_use(id, "read_notes")
    elif "write_report" not in lately:
        step = tool_use(id, "write_report", text=DRAFT)
    elif "send_mail" not in done:
        step = tool_use(id, "send_mail", to="Ana")
    else:
        step = {"type": "text", "text": "The report is written."}
    given = reply(step, tokens=len(json.dumps(step)) // 4)
    return {**given, "usage": {**given["usage"], "input_tokens": size}}


def tried(needed: int, keep: bool) -> tuple[Tried, Office]:
    """The task, tried until its check passes; and what is in the office then."""
    office = Office(needed)
    harness = assemble(writer, office.tools())
    return until(office.check, harness, PROMPT, attempts=needed, keep=keep), office
