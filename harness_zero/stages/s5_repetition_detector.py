"""Stage 5, the repetition detector: one policy more, and not one line of the loop."""

from harness_zero.assembly import play
from harness_zero.labels import End, Label
from harness_zero.messages import tool_uses
from harness_zero.policy import brake


def repetition(window=5, times=3):
    """End when a call, arguments included, is the `times`-th alike among the last `window`."""

    @brake
    def policy(run):
        if not run.pending:
            return None
        calls = [call for reply in run.last(window) for call in tool_uses(reply)][-window:]
        recent = [(call["name"], call["input"]) for call in calls]
        again = [name for name, input in recent if recent.count((name, input)) >= times]
        return End(Label.STUCK, f"{again[0]}, {times} of {window} calls alike") if again else None

    return policy


def run(model, tools, prompt, **limits):
    """The library's loop with the usual brakes, and the detector beside them."""
    return play(model, tools, prompt, more=[repetition()], **limits)


if __name__ == "__main__":
    from harness_zero.stages import demonstrate

    demonstrate(run)
