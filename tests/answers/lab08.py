"""Answers to lab 08: right ones of several shapes, and what people get wrong."""

import re
from itertools import takewhile

from harness_zero import contracts
from harness_zero.brief import excerpt
from harness_zero.grading import lab08
from harness_zero.labels import End, Label, Say
from harness_zero.messages import user, words
from harness_zero.policy import called, ending, in_a_row
from harness_zero.rounds import NOISE, quiet

# verifier


def checking(
    passed=lambda output: output.split("\n")[0] == "exit code 0",
    told=lambda output: excerpt(quiet(output), 1_500),
    early=False,
):
    """A verifier with one thing changed."""

    def verifier(check):
        known = check() if early else None

        def hook(run, again):
            output = known if early else check()
            return None if passed(output) else told(output)

        return hook

    return verifier


def verifier_by_number(check):
    class Hook:
        def __call__(self, run, again):
            report = check()
            code = int(re.match(r"exit code (\d+)", report)[1])
            if code:
                quiet = NOISE.sub("#", report)
                return f"{quiet[:300]} ... {quiet[-300:]}" if len(quiet) > 700 else quiet

    return Hook()


def verifier_by_lines(check):
    def hook(run, again):
        first, _, rest = check().partition("\n")
        return None if first == "exit code 0" else f"{first}: {NOISE.sub('', rest)[-900:]}"

    return hook


def verifier_that_remembers(check):
    kept = []

    def hook(run, again):
        if not kept:
            kept.append(check())
        output = kept[0]
        passed = output.split("\n")[0] == "exit code 0"
        return None if passed else excerpt(quiet(output), 900)

    return hook


def verifier_that_says_it_once(check):
    def hook(run, again):
        output = check()
        passed = output.split("\n")[0] == "exit code 0"
        return None if passed or again else excerpt(quiet(output), 1_500)

    return hook


def verifier_that_is_a_hook(check):
    return excerpt(check(), 900)


# what wraps a stop


def is_finished(end):
    return isinstance(end, End) and end.label == "finished"


def typing(
    only=is_finished,
    count=lambda run: in_a_row(run, Label.FINISHED),
    text=lambda run: run.text,
    over=lambda count, limit: count > limit,
    end=lambda wrong: End("veto_cap", wrong),
    say=Say,
    fixed=None,
):
    """An output type with one thing changed."""

    def output_type(stop, fault, limit=2):
        limit = limit if fixed is None else fixed

        def policy(run):
            word = stop(run)
            if not only(word):
                return word
            wrong = fault(text(run))
            if not wrong:
                return word
            return end(wrong) if over(count(run), limit) else say(wrong)

        return policy

    return output_type


def idle_answers(run):
    """The answers since the last call, the newest first."""
    idle = takewhile(lambda reply: not called(reply), run.backwards())
    return [reply for reply in idle if ending(reply) is Label.FINISHED]


def output_type_by_words(stop, fault, limit=2):
    def policy(run):
        end = stop(run)
        if isinstance(end, End) and end.label is Label.FINISHED:
            wrong = fault(words(run.replies[-1]))
            if wrong and len(idle_answers(run)) <= limit:
                return Say(f"Try again: {wrong}")
            if wrong:
                return End(Label.VETO_CAP, f"does not fit: {wrong}")
        return end

    return policy


def output_type_that_counts(stop, fault, limit=2):
    told = []

    def policy(run):
        end = stop(run)
        wrong = fault(run.text) if is_finished(end) else None
        if not wrong:
            return end
        told.append(wrong)
        return End("veto_cap", wrong) if len(told) > limit else Say(wrong)

    return policy


def output_type_that_asks_first(stop, fault, limit=2):
    def policy(run):
        wrong, end = fault(run.text), stop(run)
        if not is_finished(end) or not wrong:
            return end
        return Say(wrong) if in_a_row(run, Label.FINISHED) <= limit else End("veto_cap", wrong)

    return policy


def output_type_that_asks_twice(stop, fault, limit=2):
    def policy(run):
        end = stop(run)
        if not is_finished(end) or not fault(run.text):
            return end
        if in_a_row(run, Label.FINISHED) > limit:
            return End("veto_cap", fault(run.text))
        return Say(fault(run.text))

    return policy


def sent_before(run):
    """Whether an answer of this turn was sent back."""
    return sum(ending(reply) == "finished" for reply in run.backwards()) > 1


