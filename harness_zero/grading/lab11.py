"""Lab 11, who may, and who pays: its exercises and what an answer to each one promises."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from fnmatch import fnmatchcase
from functools import partial
from itertools import count, product
from threading import Barrier, BrokenBarrierError, Event, Lock, Thread
from typing import Any

from harness_zero import permission
from harness_zero.brief import brief, plural
from harness_zero.desk import Broken, Play, asking, instead, list_fault, note, result_fault
from harness_zero.grading.diagnosis import (
    Case,
    every_call_is_answered_in_the_next_message,
    the_array_holds_what_the_model_said,
)
from harness_zero.grading.exercise import Exercise, Lab, Piece
from harness_zero.grading.lab05 import (
    TWO_HALVES,
    Act,
    a_model_that_fails_leaves_the_run_in_your_hands,
    one_at_a_time,
)
from harness_zero.grading.lab09 import Killed, a_file, in_file
from harness_zero.labels import End, Label
from harness_zero.loop import turn
from harness_zero.marks import unmarked
from harness_zero.messages import (
    Block,
    Message,
    Reply,
    array_fault,
    blocks,
    reply,
    tool_result,
    tool_results,
    tool_use,
    tool_uses,
    words,
)
from harness_zero.models.recorded import Diverged
from harness_zero.models.scripted import scripted
from harness_zero.policy import brake, first_of, max_rounds, structural_stop
from harness_zero.ports import Model, Policy, Tool
from harness_zero.retry import call_failed
from harness_zero.run import Run
from harness_zero.view import plain
from harness_zero.watch import Recording

Rules = Sequence[tuple[str, str]]  # ("deny", "delete_*"): a verdict, and a pattern for names
Ask = Callable[[Block], Any]  # True is a yes; anything else is a no, words say why
Verdict = Callable[[Rules, Block], str]
Permission = Callable[[Tool, Rules, Ask | None], Tool]
Paid = Callable[[Model], Model]
Purse = tuple[Paid, Callable[[], float]]
Pool = Callable[[float, float], Purse]

STRICTEST = ("deny", "ask", "allow")


# ours, until a learner has written theirs


def verdict(rules: Rules, call: Block) -> str:
    """The strictest verdict of the rules that name this call; where none does, ask."""
    fitting = [said for said, pattern in rules if fnmatchcase(call["name"], pattern)]
    return min(fitting, key=STRICTEST.index, default="ask")


def permission_by(verdict: Verdict) -> Permission:
    """A layer that may say no, with this way to read the rules."""

    def permission(tool: Tool, rules: Rules, ask: Ask | None = None) -> Tool:
        def permitted(call: Block) -> Block:
            said = verdict(rules, call)
            answer = ask(call) if said == "ask" and ask else said == "allow"
            if answer is True:
                return tool(call)
            why = answer if isinstance(answer, str) else "by a rule" if said == "deny" else "no"
            return tool_result(call["id"], f"not executed: denied: {why}", is_error=True)

        return permitted

    return permission


class Spent(Exception):
    """Nothing is left in the pool."""


def pool(cap_usd: float, most_usd: float) -> Purse:
    """One purse for a run and its children: paid(model) draws on it, left() is what is left."""
    lock, spent, reserved = Lock(), [0.0], [0.0]

    def paid(model: Model) -> Model:
        def speak(request: Any) -> Reply:
            with lock:
                if spent[0] + reserved[0] >= cap_usd:
                    raise Spent("nothing is left in the pool")
                reserved[0] += most_usd
            try:
                reply = model(request)
                with lock:
                    spent[0] += reply.get("cost_usd") or 0.0
                return reply
            finally:
                with lock:
                    reserved[0] -= most_usd

        return speak

    return paid, lambda: cap_usd - spent[0]


USER = "ask the user"


def with_user(tool: Tool, ask: Ask | None) -> Tool:
    """A tool port behind which the user stands as well: a call with that name is a question."""

    def port(call: Block) -> Block:
        if call["name"] != USER:
            return tool(call)
        answer = ask(call["input"]) if ask else "nobody is there to be asked"
        return tool_result(call["id"], "yes" if answer is True else str(answer or "no"))

    return port


def asked_at(tool: Tool) -> Ask:
    """An `ask` that puts its question to the user who stands behind a tool port."""

    def ask(call: Block) -> bool | str:
        said = tool({**tool_use(f"ask {call['id']}", USER), "input": call})["content"]
        return said == "yes" or said

    return ask


def together(
    act: Act,
    structural_stop: Policy,
    brakes: Callable[..., Policy],
    first_of: Callable[..., Policy],
    until_end: Callable[..., End],
    repetition: Callable[[], Policy],
    marked: Callable[..., dict[str, Any]],
    stop_hook: Callable[..., Policy],
    journaled: Callable[..., Any],
    retried: Callable[..., Model],
    pool: Pool,
    permission: Permission,
) -> Play:
    """A harness with all the learner's pieces in it, each in the place where it keeps its word."""

    def run(
        model,
        tools,
        prompt,
        max_rounds=20,
        cap_usd=2.0,
        seconds=600,
        clock=time.monotonic,
        more=(),
        hook=None,
        path=None,
        safe=(),
        purse=None,
        rules=None,
        ask=None,
        sleep=time.sleep,
    ):
        speak = retried(lambda request: model(request["messages"]), sleep=sleep)
        tool = with_user(one_at_a_time(act, tools), ask)
        if path:
            speak, tool, clock = journaled(path, speak, tool, clock, (*safe, USER))
        paid, left = purse or pool(cap_usd, MOST_USD)
        speak = paid(speak)
        if rules is not None:
            tool = permission(tool, rules, asked_at(tool))
        empty = brake(
            lambda run: End(Label.COST_CAP, "the purse is empty") if left() <= 0 else None
        )
        policy = first_of(
            stop_hook(structural_stop, hook) if hook else structural_stop,
            brakes(max_rounds, cap_usd, seconds),
            empty,
            brake(repetition()),
            *more,
        )
        played = Run(prompt, clock)
        try:
            end = until_end(
                played, policy, lambda run: marked({"messages": run.messages}), speak, tool
            )
        except KeyboardInterrupt:
            end = End(Label.INTERRUPTED)
        played.close(end)
        return played.messages, played.label

    return run


