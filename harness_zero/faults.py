"""Faults of the set-up: somebody has to mend code, so they are raised and never told to the model."""


class SetupFault(BaseException):
    """The parts were put together wrongly.

    It is no `Exception`, so that a harness which turns every tool's failure
    into text for the model does not turn this one into text as well.
    """

    def _render_traceback_(self) -> list[str]:
        """In a notebook: the sentence alone, without the frames that led to it."""
        return [f"{type(self).__name__}: {self}"]
