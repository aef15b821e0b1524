"""Stage 2, the brakes: limits that hold before the tools run and leave no call unanswered."""

import time

from harness_zero.messages import not_executed, said, tool_result, tool_uses, user


def run(model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic):
    """Ask the model and make its calls, until it asks for nothing or a brake holds."""
    messages, rounds, spent, began = [user(prompt)], 0, 0.0, clock()
    while True:
        reply = model(messages)
        messages.append(said(reply))
        rounds, spent = rounds + 1, spent + reply["cost_usd"]
        calls = tool_uses(reply)
        if not calls:
            return messages
        if rounds >= max_rounds or spent >= cap_usd or clock() - began >= seconds:
            messages.append(user(*[not_executed(call, "a limit was reached") for call in calls]))
            return messages
        messages.append(user(*[answer(call, tools) for call in calls]))


def answer(call, tools):
    """Make one call and wrap what it returns."""
    output = tools[call["name"]](**call["input"])
    return tool_result(call["id"], str(output))


if __name__ == "__main__":
    from harness_zero.stages import demonstrate

    demonstrate(run)
