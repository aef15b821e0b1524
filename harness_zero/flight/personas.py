"""Personas: manners laid over a skill. They read what they are given and know no script.

A persona goes by what it has seen: flags, counts and the world's own data, never the
harness's English. So how a harness words things neither helps it nor harms it.
"""

from itertools import count

from harness_zero.faults import SetupFault
from harness_zero.flight.luck import Luck
from harness_zero.flight.place import ONCE
from harness_zero.flight.seen import Seen, read
from harness_zero.flight.skills import repair
from harness_zero.flight.steps import DONE, Persona, Skill, Step, as_reply
from harness_zero.flight.worlds.shipped import World
from harness_zero.messages import Message, Reply, reply, request_fault
from harness_zero.models.scripted import Model, OutOfReplies, slip

README = {"path": "README.md"}
FREE = ("read_file", "list_files", "run_tests", "poll_build", "list_sent")  # to ask twice


def diligent(seen: Seen, skill: Skill, luck: Luck) -> Step:
    """Does what a competent model would; some look around first, with two calls at once."""
    tools = [("list_files", {}), ("read_file", README)]
    return [*tools] if not seen.calls and luck.chance(40, "looks around") else skill(seen, luck)


def double_checking(seen: Seen, skill: Skill, luck: Luck) -> Step:
    """Asks everything twice that is free to ask: healthy, and repetitive."""
    return asking_again(seen, skill, luck, 2)


def polling(seen: Seen, skill: Skill, luck: Luck) -> Step:
    """Looks three to eight times whether something changed before it goes on."""
    return asking_again(seen, skill, luck, luck.whole(3, 8, "looks"))


def asking_again(seen: Seen, skill: Skill, luck: Luck, times: int) -> Step:
    """Makes a free call so many times in a row."""
    last = seen.last()
    if last is None or last.error or last.name not in FREE:
        return skill(seen, luck)
    before = seen.calls[max(0, last.at + 1 - times) :]
    done = len(before) == times and all(call.key == last.key for call in before)
    return skill(seen, luck) if done else [(last.name, last.input)]


def stubborn(seen: Seen, skill: Skill, luck: Luck) -> Step:
    """From some call on it makes the same one again, until an error, a word or time moves it."""
    return fixed(seen, skill, luck, 1)


def alternating(seen: Seen, skill: Skill, luck: Luck) -> Step:
    """As stubborn, with two calls by turns."""
    return fixed(seen, skill, luck, 2)


def fixed(seen: Seen, skill: Skill, luck: Luck, period: int) -> Step:
    """Repeats its last `period` calls for three to four hundred calls."""
    start = luck.whole(period, period + 3, "from")
    held = len(seen.calls) - start
    if held < 0 or held >= luck.tail(3, 400, "patience"):
        return skill(seen, luck)
    since = seen.calls[start - period : start]
    moved = seen.failed > 0 or (seen.ever_told > 0 and luck.chance(50, "heed"))
    if moved or any(call.name in ONCE for call in since):
        return skill(seen, luck)
    again = since[held % period]
    return [(again.name, again.input)]


def hasty(seen: Seen, skill: Skill, luck: Luck) -> Step:
    """Says that it is done after one to six calls; shown what a check has found, half go on."""
    since = seen.shown_at if luck.chance(50, "heed") else 0
    return DONE if len(seen.calls) - since >= luck.whole(1, 6, "haste") else skill(seen, luck)


def rambling(seen: Seen, skill: Skill, luck: Luck) -> Step:
    """Does the work and cannot let go: reads on, some in circles, some ever further."""
    step = skill(seen, luck)
    if not isinstance(step, str) or (seen.told and luck.chance(50, "heed")):
        return step
    after = len(seen.all("list_files")) + len(seen.all("read_file"))
    if after >= luck.tail(5, 2000, "patience"):
        return step
    if luck.chance(50, "circles"):
        around = {**README, "offset": after % 3}
        return [("read_file", around)] if after % 4 else [("list_files", {})]
    return [("read_file", {**README, "offset": after})]


