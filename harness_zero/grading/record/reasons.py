"""Why an answer earns nothing, in words that are the same whenever and wherever it is graded."""

import re
from dataclasses import replace

from harness_zero.brief import cut
from harness_zero.grading.checks import Finding
from harness_zero.grading.record.errors import words_of
from harness_zero.grading.record.peer import Gone
from harness_zero.grading.record.remote import LATE

LONGEST = 300  # characters of a reason
NOT_DONE = "not done yet"
NO_FUNCTION = "its cell defines no such function"
NO_CELL = "its cell is not in what was handed in"
RAISED = "its cell raised "
CROWDED = "another cell has left something at work"
ENDED = "its process ended"
WHY_GONE = {  # what to think of where a process was ended
    LATE: "an exercise has two seconds for all its promises, and its cell has two: look for a loop"
    " without a way out, or for something that waits",
    ENDED: "an answer gives back what it found: nothing in it may end Python, or take all memory",
}
NO_PLACE = re.compile(r" \([\w-]+, line \d+\)$")  # where Python itself says it without the line
NOT_TO_TELL = (  # what is another one in each process, and the grader's own folders
    re.compile(r" at 0x[0-9a-f]+"),
    re.compile(r" \([^\s()]*/harness_zero/[^\s()]*\.py\)"),
    re.compile(r"[^\s'\"`(]*/(scratch|harness-zero-[0-9a-f]+)/\d+/"),
)


def ended(found: Finding, gone: str) -> Finding:
    """A finding about an answer whose process was ended meanwhile."""
    expected = "an end in time" if gone == LATE else "an answer"
    return replace(found, expected=expected, got=gone, why=WHY_GONE.get(gone, ""))


def settled(found: Finding) -> Finding:
    """A finding without what is another one in each process."""
    bare = [settled_text(each) for each in (found.expected, found.got, found.why)]
    return replace(found, expected=bare[0], got=bare[1], why=bare[2])


def settled_text(text: str) -> str:
    """A text without the addresses of objects and the folders of whoever grades."""
    for each in NOT_TO_TELL:
        text = each.sub("", text)
    return text


def in_words(error: BaseException) -> str:
    """An error in words that came from a learner's process, or on the way."""
    if isinstance(error, Gone):
        return words_of(error)
    return cut(f"{type(error).__name__}: {settled_text(words_of(error))}", LONGEST)


def told(found: Finding) -> str:
    """A finding in a line, without what is drawn anew in each grading."""
    if found.state == "not done yet":
        return NOT_DONE
    got = f"; got {found.got}" if found.got else ""
    return cut(f"{found.promise}: expected {found.expected}{got}", LONGEST)