MOST_USD = 0.01  # what a call costs at most, where nobody says


# verdict


def expect_verdict(answer: Verdict, rules: Rules, name: str, wanted: str, why: str) -> None:
    """These rules must say this of a call."""
    got = answer(list(rules), tool_use("c1", name, path="a.txt"))
    if got != wanted:
        listed = ", ".join(map(str, rules)) or "none"
        raise Broken(f"{wanted!r} for {name} under the rules {listed}", instead(got), why)


def a_rule_speaks_of_the_calls_that_it_names(answer: Verdict) -> None:
    """Each of the three verdicts, and of no other tool."""
    for said in STRICTEST:
        expect_verdict(answer, [(said, "send_mail")], "send_mail", said, "the rule names this tool")
    rules = [("deny", "send_mail"), ("allow", "read_file")]
    why = "send_mail is another tool, and what is said of it is no matter here"
    expect_verdict(answer, rules, "read_file", "allow", why)
    why = "a rule that names `send` names no send_mail: a part of a name is no name"
    expect_verdict(answer, [("deny", "send"), ("allow", "send_mail")], "send_mail", "allow", why)


def a_pattern_names_many_tools(answer: Verdict) -> None:
    """A star stands for any letters."""
    why = "`*` stands for any letters: fnmatchcase(name, pattern) says whether it fits"
    for pattern, name in (("write_*", "write_file"), ("*", "delete_all"), ("*_file", "read_file")):
        expect_verdict(answer, [("allow", pattern)], name, "allow", why)
    rules = [("allow", "read_*"), ("deny", "write_*")]
    expect_verdict(answer, rules, "write_file", "deny", why)


def the_strictest_rule_counts(answer: Verdict) -> None:
    """Of two that fit, in whatever order they stand."""
    why = "a deny outweighs an ask, and an ask outweighs an allow, wherever they stand"
    for one, other in product(STRICTEST, STRICTEST):
        wanted = STRICTEST[min(STRICTEST.index(one), STRICTEST.index(other))]
        expect_verdict(answer, [(one, "*"), (other, "send_*")], "send_mail", wanted, why)
    three = [("allow", "*"), ("deny", "send_mail"), ("ask", "send_*"), ("allow", "send_mail")]
    expect_verdict(answer, three, "send_mail", "deny", why)


def what_no_rule_names_is_asked_about(answer: Verdict) -> None:
    """A list of rules has never thought of everything."""
    why = "to allow what nobody thought of is the mistake that such a layer is there for"
    expect_verdict(answer, [], "delete_all", "ask", why)
    rules = [("allow", "read_*"), ("deny", "write_*")]
    expect_verdict(answer, rules, "delete_all", "ask", why)


def the_rules_stay_as_they_are(answer: Verdict) -> None:
    """They are read again at the next call."""
    rules = [("allow", "*"), ("deny", "send_*"), ("ask", "send_mail")]
    before = [*rules]
    answer(rules, tool_use("c1", "send_mail"))
    if rules != before:
        raise Broken("the rules as they were", brief(rules), "they are somebody else's list")


# permission


class Door:
    """A tool that notes what it was called with, and somebody to be asked, who notes it too."""

    def __init__(self, said: Any = True) -> None:
        self.said = said
        self.made: list[Block] = []
        self.asked: list[Block] = []

    def tool(self, call: Block) -> Block:
        """Make a call."""
        self.made.append(deepcopy(call))
        return tool_result(call["id"], f"made {call['id']}")

    def ask(self, call: Block) -> Any:
        """Answer a question."""
        self.asked.append(deepcopy(call))
        return self.said


RULES: Rules = (("allow", "read_*"), ("deny", "delete_*"))
READ, DELETE = tool_use("r1", "read_file", path="a"), tool_use("d1", "delete_file", path="a")
MAIL = tool_use("m1", "send_mail", to="ana@example.org")


def behind(
    answer: Permission, door: Door, call: Block, ask: Ask | None = None, rules: Rules = RULES
) -> Block:
    """The result of a call behind the learner's layer."""
    try:
        tool = answer(door.tool, list(rules), ask)
    except (AttributeError, NameError, TypeError) as error:
        why = "there is no call yet: a function inside, `def port(call):`, decides when one comes"
        raise Broken("a tool port back", f"{type(error).__name__}: {error}", why) from None
    if not callable(tool):
        why = "a wrapper keeps the signature of what it wraps: a function of a call"
        raise Broken("a tool port back", instead(tool), why)
    result = tool(deepcopy(call))
    fault = result_fault(result) if isinstance(result, dict) else "is none"
    if fault or result.get("type") != "tool_result":
        why = "the loop puts it into the array, so it is a tool_result whatever was decided"
        raise Broken(f"a tool_result for {call['name']}", instead(result), why)
    return result


def expect_made(door: Door, calls: list[Block], what: str, why: str) -> None:
    """The tool must have been called so."""
    if door.made != calls:
        names = [each["name"] for each in calls]
        got = brief(door.made, 200) if len(door.made) == len(calls) else told_names(door.made)
        raise Broken(f"{told_names(calls) if names else 'no call'} made {what}", got, why)


