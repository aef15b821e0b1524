"""A cut that says what it cut: what lab 03 promises of `excerpt`."""

import re
from collections.abc import Callable, Iterator
from itertools import takewhile

from harness_zero.brief import brief
from harness_zero.desk import Broken

Excerpt = Callable[[str, int], str]

SUITS = "♠♥♦♣"  # of an output, so that no word of a learner's line is taken for a part of it
SIZES = ((1_000, 100), (10_007, 25), (60, 59), (50_000, 20_000), (4_321, 2))


def output_of(size: int) -> str:
    """So many characters, no two stretches alike."""
    return "".join(SUITS[at * at * 7 // 11 % 4] for at in range(size))


def ends(output: str, cut: str) -> tuple[int, int]:
    """How many characters of an output a cut one begins with, and how many it ends with."""
    front = shared(output, cut)
    return front, shared(output[::-1], cut[front:][::-1])


def shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return len([*takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))])


def digits(text: str) -> str:
    """A text whose numbers stand there without any sign between their digits."""
    return re.sub(r"(?<=\d)[,._' \u202f](?=\d{3})", "", text)


def cuts(excerpt: Excerpt) -> Iterator[tuple[str, int, str, str]]:
    """Long outputs, their limits, what became of them, and that in words."""
    for size, limit in SIZES:
        got, output = excerpt(output_of(size), limit), output_of(size)
        if not isinstance(got, str):
            why = "a result holds text"
            raise Broken("a text", brief(got, 120), why)
        yield output, limit, got, f"excerpt of {size:,} characters, limit {limit:,}"


def a_short_output_stays_as_it_is(excerpt: Excerpt) -> None:
    """Shorter than the limit, or as long."""
    for text, limit in (("", 10), ("0 failed", 10), ("0 failed..", 10), (output_of(99), 99)):
        if (got := excerpt(text, limit)) != text:
            why = "nothing has to be cut, and a word about a cut would be a lie"
            raise Broken(f"{brief(text)} under a limit of {limit}", brief(got, 120), why)


def a_long_output_keeps_its_beginning_and_its_end(excerpt: Excerpt) -> None:
    """Half of the limit each."""
    for output, limit, got, what in cuts(excerpt):
        front, back = ends(output, got)
        if min(front, back) < limit // 2:
            why = "a log's cause stands at its beginning, its outcome at its end"
            expected = f"{limit // 2:,} characters of each end, at least: {what}"
            raise Broken(expected, f"{front:,} of the beginning, {back:,} of the end", why)


def of_the_output_no_more_is_kept_than_the_limit(excerpt: Excerpt) -> None:
    """Both ends together."""
    for output, limit, got, what in cuts(excerpt):
        kept = sum(ends(output, got))
        if kept > limit:
            why = "whoever sets a limit reckons with it"
            raise Broken(f"{limit:,} characters at most: {what}", f"{kept:,} are kept", why)


def it_says_how_many_characters_are_missing(excerpt: Excerpt) -> None:
    """The number, in whatever words."""
    for output, _, got, what in cuts(excerpt):
        front, back = ends(output, got)
        said, missing = got[front : len(got) - back], len(output) - front - back
        if str(missing) not in digits(said):
            why = "a part that looks like the whole is a swallowed error; the number says how much"
            expected = f"the number {missing:,} between the ends: {what}"
            kept = f"you keep {front:,} + {back:,}, so {missing:,} are missing"
            raise Broken(expected, f"{brief(said)}; {kept}", why)


def what_it_says_stands_on_a_line_of_its_own(excerpt: Excerpt) -> None:
    """So that nobody takes it for a part of the output."""
    for output, _, got, what in cuts(excerpt):
        front, back = ends(output, got)
        said = got[front : len(got) - back]
        if not (said.startswith("\n") and said.endswith("\n") and said.strip()):
            why = "in the middle of a line it reads like a part of the output"
            raise Broken(f"a line break before it and one after it: {what}", brief(said), why)
