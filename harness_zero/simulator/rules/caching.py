"""Rules on marks for the cache, and on a request that does no more than fill it."""

from collections.abc import Iterator
from typing import Any

from harness_zero.brief import brief
from harness_zero.prefix import MARK, SECTIONS
from harness_zero.simulator.marks import SECONDS, Mark, automatic, joined
from harness_zero.simulator.rule import Asked, Part, Refusal, Rule, is_blank, rule

CACHING = "Claude documentation, prompt caching"
SDK = "anthropic SDK 2.10.0, cache_control_ephemeral_param.py"
MOST = 4
ORDER = ", ".join(f"`{section}`" for section in SECTIONS)


@rule(
    "no mark stands on an empty text",
    "block",
    "anthropics/claude-code#62379",
    "2026-11-29",
    "reported",
)
def no_mark_on_nothing(asked: Asked, part: Part, role: str) -> Iterator[Refusal]:
    block = part.block
    if block["type"] == "text" and block.get(MARK) is not None and is_blank(block["text"]):
        said = f"{part.path}.text: cache_control cannot be set for empty text blocks"
        mend = f"Block {part.index} of message {part.at} is a text without a word, and marked"
        yield Refusal(said, f"{mend}; leave it out, and mark the block before it.")


@rule(
    "no mark stands on a part of a block",
    "block",
    CACHING,
    wording="ours",
)
def no_mark_on_a_part(asked: Asked, part: Part, role: str) -> Iterator[Refusal]:
    cited = part.block.get("citations")
    for number, citation in enumerate(cited if isinstance(cited, list) else ()):
        if isinstance(citation, dict) and MARK in citation:
            path = f"{part.path}.{part.block['type']}.citations.{number}.{MARK}"
            mend = f"A citation in message {part.at} is marked; mark the block that it stands in."
            yield Refusal(f"{path}: Extra inputs are not permitted", mend)


@rule("a mark is ephemeral, and lives for 5m or 1h", "array", SDK, "2026-11-17", wording="ours")
def mark_is_known(asked: Asked, new: int) -> Iterator[Refusal]:
    given = [(f"{mark.path}.{MARK}", mark.control) for mark in asked.marks]
    if asked.body.get(MARK) is not None:
        given.append((MARK, asked.body[MARK]))
    for path, control in given:
        if fault := control_fault(control):
            mend = f'A mark is {brief(control)}; it is {{"type": "ephemeral"}}, with a ttl or not.'
            yield Refusal(f"{path}{fault}", mend)


def control_fault(control: Any) -> str | None:
    """What is wrong with a cache_control, after its path."""
    if not isinstance(control, dict):
        return ": Input should be a valid dictionary"
    if control.get("type") != "ephemeral":
        return f": Input tag '{control.get('type')}' does not match any of: 'ephemeral'"
    if strange := sorted(control.keys() - {"type", "ttl"}):
        return f".ephemeral.{strange[0]}: Extra inputs are not permitted"
    if control.get("ttl") not in (None, *SECONDS):
        return ".ephemeral.ttl: Input should be '5m' or '1h'"
    return None


@rule(
    "a request has four marks at most",
    "array",
    "wording in tghamm/Anthropic.SDK#50",
    "2026-11-29",
    "reported",
)
def four_at_most(asked: Asked, new: int) -> Iterator[Refusal]:
    if (count := len(asked.marks)) > MOST:
        said = f"A maximum of {MOST} blocks with cache_control may be provided. Found {count}."
        yield Refusal(said, f"{count} blocks are marked; take {count - MOST} of the marks off.")


@rule("the automatic mark needs one of the four", "array", CACHING, wording="ours")
def room_for_the_automatic(asked: Asked, new: int) -> Iterator[Refusal]:
    added = automatic(asked.body)
    if added and len(asked.marks) == MOST and not on_the_same(added, asked.marks):
        said = f"A maximum of {MOST} blocks with cache_control may be provided. Found {MOST + 1}."
        mend = "Four blocks are marked, and cache_control at the top marks a fifth; drop one."
        yield Refusal(said, mend)


def on_the_same(added: Mark, explicit: list[Mark]) -> list[Mark]:
    """The marks that stand where the automatic one would."""
    return [mark for mark in explicit if mark.place == added.place]


@rule(
    "the automatic mark agrees with one that stands in its place", "array", CACHING, wording="ours"
)
def automatic_agrees(asked: Asked, new: int) -> Iterator[Refusal]:
    added = automatic(asked.body)
    for mark in on_the_same(added, asked.marks) if added else ():
        if added and mark.ttl != added.ttl:
            said = f"cache_control: ttl='{added.ttl}' conflicts with ttl='{mark.ttl}' of"
            mend = f"The last block lives for {mark.ttl} by its own mark, and for {added.ttl} by"
            yield Refusal(f"{said} {mark.path}", f"{mend} the one at the top; choose.")


@rule(
    "what lives for an hour stands before what lives for five minutes",
    "array",
    f"{CACHING}; wording in public issue reports",
    "2026-11-29",
    "reported",
)
def longer_first(asked: Asked, new: int) -> Iterator[Refusal]:
    shorter = False
    for mark in joined(asked.marks, automatic(asked.body)):
        if shorter and mark.ttl == "1h":
            path = MARK if mark.automatic else f"{mark.path}.{MARK}"
            said = f"{path}.ttl: a ttl='1h' cache_control block must not come after a ttl='5m'"
            note = f"Note that blocks are processed in the following order: {ORDER}."
            mend = "A mark of an hour stands behind one of five minutes; longer ones come first."
            yield Refusal(f"{said} cache_control block. {note}", mend)
        shorter = shorter or mark.ttl == "5m"


FILLS = "max_tokens is 0, so the request only fills the cache"


@rule(
    "a request that only fills the cache cannot be streamed, think, be held to a format or forced",
    "request",
    CACHING,
    wording="ours",
)
def only_fills(asked: Asked) -> Iterator[Refusal]:
    if asked.body.get("max_tokens", 1) != 0:
        return
    body = asked.body
    wishes = {
        "stream": body.get("stream"),
        "thinking": (body.get("thinking") or {}).get("type") == "enabled",
        "output_config.format": (body.get("output_config") or {}).get("format"),
        "tool_choice": (body.get("tool_choice") or {}).get("type") in ("any", "tool"),
    }
    for name in (name for name, wish in wishes.items() if wish):
        yield Refusal(f"{name}: not supported when `max_tokens` is 0", f"{FILLS}; drop {name}.")


FILLING: tuple[Rule, ...] = (only_fills,)
BLOCK_RULES: tuple[Rule, ...] = (no_mark_on_nothing, no_mark_on_a_part)
RULES: tuple[Rule, ...] = (
    mark_is_known,
    four_at_most,
    room_for_the_automatic,
    automatic_agrees,
    longer_first,
)