def told_names(calls: list[Block]) -> str:
    """Calls by the names of their tools."""
    return ", ".join(each["name"] for each in calls) or "no call"


def what_is_allowed_is_made_as_it_came(answer: Permission) -> None:
    """Once, unchanged, and its result is the tool's."""
    door = Door()
    result = behind(answer, door, READ, door.ask)
    expect_made(door, [READ], "where a rule allows it", "what may happen happens, once, as asked")
    if result != tool_result("r1", "made r1"):
        why = "the layer says whether it happens, and nothing about what comes back"
        raise Broken("the tool's own result", brief(result), why)


def what_is_denied_is_not_made(answer: Permission) -> None:
    """Neither before nor after the words about it."""
    door = Door()
    behind(answer, door, DELETE, door.ask)
    expect_made(door, [], "where a rule denies it", "that is what the layer is for")


def a_denial_is_data(answer: Permission) -> None:
    """The model has to know that nothing happened, and why."""
    for call, said, word in (
        (DELETE, True, "denied"),
        (MAIL, "not on a Sunday", "not on a Sunday"),
    ):
        door = Door(said)
        result = behind(answer, door, call, door.ask)
        told = str(result.get("content"))
        if result.get("tool_use_id") != call["id"] or not result.get("is_error"):
            why = "each call is answered under its id, and nothing that was not done was a success"
            expected = f"a result for {call['id']}, marked as an error"
            raise Broken(expected, brief(result), why)
        if not told.startswith("not executed") or word not in told:
            why = "an error alone sounds as if it had been tried: say that it was not, and why"
            raise Broken(f"a result that begins 'not executed' and says {word!r}", told, why)
    door = Door(False)
    told = str(behind(answer, door, MAIL, door.ask).get("content"))
    if not told.partition("denied: ")[2].strip() or "False" in told:
        why = "the model reads it: that somebody said no is a reason, too"
        raise Broken("a reason in words, where ask(call) is False", told, why)


def where_a_rule_decides_nobody_is_asked(answer: Permission) -> None:
    """Who is asked too often says yes without looking."""
    for call in (READ, DELETE):
        door = Door()
        behind(answer, door, call, door.ask)
        if door.asked:
            why = "a question that a rule has answered teaches people to say yes to everything"
            raise Broken(f"no question about {call['name']}", "a question", why)


def somebody_is_asked_about_the_rest(answer: Permission) -> None:
    """Once, and shown the call."""
    door = Door()
    behind(answer, door, MAIL, door.ask)
    if door.asked != [MAIL]:
        got = f"{plural(len(door.asked), 'question')}: {brief(door.asked, 160)}"
        raise Broken("one question, ask(call)", got, "who decides has to see what would happen")
    expect_made(door, [MAIL], "after a yes", "True is a yes")


def only_true_is_a_yes(answer: Permission) -> None:
    """Words are a no with a reason."""
    for said in (False, None, "", "not now", "no", 1):
        door = Door(said)
        behind(answer, door, MAIL, door.ask)
        why = "any words are true for `if`, also 'no': only True itself is a yes"
        expect_made(door, [], f"after the answer {said!r}", why)


def where_nobody_is_there_it_is_a_no(answer: Permission) -> None:
    """Nobody can have allowed it."""
    door = Door()
    try:
        behind(answer, door, MAIL, None)
    except TypeError as error:
        why = "ask is None where nobody is there: at night, in a test, in a child"
        raise Broken("a denial where ask is None", str(error), why) from None
    expect_made(door, [], "where nobody can be asked", "silence is no yes")


def each_call_is_judged_anew(answer: Permission) -> None:
    """A yes was for this mail and for no other one."""
    door = Door()
    tool = answer(door.tool, list(RULES), door.ask)
    tool(deepcopy(MAIL))
    door.said = False
    tool({**deepcopy(MAIL), "id": "m2"})
    why = "one yes is for one call; to allow all of a kind there are rules"
    expect_made(door, [MAIL], "after a yes and a no", why)


# a diagnosis: who let it happen

PRESS = "@press.example"


def nothing_goes_where_the_rules_deny_it(run: Recording) -> int | None:
    """Judged by what was done, as its result tells."""
    for at, message in enumerate(run.messages):
        if any(
            "sent to" in str(r["content"]) and PRESS in str(r["content"]) for r in results(message)
        ):
            return at
    return None


def results(message: Message) -> list[Block]:
    """The results in a message."""
    return tool_results(message)


def the_model_asks_for_nothing_that_the_rules_deny(run: Recording) -> int | None:
    """Judged by what it wrote."""
    for at, message in enumerate(run.messages):
        if any(str(call["input"].get("to", "")).endswith(PRESS) for call in tool_uses(message)):
            return at
    return None


def what_the_user_refused_is_not_made(run: Recording) -> int | None:
    """A call of delete_file was asked about, and the answer was no."""
    for at, message in enumerate(run.messages):
        if any("deleted" in str(result["content"]) for result in results(message)):
            return at
    return None


EDITORS = {"editors": "desk@example.org, news@press.example", "ana": "ana@example.org"}


