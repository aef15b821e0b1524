"""Stage 4 with three wishes more, each an `if` of its own: the way that the course does not go.

Chapter 05 shows it, and what is wrong with it. It keeps all that stage 4 promises.
"""

import time

from harness_zero.labels import Label
from harness_zero.messages import not_executed, said, text, tool_uses, user
from harness_zero.stages.s4_termination_labels import STOPS, answer


def run(model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic):
    """Ask the model and make its calls, until it asks for nothing or a brake holds."""
    messages, rounds, spent, began = [user(prompt)], 0, 0.0, clock()
    silent, before, red = 0, None, False
    while True:
        reply = model(messages)
        if not reply["content"] and silent < 2:
            silent += 1
            messages.append(user("Please continue."))
            continue
        silent = 0
        messages.append(said(reply))
        rounds, spent = rounds + 1, spent + reply["cost_usd"]
        calls = tool_uses(reply)
        if reply["stop_reason"] == "end_turn" and red:
            messages.append(user("The tests are red. Mend that first."))
            continue
        ends = {
            STOPS.get(reply["stop_reason"], Label.UNKNOWN_STOP): True,
            Label.MAX_ROUNDS: rounds >= max_rounds,
            Label.COST_CAP: spent >= cap_usd,
            Label.DEADLINE: clock() - began >= seconds,
        }
        label = next((label for label, holds in ends.items() if label and holds), None)
        if label:
            messages += [user(*[not_executed(call, label) for call in calls])] if calls else []
            return messages, label
        results = [answer(call, tools) for call in calls]
        red = any("failed" in result["content"] for result in results)
        asked = [(call["name"], call["input"]) for call in calls]
        if asked == before:
            results.append(text("You have just done that. Try another way."))
        before = asked
        messages.append(user(*results))
