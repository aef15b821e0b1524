"""The prompt cache of the offline API: what was written, until when, and what a request reads.

Nothing is written but where a request is marked, and nothing is read but what was written:
each mark looks back over twenty positions for an earlier write. Which settings take which
level with them is told in `settings`.

Sources: Claude documentation, prompt caching, 2026-08-21 to 2026-10; anthropic SDK 2.10.0.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from harness_zero.prefix import frozen
from harness_zero.simulator.catalogue import Facts
from harness_zero.simulator.chain import Chain, Edges, Line, Part, Weigh, parting
from harness_zero.simulator.exchange import Body
from harness_zero.simulator.marks import SECONDS, marks
from harness_zero.simulator.speech import tokens

LOOKBACK = 20  # positions that a mark looks at, its own among them
LEAST = 512  # tokens worth writing, where a model's minimum is not known
KEPT = 16  # conversations that are remembered
ENTRIES = 4_096  # writes that are remembered

Settings = tuple[tuple[str, str], ...]  # names, and values as JSON


@dataclass(frozen=True)
class Missed:
    """Where a request first differs from one before it, and about what that cost."""

    kind: str  # as the API's diagnostics say it: tools_changed, messages_changed ...
    where: str = ""  # the block by its name in the prefix, or the field
    tokens: int = 0  # that would have been read

    def reason(self) -> Body:
        """As the API says it."""
        counts = self.kind in CHANGES
        return {
            "type": self.kind,
            **({"cache_missed_input_tokens": self.tokens} if counts else {}),
        }


CHANGES = ("model_changed", "tools_changed", "system_changed", "messages_changed")


@dataclass(frozen=True)
class Prefix:
    """What a cache sees of one request."""

    owner: tuple[str, str]  # the key, and the model
    lines: list[Line]  # of the request, and perhaps more that came later
    count: int  # lines that are this request's
    edges: Edges
    system: Settings  # that the system prompt and the messages depend on
    messages: Settings  # that the messages depend on
    cached: int = 0  # tokens that were read or written

    def entry(self, at: int) -> tuple[Any, ...]:
        """What everything up to this line is written and found under."""
        system = self.system if at >= self.edges.system else ()
        messages = self.messages if at >= self.edges.messages else ()
        return (*self.owner, system, messages, self.lines[at].digest)


@dataclass(frozen=True)
class Counted:
    """The tokens of a request, each in one of four places; estimates unless they were declared."""

    fresh: int
    read: int = 0
    written_5m: int = 0
    written_1h: int = 0
    missed: Missed | None = None  # against the request of the same key before it

    @property
    def written(self) -> int:
        """All that was written."""
        return self.written_5m + self.written_1h

    @property
    def total(self) -> int:
        """All that the model was given to read."""
        return self.fresh + self.read + self.written

    def usage(self) -> Body:
        """The counters as the API gives them: disjoint, and no total among them."""
        return {
            "input_tokens": self.fresh,
            "cache_creation_input_tokens": self.written,
            "cache_read_input_tokens": self.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written_5m,
                "ephemeral_1h_input_tokens": self.written_1h,
            },
        }


@dataclass
class Entry:
    """One write: how long it lives from each use on, and until when."""

    seconds: float
    until: float


class Cache:
    """What was written, and until when. `declared` gives a block's tokens in place of an estimate.

    Time comes from `clock`, in seconds. A request costs as much work as is new in it.
    """

    def __init__(
        self, clock: Callable[[], float] = monotonic, declared: Weigh | None = None
    ) -> None:
        self.clock, self.declared = clock, declared
        self.entries: dict[tuple[Any, ...], Entry] = {}
        self.made: dict[bytes, list[Part]] = {}  # messages that were rendered
        self.heads: dict[bytes, Chain] = {}
        self.chains: list[Chain] = []
        self.last: dict[str, Prefix] = {}  # by key

    def serve(self, request: Body, facts: Facts, key: str = "", at: float | None = None) -> Counted:
        """What a request that began at this time, or begins now, reads and writes."""
        now = self.clock() if at is None else at
        chain = self.chain(request)
        prefix = prefixed(chain, request, (key, request.get("model") or facts.name))
        points = breakpoints(chain, request)
        ends = {line: self.size(prefix, line, facts) for line in points}
        worth = {line: ttl for line, ttl in points.items() if ends[line] >= least(facts)}
        hits = [hit for line in points if (hit := self.hit(prefix, line, now)) is not None]
        self.use(prefix, hits, worth, now)
        read = max((self.size(prefix, hit, facts) for hit in hits), default=0)
        hour = max((ends[line] for line, ttl in worth.items() if ttl == "1h"), default=0)
        longer = max(read, hour)
        written = max((longer, *(ends[line] for line in worth)))
        whole = self.size(prefix, prefix.count - 1, facts)
        last = self.last.get(key)
        missed = missing(last, prefix, read) if last else None
        self.last[key] = replace(prefix, cached=written)
        return Counted(whole - written, read, written - longer, longer - read, missed)

    def chain(self, request: Body) -> Chain:
        """A chain that begins with the request's lines, of which only the new ones are made."""
        messages = request["messages"]
        head = self.head(request)
        same, chain = self.known(messages, head)
        if chain is head or same < min(len(messages), len(chain.starts)):
            chain = chain.fork(same)
        for message in messages[same:]:
            chain.grow(message)
        if len(self.made) > ENTRIES:
            self.made.clear()
        self.chains = [chain, *(c for c in self.chains if c is not chain)][:KEPT]
        return chain

    def known(self, messages: list[Any], head: Chain) -> tuple[int, Chain]:
        """How many messages are known, and the chain that knows them; the head alone if none does.

        The latest chain that goes all the way is taken, else the one that goes farthest.
        """
        best = 0, head
        for chain in self.chains:
            if same_head(chain, head):
                same = chain.begins(messages)
                if same == min(len(messages), len(chain.starts)):
                    return same, chain
                best = (same, chain) if same > best[0] else best
        return best

    def head(self, request: Body) -> Chain:
        """The lines of the tools and the system prompt."""
        raw = frozen([request.get("tools"), request.get("system")])
        chain = self.heads.get(raw) or Chain(self.declared, made=self.made).head(request)
        self.heads.pop(raw, None)
        self.heads[raw] = chain
        if len(self.heads) > KEPT:
            del self.heads[next(iter(self.heads))]
        return chain

    def size(self, prefix: Prefix, line: int, facts: Facts) -> int:
        """How many tokens there are up to the end of a line."""
        size = prefix.lines[line].size
        return size if self.declared else tokens(size, facts)

    def hit(self, prefix: Prefix, line: int, now: float) -> int | None:
        """The last line of the longest write that a mark on this line finds."""
        first = prefix.lines[line].position - LOOKBACK
        while line >= 0 and prefix.lines[line].position > first:
            entry = self.entries.get(prefix.entry(line))
            if entry and now < entry.until:
                return line
            line -= 1
        return None

    def use(self, prefix: Prefix, hits: list[int], worth: dict[int, str], now: float) -> None:
        """Refresh what was found, and write what the next request may find."""
        for line in {*hits}:
            name = prefix.entry(line)
            entry = self.entries[name] = self.entries.pop(name)  # the last to be forgotten
            entry.until = max(entry.until, now + entry.seconds)
        for line, ttl in worth.items():
            if line not in hits:
                seconds = SECONDS[ttl]
                self.entries[prefix.entry(line)] = Entry(seconds, now + seconds)
        while len(self.entries) > ENTRIES:
            del self.entries[next(iter(self.entries))]