def draft_to_the_press() -> Recording:
    """A hook changes what was permitted, because it stands behind the permission."""
    tools: dict[str, Callable[..., str]] = {
        "read_file": lambda path: "A draft. Not for anybody at press.example before Monday.",
        "delete_file": lambda path: f"deleted {path}",
        "send_mail": lambda to, body: f"sent to {to}",
    }
    calls = [
        tool_use("r1", "read_file", path="draft.txt"),
        tool_use("d1", "delete_file", path="old.txt"),
        tool_use("m1", "send_mail", to="ana", body="draft"),
        tool_use("m2", "send_mail", to="editors", body="draft"),
    ]
    script = scripted(*[reply(call) for call in calls], reply("The draft is out; old.txt is left."))

    def effect(call: Block) -> Block:
        function = tools[call["name"]]
        return tool_result(call["id"], function(**call["input"]))

    def looked_up(call: Block) -> Block:
        to = call["input"].get("to")
        given = {**call["input"], "to": EDITORS[to]} if to in EDITORS else call["input"]
        return effect({**call, "input": given})

    rules = [
        permission.Rule("allow", "*"),
        permission.Rule("ask", "delete_*"),
        permission.Rule("deny", "send_mail", {"to": f"*{PRESS}*"}),
    ]
    tool = permission.permission(looked_up, rules, lambda call: "keep it")
    run = Run("Mail the draft to Ana and the editors. Tidy up.", clock=lambda: 0.0)
    policies = first_of(structural_stop, max_rounds(20))
    turn(run, policies, plain(), lambda request: script(request["messages"]), tool)
    return Recording(run.messages, run.replies, run.label, run.why)


def the_rules(run: Recording) -> list[str]:
    """The rules, as they stand under the promises."""
    said = ["allow *", "ask delete_*", f"deny send_mail(to=*{PRESS}*)"]
    return ["", f"The rules: {'; '.join(said)}. A hook looks up names in the address book."]


WHO_LET_IT_CASE = Case(
    draft_to_the_press,
    {
        "a": every_call_is_answered_in_the_next_message,
        "b": what_the_user_refused_is_not_made,
        "c": nothing_goes_where_the_rules_deny_it,
        "d": the_model_asks_for_nothing_that_the_rules_deny,
        "e": the_array_holds_what_the_model_said,
    },
    whys={
        "b": "old.txt is still there: message 4 says 'not executed', and so it was",
        "d": "it asks for a mail to 'editors', and no rule says a word about that",
    },
    shown=the_rules,
)


# pool


def opened(answer: Pool, cap: float = 1.0, most: float = 0.25) -> Purse:
    """The two functions of an answer, once they are two functions at all."""
    given = answer(cap, most)
    if not isinstance(given, tuple | list) or len(given) != 2 or not all(map(callable, given)):
        why = "paid(model) wraps a model, left() tells what is left: return paid, left"
        raise Broken("two functions back: paid, left", instead(given), why)
    paid, left = given
    return paid, left


class Teller:
    """A model at a price, which counts how often it was asked."""

    def __init__(self, cost: float, seconds: float = 0.0) -> None:
        self.cost, self.seconds, self.asked = cost, seconds, 0
        self.request: Any = None  # the newest one

    def model(self, request: Any) -> Reply:
        """A reply at this price."""
        self.asked += 1
        self.request = request
        if self.seconds:
            time.sleep(self.seconds)
        return reply("hello", cost=self.cost)


def refused(model: Model) -> bool:
    """Whether a call is refused: it raises an exception, whichever."""
    try:
        model({"messages": []})
    except Exception:
        return True
    return False


def expect_left(left: Callable[[], float], wanted: float, when: str, why: str) -> None:
    """So much must be left."""
    got = left()
    if not isinstance(got, int | float) or abs(got - wanted) > 1e-9:
        raise Broken(f"{wanted:.2f} left {when}", brief(got), why)


def what_a_call_costs_is_taken_out(answer: Pool) -> None:
    """What it did cost, and not what it might have."""
    paid, left = opened(answer)
    expect_left(left, 1.0, "before the first call", "nothing is spent yet")
    teller = Teller(0.125)
    model = paid(teller.model)
    if not callable(model):
        raise Broken("paid(model) to be a model again", instead(model), "a wrapper is a model")
    for times in (1, 2):
        got = model({"messages": []})
        if got != reply("hello", cost=0.125):
            raise Broken("the reply as the model gave it", instead(got), "the loop needs it")
        if teller.request != {"messages": []}:
            why = "a wrapper hands on what it is given: model(request)"
            raise Broken("the model given the request", instead(teller.request), why)
        why = "settled is what the call cost: reply['cost_usd']; the reservation goes back"
        expect_left(left, 1 - 0.125 * times, f"after {plural(times, 'call')} at 0.125", why)
    _, other = opened(answer)
    expect_left(other, 1.0, "in another pool", "each pool(...) is a pool of its own")


def a_price_that_nobody_knows_is_no_fault(answer: Pool) -> None:
    """A brake of the run's own holds there; the pool counts nothing."""
    paid, left = opened(answer)
    unknown = {**reply("hello"), "cost_usd": None}
    try:
        got = paid(lambda request: unknown)({"messages": []})
    except TypeError as error:
        why = "reply['cost_usd'] is None where nobody knows the price"
        raise Broken("the reply of a model whose price is unknown", str(error), why) from None
    if got != unknown:
        raise Broken("the reply as the model gave it", instead(got), "the loop needs it")
    expect_left(left, 1.0, "after a call without a price", "None is no number: count nothing")


def once_nothing_is_left_no_call_is_made(answer: Pool) -> None:
    """It raises, and the model is not asked."""
    paid, left = opened(answer)
    teller = Teller(0.5)
    model = paid(teller.model)
    for _ in range(2):
        model({"messages": []})
    if not refused(model) or teller.asked > 2:
        why = "a call that is not made costs nothing: raise Spent(...) before the model is asked"
        raise Broken("no third call, 1.00 of 1.00 being spent", "a third call", why)
    expect_left(left, 0.0, "after that", "nothing was spent on a call that was not made")


def the_cap_is_passed_by_one_call_at_most(answer: Pool) -> None:
    """What a call costs is known after it."""
    paid, left = opened(answer, cap=1.0, most=0.375)
    teller = Teller(0.375)
    model = paid(teller.model)
    made = sum(not refused(model) for _ in range(5))
    if made != 3:
        why = "as long as something is left a call may begin; it can pass the cap, the next cannot"
        raise Broken("3 calls at 0.375 under a cap of 1.00", plural(made, "call"), why)
    expect_left(left, -0.125, "after the third", "the cap is passed by a part of one call")


