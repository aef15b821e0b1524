"""Worlds: what there is to do, with tools, a goal that is checked from outside, and a skill.

The small ones live in memory, one module each. The shipped ones are folders with real files
and real commands; their names stand here too.
"""

from harness_zero.flight.worlds.shipped import (
    PROMPT,
    WORLDS,
    World,
    WorldFault,
    world,
    world_in,
)

__all__ = ["PROMPT", "WORLDS", "World", "WorldFault", "world", "world_in"]
