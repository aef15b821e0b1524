"""Answers to lab 05: right ones of several shapes, and what people get wrong."""

import time

from harness_zero import loop, policy
from harness_zero.assembly import assemble, of_messages
from harness_zero.grading.lab05 import around, brakes, until_end
from harness_zero.labels import End, Label, Say
from harness_zero.loop import ModelFailed
from harness_zero.messages import tool_uses, user
from harness_zero.policy import ending, first_of, structural_stop
from harness_zero.run import Run
from harness_zero.stages.s3_error_as_data import answer
from harness_zero.toolbox import toolbox
from harness_zero.view import plain

# structural_stop


def stop_in_one_condition(run):
    waits = run.last_word is None or run.pending
    label = None if waits else ending(run.last_word)
    return End(label) if label else None


def stop_step_by_step(run):
    reply = run.last_word
    if reply is None:
        return None
    label = ending(reply)
    if label is None:
        return None
    return End(str(label), f"the reply ended with {reply['stop_reason']}")


# brakes


def brakes_one_after_the_other(max_rounds=20, cap_usd=2.0, seconds=600):
    def policy(run):
        if run.rounds >= max_rounds:
            return End("max_rounds")
        if run.cost_usd >= cap_usd:
            return End("cost_cap")
        if run.elapsed >= seconds:
            return End("deadline")
        return None

    return policy


def brakes_in_a_table(max_rounds=20, cap_usd=2.0, seconds=600):
    def policy(run):
        holds = {
            Label.MAX_ROUNDS: run.rounds >= max_rounds,
            Label.COST_CAP: run.cost_usd >= cap_usd,
            Label.DEADLINE: run.elapsed >= seconds,
        }
        return next((End(label) for label, held in holds.items() if held), None)

    return policy


class BrakesAsAnObject:
    def __init__(self, max_rounds=20, cap_usd=2.0, seconds=600):
        self.limits = max_rounds, cap_usd, seconds

    def __call__(self, run):
        spent = run.rounds, run.cost_usd, run.clock() - run.began
        labels = "max_rounds", "cost_cap", "deadline"
        held = [n for n, s, limit in zip(labels, spent, self.limits, strict=True) if s >= limit]
        return End(held[0]) if held else None


# first_of


def first_of_by_two_lists(*policies):
    def policy(run):
        said = [word for word in [ask(run) for ask in policies] if word]
        ends = [word for word in said if isinstance(word, End)]
        if ends:
            return ends[0]
        return Say("\n".join(word.text for word in said)) if said else None

    return policy


def first_of_by_one_pass(*policies):
    def policy(run):
        spoken = ""
        for ask in policies:
            word = ask(run)
            if isinstance(word, End):
                return word
            if isinstance(word, Say):
                spoken = f"{spoken} {word.text}".strip()
        if spoken:
            return Say(spoken)

    return policy


# quiet_nudge


def by_letter():
    return "d", 4


def by_variables():
    letter, message = "d", 4
    return letter, message


# until_end


def until_end_by_return(run, policy, view, model, tool):
    while True:
        word = policy(run)
        if isinstance(word, End):
            return word
        if isinstance(word, Say):
            run.say(word.text)
        if run.pending:
            while run.pending:
                run.answer(tool(run.begin()))
            continue
        request = view(run)
        try:
            reply = model(request)
        except Exception as error:
            return End(Label.MODEL_ERROR, f"{type(error).__name__}: {error}")
        run.hear(reply)


def until_end_with_a_flag(run, policy, view, model, tool):
    end, failed = None, None
    while not end:
        word = policy(run)
        if isinstance(word, End):
            end = word
            break
        if word is not None:
            run.say(word.text)
        if not run.pending:
            request = view(run)
            try:
                reply = model(request)
            except Exception as error:
                failed = repr(error)
            if failed is not None:
                return End("model_error", failed)
            run.hear(reply)
        else:
            for _ in range(len(run.pending)):
                call = run.begin()
                run.answer(tool(call))
    return end


def until_end_of_the_library(run, policy, view, model, tool):
    try:
        return loop.until_end(run, policy, view, model, tool)
    except ModelFailed as failure:
        return End(Label.MODEL_ERROR, str(failure))


# two_halves