def last_heard(run):
    return run.spoken[-1][1] if run.spoken else None


def hooking(
    only=is_finished,
    again=sent_before,
    vetoes=lambda run: in_a_row(run, Label.FINISHED) - 1,
    capped=lambda vetoes, cap: vetoes >= cap,
    same=lambda run, vetoes, said: vetoes and last_heard(run) == said,
    end=lambda said: End("veto_cap", f"no agreement: {said}"),
    say=Say,
    fixed=None,
):
    """A stop hook with one thing changed."""

    def stop_hook(stop, hook, cap=8):
        cap = cap if fixed is None else fixed

        def policy(run):
            word = stop(run)
            if not only(word):
                return word
            said = hook(run, again(run))
            if not said:
                return word
            count = vetoes(run)
            if capped(count, cap) or same(run, count, said):
                return end(said)
            return say(said)

        return policy

    return stop_hook


def stop_hook_by_idle_answers(stop, hook, cap=8):
    def policy(run):
        end = stop(run)
        if isinstance(end, End) and end.label is Label.FINISHED:
            _, *before = idle_answers(run)
            earlier = [r for r in run.replies[-run.rounds : -1] if ending(r) is Label.FINISHED]
            veto = hook(run, bool(earlier))
            if veto and (len(before) >= cap or (before and veto in run.spoken[-1][1])):
                return End(Label.VETO_CAP, veto)
            return Say(veto) if veto else end
        return end

    return policy


def stop_hook_that_counts(stop, hook, cap=8):
    said = []

    def policy(run):
        end = stop(run)
        if not is_finished(end):
            return end
        veto = hook(run, bool(said))
        if not veto:
            return end
        said.append(veto)
        over = len(said) > cap or said[-2:] == [veto, veto]
        return End("veto_cap", veto) if over else Say(veto)

    return policy


def stop_hook_that_asks_first(stop, hook, cap=8):
    answer = hooking()

    def policy(run):
        said = hook(run, sent_before(run))
        return answer(stop, lambda run, again: said, cap)(run)

    return policy


def stop_hook_that_asks_twice(stop, hook, cap=8):
    def policy(run):
        end = stop(run)
        if is_finished(end) and hook(run, sent_before(run)):
            return hooking()(stop, hook, cap)(run)
        return end

    return policy


# judge


def judging(
    agrees=lambda said: said.strip().lower().startswith("yes"),
    asked=lambda run, question: [user(f"{question}\n{words(run.messages[0])}\n{run.text}")],
    pay=lambda run, verdict: run.aside(verdict, "judge"),
    told=lambda said: f"Judge: {said}",
    request=lambda messages: {"messages": messages},
):
    """A judge with one thing changed."""

    def judge(model, question):
        def hook(run, again):
            verdict = model(request(asked(run, question)))
            pay(run, verdict)
            said = words(verdict)
            return None if agrees(said) else told(said)

        return hook

    return judge


def judge_with_a_system_prompt(model, question):
    def hook(run, again):
        shown = f"<task>{words(run.messages[0])}</task><answer>{words(run.replies[-1])}</answer>"
        reply = model({"system": "You judge.", "messages": [user(question, shown)]})
        run.aside(reply, asked_by="a judge")
        if re.match(r"yes\b", words(reply), re.IGNORECASE):
            return None
        return words(reply)

    return hook


def judge_in_the_array(model, question):
    def hook(run, again):
        run.say(question)
        verdict = model({"messages": run.messages})
        run.aside(verdict, "judge")
        said = words(verdict)
        return None if said.lower().startswith("yes") else said

    return hook


def judge_that_asks_twice(model, question):
    first = judging()(model, question)

    def hook(run, again):
        return first(run, again) and first(run, again)

    return hook


def judge_that_counts_rounds(run, verdict):
    run.rounds += 1


def answering(run, question):
    return [user(f"{question}\n{run.text}")]


def diagnosed():
    return "d", 18


def diagnosed_aloud():
    return ["D", 18]


RIGHT = {
    "verifier": [lab08.verifier, checking(), verifier_by_number, verifier_by_lines],
    "output_type": [lab08.output_type, typing(), output_type_by_words],
    "wild_hook": [diagnosed, diagnosed_aloud, lambda: (" d", 18)],
    "stop_hook": [contracts.stop_hook, hooking(), stop_hook_by_idle_answers],
    "judge": [lab08.judge, judging(), judge_with_a_system_prompt],
}

