"""Exactly one mail is to be sent, by a server that knows a key again."""

from dataclasses import replace

from harness_zero.doubt import keyed
from harness_zero.flight.luck import Luck
from harness_zero.flight.place import Place
from harness_zero.flight.worlds.one_mail import one_mail


def keyed_mail(luck: Luck) -> Place:
    """Read a figure and mail it, with a key: asked twice with the same one, it sends once."""
    place = one_mail(luck)
    send, known = place.tools["send_mail"], dict[str, str]()

    @keyed
    def send_mail(to: str, body: str, key: str = "") -> str:
        """Send a mail."""
        if not key or key not in known:
            known[key] = send(to=to, body=body)
        return known[key]

    return replace(place, tools={**place.tools, "send_mail": send_mail})