def two_halves_of_pieces(
    model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic, more=()
):
    run = Run(prompt, clock)
    policy = first_of(structural_stop, brakes_in_a_table(max_rounds, cap_usd, seconds), *more)
    try:
        end = until_end_by_return(
            run,
            policy,
            lambda run: {"messages": run.messages},
            lambda request: model(request["messages"]),
            lambda call: answer(call, tools),
        )
    except KeyboardInterrupt:
        end = End("interrupted")
    run.close(end)
    return run.messages, run.label


def two_halves_by_turn(
    model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic, more=()
):
    run = Run(prompt, clock)
    policies = structural_stop, brakes(max_rounds, cap_usd, seconds), *more
    loop.turn(run, first_of(*policies), plain(), of_messages(model), toolbox(tools))
    return run.messages, run.label


def two_halves_by_assembly(
    model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic, more=()
):
    held = policy.max_rounds(max_rounds), policy.cost_cap(cap_usd), policy.deadline(seconds)
    run = assemble(of_messages(model), tools, brakes=[*held, *more])(Run(prompt, clock))
    return run.messages, run.label


RIGHT = {
    "structural_stop": [structural_stop, stop_in_one_condition, stop_step_by_step],
    "brakes": [brakes, brakes_one_after_the_other, brakes_in_a_table, BrakesAsAnObject],
    "first_of": [first_of, first_of_by_two_lists, first_of_by_one_pass],
    "quiet_nudge": [by_letter, by_variables, lambda: ["D", 4]],
    "until_end": [until_end_by_return, until_end_with_a_flag, until_end_of_the_library],
    "two_halves": [two_halves_of_pieces, two_halves_by_turn, two_halves_by_assembly],
}


# what people get wrong


def stop_without_a_word(run):
    return End(ending(run.last_word)) if ending(run.last_word) else None


def stop_at_the_newest_reply(run):
    label = ending(run.replies[-1]) if run.replies else None
    return End(label) if label else None


def stop_by_calls(run):
    reply = run.last_word
    return End("finished") if reply and not tool_uses(reply) else None


def stop_with_a_label(run):
    return ending(run.last_word) if run.last_word else None


def stop_with_any_end(run):
    return End(ending(run.last_word)) if run.last_word else None


def stop_where_calls_are(run):
    reply = run.last_word
    if reply is None or tool_uses(reply):
        return None
    return End(ending(reply)) if ending(reply) else None


def stop_that_pops(run):
    reply, run.last_word = run.last_word, None
    return End(ending(reply)) if reply and ending(reply) else None


def stop_while_calls_wait(run):
    if run.last_word is None:
        return None
    return End(ending(run.last_word) or "unknown_stop")


def brake_of(holds, usual=(20, 2.0, 600)):
    """Brakes with another condition for each."""

    def brakes(max_rounds=usual[0], cap_usd=usual[1], seconds=usual[2]):
        def policy(run):
            labels = "max_rounds", "cost_cap", "deadline"
            held = holds(run, max_rounds, cap_usd, seconds)
            return next((End(n) for n, h in zip(labels, held, strict=True) if h), None)

        return policy

    return brakes


def plain_holds(run, rounds, usd, seconds):
    return run.rounds >= rounds, run.cost_usd >= usd, run.elapsed >= seconds


def brakes_that_count(max_rounds=20, cap_usd=2.0, seconds=600):
    asked = 0

    def policy(run):
        nonlocal asked
        asked += 1
        return (
            End("max_rounds") if asked > max_rounds else brakes(max_rounds, cap_usd, seconds)(run)
        )

    return policy


def brakes_that_count_in_vain(max_rounds=20, cap_usd=2.0, seconds=600):
    asked = 0

    def policy(run):
        asked += 1  # noqa: F823
        return End("max_rounds") if asked > max_rounds else None

    return policy


def brakes_with_a_clock(max_rounds=20, cap_usd=2.0, seconds=600):
    began = time.monotonic()

    def policy(run):
        if time.monotonic() - began >= seconds:
            return End("deadline")
        return brakes(max_rounds, cap_usd, 10**9)(run)

    return policy


def brakes_that_end(give):
    """Brakes that hold, and give back something else."""

    def wrong(max_rounds=20, cap_usd=2.0, seconds=600):
        made = brakes(max_rounds, cap_usd, seconds)
        return lambda run: give(str(word.label)) if (word := made(run)) else None

    return wrong


