"""Six invoices to mail, in a process that can be told to die: the run that chapter 09 kills.

    python -m harness_zero.mailing FOLDER --journal intents --dies 7 after

The folder is the world: `outbox.txt` in it outlives every process, and so does a journal.
"""

import argparse
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from textwrap import wrap
from typing import Any

from harness_zero.assembly import assemble
from harness_zero.brief import plural
from harness_zero.doubt import reads
from harness_zero.journal import Journal
from harness_zero.loop import turn
from harness_zero.messages import (
    Block,
    Message,
    Reply,
    reply,
    tool_result,
    tool_results,
    tool_use,
    tool_uses,
)
from harness_zero.policy import deadline, first_of, max_rounds, structural_stop
from harness_zero.ports import Model, Request, Tool
from harness_zero.run import Run
from harness_zero.stages import journals
from harness_zero.toolbox import toolbox
from harness_zero.view import plain

PROMPT = "Mail the invoices that are due."
INVOICES = tuple(f"invoice {n}" for n in range(1, 7))
UNKNOWN = "outcome unknown, check first"
BRAKES = max_rounds(30), deadline(250)
KINDS = ("outcomes", "intents", "library", "unflushed")  # of journals
Dies = tuple[int, str] | None  # in which round, and "before" or "after" the effect of its tool


def office(folder: Path) -> dict[str, Callable[..., Any]]:
    """The tools: a list of what is due, an outbox, and a look into it."""
    outbox = folder / "outbox.txt"

    @reads
    def list_due() -> str:
        """List the invoices that are due."""
        return ", ".join(INVOICES)

    def send_mail(invoice: str) -> str:
        """Mail an invoice."""
        with outbox.open("a", encoding="utf-8") as file:
            file.write(f"{invoice}\n")
        return "sent"

    @reads
    def list_sent() -> str:
        """List the mails that are out."""
        return outbox.read_text("utf-8").replace("\n", ", ") if outbox.exists() else "none"

    return {"list_due": list_due, "send_mail": send_mail, "list_sent": list_sent}


def clerk(request: Request) -> Reply:
    """A model that reads what it is given. It mails what is due, and looks where it is in doubt."""
    told = heard(request["messages"])
    if ("list_due", "") not in told:
        return reply(tool_use("due", "list_due"), cost=0.004)
    for invoice in told["list_due", ""].split(", "):
        said, looked = told.get(("send_mail", invoice)), told.get(("list_sent", invoice))
        id = invoice.replace(" ", "_")
        if said is None or (looked is not None and invoice not in looked and said != "sent"):
            again = "" if said is None else "_again"
            return reply(tool_use(id + again, "send_mail", invoice=invoice), cost=0.004)
        if "unknown" in said and looked is None:
            return reply(tool_use(f"look_for_{id}", "list_sent"), cost=0.004)
    return reply("All invoices are out.", cost=0.004)


def heard(messages: list[Message]) -> dict[tuple[str, str], str]:
    """What each call was answered with; a look into the outbox, by the invoice it was for."""
    calls = {call["id"]: call for message in messages for call in tool_uses(message)}
    found = {}
    for message in messages:
        for result in tool_results(message):
            call = calls[result["tool_use_id"]]
            about = call["input"].get("invoice", "")
            if call["name"] == "list_sent":
                about = call["id"].removeprefix("look_for_").replace("_", " ")
            found[call["name"], about] = result["content"]
    return found


