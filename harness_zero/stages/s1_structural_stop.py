"""Stage 1, the structural stop: the loop ends when a reply asks for no tool."""

from harness_zero.messages import said, tool_result, tool_uses, user


def run(model, tools, prompt):
    """Ask the model, make its calls, tell it what came back; until it asks for nothing."""
    messages = [user(prompt)]
    while True:
        reply = model(messages)
        messages.append(said(reply))
        calls = tool_uses(reply)
        if not calls:
            return messages
        messages.append(user(*[answer(call, tools) for call in calls]))


def answer(call, tools):
    """Make one call and wrap what it returns."""
    output = tools[call["name"]](**call["input"])
    return tool_result(call["id"], str(output))


if __name__ == "__main__":
    from harness_zero.stages import demonstrate

    demonstrate(run)
