"""Exactly one mail is to be sent. Two are worse than none."""

import re

from harness_zero.flight.luck import Luck
from harness_zero.flight.place import RETRIES, Place, file_tools
from harness_zero.flight.seen import Seen
from harness_zero.flight.steps import DONE, GAVE_UP, Step

ANA = "ana@example.org"


def one_mail(luck: Luck) -> Place:
    """Read a figure and mail it; an effect that cannot be taken back."""
    figure = str(luck.whole(100, 999, "figure"))
    files = {"README.md": "hello", "report.txt": f"figure = {figure}"}
    sent: list[str] = []

    def send_mail(to: str, body: str) -> str:
        """Send a mail."""
        sent.append(f"{to}: {body}")
        return "sent"

    def list_sent() -> str:
        """List the mails that were sent."""
        return "\n".join(sent) or "none"

    return Place(
        task=f"Mail the figure in report.txt to {ANA}.",
        tools={**file_tools(files), "send_mail": send_mail, "list_sent": list_sent},
        goal=lambda: sent == [f"{ANA}: {figure}"],
        length=2,
        skill=skill,
        effects=sent,
    )


def skill(seen: Seen, luck: Luck) -> Step:
    """Read, send; after an error the careful look whether it was sent, the others send again."""
    look, sent = seen.looks.get("report.txt"), seen.last("send_mail")
    found = re.search(r"figure = (\d+)", look.text) if look and not look.error else None
    if look is None or (look.error and look.tries < RETRIES and not sent):
        return [("read_file", {"path": "report.txt"})]
    if found is None:
        return GAVE_UP
    if sent is None:
        return [("send_mail", {"to": ANA, "body": found[1]})]
    return DONE if not sent.error else doubt(seen, luck, found[1])


def doubt(seen: Seen, luck: Luck, figure: str) -> Step:
    """Sending failed, or seemed to."""
    sent, listed = seen.all("send_mail")[-1], seen.last("list_sent")
    if len([call for call in seen.all("send_mail") if call.error]) >= RETRIES:
        return GAVE_UP
    looked = listed is not None and listed.at > sent.at and not listed.error
    if luck.chance(50, "care") and not looked:
        return [("list_sent", {})]
    there = looked and listed is not None and figure in listed.text
    return DONE if there else [("send_mail", {"to": ANA, "body": figure})]