def windy(seen: Seen, skill: Skill, luck: Luck) -> Step:
    """Talks before it acts, past a reply's limit; whenever it is told so, half as long."""
    step = skill(seen, luck)
    length = luck.tail(50, 6000, "wind", seen.replies) >> (seen.ever_told + seen.failed)
    return ["and so " * (length // 7), *step] if isinstance(step, list) else step


def silent(seen: Seen, skill: Skill, luck: Luck) -> Step:
    """After results it sometimes answers with nothing at all, and some fall silent for good."""
    mute = luck.chance(15, "for good") and seen.replies >= luck.whole(1, 5, "from")
    now = luck.chance(20, "now", seen.replies, seen.ever_told)
    return "" if seen.calls and (mute or now) else skill(seen, luck)


def refusing(seen: Seen, skill: Skill, luck: Luck) -> Step:
    """Declines, at once or in the middle, and stays with it."""
    if len(seen.calls) < luck.whole(0, 5, "from"):
        return skill(seen, luck)
    return reply("I will not go on with this.", stop_reason="refusal")


def dreaming(seen: Seen, skill: Skill, luck: Luck) -> Step:
    """Calls tools that do not exist; an error cures it of that name."""
    names = ["search_web", "ask_human"][: luck.whole(1, 2, "names")]
    left = [name for name in names if not (last := seen.last(name)) or not last.error]
    if left and len(seen.all(left[0])) < 6 and luck.chance(15, "now", seen.replies):
        return [(left[0], {"query": "help"})]
    return skill(seen, luck)


def spending(seen: Seen, skill: Skill, luck: Luck) -> Step:
    """Thinks aloud before each call, at length, and looks at a file in between: money goes."""
    step = skill(seen, luck)
    if not isinstance(step, list):
        return step
    aloud = "to be on the safe side, " * luck.whole(30, 110, "breath")
    between = len(seen.all("read_file")) < luck.tail(4, 200, "looks")
    return [aloud, *step, *([("read_file", README)] if between else [])]


def stuttering(seen: Seen, skill: Skill, luck: Luck) -> Step:
    """Asks for the same thing two to six times in one reply, where asking is free."""
    step = skill(seen, luck)
    if isinstance(step, list) and len(step) == 1 and step[0][0] in FREE:
        return step * luck.whole(2, 6, "times")
    return step


PERSONAS: dict[str, Persona] = {  # new ones are added at the end: blocks are dealt in this order
    persona.__name__.replace("_", "-"): persona
    for persona in (
        diligent,
        double_checking,
        polling,
        stubborn,
        alternating,
        hasty,
        rambling,
        windy,
        silent,
        refusing,
        dreaming,
        spending,
        stuttering,
    )
}


class BadRequest(SetupFault):
    """The array is out of shape. A real model is not even asked then: the API answers 400."""


def fixer(world: World, fuel: int = 40) -> Model:
    """A competent model that knows one shipped project. It goes by the array alone.

    A run of the tests that came back as an error told it nothing, so it makes it again, once.
    `fuel` is how many replies it gives before it concludes that the loop is at fault and
    raises OutOfReplies.
    """
    skill, luck, lengths = repair(world.edits, world.moral), Luck(world.name), list[int]()

    def model(messages: list[Message]) -> Reply:
        if fault := request_fault(messages):
            raise BadRequest(fault)
        lengths.append(len(messages))
        if len(lengths) > fuel:
            raise OutOfReplies(f"asked for reply {len(lengths)}: {slip(lengths, asks=True)}")
        seen = read(messages)
        numbers = count(len(seen.calls) + 1)
        last = seen.last()
        if last and last.name == "run_command" and last.error and last.tries < 2:
            return as_reply([(last.name, last.input)], numbers)
        return as_reply(skill(seen, luck), numbers)

    return model