def whoever_is_paid_shares_it(answer: Pool) -> None:
    """A parent and its children."""
    paid, left = opened(answer)
    parent, child = Teller(0.5), Teller(0.5)
    paid(parent.model)({"messages": []})
    paid(child.model)({"messages": []})
    expect_left(left, 0.0, "after two models spent 0.50 each", "all that are paid share one pool")
    if not refused(paid(parent.model)):
        raise Broken("no call any more, whoever asks", "another call", "they share what is left")


def a_call_that_fails_gives_its_reservation_back(answer: Pool) -> None:
    """And its exception goes on to whoever asked."""
    paid, left = opened(answer, cap=1.0, most=0.5)

    def broken(request: Any) -> Reply:
        raise ConnectionError("529 overloaded")

    for _ in range(4):
        try:
            paid(broken)({"messages": []})
        except ConnectionError:
            continue
        except Exception as error:
            got = f"{type(error).__name__}: {error}"
            why = "what was reserved for it goes back in any case: try ... finally"
            raise Broken(
                "ConnectionError again, for the fourth failure in a row", got, why
            ) from None
        raise Broken("ConnectionError raised", "nothing", "the loop has to know that it failed")
    expect_left(left, 1.0, "after four calls that failed", "nothing was spent")


def what_is_reserved_is_not_promised_twice(answer: Pool) -> None:
    """Half is spent, and a call is under way that may cost the other half."""
    paid, left = opened(answer, cap=1.0, most=0.5)
    paid(Teller(0.5).model)({"messages": []})
    begun, over, second = Event(), Event(), Teller(0.5)

    def slow(request: Any) -> Reply:
        begun.set()
        over.wait(1)
        return reply("hello", cost=0.5)

    first = Thread(target=lambda: refused(paid(slow)), daemon=True)
    other = Thread(target=lambda: refused(paid(second.model)), daemon=True)
    first.start()
    begun.wait(1)
    other.start()
    other.join(0.05)
    over.set()
    first.join(1)
    other.join(1)
    if second.asked:
        why = "before a call the most that it may cost is reserved; a check alone sees what is"
        why += " spent, and not what is under way"
        raise Broken("no second call while the first may use up what is left", "it was made", why)
    expect_left(left, 0.0, "in the end", "0.50 and 0.50 of 1.00")


