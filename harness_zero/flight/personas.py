"""Personas: models with a manner. They read what they are given and know no script."""

from harness_zero.faults import SetupFault
from harness_zero.flight.skills import Skill, outcomes, repair
from harness_zero.flight.worlds import World
from harness_zero.messages import Message, Reply, reply, request_fault, tool_use
from harness_zero.models.scripted import Model, OutOfReplies, slip


class BadRequest(SetupFault):
    """The array is out of shape. A real model is not even asked then: the API answers 400."""


def diligent(skill: Skill, fuel: int = 40) -> Model:
    """Takes the next sensible step until there is none left, then says so.

    It goes by the array alone. `fuel` is how many replies it gives before it
    concludes that the loop is at fault and raises OutOfReplies.
    """
    lengths: list[int] = []

    def model(messages: list[Message]) -> Reply:
        if fault := request_fault(messages):
            raise BadRequest(fault)
        lengths.append(len(messages))
        if len(lengths) > fuel:
            raise OutOfReplies(f"asked for reply {len(lengths)}: {slip(lengths, asks=True)}")
        so_far = outcomes(messages)
        step = skill(so_far)
        if isinstance(step, str):
            return reply(step)
        ids = range(len(so_far) + 1, len(so_far) + 1 + len(step))
        calls = zip(ids, step, strict=True)
        return reply(*[tool_use(f"call_{id}", name, **input) for id, (name, input) in calls])

    return model


def fixer(world: World) -> Model:
    """The diligent persona with the skill of repairing one shipped project."""
    return diligent(repair(world.edits, world.moral))
