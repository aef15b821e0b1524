"""Stage 4, labels: every exit says its name, and only a whole reply has its calls made."""

import time

from harness_zero.labels import Label
from harness_zero.messages import not_executed, said, tool_result, tool_uses, user

STOPS = {
    "tool_use": None,
    "end_turn": Label.FINISHED,
    "max_tokens": Label.TRUNCATED,
    "refusal": Label.REFUSED,
}


def run(model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic):
    """Ask the model and make its calls, until it asks for nothing or a brake holds."""
    messages, rounds, spent, began = [user(prompt)], 0, 0.0, clock()
    while True:
        reply = model(messages)
        messages.append(said(reply))
        rounds, spent = rounds + 1, spent + reply["cost_usd"]
        calls = tool_uses(reply)
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
        messages.append(user(*[answer(call, tools) for call in calls]))


def answer(call, tools):
    """Make one call; a failure becomes a result that the model can read."""
    if call["name"] not in tools:
        return tool_result(call["id"], f"no tool named {call['name']!r}", is_error=True)
    try:
        output = tools[call["name"]](**call["input"])
    except Exception as error:
        return tool_result(call["id"], f"{type(error).__name__}: {error}", is_error=True)
    return tool_result(call["id"], str(output))


if __name__ == "__main__":
    from harness_zero.stages import demonstrate

    demonstrate(run)