def brakes_that_remember(max_rounds=20, cap_usd=2.0, seconds=600):
    most = [0]

    def policy(run):
        most[0] = max(most[0], run.rounds)
        return End("max_rounds") if most[0] >= max_rounds else brakes(99, cap_usd, seconds)(run)

    return policy


def brakes_without_a_policy(max_rounds=20, cap_usd=2.0, seconds=600):
    return End("max_rounds")


def brakes_that_say(max_rounds=20, cap_usd=2.0, seconds=600):
    made = brakes(max_rounds, cap_usd, seconds)
    return lambda run: Say("Stop now.") if made(run) else None


def brakes_with_a_label(max_rounds=20, cap_usd=2.0, seconds=600):
    made = brakes(max_rounds, cap_usd, seconds)
    return lambda run: made(run).label if made(run) else None


def brakes_where_calls_wait(max_rounds=20, cap_usd=2.0, seconds=600):
    made = brakes(max_rounds, cap_usd, seconds)
    return lambda run: made(run) if run.pending else None


def brakes_that_take_the_calls(max_rounds=20, cap_usd=2.0, seconds=600):
    made = brakes(max_rounds, cap_usd, seconds)

    def policy(run):
        if word := made(run):
            run.pending.clear()
        return word

    return policy


def first_of_the_first_word(*policies):
    return lambda run: next(filter(None, (ask(run) for ask in policies)), None)


def first_of_the_last_end(*policies):
    def policy(run):
        said = [word for ask in policies if (word := ask(run))]
        ends = [word for word in said if isinstance(word, End)]
        if ends:
            return ends[-1]
        return Say("\n".join(word.text for word in said)) if said else None

    return policy


def first_of_the_last_words(*policies):
    def policy(run):
        words = None
        for ask in policies:
            word = ask(run)
            if isinstance(word, End):
                return word
            words = word or words
        return words

    return policy


def first_of_with_words_first(*policies):
    def policy(run):
        said = [word for ask in policies if (word := ask(run))]
        words = [word.text for word in said if isinstance(word, Say)]
        ends = [word for word in said if isinstance(word, End)]
        return Say("\n".join(words)) if words else (ends[0] if ends else None)

    return policy


def first_of_with_empty_words(*policies):
    def policy(run):
        said = [word for ask in policies if (word := ask(run))]
        ends = [word for word in said if isinstance(word, End)]
        return ends[0] if ends else Say("\n".join(word.text for word in said))

    return policy


def first_of_without_a_space(*policies):
    def policy(run):
        said = [word for ask in policies if (word := ask(run))]
        ends = [word for word in said if isinstance(word, End)]
        return ends[0] if ends else Say("".join(word.text for word in said)) if said else None

    return policy


def first_of_asked_twice(*policies):
    def policy(run):
        for ask in policies:
            if isinstance(ask(run), End):
                return ask(run)
        said = [word.text for ask in policies if (word := ask(run))]
        return Say("\n".join(said)) if said else None

    return policy


def first_of_a_list(*policies):
    return lambda run: [word for ask in policies if (word := ask(run))] or None


def first_of_asked_at_once(*policies):
    known = {}

    def policy(run):
        if "word" not in known:
            known["word"] = first_of(*policies)(run)
        return known["word"]

    return policy


def first_of_in_reverse(*policies):
    def policy(run):
        said = [word for ask in policies if (word := ask(run))]
        ends = [word for word in said if isinstance(word, End)]
        words = [word.text for word in said if isinstance(word, Say)][::-1]
        return ends[0] if ends else Say("\n".join(words)) if words else None

    return policy


def first_of_with_its_list_outside(*policies):
    spoken = []

    def policy(run):
        for ask in policies:
            word = ask(run)
            if isinstance(word, End):
                return word
            if word:
                spoken.append(word.text)
        return Say("\n".join(spoken)) if spoken else None

    return policy


def first_of_called_at_once(*policies):
    return policies[0] if policies else None


def looping(speak=None, act=None, listen=None):
    """The loop with one part changed."""

    def say(run, word):
        run.say(word.text)
        return False

    def make(run, tool):
        while run.pending:
            run.answer(tool(run.begin()))

    def hear(run, view, model):
        request = view(run)
        try:
            reply = model(request)
        except Exception as error:
            return End("model_error", repr(error))
        run.hear(reply)

    def until_end(run, policy, view, model, tool):
        while not isinstance(word := policy(run), End):
            if word and (speak or say)(run, word):
                continue
            if run.pending:
                (act or make)(run, tool)
            elif end := (listen or hear)(run, view, model):
                return end
        return word

    return until_end


