"""Miniatures of the detectors of real harnesses: documented defaults, in our own few lines.

They are not those projects' code. What a project decides before a call runs or after it, and whom
it asks, is left out: a question to a person counts as a stop, since nobody is there to answer.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from harness_zero.flight.place import POLLERS
from harness_zero.labels import End, Label, Say
from harness_zero.messages import tool_results, tool_uses, words
from harness_zero.policy import brake
from harness_zero.ports import Policy
from harness_zero.run import Run

CHECKED = "2026-11-30"
READS = ("read_file", "list_files", "list_sent")
EDITS = ("edit", "write_file", "append_file")

QUIET, SPEAK, STOP = range(3)


class Step(NamedTuple):
    """One call, as a detector may look at it."""

    reply: int  # the number of its message
    tool: str
    raw: str  # its input as it was written
    input: str  # its input with the names in order
    result: str
    failed: bool
    thought: str

    @property
    def call(self) -> tuple[str, str]:
        """The tool and its arguments."""
        return self.tool, self.input

    @property
    def outcome(self) -> tuple[str, str, str]:
        """The tool, its arguments and its result, exactly."""
        return self.tool, self.input, self.result


Rule = Callable[[list[Step]], int]  # what it says after the last of these steps


def miniature(rule: Rule) -> Policy:
    """A rule as a policy for one run. It keeps a history of its own, as those harnesses do."""
    past: list[Step] = []

    @brake
    def policy(run: Run) -> Say | End | None:
        if run.last_word is not None or not (new := steps(run)):
            return None
        said = QUIET
        for step in new:  # the calls of one reply are looked at one after the other
            past.append(step)
            said = max(said, rule(past))
        if said == STOP:
            return End(Label.STUCK)
        return Say("You are repeating yourself.") if said == SPEAK else None

    return policy


def steps(run: Run) -> list[Step]:
    """The calls that were just answered."""
    *_, asking, answering = [{"content": []}, *run.messages[-2:]]
    found = []
    for call, result in zip(tool_uses(asking), tool_results(answering), strict=False):
        written = json.dumps(call["input"]), json.dumps(call["input"], sort_keys=True)
        came = str(result.get("content")), bool(result.get("is_error"))
        found.append(Step(len(run.messages), call["name"], *written, *came, words(asking)))
    return found


def in_a_row(keys: list, period: int = 1) -> int:
    """How often the last keys, so many of them, were gone through in a row."""
    length = period
    while length < len(keys) and keys[-1 - length] == keys[-1 - length + period]:
        length += 1
    return length // period if len(keys) >= period else 0


def ladder(count: int, speak: int, stop: int) -> int:
    """What to say at this count."""
    return STOP if count >= stop else SPEAK if count >= speak else QUIET


def gemini(past: list[Step]) -> int:
    """A cycle of 1 to 5 calls, five times: the first time a word, the next time the end."""

    def hit(steps: list[Step]) -> bool:
        keys = [(step.tool, step.raw) for step in steps][-25:]
        return any(in_a_row(keys, period) >= 5 for period in range(1, 6))

    if not hit(past):
        return QUIET
    return STOP if any(hit(past[:n]) for n in range(5, len(past))) else SPEAK


def openhands(past: list[Step]) -> int:
    """The same thought, call and result four times, or two of them by turns for six calls."""
    last = past[-10:]
    pairs = [(step.thought, *step.outcome) for step in last]
    if in_a_row(pairs) >= 4 or (len(pairs) >= 6 and in_a_row(pairs, 2) >= 3):
        return STOP
    same = takewhile(lambda step: step.failed and step.call == last[-1].call, reversed(last))
    return ladder(len([*same]), 3, 4)


def hermes(past: list[Step]) -> int:
    """Failures and read results since the last edit; rows and cycles of calls with results."""
    last = past[-1]
    edited = max((n for n, s in enumerate(past) if s.tool in EDITS and not s.failed), default=-1)
    since = past[edited + 1 :] or [last]
    failed = [step for step in since if step.failed] if last.failed else []
    said = [ladder(sum(step.call == last.call for step in failed), 2, 5)]
    said.append(ladder(sum(step.tool == last.tool for step in failed), 3, 8))
    if last.tool in READS:
        said.append(ladder(sum(step.outcome == last.outcome for step in since), 2, 5))
    keys = [step.outcome for step in past[-64:]]
    for period in range(1, 5):
        if not all(step.tool in POLLERS for step in past[-period:]):
            said.append(ladder(in_a_row(keys, period), 3, 5))
    return max(said)


def openclaw(past: list[Step]) -> int:
    """Ten of the same call: a word. Twenty with the same result: the end. So by turns, too."""
    window = past[-30:]
    same = [step for step in window if step.call == window[-1].call]
    stable = len({step.result for step in same}) == 1
    alike = QUIET if len(same) < 10 else STOP if stable and len(same) >= 20 else SPEAK
    by_turns = 0
    if len(window) > 1 and window[-1].call != window[-2].call:
        pairs = zip(reversed(window), reversed(window[:-2]), strict=False)
        by_turns = 2 + len([*takewhile(lambda pair: pair[0].call == pair[1].call, pairs)])
    tail = window[-by_turns:] if by_turns else []
    steady = len({step.outcome for step in tail}) == 2
    turns = QUIET if by_turns < 10 else STOP if steady and by_turns >= 20 else SPEAK
    return max(alike, turns)


def ironclaw(past: list[Step]) -> int:
    """The same call three times in a row: a word, and never more."""
    return SPEAK if in_a_row([step.call for step in past[-8:]]) >= 3 else QUIET


def cline(past: list[Step]) -> int:
    """The same call three times in a row: a word. Five times: a person is asked."""
    return ladder(in_a_row([step.call for step in past]), 3, 5)


def opencode(past: list[Step]) -> int:
    """The same call three times within one reply: a person is asked."""
    here = [(step.tool, step.raw) for step in past if step.reply == past[-1].reply]
    return STOP if in_a_row(here) >= 3 else QUIET


def crewai(past: list[Step]) -> int:
    """The same call as the one before: a word."""
    return SPEAK if in_a_row([step.call for step in past]) >= 2 else QUIET


def goose(past: list[Step]) -> int:
    """Compares each call with the one before, up to a limit that is never set."""
    return QUIET


@dataclass(frozen=True)
class Real:
    """A real harness's detector: our rule, and where its numbers were read."""

    name: str
    rule: Rule
    source: str
    note: str = ""


REAL = (
    Real("gemini-cli", gemini, "google-gemini/gemini-cli@5411f113c, 2026-08-21"),
    Real("OpenHands SDK", openhands, "OpenHands/software-agent-sdk@611629e69, 2026-08-22"),
    Real("Hermes", hermes, "NousResearch/hermes-agent, tool_guardrails.py@06c25ac", "unattended"),
    Real(
        "OpenClaw",
        openclaw,
        "openclaw/openclaw, tool-loop-detection.ts@0065530",
        "switched on; off by default",
    ),
    Real("cline SDK", cline, "cline/cline@21cb8d252, 2026-08-22"),
    Real("IronClaw", ironclaw, "nearai/ironclaw@01ded0ecf, 2026-08-22"),
    Real("CrewAI", crewai, "crewAIInc/crewAI@f4731f502, 2026-08-21", "text path"),
    Real("opencode", opencode, "anomalyco/opencode, processor.ts@36160ef"),
    Real("Goose", goose, "block/goose, tool_monitor.rs@deade94", "no limit is set"),
)
