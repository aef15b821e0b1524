"""Two drafts of one purse for many: looked at before a call, and reserved before a call.

Chapter 11 builds them and lets six callers ask at the same moment. `harness_zero/budget.py` is
what the second one grows into.
"""

from threading import Lock

from harness_zero.loop import ModelFailed
from harness_zero.messages import Reply
from harness_zero.ports import Model, Request


class Checking:
    """A call is made if something is left, and what it cost is taken out after it."""

    def __init__(self, cap_usd: float, most_usd: float) -> None:
        self.cap, self.most = cap_usd, most_usd
        self.spent = 0.0
        self.lock = Lock()

    def model(self, model: Model) -> Model:
        """The same model, paid out of the purse."""

        def speak(request: Request) -> Reply:
            with self.lock:
                if self.spent >= self.cap:
                    raise ModelFailed("nothing is left")
            reply = model(request)
            with self.lock:
                self.spent += reply["cost_usd"] or 0.0
            return reply

        return speak


class Reserving:
    """A call is made if something is left that nobody holds, and its price is held meanwhile."""

    def __init__(self, cap_usd: float, most_usd: float) -> None:
        self.cap, self.most = cap_usd, most_usd
        self.spent = self.held = 0.0
        self.lock = Lock()

    def model(self, model: Model) -> Model:
        """The same model, paid out of the purse."""

        def speak(request: Request) -> Reply:
            with self.lock:
                if self.spent + self.held >= self.cap:
                    raise ModelFailed("nothing is left")
                self.held += self.most
            try:
                reply = model(request)
                with self.lock:
                    self.spent += reply["cost_usd"] or 0.0
                return reply
            finally:
                with self.lock:
                    self.held -= self.most

        return speak