def says_instead(run, word):
    run.say(word.text)
    return True


def says_nothing(run, word):
    return False


def appends_words(run, word):
    run.messages.append(user(word.text))


def speaks_for_itself(run, word):
    return True


def one_call_at_a_time(run, tool):
    run.answer(tool(run.begin()))


def the_same_call_again(run, tool):
    for call in [*run.pending]:
        run.begin()
        run.answer({**tool(call), "content": "ok"})


def answers_what_was_not_begun(run, tool):
    for call in run.pending:
        run.answer(tool(call))


def begins_all_then_answers(run, tool):
    calls = [run.begin() for _ in range(len(run.pending))]
    for call in calls:
        run.answer(tool(call))


def begins_once_too_often(run, tool):
    while call := run.begin():
        run.answer(tool(call))


def says_the_wrapping(run, word):
    run.say(word)


def says_it_afterwards(run, policy, view, model, tool):
    while not isinstance(word := policy(run), End):
        if run.pending:
            while run.pending:
                run.answer(tool(run.begin()))
        else:
            request = view(run)
            try:
                reply = model(request)
            except Exception as error:
                return End("model_error", repr(error))
            run.hear(reply)
        if word:
            run.say(word.text)
    return word


def closes_where_the_model_fails(run, view, model):
    request = view(run)
    try:
        reply = model(request)
    except Exception as error:
        end = End("model_error", repr(error))
        run.close(end)
        return end
    run.hear(reply)


def hears_inside_the_net(run, view, model):
    request = view(run)
    try:
        run.hear(model(request))
    except Exception as error:
        return End("model_error", repr(error))


def half_a_call(run, tool):
    while run.pending:
        call = run.begin()
        run.answer(tool({"name": call["name"], "input": call["input"]}))


def listens_without_a_net(run, view, model):
    run.hear(model(view(run)))


def listens_with_a_net_around_all(run, view, model):
    try:
        run.hear(model(view(run)))
    except Exception as error:
        return End("model_error", repr(error))


def sends_the_messages(run, view, model):
    run.hear(model(run.messages))


def sends_its_own_request(run, view, model):
    run.hear(model({"messages": run.messages}))


def tells_nobody_why(run, view, model):
    request = view(run)
    try:
        run.hear(model(request))
    except Exception:
        return End("model_error")


def ends_as_interrupted(run, view, model):
    request = view(run)
    try:
        run.hear(model(request))
    except Exception as error:
        return End("interrupted", repr(error))


def tells_its_words_alone(run, view, model):
    request = view(run)
    try:
        run.hear(model(request))
    except Exception as error:
        return End("model_error", str(error))


def catches_more_than_failures(run, view, model):
    request = view(run)
    try:
        reply = model(request)
    except BaseException as error:
        return End("model_error", repr(error))
    run.hear(reply)


def asks_once_a_round(run, policy, view, model, tool):
    while not isinstance(word := policy(run), End):
        if word:
            run.say(word.text)
        listens_without_a_net(run, view, model)
        while run.pending:
            run.answer(tool(run.begin()))
    return word


def gives_back_the_run(run, policy, view, model, tool):
    run.close(until_end(run, policy, view, model, tool))
    return run


def gives_back_the_label(run, policy, view, model, tool):
    return until_end(run, policy, view, model, tool).label


def stops_at_words(run, policy, view, model, tool):
    while not (word := policy(run)):
        if run.pending:
            while run.pending:
                run.answer(tool(run.begin()))
        else:
            run.hear(model(view(run)))
    return word if isinstance(word, End) else End("finished")


def catches_it_all(run, policy, view, model, tool):
    try:
        return until_end(run, policy, view, model, tool)
    except Exception as error:
        return End("model_error", str(error))


def catches_ctrl_c(run, policy, view, model, tool):
    try:
        return until_end(run, policy, view, model, tool)
    except KeyboardInterrupt:
        return End("interrupted")


def closes_by_itself(run, policy, view, model, tool):
    end = until_end(run, policy, view, model, tool)
    run.close(end)
    return end