def least(facts: Facts) -> int:
    """The fewest tokens that this model's cache takes."""
    return LEAST if facts.minimum is None else facts.minimum


def same_head(one: Chain, other: Chain) -> bool:
    """Whether two conversations have the same tools and system prompt."""
    ends = one.edges.messages, other.edges.messages
    return one.lines[ends[0]].digest == other.lines[ends[1]].digest


def breakpoints(chain: Chain, request: Body) -> dict[int, str]:
    """The lines that are marked, in cache order, and for how long each is to live."""
    sent = len(request["messages"])
    within = sorted(at for at in chain.seen.marked if at < sent)
    return {chain.line(m.section, m.at, m.index): m.ttl for m in marks(request, within)}


def prefixed(chain: Chain, request: Body, owner: tuple[str, str]) -> Prefix:
    """The request's part of a chain, with whatever else it is written under."""
    sent = len(request["messages"])
    system, messages = settings(request, chain, sent)
    return Prefix(owner, chain.lines, chain.until(sent), chain.edges, system, messages)


def settings(request: Body, chain: Chain, messages: int) -> tuple[Settings, Settings]:
    """The settings that are part of what is cached: of the system level, and of the messages."""
    offers = "auto" if request.get("tools") else "none"
    choice = request.get("tool_choice") or {"type": offers}
    chosen = {n: v for n, v in choice.items() if n != "disable_parallel_tool_use" or v}
    effort = (request.get("output_config") or {}).get("effort") or "high"  # the default
    system = {
        "speed": request.get("speed") or "standard",
        "citations": chain.has(chain.cited, messages),
    }
    inner = {
        "tool_choice": chosen,
        "thinking": request.get("thinking"),
        "output_config.effort": effort,
        "images": chain.has(chain.pictured, messages),
    }
    return as_settings(system), as_settings(inner)


def as_settings(values: dict[str, Any]) -> Settings:
    """Values that can be compared."""
    return tuple((name, json.dumps(value, sort_keys=True)) for name, value in values.items())


def missing(before: Prefix, now: Prefix, read: int) -> Missed | None:
    """What keeps a request from being read as far as an earlier one was; None if it goes on."""
    change = changed(before, now)
    return Missed(*change, max(0, before.cached - read)) if change else None


def changed(then: Prefix, now: Prefix) -> tuple[str, str] | None:
    """The first change between two requests: what kind it is, and where; None if one goes on."""
    if then.owner != now.owner:
        return "model_changed", "model"
    if then.system[0] != now.system[0]:
        return "model_changed", "speed"
    ends = min(then.count, now.count)
    at = parting(then.lines, now.lines, ends)
    where = (now if at < now.count else then).lines[at].name if at < then.count else ""
    kind = section(then, now, at)
    if where and kind != "messages_changed":
        return kind, where
    pairs = zip(then.system + then.messages, now.system + now.messages, strict=True)
    for one, other in pairs:
        if one != other:
            return "unavailable", other[0]
    return (kind, where) if where else None


def section(then: Prefix, now: Prefix, at: int) -> str:
    """Which part of the requests a line belongs to, in the words of the diagnostics."""
    if at < max(then.edges.texts, now.edges.texts):
        return "tools_changed"
    if at < max(then.edges.messages, now.edges.messages):
        return "system_changed"
    return "messages_changed"
