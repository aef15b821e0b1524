"""How many flights a minute, in memory and on one core, stage by stage.

    python benchmarks/flight.py [blocks]

What the tests hold is that a flight costs as much as it is long, in lines run; what is printed
here is what one machine showed.
"""

import sys
from time import perf_counter

from harness_zero.flight.fly import fly

WANTED = 10_000  # flights a minute


def main(blocks):
    """Print a line for each stage and the library."""
    print(f"{blocks} blocks, at least {WANTED:,} flights a minute are wanted")
    for harness in (1, 2, 3, 4, 5, "library"):
        began = perf_counter()
        flown = fly(harness, range(blocks))
        took = perf_counter() - began
        rounds = sum(outcome.rounds for outcome in flown)
        minute = 60 * len(flown) / took
        each = f"{1e6 * took / rounds:4.0f} µs a round"
        print(f"{flown.harness:<10} {minute:>9,.0f} flights a minute   {each}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 8)
