"""Diagrams: mermaid-py builds the script, JupyterLab draws it.

mermaid-py can also draw by itself, by asking a server on the network; that part is never used.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mermaid.flowchart import FlowChart, Link, Node


class Diagram:
    """A flowchart with two faces: mermaid's script where it can be drawn, else lines of text."""

    def __init__(self, chart: FlowChart) -> None:
        self.chart = chart

    @property
    def script(self) -> str:
        """The chart as mermaid reads it, with names and quotation marks that it cannot misread."""
        named = {id(node): safe(node) for node in self.chart.nodes}
        links = [linked(link, named) for link in self.chart.links]
        lines = [f"    {part}" for part in [*named.values(), *links]]
        head = [f"flowchart {self.chart.orientation}", f"    accTitle: {self.chart.title}"]
        return "\n".join([*head, *lines])

    def __repr__(self) -> str:
        """The chart in plain lines: who leads to whom, and when."""
        return "\n".join(
            f"{link.origin.content} {arrow(link.message)} {link.end.content}"
            for link in self.chart.links
        )

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/vnd.mermaid": self.script, "text/plain": repr(self)}


def safe(node: Node) -> Node:
    """The same node under a name that is none of mermaid's own words (end, call, click, ...)."""
    safe = copy(node)
    safe.id_, safe.content = f"{node.id_}_", quoted(node.content)
    return safe


def linked(link: Link, named: dict[int, Node]) -> Link:
    """The same link between the renamed nodes."""
    safe = copy(link)
    safe.origin, safe.end = named[id(link.origin)], named[id(link.end)]
    safe.message = quoted(link.message)
    return safe


def arrow(message: str) -> str:
    """An arrow in plain text, with what is written on it."""
    return f"-- {message} -->" if message else "-->"


def quoted(words: str) -> str:
    """The words with quotation marks as mermaid wants them inside a quoted label."""
    return words.replace('"', "#quot;")


def diagram(chart: FlowChart) -> Diagram:
    """Show a flowchart made with mermaid-py's builders. No request leaves the machine."""
    return Diagram(chart)
