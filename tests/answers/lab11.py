"""Answers to lab 11: right ones of several shapes, and what people get wrong."""

import time
from collections.abc import Callable
from fnmatch import fnmatch, fnmatchcase
from threading import Condition, Lock, RLock

from harness_zero.grading import lab11
from harness_zero.grading.lab11 import USER, Spent, asked_at, with_user
from harness_zero.labels import End
from harness_zero.messages import tool_result
from harness_zero.mine import ours
from harness_zero.policy import brake
from harness_zero.run import Run

# verdict


def verdict_by_rank(rules, call):
    ranks = {"allow": 0, "ask": 1, "deny": 2}
    found = max((ranks[said] for said, pattern in rules if fits(pattern, call)), default=1)
    return ["allow", "ask", "deny"][found]


def fits(pattern, call):
    return fnmatchcase(call["name"], pattern)


def verdict_in_steps(rules, call):
    strictest = ""
    for said, pattern in rules:
        if not fnmatch(call["name"], pattern):
            continue
        if said == "deny":
            return "deny"
        if said == "ask" or not strictest:
            strictest = said
    return strictest or "ask"


def verdict_of(fits=fits, choose=None, default="ask"):
    """A verdict with one thing changed."""

    def verdict(rules, call):
        fitting = [said for said, pattern in rules if fits(pattern, call)]
        if not fitting:
            return default
        order = ("deny", "ask", "allow")
        return (choose or (lambda all: min(all, key=order.index)))(fitting)

    return verdict


def verdict_that_sorts(rules, call):
    rules.sort()
    return lab11.verdict(rules, call)


# permission

NO = "not executed: denied: "
KEPT = ("a rule", "nobody is there")


def permission_of(
    judge=lab11.verdict,
    is_yes=lambda answer: answer is True,
    asked=lambda ask, call: ask(call) if ask else "nobody is there",
    no=lambda call, why: tool_result(call["id"], f"{NO}{why}", is_error=True),
    made=lambda tool, call: tool(call),
    always_ask=False,
):
    """A permission with one thing changed."""

    def permission(tool, rules, ask=None):
        def permitted(call):
            said = judge(rules, call)
            if said == "ask" or always_ask:
                answer = asked(ask, call)
            else:
                answer = said == "allow" or "a rule"
            if is_yes(answer):
                return made(tool, call)
            return no(call, answer if isinstance(answer, str) else "the user said no")

        return permitted

    return permission


def permission_early(tool, rules, ask=None):
    def refuse(call, why):
        content = [{"type": "text", "text": NO + why}]
        return {
            "type": "tool_result",
            "tool_use_id": call["id"],
            "content": NO + why if content else "",
            "is_error": True,
        }

    def permitted(call):
        match verdict_by_rank(rules, call):
            case "allow":
                return tool(call)
            case "deny":
                return refuse(call, "a rule denies it")
        if ask is None:
            return refuse(call, "nobody can be asked")
        answer = ask(call)
        return tool(call) if answer is True else refuse(call, str(answer or "somebody said no"))

    return permitted


class Guard:
    def __init__(self, tool, rules, ask=None):
        self.tool, self.rules, self.ask = tool, rules, ask

    def __call__(self, call):
        said = lab11.verdict(self.rules, call)
        if said == "ask" and self.ask:
            answer = self.ask(call)
            said = "allow" if answer is True else str(answer or "no")
        if said == "allow":
            return self.tool(call)
        return tool_result(call["id"], f"{NO}{said}", is_error=True)


def made_then_judged(tool, rules, ask=None):
    def permitted(call):
        result = tool(call)
        return lab11.permission_by(lab11.verdict)(lambda call: result, rules, ask)(call)

    return permitted


def remembers(tool, rules, ask=None):
    known = {}

    def once(call):
        if call["name"] not in known:
            known[call["name"]] = ask(call) if ask else False
        return known[call["name"]]

    return lab11.permission_by(lab11.verdict)(tool, rules, once)


