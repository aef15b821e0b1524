"""Healthy and long: the same call again and again, and each time another page comes back."""

import re

from harness_zero.flight.luck import Luck
from harness_zero.flight.place import RETRIES, Place, answer, answered, file_tools
from harness_zero.flight.seen import Seen
from harness_zero.flight.steps import GAVE_UP, Step


def many_pages(luck: Luck) -> Place:
    """Sum the amounts on ten to a hundred and fifty pages."""
    count, turned = luck.tail(10, 150, "pages"), [0]
    total = str(sum(page * 7 % 10 for page in range(1, count + 1)))
    files = {"README.md": "hello"}

    def next_page() -> str:
        """Turn to the next page."""
        turned[0] += 1
        return f"amount = {turned[0] * 7 % 10}" if turned[0] <= count else "no more pages"

    return Place(
        task="Sum the amounts of all pages into answer.txt.",
        tools={**file_tools(files), "next_page": next_page},
        goal=lambda: files.get("answer.txt") == total,
        length=count + 2,
        skill=skill,
    )


def skill(seen: Seen, luck: Luck) -> Step:
    """Turn pages until there are none, then write the sum down."""
    if end := answered(seen):
        return end
    page = seen.last("next_page")
    if page is None or not page.text.startswith("no more"):
        return GAVE_UP if page and page.tries >= RETRIES else [("next_page", {})]
    amounts = [re.match(r"amount = (\d)", call.text) for call in seen.all("next_page")]
    return answer(str(sum(int(amount[1]) for amount in amounts if amount)))