WRONG = {
    "verifier": {
        "begins with": (
            checking(passed=lambda output: output.startswith("exit code 1") is False),
            "no tests ran",
        ),
        "anywhere": (checking(passed=lambda output: "exit code 0" in output), "print anything"),
        "passed": (checking(passed=lambda output: "failed" not in output), "mean nothing to us"),
        "no words": (checking(told=lambda output: "Not yet."), "a veto without a reason"),
        "true": (checking(told=lambda output: True), "words for"),
        "all of it": (
            checking(told=lambda output: quiet(output)),
            "paid for in every round",
        ),
        "the beginning": (
            checking(told=lambda output: quiet(output)[:1_500]),
            "excerpt(output, limit) keeps both ends",
        ),
        "with the noise": (
            checking(told=lambda output: excerpt(output, 1_500)),
            "durations are noise",
        ),
        "no digits": (
            checking(told=lambda output: re.sub(r"\d+(?! \d* ?$)", "#", output)[-1_500:]),
            "in the words",
        ),
        "empty words": (checking(told=str, passed=lambda o: False), "mean nothing to us"),
        "before": (checking(early=True), "nobody has said that they are done"),
        "remembers": (verifier_that_remembers, "an old verdict"),
        "once": (verifier_that_says_it_once, "does not make the tests pass"),
        "a Say": (checking(told=Say), "as a text"),
        "too little room": (
            checking(told=lambda output: excerpt(quiet(output), 2_000)),
            "adds a line about what is missing",
        ),
        "no hook": (verifier_that_is_a_hook, "a hook back"),
    },
    "output_type": {
        "every end": (
            typing(only=lambda word: isinstance(word, End)),
            "the type has a say in one end alone",
        ),
        "any word": (typing(only=bool), "the type has a say in one end alone"),
        "one too many": (
            typing(over=lambda count, limit: count > limit + 1),
            "the third output is the last",
        ),
        "one too few": (typing(over=lambda count, limit: count >= limit), "limit=2: the second"),
        "never": (typing(over=lambda count, limit: False), "is asked for ever"),
        "always two": (typing(fixed=2), "for the first output, limit=0"),
        "a text": (typing(say=str), "a text is no word of a policy"),
        "no reason": (typing(end=lambda wrong: End("veto_cap")), "the fault in the end's why"),
        "no words": (typing(say=lambda wrong: Say("Wrong.")), "what it is told of"),
        "max_rounds": (typing(end=lambda wrong: End("max_rounds", wrong)), "the label max_rounds"),
        "all rounds": (typing(count=lambda run: run.rounds), "rounds in which it worked"),
        "the whole turn": (
            typing(count=lambda run: sum(ending(r) == "finished" for r in run.backwards())),
            "a model that works has its tries again",
        ),
        "the whole run": (
            typing(count=lambda run: sum(ending(r) == "finished" for r in run.replies)),
            "a turn has tries of its own",
        ),
        "the first answer": (
            typing(text=lambda run: words(run.replies[1] if run.replies[1:] else run.replies[0])),
            "for the output '8080'",
        ),
        "the reply": (typing(text=lambda run: run.last_word), "no exception"),
        "counts": (output_type_that_counts, "however often it is asked"),
        "asks first": (output_type_that_asks_first, "not to be asked"),
        "asks twice": (output_type_that_asks_twice, "to be asked once"),
        "no policy": (lambda stop, fault, limit=2: None, "a policy back"),
    },
    "wild_hook": {
        "no number": (lambda: "d", "a letter of a, b, c, d, e"),
        "green": (lambda: ("b", 16), "the newest report says 1 failed"),
        "a failure": (lambda: ("c", 14), "no call that was made fails"),
        "a call in between": (lambda: ("d", 10), "look down"),
        "the end": (lambda: ("d", 22), "look further up"),
    },
    "stop_hook": {
        "every end": (hooking(only=lambda word: isinstance(word, End)), "the hook has a say"),
        "any word": (hooking(only=bool), "the hook has a say in one end alone"),
        "one too many": (hooking(capped=lambda vetoes, cap: vetoes > cap), "after 8 vetoes in"),
        "one too few": (hooking(capped=lambda vetoes, cap: vetoes >= cap - 1), "at the eighth"),
        "no cap": (hooking(capped=lambda vetoes, cap: False), "no more than eight rounds"),
        "always eight": (hooking(fixed=8), "cap=2"),
        "no same words": (hooking(same=lambda *_: False), "to pay for nothing"),
        "the same ever": (
            hooking(same=lambda run, vetoes, said: said in [text for _, text in run.spoken]),
            "a call stands in between",
        ),
        "the same of earlier": (
            hooking(
                same=lambda run, vetoes, said: vetoes and said in [text for _, text in run.spoken]
            ),
            "was before a call",
        ),
        "the same of yesterday": (
            hooking(
                same=lambda run, vetoes, said: (
                    last_heard(run) == said and not called(run.last(2)[0])
                )
            ),
            "at the first answer of a turn",
        ),
        "the whole turn": (
            hooking(
                vetoes=lambda run: sum(ending(r) == "finished" for r in run.backwards()) - 1,
                same=lambda run, vetoes, said: (
                    in_a_row(run, Label.FINISHED) > 1 and last_heard(run) == said
                ),
            ),
            "brakes hold a model that works for ever",
        ),
        "the whole run": (
            hooking(
                vetoes=lambda run: sum(ending(r) == "finished" for r in run.replies) - 1,
                same=lambda run, vetoes, said: (
                    in_a_row(run, Label.FINISHED) > 1 and last_heard(run) == said
                ),
            ),
            "with '2 failed' in it, at the first answer of a turn",
        ),
        "never again": (hooking(again=lambda run: False), "hook(run, True) at the answer"),
        "again in a row": (
            hooking(again=lambda run: in_a_row(run, Label.FINISHED) > 1),
            "hook(run, True) after a call as well",
        ),
        "again in the run": (
            hooking(again=lambda run: sum(ending(r) == "finished" for r in run.replies) > 1),
            "of the next turn",
        ),
        "again by words": (
            hooking(again=lambda run: bool(run.spoken)),
            "words stood beside a result",
        ),
        "again after a round": (hooking(again=lambda run: run.rounds > 1), "hook(run, False)"),
        "a text": (hooking(say=str), "a text is no word of a policy"),
        "no words": (hooking(say=lambda said: Say("No.")), "what the model reads"),
        "no reason": (hooking(end=lambda said: End("veto_cap")), "wants to know what was still"),
        "finished": (hooking(end=lambda said: End("finished", said)), "the label finished"),
        "counts": (stop_hook_that_counts, "however often it is asked"),
        "asks first": (stop_hook_that_asks_first, "not to be asked"),
        "asks twice": (stop_hook_that_asks_twice, "to be asked once"),
        "no policy": (lambda stop, hook, cap=8: None, "a policy back"),
    },
    "judge": {
        "does not pay": (judging(pay=lambda run, verdict: None), "run.aside(reply, name)"),
        "no name": (
            judging(pay=lambda run, verdict: run.aside(verdict, None)),
            "it was not told who asked",
        ),
        "counts rounds": (judging(pay=judge_that_counts_rounds), "run.aside"),
        "hears it": (judging(pay=lambda run, verdict: run.hear(verdict)), "run.messages to stay"),
        "in the array": (judge_in_the_array, "run.messages to stay"),
        "goes on with it": (
            judging(
                asked=lambda run, question: [
                    *run.messages,
                    user(f"{question} {words(run.messages[0])} {run.text}"),
                ]
            ),
            "one message is enough",
        ),
        "no task": (judging(asked=answering), "the task in the request"),
        "no answer": (
            judging(asked=lambda run, question: [user(question, words(run.messages[0]))]),
            "the answer in the request",
        ),
        "messages": (judging(request=lambda messages: messages), "takes a request"),
        "exactly": (judging(agrees=lambda said: said == "yes"), "None when the judge says 'Yes.'"),
        "anywhere": (judging(agrees=lambda said: "yes" in said.lower()), "only a yes agrees"),
        "no no": (judging(agrees=lambda said: not said.startswith("no")), "only a yes agrees"),
        "no words": (judging(told=lambda said: "No."), "what the model can act on"),
        "an end": (judging(told=lambda said: End("veto_cap", said)), "words when the judge says"),
        "asks twice": (judge_that_asks_twice, "run.aside"),
        "no hook": (lambda model, question: None, "a hook back"),
    },
}