def raising(call, why):
    raise PermissionError(why)


# pool


def pool_of_a_class(cap_usd, most_usd):
    class Purse:
        def __init__(self):
            self.lock, self.spent, self.under_way = RLock(), 0.0, 0

        def left(self):
            return cap_usd - self.spent

        def paid(self, model):
            def speak(request):
                with self.lock:
                    if self.spent + self.under_way * most_usd >= cap_usd:
                        raise Spent("nothing left")
                    self.under_way += 1
                try:
                    reply = model(request)
                except BaseException:
                    with self.lock:
                        self.under_way -= 1
                    raise
                with self.lock:
                    self.under_way -= 1
                    self.spent += reply.get("cost_usd") or 0
                return reply

            return speak

    purse = Purse()
    return purse.paid, purse.left


def pool_that_waits(cap_usd, most_usd):
    state, changed = {"spent": 0.0, "reserved": 0.0}, Condition()

    def paid(model):
        def speak(request):
            with changed:
                while state["spent"] < cap_usd <= state["spent"] + state["reserved"]:
                    changed.wait()
                if state["spent"] >= cap_usd:
                    raise Spent("spent")
                state["reserved"] += most_usd
            try:
                reply = model(request)
                with changed:
                    state["spent"] += reply["cost_usd"] or 0.0
                return reply
            finally:
                with changed:
                    state["reserved"] -= most_usd
                    changed.notify_all()

        return speak

    return [paid, lambda: cap_usd - state["spent"]]


ALL = {"spent": 0.0, "reserved": 0.0}


def pool_of(
    held=lambda state, cap: state["spent"] + state["reserved"] >= cap,
    price=lambda reply, most: reply["cost_usd"] or 0.0,
    refuse=None,
    gives_back=True,
    locked=False,
    late=False,
    shared=None,
    left=lambda state, cap: cap - state["spent"],
    each=False,
):
    """A pool with one thing changed."""

    def pool(cap_usd, most_usd):
        state, lock = shared or {"spent": 0.0, "reserved": 0.0}, Lock()

        def paid(model):
            mine = {"spent": 0.0, "reserved": 0.0} if each else state

            def speak(request):
                with lock:
                    if not late and held(mine, cap_usd):
                        if refuse:
                            return refuse()
                        raise Spent("nothing is left")
                    mine["reserved"] += most_usd
                    if locked:
                        try:
                            reply = model(request)
                        except Exception:
                            mine["reserved"] -= most_usd
                            raise
                try:
                    reply = reply if locked else model(request)
                except Exception:
                    with lock:
                        mine["reserved"] -= most_usd * gives_back
                    raise
                with lock:
                    mine["reserved"] -= most_usd
                    mine["spent"] += price(reply, most_usd)
                    if late and held(mine, cap_usd):
                        raise Spent("nothing is left")
                return reply

            return speak

        return paid, lambda: left(state, cap_usd)

    return pool


# all_together

MOST_USD = 0.01  # a call, where nobody says

answer, structural_stop, brakes = ours("answer", "structural_stop", "brakes")
first_of, until_end, repetition = ours("first_of", "until_end", "repetition")
marked, stop_hook, journaled, retried = ours("marked", "stop_hook", "journaled", "retried")
pool, permission = ours("pool", "permission")


def bare(model, sleep=None):
    return model


