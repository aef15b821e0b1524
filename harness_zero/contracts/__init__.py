"""Stopping as a contract: an end that the model names counts once somebody else agrees.

All of these wrap a stop, the loop stays as it is:

    stop_hook( output_type( recover( nudge( structural_stop ) ) ), hook )     then the brakes

Only `finished` is looked at. What wraps it can send the model back to work a few times
and no more, and a brake is not asked whether it may hold.
"""

from harness_zero.contracts.form import NotInForm, output, output_type
from harness_zero.contracts.judge import judge, next_speaker
from harness_zero.contracts.schema import UnknownSchema
from harness_zero.contracts.verifier import command, verifier
from harness_zero.contracts.veto import Hook, HookFailed, all_of, stop_hook

__all__ = [
    "Hook",
    "HookFailed",
    "NotInForm",
    "UnknownSchema",
    "all_of",
    "command",
    "judge",
    "next_speaker",
    "output",
    "output_type",
    "stop_hook",
    "verifier",
]