def half(**changed):
    """The harness with one piece changed."""
    pieces = {
        "act": lambda reply, tools: user(*[answer(call, tools) for call in tool_uses(reply)]),
        "structural_stop": structural_stop,
        "brakes": brakes,
        "first_of": first_of_by_one_pass,
        "until_end": until_end,
    }
    return around(**{**pieces, **changed})


def halves(
    shape=lambda run: (run.messages, run.label),
    order=lambda stop, held, more: (stop, held, *more),
    limits=(20, 2.0, 600),
    close=lambda run, end: run.close(end),
    caught=KeyboardInterrupt,
    speak=of_messages,
):
    """The harness with one step changed."""

    def two_halves(
        model,
        tools,
        prompt,
        max_rounds=limits[0],
        cap_usd=limits[1],
        seconds=limits[2],
        clock=time.monotonic,
        more=(),
    ):
        run = Run(prompt, clock)
        held = brakes_in_a_table(max_rounds, cap_usd, seconds)
        policy = first_of_by_one_pass(*order(structural_stop, held, more))
        try:
            end = until_end(run, policy, plain(), speak(model), toolbox(tools))
        except caught:
            end = End("interrupted")
        close(run, end)
        return shape(run)

    return two_halves


def closes_inside_the_try(
    model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic, more=()
):
    run = Run(prompt, clock)
    policies = first_of_by_one_pass(
        structural_stop, brakes_in_a_table(max_rounds, cap_usd, seconds), *more
    )
    try:
        end = until_end(run, policies, plain(), of_messages(model), toolbox(tools))
        run.close(end)
    except KeyboardInterrupt:
        end = End("interrupted")
    return run.messages, run.label


def without_more(
    model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic
):
    return half()(model, tools, prompt, max_rounds, cap_usd, seconds, clock)


def with_its_own_clock(
    model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic, more=()
):
    return half()(model, tools, prompt, max_rounds, cap_usd, seconds, time.monotonic, more)


def deaf(model, tools, prompt, **limits):
    return half()(model, tools, prompt, **{**limits, "more": ()})


