"""Who may: the loop asks for effects, another layer says whether they happen.

Rules answer allow, ask or deny. The strictest of those that fit counts, so their order
means nothing; where none fits, somebody is asked.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain, islice
from typing import Any, Literal

from harness_zero.brief import brief
from harness_zero.faults import SetupFault
from harness_zero.hooks import heard
from harness_zero.labels import End, Label
from harness_zero.layers import layer
from harness_zero.messages import Block, not_executed
from harness_zero.policy import brake
from harness_zero.ports import Policy, Tool
from harness_zero.rounds import rounds
from harness_zero.run import Run

Verdict = Literal["allow", "ask", "deny"]
STRICTEST = ("deny", "ask", "allow")
Ask = Callable[[Block], bool | str]  # True: allowed; words or False: denied, and why
DENIED = "denied: "


@dataclass(frozen=True)
class Rule:
    """A verdict about the calls of a tool, narrowed down to arguments like these.

    An argument is looked at as text, just as the model wrote it: ./notes.md is not notes.md.
    What must not be reached at all belongs out of the tool's own reach.
    """

    verdict: Verdict
    tool: str  # a name, or a pattern: write_*
    where: Mapping[str, str] | None = None  # argument: pattern

    def __post_init__(self) -> None:
        if self.verdict not in STRICTEST:
            known = ", ".join(STRICTEST)
            raise SetupFault(f"a rule says {known}; this one says {brief(self.verdict)}")
        if strange := [each for each in self.parts() if not isinstance(each, str)]:
            wants = 'a rule is made of texts, as Rule("deny", "write_file", {"path": "*.env"})'
            raise SetupFault(f"{wants}; this one holds {brief(strange[0])}")

    def parts(self) -> Iterator[Any]:
        """All that has to be text."""
        yield self.tool
        if isinstance(self.where, Mapping):
            yield from chain(*self.where.items())
        elif self.where is not None:
            yield {"where": self.where}

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

    rules = listed(rules)

    def permitted(call: Block) -> Block:
        if why := refusal(rules, call, ask):
            return not_executed(call, f"{DENIED}{why}")
        return tool(call)

    return layer("a permission", permitted, tool)


def listed(rules: Sequence[Rule]) -> list[Rule]:
    """The rules once and for all: one that is read once only would hold for the first call."""
    held = [*rules] if isinstance(rules, Iterable) else [rules]
    if isinstance(rules, Rule) or any(not isinstance(rule, Rule) for rule in held):
        raise SetupFault(f"rules are a list of Rule(...); these are {brief(rules)}")
    return held


def refusal(rules: Sequence[Rule], call: Block, ask: Ask | None) -> str:
    """Why a call may not be made; nothing if it may."""
    said, rule = verdict(rules, call)
    if said != "ask":
        return rule if said == "deny" else ""
    answer = heard(ask, deepcopy(call)) if ask else "nobody is there to be asked"
    if answer is True:
        return ""
    return answer if isinstance(answer, str) and answer else "the user said no"


def denials(limit: int = 3) -> Policy:
    """A detector that ends the turn once so many calls in a row were denied."""
    end = End(Label.STUCK, f"{limit} calls in a row were denied")

    def policy(run: Run) -> End | None:
        newest = [*islice(answered(run), limit)]
        return end if len(newest) == limit and all(map(was_denied, newest)) else None

    return brake(policy)


def answered(run: Run) -> Iterator[Block]:
    """The results of this turn, the newest first; of the same call in one reply but one."""
    for each in rounds(run):
        yield from reversed(each.results)


def was_denied(result: Block) -> bool:
    """Whether this is the result of a call that was denied."""
    return str(result.get("content")).startswith(f"not executed: {DENIED}")
