"""The simulator is not rigged: not by a harness's wording, by one persona, or by its measure."""

import pytest

from harness_zero.flight import controls
from harness_zero.flight.cockpit import Cockpit
from harness_zero.flight.contracted import typed, verified
from harness_zero.flight.fly import fly
from harness_zero.flight.names import SMALL, Flight, block, named
from harness_zero.flight.personas import PERSONAS
from harness_zero.flight.pilots import patient

HARNESSES = (1, 2, 3, 4, 5, "library", typed, verified)


@pytest.fixture(scope="module")
def flown():
    """What became of each stage and of the library, flight by flight."""
    return {harness: fly(harness, range(2)).outcomes for harness in HARNESSES}


def told(outcomes):
    return [(o.kind, o.label, o.rounds, o.refused, bool(o.leftover)) for o in outcomes]


@pytest.mark.parametrize("harness", HARNESSES)
def test_what_a_harness_says_in_its_own_words_changes_nothing(harness):
    assert told(fly(controls.scrambled(harness), 1)) == told(fly(harness, 1))


def test_the_scrambling_leaves_no_word_of_the_harness_and_all_of_the_tools():
    requests = []

    def listening(model, tools, prompt, **limits):
        def hear(sent):
            requests.append(str(sent))
            return model(sent)

        return controls.pilot("library").fly(hear, tools, prompt, **limits)

    words = "no tool named", "Please continue", "cut off", "OSError", "FileNotFoundError"
    fly(listening, 1)
    assert all(word in "".join(requests) for word in words)
    cockpit = Cockpit(named("diligent/lost-config/crash@2#0"))
    model = cockpit.model
    cockpit.model = lambda sent: requests.append(str(sent)) or model(sent)
    requests.clear()
    controls.scrambled("library")(cockpit.model, cockpit.tools(), "go")
    assert "the tool crashed" in requests[-1] and "OSError" not in requests[-1]


def goals(outcomes):
    return sum(outcome.reached for outcome in outcomes)


def usd(outcomes):
    return sum(outcome.usd for outcome in outcomes)


def silent(outcomes):
    return sum(outcome.kind == "ended in silence" for outcome in outcomes)


def lies(outcomes):
    return sum(outcome.kind == "model lied" for outcome in outcomes)


def lost(before, after):
    return sum(b.reached and not a.reached for b, a in zip(before, after, strict=True))


CLAIMS = {
    "brakes save most of the money": (1, 2, lambda b, a: usd(a) < usd(b) / 2),
    "a limit of 50 rounds costs goals": (1, 2, lambda b, a: goals(a) < goals(b)),
    "true errors rescue goals": (2, 3, lambda b, a: goals(a) > 1.2 * goals(b)),
    "true errors lose no goal": (2, 3, lambda b, a: lost(b, a) == 0),
    "labels end every silence": (3, 4, lambda b, a: silent(b) > 0 and silent(a) == 0),
    "labels alone rescue no goal": (3, 4, lambda b, a: goals(a) <= goals(b)),
    "a window of five loses goals": (4, 5, lambda b, a: goals(a) < 0.9 * goals(b)),
    "a form alone rescues no goal": ("library", typed, lambda b, a: goals(a) == goals(b)),
    "a form alone leaves the lies": ("library", typed, lambda b, a: lies(a) == lies(b)),
    "a check ends most lies": ("library", verified, lambda b, a: lies(a) <= lies(b) / 3),
    "a check loses no goal": ("library", verified, lambda b, a: lost(b, a) == 0),
    "recovery brings goals back": (4, "library", lambda b, a: goals(a) > goals(b)),
}


@pytest.mark.parametrize("left_out", [None, *PERSONAS])
def test_leaving_out_a_persona_flips_no_claim(flown, left_out):
    kept = {
        harness: [o for o in outcomes if named(o.flight).persona != left_out]
        for harness, outcomes in flown.items()
    }
    for claim, (before, after, holds) in CLAIMS.items():
        assert holds(kept[before], kept[after]), claim


@pytest.mark.parametrize("world", SMALL)
def test_a_calm_and_diligent_flight_arrives_in_every_world_that_can_be_solved(world):
    for seed in range(20):
        cockpit = Cockpit(Flight("diligent", world, "calm", 0, seed))
        patient(cockpit.model, cockpit.tools(), "go", cockpit.clock, cockpit.clock.sleep)
        worn = world == "murky-bug"  # there a model may lose patience before the solution
        assert cockpit.place.goal() == cockpit.place.solvable or worn, seed


def test_murky_bugs_are_solved_by_some_and_locked_safes_by_nobody(flown):
    reached = {named(o.flight).world for o in flown["library"] if o.reached}
    assert reached == {*SMALL} - {"locked"}


@pytest.mark.parametrize("control", [controls.finished_at_once, controls.stop_at_once])
def test_who_does_nothing_reaches_no_goal(control):
    outcomes = fly(control, 0)
    assert goals(outcomes) == 0
    assert all(o.kind in ("harness lied", "stopped", "stopped too early") for o in outcomes)


@pytest.mark.parametrize(
    "control",
    [controls.first_only, controls.backwards, controls.mixing, controls.twice, controls.swallowing],
)
def test_a_wrong_loop_does_worse_than_the_right_one(flown, control):
    assert goals(fly(control, range(2))) < goals(flown[3])


def test_an_array_left_broken_is_no_safe_end():
    outcomes = fly(controls.orphaning, 0)
    held = [o for o in outcomes if o.label == "max_rounds"]
    assert held and not any(o.safe for o in held)
    assert all("asked for and not answered" in o.leftover for o in held)


@pytest.mark.parametrize("control", [controls.first_only, controls.backwards])
def test_what_the_api_would_refuse_is_refused_and_counted(control):
    refused = [o for o in fly(control, 0) if o.refused]
    assert refused and all("the API refuses the request" in o.broke for o in refused)
    assert not any(o.reached for o in refused)


def test_every_persona_has_a_manner_of_its_own():
    diligent = {(o.world, o.seed): o for o in block(0) if o.persona == "diligent"}
    for persona in [*PERSONAS][1:]:
        names = [f"{persona}/{world}/calm#{seed}" for world, seed in diligent for seed in range(4)]
        same = [name.replace(persona, "diligent") for name in names]
        pairs = zip(fly("library", names), fly("library", same), strict=True)
        assert any(told([a]) != told([b]) for a, b in pairs), persona