WRONG = {
    "structural_stop": {
        "no word yet": (stop_without_a_word, "'NoneType' object is not subscriptable"),
        "the newest reply": (stop_at_the_newest_reply, "words to a reply that was an answer"),
        "calls alone": (stop_by_calls, "the label finished"),
        "a label and no End": (stop_with_a_label, "'finished'>, which is no End"),
        "an End of None": (stop_with_any_end, "got:      End('None')"),
        "calls that do not wait": (stop_where_calls_are, "a reply with calls that was cut off"),
        "takes the word away": (stop_that_pops, "run.last_word to stay"),
        "no ending is unknown": (stop_while_calls_wait, "got:      End('unknown_stop')"),
        "says it to the model": (lambda run: Say("Stop."), "got:      Say('Stop.')"),
        "no return": (lambda run: None, "got:      None, which is no End"),
    },
    "brakes": {
        "beyond the limit": (
            brake_of(lambda run, r, u, s: (run.rounds > r, run.cost_usd > u, run.elapsed > s)),
            "at it the brake holds (>=, not >)",
        ),
        "a cap that is passed": (
            brake_of(lambda run, r, u, s: (run.rounds >= r, run.cost_usd > u, run.elapsed >= s)),
            "End('cost_cap') at $2.00 of $2.00",
        ),
        "one round early": (
            brake_of(
                lambda run, r, u, s: (run.rounds + 1 >= r, run.cost_usd >= u, run.elapsed >= s)
            ),
            "None at 4 rounds of 5",
        ),
        "rounds of all turns": (
            brake_of(
                lambda run, r, u, s: (len(run.replies) >= r, run.cost_usd >= u, run.elapsed >= s)
            ),
            "None at the beginning of a second turn\n        got:      End('max_rounds')",
        ),
        "money of one turn": (
            brake_of(
                lambda run, r, u, s: (
                    run.rounds >= r,
                    sum(each["cost_usd"] for each in run.last(99)) >= u,
                    run.elapsed >= s,
                )
            ),
            "a purse does not fill up",
        ),
        "what the clock shows": (
            brake_of(lambda run, r, u, s: (run.rounds >= r, run.cost_usd >= u, run.clock() >= s)),
            "None at the beginning of a second turn\n        got:      End('deadline')",
        ),
        "a clock of its own": (
            brake_of(
                lambda run, r, u, s: (
                    run.rounds >= r,
                    run.cost_usd >= u,
                    time.monotonic() + 10**6 - run.began >= s,
                )
            ),
            "59 seconds is what run.elapsed says",
        ),
        "tokens for money": (
            brake_of(lambda run, r, u, s: (run.rounds >= r, run.tokens >= u, run.elapsed >= s)),
            "what the run has cost: run.cost_usd",
        ),
        "fifty rounds": (brake_of(plain_holds, (50, 2.0, 600)), "after 20 replies"),
        "ten dollars": (brake_of(plain_holds, (20, 10.0, 600)), "at $2.0\n"),
        "a minute": (brake_of(plain_holds, (20, 2.0, 60)), "after 599 seconds"),
        "counts how often it is asked": (brakes_that_count, "however often it is asked"),
        "remembers another run": (brakes_that_remember, "after it was asked of another"),
        "no policy": (brakes_without_a_policy, "a policy back: a function of the run"),
        "says it to the model": (brakes_that_say, "got:      Say('Stop now.')"),
        "a label and no End": (brakes_with_a_label, "'max_rounds'>, which is no End"),
        "a text and no End": (
            brakes_that_end(lambda label: label),
            "the loop looks for an End, and a text is none: End('max_rounds')",
        ),
        "a label misspelt": (
            brakes_that_end(lambda label: End(label.replace("rounds", "round"))),
            "there is no label 'max_round'; is max_rounds meant?",
        ),
        "a counter that is not there yet": (brakes_that_count_in_vain, "keeps no count"),
        "a clock since it was made": (brakes_with_a_clock, "by the run's own clock"),
        "only where calls wait": (brakes_where_calls_wait, "is the stop's question"),
        "takes the calls away": (brakes_that_take_the_calls, "run.pending to stay"),
    },
    "first_of": {
        "the first word": (first_of_the_first_word, "got:      Say('hm')"),
        "the last end": (first_of_the_last_end, "got:      End('busy')"),
        "the last words": (first_of_the_last_words, "got:      'quieter'"),
        "words before ends": (first_of_with_words_first, "from End('stuck'), Say('hm')"),
        "empty words": (first_of_with_empty_words, "got:      Say('')"),
        "no space": (first_of_without_a_space, "read as one odd word"),
        "asked twice": (first_of_asked_twice, "4 asked\n"),
        "a list": (first_of_a_list, "End('stuck') from End('stuck'), End('busy')"),
        "one answer for ever": (first_of_asked_at_once, "of two moments"),
        "in reverse": (first_of_in_reverse, "'quieter\\nslower'"),
        "the first policy": (first_of_called_at_once, "made of policies"),
        "a list for ever": (
            first_of_with_its_list_outside,
            "words of an earlier moment are still in the list",
        ),
        "asked with nothing": (
            lambda *policies: lambda run: first_of(*policies)(None),
            "2 asked, and of something else",
        ),
    },
    "quiet_nudge": {
        "no number": (lambda: "d", "a letter of a, b, c, d, e"),
        "words behind results": (lambda: ("a", 2), "no words stand behind results"),
        "an orphan": (lambda: ("b", 4), "every call is answered"),
        "the label": (lambda: ("c", 4), "the label says how"),
        "what was said": (lambda: ("e", 4), "an empty reply is nothing that was said"),
        "the message that never came": (lambda: ("d", 5), "there is no message 5, name the last"),
        "where it asked": (lambda: ("d", 3), "look down"),
        "where words were heard": (lambda: ("d", 2), "message 2"),
    },
    "until_end": {
        "words instead": (looping(speak=says_instead), "asked 40 times; 0 replies"),
        "no words": (looping(speak=says_nothing), "user [tool_result a, tool_result b]\n"),
        "words into the array": (looping(speak=appends_words), "user [text], user [tool_result"),
        "one call at a time": (looping(act=one_call_at_a_time), "tool a, policy, tool b"),
        "another result": (looping(act=the_same_call_again), "as the tool gave them"),
        "half a call": (looping(act=half_a_call), "a whole tool_use block"),
        "the call's input": (
            looping(act=lambda run, tool: run.answer(tool(run.begin()["input"]))),
            "got:      {'what': 'a'}",
        ),
        "no net": (looping(listen=listens_without_a_net), "ConnectionError: 529 overloaded"),
        "a net around the view": (
            looping(listen=listens_with_a_net_around_all),
            "Slip of the view raised",
        ),
        "the messages": (looping(listen=sends_the_messages), "got:      [{'role': 'user'"),
        "a request of its own": (looping(listen=sends_its_own_request), "got:      {'messages'"),
        "no why": (looping(listen=tells_nobody_why), "that says ''"),
        "another label": (looping(listen=ends_as_interrupted), "End('interrupted') that says"),
        "the words of a failure alone": (
            looping(listen=tells_its_words_alone),
            "that says ConnectionError and 529 overloaded",
        ),
        "Ctrl+C for a failure": (
            looping(listen=catches_more_than_failures),
            "KeyboardInterrupt of the model raised",
        ),
        "once a round": (asks_once_a_round, "policy, model, tool a, tool b, policy"),
        "the run": (gives_back_the_run, "got:      the run"),
        "the label": (gives_back_the_label, "'finished'>"),
        "words end it": (stops_at_words, "sent: user [text]\n"),
        "a net around all": (catches_it_all, "Slip of the tool raised"),
        "catches Ctrl+C": (catches_ctrl_c, "KeyboardInterrupt of the tool raised"),
        "closes by itself": (closes_by_itself, "closed already: run.label is 'finished'"),
        "closes where the model fails": (
            looping(listen=closes_where_the_model_fails),
            "closed already: run.label is 'model_error'",
        ),
        "hears inside the net": (
            looping(listen=hears_inside_the_net),
            "run.hear(reply) stands behind the try",
        ),
        "the words and their wrapping": (
            looping(speak=says_the_wrapping),
            "run.say was given a Say, not its text",
        ),
        "answers what was not begun": (
            looping(act=answers_what_was_not_begun),
            "that run.begin() handed out last, and none was handed out",
        ),
        "begins all, then answers": (
            looping(act=begins_all_then_answers),
            "Each begin is followed by its answer",
        ),
        "begins once too often": (
            looping(act=begins_once_too_often),
            "hands out the next call that waits, and none does",
        ),
        "words behind the message": (says_it_afterwards, "the stop is blind"),
    },
    "two_halves": {
        "no more": (without_more, "a parameter more: a list of policies"),
        "more, and deaf": (deaf, "the last request ends with"),
        "a clock of its own": (with_its_own_clock, "takes 60 s by the clock given"),
        "the messages alone": (
            halves(shape=lambda run: run.messages),
            "got:      [{'role': 'user'",
        ),
        "the text": (halves(shape=lambda run: (run.text, run.label)), "got:      ('42'"),
        "the End": (
            halves(shape=lambda run: (run.messages, End(run.label))),
            "got:      End(label=",
        ),
        "brakes first": (
            halves(order=lambda stop, held, more: (held, stop, *more)),
            "the reply ended by itself",
        ),
        "more first": (
            halves(order=lambda stop, held, more: (*more, stop, held)),
            "the label finished, and no call made",
        ),
        "more before the brakes": (
            halves(order=lambda stop, held, more: (stop, *more, held)),
            "the label max_rounds, and no call made",
        ),
        "no brakes": (
            halves(order=lambda stop, held, more: (stop, *more)),
            "3 replies under max_rounds=3",
        ),
        "no stop": (
            halves(order=lambda stop, held, more: (held, *more)),
            "the loop should have ended there",
        ),
        "fifty rounds": (halves(limits=(50, 2.0, 600)), "20 replies: 20 rounds"),
        "not closed": (
            halves(close=lambda run, end: setattr(run, "label", end.label)),
            "a, b asked for and not answered",
        ),
        "closes inside the try": (closes_inside_the_try, "None, and a, b, c unanswered"),
        "Ctrl+C goes through": (halves(caught=()), "KeyboardInterrupt raised"),
        "every fault an interrupt": (halves(caught=BaseException), "OutOfReplies raised"),
        "the whole request": (halves(speak=lambda model: model), "no list but dict"),
        "no net": (
            half(until_end=looping(listen=listens_without_a_net)),
            "ConnectionError: 529 overloaded",
        ),
    },
}
