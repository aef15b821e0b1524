"""What differs from model to model, as far as it is known; None where it is not.

Names: the SDK's own list, 2.14.0. Windows: genai-prices 0.2.3. All else: Claude documentation,
2026-08-21 to 2026-11, as docs/messages_api.md names it rule by rule.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Facts:
    """What the rules ask about a model."""

    name: str
    released: str = "1970-01-01"  # the API's own word for a date that is not known
    window: int = 1_000_000  # tokens
    longest: int | None = None  # tokens of one reply
    characters: float = 2.5  # per token, an estimate
    prefill: bool = False  # may the array end with the model's own words?
    forced: bool | None = True  # may tool_choice force a call?
    system_inside: bool | None = False  # may a message have the role system?
    thinks: tuple[str, ...] = ("adaptive", "disabled")  # what thinking may be set to
    binds: bool = False  # are thinking blocks tied to what stands before them?
    deprecated: bool = False
    minimum: int | None = None  # tokens of the shortest prefix that is cached

    @property
    def line(self) -> str:
        """Haiku, Sonnet, Opus, Fable or Mythos, in small letters."""
        return self.name.split("-")[1]


ALWAYS = ("adaptive",)  # thinking cannot be switched off
BOTH = ("enabled", "adaptive", "disabled")

OLD = Facts(
    "",
    window=200_000,
    characters=3.4,
    prefill=True,
    thinks=("enabled", "disabled"),
    minimum=4_096,
)
TURN = Facts("", characters=3.4, thinks=BOTH, minimum=4_096)  # 4.6: no prefill, both ways to think
NEW = Facts("", minimum=512)
MYTHOS = Facts("", forced=None, system_inside=True, minimum=512)
FABLE = replace(MYTHOS, thinks=ALWAYS)

MODELS = {
    facts.name: facts
    for facts in (
        replace(
            FABLE,
            name="claude-fable-5-2",
            released="2026-11-09",
            system_inside=None,
            minimum=None,
        ),
        replace(MYTHOS, name="claude-mythos-5-2", system_inside=None, minimum=None),
        replace(
            NEW, name="claude-haiku-5-5", released="2026-10-07", forced=None, system_inside=None
        ),
        replace(
            NEW,
            name="claude-sonnet-5-5",
            released="2026-09-28",
            forced=False,
            system_inside=None,
            thinks=("adaptive", "between_tools", "disabled"),
            binds=True,
        ),
        replace(FABLE, name="claude-fable-5-1", forced=False, binds=True),
        replace(
            NEW,
            name="claude-opus-5-5",
            released="2026-09-22",
            forced=False,
            thinks=ALWAYS,
            binds=True,
            system_inside=True,
        ),
        replace(MYTHOS, name="claude-mythos-5-1", forced=False),
        replace(NEW, name="claude-sonnet-5", minimum=1_024),
        replace(FABLE, name="claude-fable-5", forced=True),
        replace(MYTHOS, name="claude-mythos-5", forced=True),
        replace(NEW, name="claude-opus-5", longest=128_000, system_inside=True),
        replace(NEW, name="claude-opus-4-8", system_inside=True, minimum=1_024),
        replace(NEW, name="claude-opus-4-7", minimum=2_048),
        replace(
            NEW,
            name="claude-mythos-preview",
            forced=False,
            system_inside=True,
            deprecated=True,
            minimum=2_048,
        ),
        replace(TURN, name="claude-opus-4-6"),
        replace(TURN, name="claude-sonnet-4-6", minimum=1_024),
        replace(OLD, name="claude-haiku-4-5", released="2025-10-01"),
        replace(OLD, name="claude-haiku-4-5-20251001", released="2025-10-01"),
        replace(OLD, name="claude-opus-4-5", released="2025-11-01", deprecated=True),
        replace(OLD, name="claude-opus-4-5-20251101", released="2025-11-01", deprecated=True),
        replace(
            OLD, name="claude-sonnet-4-5", released="2025-09-29", deprecated=True, minimum=1_024
        ),
        replace(
            OLD,
            name="claude-sonnet-4-5-20250929",
            released="2025-09-29",
            deprecated=True,
            minimum=1_024,
        ),
    )
}
