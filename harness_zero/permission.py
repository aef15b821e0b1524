"""Who may: the loop asks for effects, another layer says whether they happen.

Rules answer allow, ask or deny. The strictest of those that fit counts, so their order
means nothing; where none fits, somebody is asked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from harness_zero.brief import brief
from harness_zero.faults import SetupFault
from harness_zero.messages import Block, not_executed
from harness_zero.ports import Tool

Verdict = Literal["allow", "ask", "deny"]
STRICTEST = ("deny", "ask", "allow")
Ask = Callable[[Block], bool | str]  # True: allowed; words or False: denied, and why


@dataclass(frozen=True)
class Rule:
    """A verdict about the calls of a tool, narrowed down to arguments like these."""

    verdict: Verdict
    tool: str  # a name, or a pattern: write_*
    where: Mapping[str, str] | None = None  # argument: pattern

    def __post_init__(self) -> None:
        if self.verdict not in STRICTEST:
            known = ", ".join(STRICTEST)
            raise SetupFault(f"a rule says {known}; this one says {brief(self.verdict)}")

    def fits(self, call: Block) -> bool:
        """Whether a call is one of those that the rule is about."""
        given = call["input"] if isinstance(call["input"], dict) else {}
        named = fnmatchcase(call["name"], self.tool)
        return named and all(
            name in given and fnmatchcase(str(given[name]), pattern)
            for name, pattern in (self.where or {}).items()
        )

    def __str__(self) -> str:
        where = ", ".join(f"{name}={pattern}" for name, pattern in (self.where or {}).items())
        return f"{self.verdict} {self.tool}({where})"


def verdict(rules: Sequence[Rule], call: Block) -> tuple[Verdict, str]:
    """The strictest verdict that fits a call, and the rule that gave it."""
    fitting = [rule for rule in rules if rule.fits(call)]
    strictest = min(fitting, key=lambda rule: STRICTEST.index(rule.verdict), default=None)
    return (strictest.verdict, str(strictest)) if strictest else ("ask", "no rule fits")


def permission(tool: Tool, rules: Sequence[Rule], ask: Ask | None = None) -> Tool:
    """A tool that makes a call only if it may; what it may not is data for the model."""

    def permitted(call: Block) -> Block:
        said, rule = verdict(rules, call)
        if said == "ask":
            answer = ask(call) if ask else "nobody is there to be asked"
            said, rule = ("allow", "") if answer is True else ("deny", answer or "the user said no")
        return tool(call) if said == "allow" else not_executed(call, f"denied: {rule}")

    return permitted


def before(tool: Tool, hook: Callable[[Block], Block | str]) -> Tool:
    """A hook that sees each call first: it gives back the call, changed or not, or refuses in
    words."""

    def hooked(call: Block) -> Block:
        given = hook(call)
        if isinstance(given, str):
            return not_executed(call, given)
        return tool({**given, "id": call["id"]})

    return hooked


def after(tool: Tool, hook: Callable[[Block, Block], Block]) -> Tool:
    """A hook that sees each result last, with the call, and gives back the one that counts."""

    def hooked(call: Block) -> Block:
        return {**hook(call, tool(call)), "tool_use_id": call["id"]}

    return hooked