def children_speak_at_the_same_time(answer: Pool) -> None:
    """A call may take a minute, and nobody waits for it who can pay."""
    paid, _ = opened(answer, cap=1.0, most=0.25)
    both, met = Barrier(2), list[bool]()

    def meets(request: Any) -> Reply:
        with suppress(BrokenBarrierError):
            both.wait(0.5)
            met.append(True)
        return reply("hello", cost=0.125)

    threads = [Thread(target=lambda: refused(paid(meets)), daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2)
    if len(met) < 2:
        why = "hold the lock while you count, and not while the model speaks"
        raise Broken("two calls under way at once", "one after the other", why)


def many_at_once_pass_the_cap_by_one_call(answer: Pool) -> None:
    """Eight callers in threads, in several rounds."""
    most = 0.125
    for times in range(5):
        paid, left = opened(answer, cap=1.0, most=most)
        meeting = Barrier(8)

        def all_that_it_gets(
            times: int = times, paid: Paid = paid, meeting: Barrier = meeting
        ) -> None:
            model = paid(Teller(most * (1 + times % 2) / 2, seconds=0.001).model)
            meeting.wait(2)
            any(refused(model) for _ in range(20))

        threads = [Thread(target=all_that_it_gets, daemon=True) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(2)
        if left() < -most:
            why = "between the look and the reservation nobody else may look: both under one lock"
            expected = "the cap passed by one call at most, with eight callers"
            raise Broken(expected, f"{1 - left():.3f} spent of 1.00, {most} a call at most", why)


# all_together


def at_once(seconds: float) -> None:
    """A pause that takes no time."""


class Office:
    """A desk that outlives its processes: what was done, and at which effect the next one dies."""

    def __init__(self, *script: Reply, said: Any = True) -> None:
        self.script, self.said = script, said
        self.log: list[str] = []  # the effects of the newest process
        self.made: list[str] = []  # the notes of all processes
        self.sent: list[list[Message]] = []
        self.kill: tuple[str, str] | None = None
        self.failures: list[Exception] = []  # what the model raises before it speaks
        self.strays = (
            "begun again, a run asks for the recorded steps: what else is asked is no step"
        )
        self.tools: dict[str, Callable[..., Any]] = {"note": self.note, "look": lambda: "dark"}

    def model(self, messages: list[Message]) -> Reply:
        """The reply that follows the replies in the array."""
        if fault := list_fault(messages):
            raise Broken("the model called with the list of messages", fault, "as in lab 05")
        self.sent.append(deepcopy(messages))
        at = sum(message["role"] == "assistant" for message in messages)
        return self.effect("model", lambda: self.speak(at))

    def speak(self, at: int) -> Reply:
        """A reply, or the next failure."""
        if self.failures:
            raise self.failures.pop()
        return deepcopy(self.script[at])

    def note(self, what: str) -> str:
        """A tool that leaves a trace."""

        def make() -> str:
            self.made.append(what)
            return f"noted {what}"

        return self.effect(f"note {what}", make)

    def ask(self, call: Block) -> Any:
        """Somebody is asked whether a call may be made."""
        return self.effect("ask", lambda: self.said)

    def effect(self, name: str, make: Callable[[], Any]) -> Any:
        """Make an effect, around which the process may die."""
        self.die(name, "before")
        self.log.append(name)
        outcome = make()
        self.die(name, "after")
        return outcome

    def die(self, name: str, when: str) -> None:
        """End the process, if this is the instant."""
        if self.kill == (name, when):
            self.kill = None
            raise Killed

    def play(self, play: Play, prompt: str = "go", **more: Any) -> tuple[list[Message], Any]:
        """One turn in one process: messages and label."""
        self.log = []
        try:
            given = play(self.model, self.tools, prompt, **{"sleep": at_once, **more})
        except Diverged as error:
            raise Broken("the same steps in the same order", str(error), self.strays) from None
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise Broken("messages and label back", instead(given), "as in lab 05")
        messages, label = given
        if fault := list_fault(messages) or array_fault(messages):
            raise Broken("a sound array back", fault, "every way out leaves one")
        return messages, label

    def dies(self, play: Play, at: tuple[str, str], **more: Any) -> None:
        """One process that dies at this effect."""
        self.kill = at
        try:
            self.play(play, **more)
        except Killed:
            return
        why = "the check ends the process there; what is no Exception is nobody's data"
        raise Broken(f"the process to die {at[1]} {at[0]}", f"it went on: {self.log}", why)


def it_keeps_what_the_run_of_lab_05_promises(play: Play) -> None:
    """All of it: more pieces, and not one promise less."""
    for promise in TWO_HALVES.promises:
        fails = promise is a_model_that_fails_leaves_the_run_in_your_hands
        promise(partial(unmarking(play), **({"sleep": at_once} if fails else {})))


def unmarking(play: Play) -> Play:
    """The same loop around a model that sees no marks."""

    def played(model: Callable[[list[Message]], Reply], *given: Any, **more: Any) -> Any:
        def speak(messages: Any) -> Reply:
            return model([*map(unmarked, messages)] if isinstance(messages, list) else messages)

        return play(speak, *given, **more)

    return played


def a_hook_may_veto_the_stop(play: Play) -> None:
    """Its words go back to the model."""
    office = Office(reply("Done."), reply("Now it is."))
    said = iter(["the tests fail", None])
    messages, label = office.play(play, hook=lambda run, again: next(said))
    if label != "finished" or len(office.sent) != 2 or "the tests fail" not in str(messages):
        got = f"{label} after {plural(len(office.sent), 'round')}"
        why = "stop_hook(structural_stop, hook) stands in the place of the stop, if there is a hook"
        raise Broken("a veto in round 1, and finished in round 2", got, why, messages)


def no_hook_can_veto_a_brake(play: Play) -> None:
    """It wraps the stop alone."""
    office = Office(*[reply(f"Done {n}.") for n in range(9)])
    words = count(1)
    messages, label = office.play(
        play, max_rounds=3, hook=lambda run, again: f"not yet {next(words)}"
    )
    if label != "max_rounds" or len(office.sent) != 3:
        got = f"{label} after {plural(len(office.sent), 'round')}"
        why = "the hook wraps the stop; around first_of(...) it would talk a brake out of holding"
        raise Broken("max_rounds after 3 rounds, whatever the hook says", got, why, messages)


def who_goes_in_circles_is_stopped(play: Play) -> None:
    """By the detector of lab 06, long before the limit."""
    looks = [reply(tool_use(f"l{n}", "look")) for n in range(60)]
    office = Office(*looks, reply("It is dark."))
    messages, label = office.play(play, max_rounds=55)
    if label != "stuck":
        why = "brake(repetition()) stands behind the brakes, among the policies"
        raise Broken("the label stuck, for 55 looks that bring the same", f"{label}", why, messages)


def what_is_sent_is_marked_and_the_array_is_not(play: Play) -> None:
    """The view marks; the run keeps what was said."""
    office = Office(asking("a"), reply("Done."))
    messages, _ = office.play(play)
    for at, sent in enumerate(office.sent, 1):
        if "cache_control" not in str(blocks(sent[-1])[-1]):
            why = "marked(request) is applied to what the model is sent: in the view"
            raise Broken(
                f"a mark on the last block of request {at}", brief(sent[-1]), why, messages
            )
    if "cache_control" in str(messages):
        why = "a mark belongs to a request; in the array it would be sent again, in an old place"
        raise Broken("an array without marks", brief(messages, 200), why, messages)


def what_may_pass_is_tried_again(play: Play) -> None:
    """An answer that did not come is asked for again, and the run does not notice."""
    office = Office(asking("a"), reply("Done."))
    office.failures = [call_failed("overloaded", status=529)]
    slept = list[float]()
    messages, label = office.play(play, sleep=slept.append)
    if label != "finished" or office.made != ["a"]:
        why = "retried(...) stands around the model, next to it"
        raise Broken("finished, though the first call broke", f"{label}", why, messages)
    if not slept:
        why = (
            "how to wait is an argument, so that nobody waits in a check: retried(..., sleep=sleep)"
        )
        raise Broken("a wait by the `sleep` that the run was given", "none by that one", why)


def all_attempts_of_a_call_are_one_step(play: Play) -> None:
    """The journal knows of an answer, and of nothing that came before it."""
    with a_file() as path:
        office = Office(asking("a"), reply("Done."))
        office.failures = [call_failed("overloaded", status=529)]
        office.play(play, path=path)
        lines = in_file(path) if path.exists() else []
        begun = [line["step"] for line in lines if line.get("begun") == "model"]
        done = {line["step"] for line in lines if "done" in line}
        if open_ := [step for step in begun if step not in done]:
            why = "retried(...) stands inside of the journal: around it each attempt is a step"
            raise Broken("an outcome for each step of the model", f"none for step {open_[0]}", why)


TWO = (asking("a"), asking("b"), reply("Done."))


def a_run_that_is_over_is_replayed_without_one_effect(play: Play) -> None:
    """With `path` every effect is a step of the journal there."""
    with a_file() as path:
        office = Office(*TWO)
        first = office.play(play, path=path)
        again = office.play(play, path=path)
        if office.log:
            why = "journaled(path, model, tool, clock, safe) around both ports, if there is a path"
            raise Broken("no effect in a replay", ", ".join(office.log), why, again[0])
        if again != first:
            why = "the same loop with recorded outcomes does the same"
            raise Broken("the same array and label", brief(again), why, again[0])


def a_replay_reads_the_recorded_time(play: Play) -> None:
    """However late it comes, the deadline is that of the first process."""
    with a_file() as path:
        office = Office(*TWO)
        first = office.play(play, path=path, seconds=10, clock=lambda: 0.0)
        late = count(0, 100)
        again = office.play(play, path=path, seconds=10, clock=lambda: float(next(late)))
        if again != first:
            why = "Run(prompt, clock) is given the clock that journaled(...) gave back"
            raise Broken(f"{first[1]} again, whatever the clock says now", f"{again[1]}", why)


def wherever_it_is_killed_each_note_is_made_once(play: Play) -> None:
    """Before or after any effect; and what is in doubt is not made again."""
    for name, when in product(("model", "note a", "note b"), ("before", "after")):
        with a_file() as path:
            office = Office(*TWO)
            office.dies(play, (name, when), path=path)
            office.play(play, path=path)
            twice = [each for each in office.made if office.made.count(each) > 1]
            if twice:
                got = f"{', '.join(office.made)}, killed {when} {name} and begun again"
                why = "the journal is next to the effect, and its intent stands before it"
                raise Broken("no note made twice", got, why)


def what_is_safe_is_made_again(play: Play) -> None:
    """A tool that is named in `safe`."""
    with a_file() as path:
        office = Office(*TWO)
        office.dies(play, ("note a", "after"), path=path, safe=("note",))
        office.play(play, path=path, safe=("note",))
        if office.made != ["a", "a", "b"]:
            why = "`safe` goes on to journaled, with the name of the user beside it"
            raise Broken("a, a, b: a safe tool in doubt is made again", str(office.made), why)


RULES_OF_THE_RUN: Rules = (("ask", "note"), ("allow", "look"), ("deny", "delete_*"))


def what_is_denied_is_not_made_and_the_run_goes_on(play: Play) -> None:
    """A denial is a result like others."""
    office = Office(*TWO, said="not today")
    messages, label = office.play(play, rules=RULES_OF_THE_RUN, ask=office.ask)
    if office.made or label != "finished" or "not today" not in str(messages):
        got = f"{label}; made: {', '.join(office.made) or 'nothing'}"
        why = "permission(tool, rules, asked_at(tool)) around the tool port, if there are rules"
        if office.log.count("ask"):
            why = "somebody was asked and said no: does your permission take these words for a yes?"
        raise Broken("finished, no note made, and 'not today' told", got, why, messages)
    office = Office(*TWO)
    messages, label = office.play(play, rules=RULES_OF_THE_RUN)
    if office.made or label != "finished":
        got = f"{label}; made: {', '.join(office.made) or 'nothing'}"
        why = "nobody is there to be asked, so nobody has said yes"
        raise Broken("finished, and no note made without ask", got, why, messages)


def a_denial_is_no_outcome_of_the_tool(play: Play) -> None:
    """In the journal stands what was begun, and this was not."""
    with a_file() as path:
        office = Office(*TWO, said=False)
        office.play(play, path=path, rules=RULES_OF_THE_RUN, ask=office.ask)
        begun = [line["begun"] for line in in_file(path) if "begun" in line]
        if any(isinstance(each, dict) and each.get("name") == "note" for each in begun):
            why = "the permission stands outside of the journal: what it denies is never begun"
            raise Broken("no line that begins a note, all of them being denied", brief(begun), why)


def who_has_answered_is_not_asked_again(play: Play) -> None:
    """The answer is a step of the journal."""
    with a_file() as path:
        office = Office(*TWO)
        more: dict[str, Any] = {"path": path, "rules": RULES_OF_THE_RUN, "ask": office.ask}
        office.dies(play, ("note b", "before"), **more)
        office.said = False
        why = office.strays = (
            "the question goes through the tool port of the journal, and so becomes a step: "
            "permission(tool, rules, asked_at(tool))"
        )
        messages, _ = office.play(play, **more)
        if "ask" in office.log or "denied" in str(messages):
            raise Broken("nobody asked again after a restart", ", ".join(office.log), why, messages)


def a_question_that_waits_is_asked_again(play: Play) -> None:
    """The process died before anybody answered."""
    with a_file() as path:
        office = Office(*TWO)
        more: dict[str, Any] = {"path": path, "rules": RULES_OF_THE_RUN, "ask": office.ask}
        office.dies(play, ("ask", "before"), **more)
        messages, label = office.play(play, **more)
        if office.log.count("ask") != 2 or office.made != ["a", "b"] or label != "finished":
            got = f"{label}; effects: {', '.join(office.log) or 'none'}"
            why = "a question may be put twice: name USER among what is safe"
            raise Broken("both questions put, and both notes made", got, why, messages)


CAP, CHILD = 1.0, 0.25


def purse_of(cap: float) -> Purse:
    """A purse for a family."""
    return pool(cap, CHILD)


def parent_and_children_share_the_purse(play: Play) -> None:
    """The parent spends 0.50, each child 0.25: the third finds nothing."""
    purse, labels, calls = purse_of(CAP), list[Any](), list[float]()

    def model(cost: float, *blocks: Any) -> Callable[[list[Message]], Reply]:
        def speak(messages: list[Message]) -> Reply:
            calls.append(cost)
            return reply(*blocks, cost=cost)

        return speak

    def delegate(task: str) -> str:
        child = model(CHILD, f"{task} is done")
        messages, label = play(child, {}, task, purse=purse, sleep=at_once)
        labels.append(label)
        return f"{label}: {words(messages[-1])}"

    asks = [tool_use(f"d{n}", "delegate", task=f"part {n}") for n in (1, 2, 3)]
    parent = model(0.5, *asks)
    messages, label = play(
        parent, {"delegate": delegate}, "go", purse=purse, cap_usd=9.0, sleep=at_once
    )
    got = f"{', '.join(map(str, [*labels, label]))}; {sum(calls):.2f} spent"
    if labels != ["finished", "finished", "cost_cap"] or label != "cost_cap":
        why = "paid(model) around the model, and a brake that holds once left() is 0 or less"
        raise Broken(
            "finished, finished, cost_cap, and cost_cap for the parent", got, why, messages
        )
    if sum(calls) > CAP + CHILD:
        why = "the cap is passed by one call at most"
        raise Broken(f"{CAP + CHILD:.2f} spent at most", got, why, messages)


def a_replay_pays_again(play: Play) -> None:
    """The next process begins with a full purse, and what was spent is still spent."""
    with a_file() as path:
        script = (reply(note("a"), cost=0.25), reply("Done.", cost=0.25))
        office, left = Office(*script), list[float]()
        for _ in range(2):
            purse = purse_of(CAP)
            office.play(play, path=path, purse=purse)
            left.append(purse[1]())
        if left != [0.5, 0.5]:
            why = "paid(...) stands outside of the journal: a replay asks no model, and pays"
            raise Broken("0.50 left, in the first process and after the replay", str(left), why)


VERDICT = Exercise(
    name="verdict",
    title="The strictest rule counts",
    minutes=8,
    difficulty="easy",
    lines=5,
    points=3,
    objectives=(3,),
    takes="verdict(rules, call)",
    promises=(
        a_rule_speaks_of_the_calls_that_it_names,
        a_pattern_names_many_tools,
        the_strictest_rule_counts,
        what_no_rule_names_is_asked_about,
        the_rules_stay_as_they_are,
    ),
    piece=Piece("verdict", borrowed=lambda: verdict),
)

PERMISSION = Exercise(
    name="permission",
    title="A layer that may say no",
    minutes=12,
    difficulty="medium",
    lines=10,
    points=5,
    objectives=(3, 5),
    takes="permission(tool, rules, ask)",
    promises=(
        what_is_allowed_is_made_as_it_came,
        what_is_denied_is_not_made,
        where_a_rule_decides_nobody_is_asked,
        somebody_is_asked_about_the_rest,
        only_true_is_a_yes,
        a_denial_is_data,
        where_nobody_is_there_it_is_a_no,
        each_call_is_judged_anew,
    ),
    piece=Piece("permission", needs=("verdict",), borrowed=permission_by),
)

WHO_LET_IT = Exercise(
    name="who_let_it",
    title="Who let it happen?",
    minutes=5,
    difficulty="medium",
    lines=1,
    points=2,
    objectives=(1,),
    takes="who_let_it()",
    promises=WHO_LET_IT_CASE.promises(),
    case=WHO_LET_IT_CASE,
)

POOL = Exercise(
    name="pool",
    title="One purse for all",
    minutes=15,
    difficulty="hard",
    lines=18,
    points=6,
    objectives=(3,),
    takes="pool(cap_usd, most_usd)",
    promises=(
        what_a_call_costs_is_taken_out,
        once_nothing_is_left_no_call_is_made,
        the_cap_is_passed_by_one_call_at_most,
        whoever_is_paid_shares_it,
        a_price_that_nobody_knows_is_no_fault,
        a_call_that_fails_gives_its_reservation_back,
        what_is_reserved_is_not_promised_twice,
        children_speak_at_the_same_time,
        many_at_once_pass_the_cap_by_one_call,
    ),
    piece=Piece("pool", borrowed=lambda: pool),
)

TOGETHER = Exercise(
    name="all_together",
    title="All pieces in their places",
    minutes=25,
    difficulty="hard",
    lines=25,
    points=9,
    objectives=(2, 3, 4, 5),
    takes="all_together(model, tools, prompt)",
    promises=(
        it_keeps_what_the_run_of_lab_05_promises,
        a_hook_may_veto_the_stop,
        no_hook_can_veto_a_brake,
        who_goes_in_circles_is_stopped,
        what_is_sent_is_marked_and_the_array_is_not,
        what_may_pass_is_tried_again,
        all_attempts_of_a_call_are_one_step,
        a_run_that_is_over_is_replayed_without_one_effect,
        a_replay_reads_the_recorded_time,
        wherever_it_is_killed_each_note_is_made_once,
        what_is_safe_is_made_again,
        what_is_denied_is_not_made_and_the_run_goes_on,
        a_denial_is_no_outcome_of_the_tool,
        who_has_answered_is_not_asked_again,
        a_question_that_waits_is_asked_again,
        parent_and_children_share_the_purse,
        a_replay_pays_again,
    ),
    piece=Piece(
        "run",
        needs=(
            "act",
            "structural_stop",
            "brakes",
            "first_of",
            "until_end",
            "repetition",
            "marked",
            "stop_hook",
            "journaled",
            "retried",
            "pool",
            "permission",
        ),
        borrowed=together,
        retires=("act", "close_calls"),
    ),
)

LAB = Lab(
    "11_who_may_and_who_pays",
    "Who may, and who pays",
    (VERDICT, PERMISSION, WHO_LET_IT, POOL, TOGETHER),
)