def together(
    retry: Callable = retried,
    retry_last=False,
    safe_user=True,
    paid_first=False,
    permit_first=False,
    asks=asked_at,
    hooked=lambda stop, hook: stop_hook(stop, hook) if hook else stop,
    around=lambda policy, hook: policy,
    pooled=True,
    detect=True,
    view=lambda run: marked({"messages": run.messages}),
    use_purse=True,
    journal=journaled,
    use_safe=True,
    guard=permission,
    more_first=False,
    closed=True,
    own_clock=False,
):
    """The worked answer, with one thing changed."""

    def all_together(
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
        paid, left = (purse if use_purse else None) or pool(cap_usd, MOST_USD)
        given = clock

        def speak(request):
            return model(request["messages"])

        speak = speak if retry_last else retry(speak, sleep=sleep)
        tool = with_user(lambda call: answer(call, tools), ask)
        if paid_first:
            speak = paid(speak)
        if permit_first and rules is not None:
            tool = guard(tool, rules, asks(tool))
        if path:
            named = [*(safe if use_safe else ()), *([USER] if safe_user else [])]
            speak, tool, clock = journal(path, speak, tool, clock, named)
        if not paid_first:
            speak = paid(speak)
        speak = retry(speak, sleep=sleep) if retry_last else speak
        if rules is not None and not permit_first:
            tool = guard(tool, rules, asks(tool) if asks is asked_at else ask)
        empty = brake(lambda run: End("cost_cap", "empty") if left() <= 0 else None)
        policies = [
            hooked(structural_stop, hook),
            brakes(max_rounds, cap_usd, seconds),
            *([empty] if pooled else []),
            *([brake(repetition())] if detect else []),
        ]
        policies = [*more, *policies] if more_first else [*policies, *more]
        policy = around(first_of(*policies) if not more_first else first(policies), hook)
        run = Run(prompt, given if own_clock else clock)
        try:
            end = until_end(run, policy, view, speak, tool)
        except KeyboardInterrupt:
            if not closed:
                raise
            end = End("interrupted")
        run.close(end)
        return run.messages, run.label

    return all_together


def first(policies):
    def policy(run):
        return next((word for each in policies if (word := each(run))), None)

    return policy


def marked_in_place(run):
    request = marked({"messages": run.messages})
    run.messages[:] = request["messages"]
    return request


def hook_around_all(policy, hook):
    def held(run):
        word = policy(run)
        if isinstance(word, End) and hook and (said := hook(run, False)):
            return lab11_say(said)
        return word

    return held


def lab11_say(words):
    from harness_zero.labels import Say

    return Say(words)


def plain_view(run):
    return {"messages": run.messages}


class Turn:
    """One turn, with a port a method."""

    def __init__(self, model, tools, paid, ask):
        self.ask_model, self.tools, self.paid, self.ask = model, tools, paid, ask

    def model(self, request):
        return self.ask_model(request["messages"])

    def tool(self, call):
        if call["name"] == USER:
            return with_user(self.tool, self.ask)(call)
        return answer(call, self.tools)

    def view(self, run):
        return marked({"messages": [*run.messages]})


def in_methods(model, tools, prompt, **more):
    given = {"max_rounds": 20, "cap_usd": 2.0, "seconds": 600, "clock": time.monotonic} | more
    paid, left = given.get("purse") or pool(given["cap_usd"], MOST_USD)
    turn = Turn(model, tools, paid, given.get("ask"))
    speak, tool, clock = retried(turn.model, given.get("sleep", time.sleep)), turn.tool, None
    if path := given.get("path"):
        safe = {*given.get("safe", ()), USER}
        speak, tool, clock = journaled(path, speak, tool, given["clock"], safe)
    if (rules := given.get("rules")) is not None:
        tool = permission(tool, rules, asked_at(tool))
    hook = given.get("hook") or (lambda run, again: None)
    limits = (given[name] for name in ("max_rounds", "cap_usd", "seconds"))
    policies = [stop_hook(structural_stop, hook), brakes(*limits)]
    policies += [brake(lambda run: End("cost_cap") if left() <= 0 else None), brake(repetition())]
    run = Run(prompt, clock or given["clock"])
    try:
        end = until_end(
            run, first_of(*policies, *given.get("more", ())), turn.view, paid(speak), tool
        )
    except KeyboardInterrupt:
        end = End("interrupted", "")
    return run.close(end).messages, run.label


def told_who():
    return "c", 8


def told_who_aloud():
    return ["C", 8]


def told_who_in_steps():
    letter, at = " c", 8
    return letter, at


RIGHT = {
    "verdict": [lab11.verdict, verdict_by_rank, verdict_in_steps, verdict_of(choose=max)],
    "permission": [
        lab11.permission_by(lab11.verdict),
        permission_early,
        Guard,
        permission_of(),
    ],
    "who_let_it": [told_who, told_who_aloud, told_who_in_steps],
    "pool": [lab11.pool, pool_of_a_class, pool_that_waits, pool_of()],
    "all_together": [together(), ours("run")[0], in_methods],
}

WRONG = {
    "verdict": {
        "the first": (verdict_of(choose=lambda all: all[0]), "a deny outweighs an ask"),
        "the last": (verdict_of(choose=lambda all: all[-1]), "a deny outweighs an ask"),
        "allowed": (verdict_of(default="allow"), "what nobody thought of"),
        "denied": (verdict_of(default="deny"), "'ask' for delete_all"),
        "nothing": (verdict_of(default=None), "'ask' for delete_all"),
        "names alone": (
            verdict_of(fits=lambda pattern, call: pattern == call["name"]),
            "`*` stands for any letters",
        ),
        "a part": (
            verdict_of(fits=lambda pattern, call: pattern.strip("*") in call["name"]),
            "a part of a name is no name",
        ),
        "sorts": (verdict_that_sorts, "somebody else's list"),
    },
    "permission": {
        "any words": (
            permission_of(is_yes=lambda answer: bool(answer) and answer not in KEPT),
            "only True itself is a yes",
        ),
        "equal to true": (
            permission_of(is_yes=lambda answer: answer in (True,)),
            "after the answer 1",
        ),
        "unless no": (
            permission_of(is_yes=lambda answer: answer is not False and answer not in KEPT),
            "only True itself is a yes",
        ),
        "made first": (made_then_judged, "where a rule denies it"),
        "raises": (permission_of(no=raising), "PermissionError"),
        "nobody asked": (
            permission_of(asked=lambda ask, call: ask(call)),
            "ask is None where nobody is there",
        ),
        "nobody means yes": (
            permission_of(asked=lambda ask, call: ask(call) if ask else True),
            "silence is no yes",
        ),
        "asks of the name": (
            permission_of(asked=lambda ask, call: ask(call["name"]) if ask else False),
            "has to see what would happen",
        ),
        "asks twice": (
            permission_of(asked=lambda ask, call: ask and ask(call) and ask(call)),
            "2 questions",
        ),
        "a success": (
            permission_of(no=lambda call, why: tool_result(call["id"], f"{NO}{why}")),
            "nothing that was not done was a success",
        ),
        "no reason": (
            permission_of(
                no=lambda call, why: tool_result(call["id"], f"{NO}", is_error=True),
            ),
            "say that it was not, and why",
        ),
        "an error": (
            permission_of(
                no=lambda call, why: tool_result(call["id"], f"error: denied: {why}", True),
            ),
            "an error alone sounds as if it had been tried",
        ),
        "another id": (
            permission_of(no=lambda call, why: tool_result("denied", f"{NO}{why}", is_error=True)),
            "a result for d1",
        ),
        "words alone": (permission_of(no=lambda call, why: why), "a tool_result whatever"),
        "only the input": (
            permission_of(made=lambda tool, call: tool({**call, "input": {}})),
            "once, as asked",
        ),
        "twice": (
            permission_of(made=lambda tool, call: tool(call) and tool(call)),
            "once, as asked",
        ),
        "wrapped again": (
            permission_of(made=lambda tool, call: tool(call) and tool_result(call["id"], "done")),
            "nothing about what comes back",
        ),
        "remembers": (remembers, "one yes is for one call"),
        "no port": (lambda tool, rules, ask=None: None, "a tool port back"),
        "decides at once": (
            lambda tool, rules, ask=None: ours("verdict")(rules, tool),
            "there is no call yet",
        ),
    },
    "who_let_it": {
        "no number": (lambda: "c", "a letter of a, b, c, d, e"),
        "the refusal": (lambda: ("b", 4), "old.txt is still there"),
        "the request": (lambda: ("d", 7), "no rule says a word about that"),
        "the call": (lambda: ("c", 7), "so far it holds"),
        "the end": (lambda: ("c", 9), "look further up"),
        "unanswered": (lambda: ("a", 8), "every call is answered"),
    },
    "pool": {
        "a check alone": (
            pool_of(held=lambda state, cap: state["spent"] >= cap),
            "a check alone sees what is spent",
        ),
        "after the call": (pool_of(late=True), "Spent: nothing is left"),
        "the reservation is the price": (
            pool_of(price=lambda reply, most: most),
            "settled is what the call cost",
        ),
        "never settled": (pool_of(price=lambda reply, most: 0.0), "settled is what the call cost"),
        "what is spent": (pool_of(left=lambda state, cap: state["spent"]), "nothing is spent yet"),
        "one lock for all": (pool_of(locked=True), "not while the model speaks"),
        "one pool for all": (pool_of(shared=ALL), "is a pool of its own"),
        "kept": (pool_of(gives_back=False), "what was reserved for it goes back"),
        "too early": (
            pool_of(held=lambda state, cap: state["spent"] + state["reserved"] + 0.375 > cap),
            "it can pass the cap, the next cannot",
        ),
        "more than the cap": (
            pool_of(held=lambda state, cap: state["spent"] + state["reserved"] > cap),
            "no third call",
        ),
        "no price": (
            pool_of(price=lambda reply, most: reply["cost_usd"]),
            "None where nobody knows the price",
        ),
        "one function": (lambda cap, most: lambda model: model, "return paid, left"),
    },
    "all_together": {
        "no hook": (together(hooked=lambda stop, hook: stop), "in the place of the stop"),
        "a hook around all": (
            together(hooked=lambda stop, hook: stop, around=hook_around_all),
            "talk a brake out of holding",
        ),
        "no detector": (together(detect=False), "the label stuck"),
        "no marks": (together(view=plain_view), "in the view"),
        "marks that stay": (together(view=marked_in_place), "request 2 to hold all 3 messages"),
        "not tried again": (together(retry=bare), "retried(...) stands around the model"),
        "tried again outside": (together(retry_last=True), "around it each attempt is a step"),
        "no journal": (
            together(journal=lambda path, model, tool, clock, safe: (model, tool, clock)),
            "journaled(path, model, tool, clock, safe) around both",
        ),
        "its own clock": (together(own_clock=True), "the clock that journaled(...) gave back"),
        "nothing safe": (together(use_safe=False), "`safe` goes on to journaled"),
        "the user not safe": (together(safe_user=False), "name USER among what is safe"),
        "asked beside the journal": (
            together(asks=lambda tool: None),
            "and so becomes a step: permission(tool, rules, asked_at(tool))",
        ),
        "no permission": (together(guard=lambda tool, rules, ask: tool), "if there are rules"),
        "a permission that takes any words": (
            together(guard=permission_of(is_yes=lambda answer: bool(answer))),
            "take these words for a yes?",
        ),
        "permission inside": (together(permit_first=True), "stands outside of the journal"),
        "the purse inside": (together(paid_first=True), "a replay asks no model, and pays"),
        "no purse": (together(use_purse=False), "a brake that holds once left() is 0"),
        "no brake": (together(pooled=False), "a brake that holds once left() is 0"),
        "more first": (together(more_first=True), "the order of the policies"),
        "no interrupt": (together(closed=False), "the label interrupted"),
    },
}
