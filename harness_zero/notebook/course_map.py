"""The loop drawn once, with every chapter on the edge that it elaborates."""

from harness_zero.notebook.diagram import Diagram, diagram

NODES = {
    "ask": ("the user's message", "stadium-shape"),
    "append": ("append to the array", "normal"),
    "call": ("call the model with the array", "normal"),
    "asks": ("asks for tools?", "rhombus"),
    "act": ("make every call", "normal"),
    "shown": ("show the reply, wait for the user", "stadium-shape"),
}
EDGES = [
    ("ask", "append", "00 the array is the memory"),
    ("append", "call", "07 order and cache, 12 the real API, 13 ReAct"),
    ("call", "asks", "04 stop_reason, 10 trying again"),
    ("asks", "act", "yes: 02 brakes, 06 repetition, 11 permission"),
    ("act", "append", "03 errors are data, 09 what survives a crash"),
    ("asks", "shown", "no: 01 structural stop, 08 contracts"),
    ("shown", "ask", "05 two halves: the same array goes on"),
]


def course_map() -> Diagram:
    """The map of the front page. Chapters 14 to 17 look at the loop as a whole."""
    from mermaid.flowchart import FlowChart, Link, Node

    nodes = {name: Node(name, words, shape) for name, (words, shape) in NODES.items()}
    links = [Link(nodes[origin], nodes[end], message=chapters) for origin, end, chapters in EDGES]
    return diagram(FlowChart("the loop and its chapters", [*nodes.values()], links))