class Mortal:
    """Model and tools that tell what they do, in a process that dies where it is told to."""

    def __init__(self, folder: Path, dies: Dies, seconds: float, tell: Callable) -> None:
        self.tools, self.dies, self.rounds = office(folder), dies, 0
        self.seconds, self.now, self.tell = seconds, 0.0, tell
        self.functions = {name: self.watched(name, each) for name, each in self.tools.items()}

    def model(self, request: Request) -> Reply:
        """The clerk; each answer is paid."""
        said = clerk(request)
        self.rounds = sum(message["role"] == "assistant" for message in request["messages"]) + 1
        self.now += self.seconds
        self.tell("model")
        return said

    def watched(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A tool that the process may die around."""

        def effect(**given: Any) -> Any:
            self.die("before")
            output = function(**given)
            self.tell(given.get("invoice", name))
            self.die("after")
            return output

        effect.__dict__.update(vars(function))  # what it declares for the day of doubt
        return effect

    def die(self, when: str) -> None:
        """Kill this process, if this is the instant: no `finally`, no `except`, no last word."""
        if self.dies == (self.rounds, when):
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def work(
    folder: Path,
    journal: str = "",
    dies: Dies = None,
    seconds: float = 0.0,
    tell: Callable[[str], Any] = lambda effect: None,
) -> Run:
    """Play the turn: without a journal, with a draft, or with the library's, flushed or not.

    Each reply takes so many seconds, by a clock that nothing else moves.
    """
    mortal = Mortal(folder, dies, seconds, tell)
    run, path = Run(PROMPT, lambda: mortal.now), folder / "journal.jsonl"
    if journal in ("library", "unflushed"):
        with closing(Journal(path, "flush" if journal == "library" else "none")) as book:
            harness = assemble(mortal.model, mortal.functions, brakes=BRAKES, journal=book)
            return harness(run)
    parts: tuple[Model, Tool] = mortal.model, toolbox(mortal.functions)
    if journal:
        draft = journals.of_intents if journal == "intents" else journals.of_outcomes
        parts = stepwise(draft(path), *parts)
    return turn(run, first_of(structural_stop, *BRAKES), plain(), *parts)


def stepwise(step: Callable[..., Any], model: Model, tool: Tool) -> tuple[Model, Tool]:
    """Model and tool, their effects as steps. All tools of the office but one only read."""

    def ask(request: Request) -> Reply:
        return step("model", lambda: model(request))

    def act(call: Block) -> Block:
        unknown = tool_result(call["id"], UNKNOWN, is_error=True)
        in_doubt = (lambda: unknown) if call["name"] == "send_mail" else None
        return step(call, lambda: tool(call), in_doubt)

    return ask, act


def process(folder: Path, journal: str = "", dies: Dies = None) -> None:
    """Play the turn in a process of its own, and print what it did and how it ended."""
    command = [sys.executable, "-P", "-m", "harness_zero.mailing", str(folder)]
    command += ["--journal", journal] if journal else []
    command += ["--dies", *map(str, dies)] if dies else []
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    *effects, last = ["", *done.stdout.split("\n")[:-1]]
    killed = done.returncode not in (0, 1)
    effects, end = ([*effects, last], "killed") if killed else (effects, last)
    print(listed([*filter(None, effects)]))
    print(f"ended: {end or done.stderr.strip().splitlines()[-1]}")


def listed(effects: list[str]) -> str:
    """What a process did, in lines that fit on a page and break at no effect."""
    whole = [each.replace(" ", "\xa0") for each in effects]
    lines = wrap(f"did:   {', '.join(whole) or 'nothing'}", 80, subsequent_indent=" " * 7)
    return "\n".join(lines).replace("\xa0", " ")


def outbox(folder: Path) -> str:
    """What went out, in a line."""
    path = folder / "outbox.txt"
    sent = Counter(path.read_text("utf-8").splitlines() if path.exists() else [])
    twice = ", ".join(each for each, times in sent.items() if times > 1)
    missing = ", ".join(each for each in INVOICES if each not in sent)
    told = [
        plural(sent.total(), "mail"),
        f"twice: {twice or 'none'}",
        f"missing: {missing or 'none'}",
    ]
    return "; ".join(told)


def main() -> None:
    """What the process does."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--journal", default="", choices=("", *KINDS))
    parser.add_argument("--dies", nargs=2)
    given = parser.parse_args()
    dies = (int(given.dies[0]), given.dies[1]) if given.dies else None
    run = work(given.folder, given.journal, dies, tell=lambda effect: print(effect, flush=True))
    print(f"{run.label} after {run.rounds} rounds")


if __name__ == "__main__":
    main()
