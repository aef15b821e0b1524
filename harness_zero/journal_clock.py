"""The clock of a journaled run: it stands where the last line of the journal was written.

A deadline that read the real time would end a replay under another label, since a replay takes no
time. Whatever reads this clock between two steps reads the same again when the run is replayed.
The time in which no process was at work does not count.
"""

from time import monotonic

from harness_zero.run import Clock


class Ticking:
    """Seconds of the run as of the last line; `passing` tells them to who looks from outside."""

    def __init__(self, source: Clock = monotonic) -> None:
        self.source, self.at = source, 0.0
        self.behind: float | None = None  # how far the run's time is behind that of the source

    def __call__(self) -> float:
        return self.at

    def follow(self, source: Clock) -> None:
        """Go by another clock from now on; what it shows by now does not count."""
        if self.behind is not None and source is not self.source:
            self.behind = source() - self.passing()
        self.source = source

    def start(self) -> None:
        """From here on time passes: what comes now is no replay."""
        if self.behind is None:
            self.behind = self.source() - self.at

    def passing(self) -> float:
        """The run's time now, in the middle of a step as well."""
        if self.behind is None:
            return self.at
        return round(max(self.at, self.source() - self.behind), 6)

    def stamp(self) -> float:
        """Take over the time that has passed, to be written into a line."""
        self.start()
        self.at = self.passing()
        return self.at
