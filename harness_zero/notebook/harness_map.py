"""The whole harness drawn once: what a model call and a tool call pass on their way."""

from harness_zero.notebook.diagram import Diagram, diagram

NODES = {
    "loop": "the loop of chapter 05",
    "policy": "policy: stop (stop hook around it), news, brakes, detectors",
    "view": "view: plain, compacted, then cached",
    "pool": "pool: reserve, settle",
    "kept": "journal of the model",
    "model": "a retry, more room, recording, the model",
    "before": "hook before",
    "may": "permission: allow, ask, deny",
    "intent": "journal of tools: intent, outcome",
    "effect": "toolbox: the effect",
    "after": "hook after",
}
EDGES = [
    ("loop", "policy", "before every message"),
    ("loop", "view", "no call waits"),
    ("view", "pool", "a request"),
    ("pool", "kept", ""),
    ("kept", "model", ""),
    ("loop", "before", "a call waits"),
    ("before", "may", "the call as it will run"),
    ("may", "intent", "if it may"),
    ("intent", "effect", ""),
    ("effect", "after", "what came"),
    ("after", "loop", "a result"),
]


def harness_map() -> Diagram:
    """The parts of `assemble` in their places."""
    from mermaid.flowchart import FlowChart, Link, Node

    nodes = {name: Node(name, words) for name, words in NODES.items()}
    links = [Link(nodes[origin], nodes[end], message=what) for origin, end, what in EDGES]
    return diagram(FlowChart("the whole harness", [*nodes.values()], links))
