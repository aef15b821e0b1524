"""Lab 07, order is load-bearing: its exercises and what an answer to each one promises."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from harness_zero import view
from harness_zero.brief import brief
from harness_zero.desk import Broken, instead, list_fault
from harness_zero.grading.diagnosis import Case
from harness_zero.grading.exercise import Exercise, Lab, Piece
from harness_zero.grading.lab07_requests import (
    MARK,
    TOOLS,
    asked,
    bill,
    growing,
    many,
    marks,
    served,
    tool,
)
from harness_zero.messages import (
    Block,
    Message,
    blocks,
    merge,
    request_fault,
    text,
    tool_result,
    tool_results,
    user,
)
from harness_zero.ports import Request
from harness_zero.prefix import first_difference, is_request, lines, rendering
from harness_zero.watch import Recording

if TYPE_CHECKING:
    from harness_zero.simulator.cache import Counted

FirstChange = Callable[[Request, Request], str | None]
Marked = Callable[[Request], Request]
WithNews = Callable[[list[Message], str], list[Message]]
Compact = Callable[[list[Message], str, int], list[Message]]


# first_change


def expect_change(
    answer: FirstChange, before: Request, after: Request, name: str | None, what: str, why: str
) -> None:
    """The name of the first block of `before` that `after` does not keep; None if it keeps all."""
    given = deepcopy((before, after))
    found = answer(before, after)
    if (before, after) != given:
        raise Broken("both requests to stay as they were", "another one", "who compares, reads")
    if found != name:
        raise Broken(f"{name!r} for {what}", brief(found, 120), why)


def small(*said: Message, system: str = "Be brief.", tools: Any = None) -> Request:
    """A small request."""
    tools = TOOLS if tools is None else tools
    return deepcopy({"system": system, "tools": tools, "messages": [user("Which port?"), *said]})


ROUND = asked(1, "port = 8080")
NEXT = asked(2, "port = 9090")
LOST = "from the first block that differs on, nothing can be read from the cache"


def a_request_that_goes_on_where_another_ended_changes_nothing(answer: FirstChange) -> None:
    """Nor does the same request again."""
    why = "what stands behind is new, and nothing that was sent has changed"
    expect_change(answer, small(), small(*ROUND), None, "a request and the next one", why)
    expect_change(answer, small(*ROUND), small(*ROUND), None, "the same request twice", why)


def the_block_that_changed_is_named(answer: FirstChange) -> None:
    """By the name that `lines` gives it."""
    before, after = small(*ROUND), small(*ROUND, *NEXT)
    after["messages"][2]["content"][0]["content"] = "port = 80"
    name = "message 2, block 0 (tool_result of call_1)"
    expect_change(answer, before, after, name, "another result in message 2", LOST)
    after = small(*ROUND)
    after["messages"][0]["content"][0]["text"] = "Which host?"
    name = "message 0, block 0 (text)"
    expect_change(answer, before, after, name, "another prompt", LOST)


def tools_come_before_system_and_system_before_messages(answer: FirstChange) -> None:
    """Of several changes the first in cache order counts, wherever it stands in the dict."""
    before, after = small(*ROUND), small(*NEXT, system="Be kind.")
    what = "another system prompt and another message"
    expect_change(answer, before, after, "system, block 0 (text)", what, LOST)
    other = [TOOLS[0], tool("write"), TOOLS[2]]
    after = small(*ROUND, system="Be kind.", tools=other)
    expect_change(answer, before, after, "tool 1 (edit)", "another tool and system prompt", LOST)


def the_order_of_tools_counts(answer: FirstChange) -> None:
    """The same tools in another order are other bytes."""
    after = small(*ROUND, tools=[TOOLS[0], TOOLS[2], TOOLS[1]])
    why = "a cache compares bytes; that they are the same tools it does not know"
    expect_change(answer, small(), after, "tool 1 (edit)", "tools in another order", why)


def what_is_missing_has_changed(answer: FirstChange) -> None:
    """A message that was taken out, at the end or in the middle."""
    before = small(*ROUND, *NEXT)
    why = "the request before had it, and this one has something else there, or nothing"
    name = "message 3 (its role)"
    expect_change(answer, before, small(*ROUND), name, "a request without its last round", why)
    name = "message 1, block 0 (tool_use call_1)"
    expect_change(answer, before, small(*NEXT), name, "a round taken out of the middle", why)


def what_is_put_in_front_moves_all_that_follows(answer: FirstChange) -> None:
    """One block at the top is enough."""
    before, after = small(*ROUND), small(*ROUND)
    after["messages"][0]["content"].insert(0, text("It is 14:32:07."))
    name = "message 0, block 0 (text)"
    expect_change(answer, before, after, name, "a block put in front", LOST)


def a_mark_is_no_change(answer: FirstChange) -> None:
    """It says what to cache, and is no part of it."""
    after = small(*ROUND)
    after["messages"][0]["content"][0][MARK] = {"type": "ephemeral"}
    after["system"] = [{**text("Be brief."), MARK: {"type": "ephemeral"}}]
    why = "marks may move from request to request; `lines` leaves them out"
    expect_change(answer, small(), after, None, "the same request with marks in it", why)


# a diagnosis: where the prefix broke


@dataclass(frozen=True)
class Sent(Recording):
    """A run as it was sent: every request, and at which second."""

    requests: tuple[Request, ...] = ()
    seconds: tuple[float, ...] = ()


def first_broken(run: Sent, breaks: Callable[[Request, Request], bool]) -> int | None:
    """The first request that breaks something with the one before it."""
    pairs = enumerate(pairwise(run.requests), 1)
    return next((at for at, (one, other) in pairs if breaks(one, other)), None)


def part_changed(one: Request, other: Request, part: str) -> bool:
    """Whether the tools or the system prompt differ."""
    return one.get(part) != other.get(part)


def the_tools_stay_as_they_are(run: Sent) -> int | None:
    """The same tools in the same order."""
    return first_broken(run, lambda one, other: part_changed(one, other, "tools"))


def the_system_prompt_stays_as_it_is(run: Sent) -> int | None:
    """Word for word."""
    return first_broken(run, lambda one, other: part_changed(one, other, "system"))


def every_message_that_was_sent_is_sent_again_as_it_was(run: Sent) -> int | None:
    """Word for word, and in its place."""

    def breaks(one: Request, other: Request) -> bool:
        alone, then = {"messages": one["messages"]}, {"messages": other["messages"]}
        return not rendering(then).startswith(rendering(alone))

    return first_broken(run, breaks)


def every_request_is_marked_at_its_last_block(run: Sent) -> int | None:
    """There the cache writes."""
    for at, request in enumerate(run.requests):
        if MARK not in blocks(request["messages"][-1])[-1]:
            return at
    return None


def no_request_comes_more_than_five_minutes_after_the_one_before(run: Sent) -> int | None:
    """So long an entry is kept; a hit begins its time anew."""
    pairs = enumerate(pairwise(run.seconds), 1)
    return next((at for at, (one, other) in pairs if other - one > 300), None)


PAUSES = (4, 6, 5, 7, 280, 4, 9, 5, 6, 8)
LONG, TRIMMED = 3, 6  # the round that brings a long file; and the request that shortens it


def broken_prefix() -> Sent:
    """Ten requests; to save space a long result is shortened once it has been read."""

    def of(number: int) -> list[Message]:
        return asked(number, "a line of the log\n" * 400 if number == LONG else "")

    requests = [*growing(10, of=of)]
    for request in requests[TRIMMED:]:
        (result,) = tool_results(request["messages"][2 * LONG])
        result["content"] = "a line of the log\n[399 lines removed to save space]"
    for request in requests:
        blocks(request["messages"][-1])[-1][MARK] = {"type": "ephemeral"}
        request["system"] = [{**text(request["system"]), MARK: {"type": "ephemeral"}}]
    seconds = tuple(float(sum(PAUSES[:at])) for at in range(len(requests)))
    return Sent(requests[-1]["messages"], [], None, requests=(*requests,), seconds=seconds)


BROKEN_PREFIX_CASE = Case(
    broken_prefix,
    {
        "a": the_tools_stay_as_they_are,
        "b": the_system_prompt_stays_as_it_is,
        "c": every_message_that_was_sent_is_sent_again_as_it_was,
        "d": every_request_is_marked_at_its_last_block,
        "e": no_request_comes_more_than_five_minutes_after_the_one_before,
    },
    whys={
        "d": "all are marked; that a lot was written says that little could be read",
        "e": "280 seconds are less than five minutes, and the request after them read all it could",
    },
    noun="request",
    counted=lambda run: run.requests,
    shown=lambda run: bill(run.requests, run.seconds),
)


# marked


def sent_as(answer: Marked, request: Request) -> Request:
    """What an answer makes of a request, once it is a request at all."""
    before = deepcopy(request)
    found = answer(request)
    if request != before:
        where = first_difference(marks_as_text(before), marks_as_text(request))
        got = f"another one in {where.block}" if where else "another one"
        why = "it holds the run's own messages; next time they would still bear the old marks"
        raise Broken("the request that it is given to stay as it was", got, why)
    if not is_request(found):
        why = "the model is sent what comes back: a request, which is a dict with messages"
        raise Broken("a request back", instead(found), why)
    return found


def marks_as_text(value: Any) -> Any:
    """The same value, with marks under another name: so that a difference in them is seen."""
    if isinstance(value, dict):
        return {("mark" if n == MARK else n): marks_as_text(v) for n, v in value.items()}
    return [marks_as_text(each) for each in value] if isinstance(value, list) else value


def last_of(message: Message) -> Block:
    """The last block of a message; bare words have none that could be marked."""
    content = message["content"]
    return content[-1] if isinstance(content, list) and content else {}


def it_says_the_same_to_the_model(answer: Marked) -> None:
    """Nothing but marks is new, and the request that it was given is as it was."""
    for request in (*growing(3), {"messages": [{"role": "user", "content": "Which port?"}]}):
        found = sent_as(answer, request)
        where = first_difference(request, found)
        if where:
            got = f"another {where.block}: {where.around()[1]}"
            why = "a mark says what to cache; everything else is as the view made it"
            raise Broken("the same request but for its marks", got, why)


def the_last_block_is_marked(answer: Marked) -> None:
    """There is written what the next request will read."""
    bare = {"messages": [{"role": "user", "content": "Which port?"}]}
    for request in (*growing(4), *growing(2, head=False), bare):
        found = sent_as(answer, request)
        if MARK not in last_of(found["messages"][-1]):
            at = len(found["messages"]) - 1
            got = f"a message {at} that ends with {brief(last_of(found['messages'][-1]), 160)}"
            why = "a cache writes at marks alone; what stands behind the last one is paid in full"
            raise Broken(f"a mark at the last block of message {at}, the last one", got, why)


def a_mark_looks_as_the_api_wants_it(answer: Marked) -> None:
    """A dict with the type ephemeral."""
    for block in marks(sent_as(answer, [*growing(3)][-1])):
        mark = block[MARK]
        if not isinstance(mark, dict) or mark.get("type") != "ephemeral":
            raise Broken("{'type': 'ephemeral'} as cache_control", brief(mark), "no other is known")


def where_the_request_before_ended_is_marked_too(answer: Marked) -> None:
    """In front of the model's last message, also where the user speaks behind the results."""
    for of, more in ((asked, []), (many, []), (asked, [user("Only the port, please.")])):
        request = [*growing(4, of=of)][-1]
        at = len(request["messages"]) - 3
        request["messages"] += more
        found = sent_as(answer, request)
        if MARK not in last_of(found["messages"][at]):
            got = f"marks at {names_of(found)}"
            why = "the request before ended there, and the model has spoken once since; a mark"
            why += " finds what was written at its own block however much has come since,"
            why += " and else only what is fewer than 20 positions back"
            raise Broken(f"a mark at the last block of message {at}", got, why)


def names_of(request: Request) -> str:
    """Which blocks bear marks."""
    plain = deepcopy(request)
    for block in marks(plain):
        block["marked"] = True
        del block[MARK]
    bare = [name for name, line in lines(plain) if b'"marked":true' in line]
    return ", ".join(bare) or "no block at all"


def every_round_reads_what_the_one_before_sent(answer: Marked) -> None:
    """Forty rounds, on the cache of the offline API."""
    expect_all_read(answer, [*growing(40)], "a run of 40 rounds")


def however_much_a_round_adds_the_next_one_finds_it(answer: Marked) -> None:
    """Thirty positions a round: more than a mark looks back over."""
    expect_all_read(answer, [*growing(12, of=many)], "a run whose rounds add 30 positions each")


def expect_all_read(answer: Marked, requests: list[Request], what: str) -> None:
    """Each request reads all tokens of the one before."""
    found = served(sent_as(answer, request) for request in requests)
    for at, (one, other) in enumerate(pairwise(found), 1):
        if other.read != one.total:
            expected = f"request {at} of {what} to read the {one.total:,} tokens of the one before"
            why = "what is not read is written anew, or paid in full"
            raise Broken(expected, told(other), why)


def told(counted: Counted) -> str:
    """What a cache made of a request, in words."""
    return f"{counted.read:,} read, {counted.written:,} written, {counted.fresh:,} neither"


def another_run_reads_the_head(answer: Marked) -> None:
    """The tools and the system prompt are the same for the next user; some have tools alone."""
    (whole,) = growing(1)
    tools = [tool(f"tool_{n}_" + "x" * 40, "path") for n in range(60)]
    alone = {"tools": tools, "messages": whole["messages"]}
    for first, where in ((whole, ""), (alone, ", where there is no system prompt")):
        second = {**first, "messages": [user("Something else altogether.")]}
        sent = [sent_as(answer, first), sent_as(answer, second)]
        _, found = served(sent)
        if not found.read:
            why = "a mark at the end of the system prompt, or else of the tools, writes the head"
            why += " by itself, for every run"
            got = f"{told(found)}, with marks at {names_of(sent[0])}"
            raise Broken(f"a second run to read the head{where}", got, why)


def there_are_at_most_four_marks_and_the_old_ones_are_gone(answer: Marked) -> None:
    """Also where the request came with marks."""
    request = [*growing(6)][-1]
    request[MARK] = {"type": "ephemeral"}
    for message in request["messages"]:
        message["content"][-1][MARK] = {"type": "ephemeral"}
    found = sent_as(answer, request)
    many = marks(found)
    if len(many) > 4:
        why = "the API refuses a fifth; marks of requests before are no longer needed"
        raise Broken("at most four marks", f"{len(many)}: {names_of(found)}", why)
    clean = sent_as(answer, [*growing(6)][-1])
    if names_of(found) != names_of(clean) or (MARK in found) != (MARK in clean):
        extra = ", and one for the whole request" if MARK in found else ""
        why = "old marks are taken off first, and then the new ones are placed"
        raise Broken(f"marks at {names_of(clean)}", f"marks at {names_of(found)}{extra}", why)


def what_cannot_be_marked_is_passed_over(answer: Marked) -> None:
    """A request that goes on after a pause may end with a thought."""
    (request,) = growing(1)
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
    said = [text("Let me see."), thought]
    request["messages"].append({"role": "assistant", "content": said})
    found = sent_as(answer, request)
    content = found["messages"][-1]["content"]
    if MARK in content[1] or MARK not in content[0]:
        why = "the API refuses a mark on a thought; the last block that may bear one is marked"
        raise Broken("the mark at the text in front of the thought", names_of(found), why)


# with_news

NEWS = "The file port.toml has changed on disk."
REFUSED = "the API answers 400 to anything else"


def told_news(
    answer: WithNews, messages: list[Message], news: str = NEWS, hint: str = ""
) -> list[Message]:
    """The messages that an answer makes, once they are such."""
    lent = deepcopy(messages)
    found = answer(lent, news)
    if lent != messages:
        why = "a new list comes back, with new dicts where something is new in them"
        raise Broken("the messages that it is given to stay as they were", "other ones", why)
    if fault := list_fault(found):
        why = hint or "it is what the model is sent"
        raise Broken("a list of messages back", fault, why)
    if fault := request_fault(found):
        raise Broken("messages that can be sent", f"{brief(found[-1], 200)}: {fault}", REFUSED)
    return found


def news_stands_at_the_bottom(answer: WithNews) -> None:
    """In the last message, whatever that is."""
    for messages in ([user("Which port?")], [user("Which port?"), *ROUND, *NEXT]):
        found = told_news(answer, messages)
        if NEWS not in str(merge(found)[-1]):
            why = "the model has to be told, and the bottom is the one place that costs nothing"
            raise Broken("the news in the last message", brief(found[-1], 200), why)


def nothing_that_was_sent_changes(answer: WithNews) -> None:
    """All messages but the last have been sent."""
    messages = [user("Which port?"), *ROUND, *NEXT]
    found = told_news(answer, messages)
    if found[:4] != messages[:4]:
        where = first_difference({"messages": messages[:4]}, {"messages": found[:4]})
        got = f"another one: {where.block}" if where else "fewer messages"
        raise Broken("messages 0 to 3 as they were sent", got, LOST)


def behind_results_it_stands_in_the_last_one(answer: WithNews) -> None:
    """Text after results teaches a model to answer nothing."""
    two = [*ROUND[0]["content"], *NEXT[0]["content"]]
    results = user(tool_result("call_1", "port = 8080"), tool_result("call_2", "gone", True))
    messages = [user("Which port?"), {"role": "assistant", "content": two}, results]
    found = merge(told_news(answer, messages))
    content = found[-1]["content"]
    if len(content) != 2 or any(block["type"] != "tool_result" for block in content):
        kinds = ", ".join(block["type"] for block in content)
        why = "text after results teaches a model that a user speaks next, and it answers nothing"
        raise Broken("two results in the last message and nothing else", kinds, why)
    first, last = content
    if first != results["content"][0] or NEWS not in str(last["content"]):
        why = "what came last is read last"
        raise Broken("the news in the second of two results", brief(content, 240), why)
    if "gone" not in str(last["content"]) or not last.get("is_error"):
        why = "the result is still that of the tool; the news stands behind it"
        raise Broken("what the tool said, still marked as an error", brief(last, 200), why)


def a_result_may_hold_blocks(answer: WithNews) -> None:
    """Or nothing at all."""
    hint = "this result holds a list of blocks; a list += a text takes it in letter by letter"
    for content in ([text("port = 8080")], []):
        result = {**tool_result("call_1", ""), "content": content}
        messages = [user("Which port?"), ROUND[0], user(result)]
        found = told_news(answer, messages, hint=hint)
        last = merge(found)[-1]["content"][-1]
        inside = last.get("content")
        if NEWS not in str(inside) or str(content)[1:-1] not in str(inside):
            why = "a result is a text or a list of blocks, and both can be given one more"
            raise Broken("what the tool said, and the news", brief(last, 200), why)


def where_nothing_came_back_it_is_words_of_the_user(answer: WithNews) -> None:
    """Behind a prompt, or behind the model's answer, whatever came back further up."""
    prompt, said = user("Which port?"), {"role": "assistant", "content": [text("8080.")]}
    for messages in ([prompt], [prompt, said], [prompt, *ROUND, said]):
        found = merge(told_news(answer, messages))
        expected = merge([*messages, user(NEWS)])
        if found != expected:
            why = "behind all that was sent it costs nothing; further up it would cost the prefix"
            raise Broken(f"{brief(expected[-1], 120)} at the end", brief(found[-1], 200), why)


def without_news_the_messages_are_as_they_were(answer: WithNews) -> None:
    """An empty text is refused."""
    messages = [user("Which port?"), *ROUND]
    found = told_news(answer, messages, "")
    if found != messages:
        why = "the API takes no empty text, and there is nothing to say"
        raise Broken("the same messages where the news is empty", brief(found[-1], 200), why)


# compact

SUMMARY = "So far: part 1 to 9 were read."
PROMPT = "Read the parts and sum them up."


def long_run(rounds: int = 12) -> list[Message]:
    """The messages of a run of so many rounds, ready to be sent."""
    return [*growing(rounds + 1, head=False, of=lambda n: asked(n, f"page {n}"))][-1]["messages"]


def made_shorter(answer: Compact, messages: list[Message], keep: int) -> list[Message]:
    """The messages that an answer makes, once they are such."""
    before = deepcopy(messages)
    found = answer(messages, SUMMARY, keep)
    if messages != before:
        pairs = enumerate(zip(messages, before, strict=False))
        other = next((at for at, (one, then) in pairs if one != then), len(messages))
        why = "the run keeps its whole array; only what is sent is shorter"
        got = f"{len(messages)} of {len(before)}, and another message {other}"
        raise Broken("the messages that it is given to stay as they were", got, why)
    if fault := list_fault(found):
        raise Broken("a list of messages back", fault, "it is what the model is sent")
    return found


def the_prompt_stays_and_the_summary_stands_behind_it(answer: Compact) -> None:
    """In the first message, as a block of its own."""
    found = made_shorter(answer, long_run(), 6)
    first = blocks(found[0]) if found else []
    if not found or first[:1] != [text(PROMPT)]:
        why = "the task is the one thing that nobody may sum up"
        raise Broken("a first message that begins with the prompt", brief(found[:1], 200), why)
    if found[1:2] == [user(SUMMARY)]:
        why = "in the first message it is one block more, and what is kept begins at message 1"
        raise Broken("the summary as a block behind the prompt", "a message of its own", why)
    if first[1:] != [text(SUMMARY)]:
        why = "prompt, summary, and then what is kept: the order in which it happened"
        raise Broken("the summary as a block behind the prompt", brief(first, 200), why)


def the_last_messages_stay_as_they_are(answer: Compact) -> None:
    """As many as `keep` says."""
    messages = long_run()
    for keep in (2, 6, 10):
        found = made_shorter(answer, messages, keep)
        if found[1:] != messages[-keep:]:
            expected = f"the prompt and the last {keep} of {len(messages)} messages"
            why = "what the model works with just now is not summed up"
            raise Broken(expected, f"{len(found)} messages", why, found)


def no_call_is_parted_from_its_result(answer: Compact) -> None:
    """Where the cut would fall between them, one message more is kept."""
    messages = long_run()
    for keep in (1, 3, 7):
        found = made_shorter(answer, messages, keep)
        if fault := request_fault(found):
            expected = f"an array that can be sent, with keep={keep}"
            why = "a result without its call is refused with a 400: keep the message before it too"
            raise Broken(expected, fault, why, found)
        if found[1:] != messages[-keep - 1 :]:
            expected = f"the last {keep + 1} messages, with keep={keep}"
            why = "the call of the first result belongs to it; nothing more is needed"
            raise Broken(expected, f"the last {len(found) - 1}", why, found)


def a_cut_in_front_of_the_users_words_is_a_good_one(answer: Compact) -> None:
    """They are no result, so nothing belongs to them."""
    messages = [*long_run(4), {"role": "assistant", "content": [text("All read.")]}]
    messages += [user("And now the last two."), *asked(9, "page 9")]
    found = made_shorter(answer, messages, 3)
    if found[1:] != messages[-3:]:
        why = "a message of the user that brings no results can stand first"
        raise Broken("the prompt and the last 3 messages", f"{len(found)} messages", why, found)


def with_nothing_kept_there_are_the_prompt_and_the_summary(answer: Compact) -> None:
    """keep=0."""
    found = made_shorter(answer, long_run(), 0)
    if found != [user(PROMPT, SUMMARY)]:
        why = "messages[-0:] is the whole list, and not its last nothing"
        raise Broken("one message, with keep=0", f"{len(found)} messages", why, found)


def what_is_short_is_left_alone(answer: Compact) -> None:
    """Where no message would be left out, there is nothing to sum up."""
    for messages, keep in (
        (long_run(2), 6),
        (long_run(2), 4),
        (long_run(2), 3),
        (long_run(0), 0),
    ):
        found = made_shorter(answer, messages, keep)
        if found != messages:
            expected = f"the same {len(messages)} messages, with keep={keep}"
            why = "no message is left out, so the summary would only make it longer"
            raise Broken(expected, f"{len(found)} messages, {brief(found[0], 120)}", why, found)


FIRST_CHANGE = Exercise(
    name="first_change",
    title="Where two requests part",
    minutes=8,
    difficulty="easy",
    lines=5,
    points=3,
    objectives=(3,),
    takes="first_change(before, after)",
    promises=(
        a_request_that_goes_on_where_another_ended_changes_nothing,
        the_block_that_changed_is_named,
        tools_come_before_system_and_system_before_messages,
        the_order_of_tools_counts,
        what_is_missing_has_changed,
        what_is_put_in_front_moves_all_that_follows,
        a_mark_is_no_change,
    ),
)

BROKEN_PREFIX = Exercise(
    name="broken_prefix",
    title="Who broke the prefix?",
    minutes=7,
    difficulty="medium",
    lines=1,
    points=2,
    objectives=(1, 3),
    takes="broken_prefix()",
    promises=BROKEN_PREFIX_CASE.promises(),
    case=BROKEN_PREFIX_CASE,
)

MARKED = Exercise(
    name="marked",
    title="Placing the marks",
    minutes=15,
    difficulty="medium",
    lines=9,
    points=6,
    objectives=(3,),
    takes="marked(request)",
    promises=(
        it_says_the_same_to_the_model,
        the_last_block_is_marked,
        a_mark_looks_as_the_api_wants_it,
        where_the_request_before_ended_is_marked_too,
        every_round_reads_what_the_one_before_sent,
        however_much_a_round_adds_the_next_one_finds_it,
        another_run_reads_the_head,
        there_are_at_most_four_marks_and_the_old_ones_are_gone,
        what_cannot_be_marked_is_passed_over,
    ),
    piece=Piece("marked", borrowed=lambda: view.marked),
)

WITH_NEWS = Exercise(
    name="with_news",
    title="Where news enters",
    minutes=8,
    difficulty="medium",
    lines=7,
    points=3,
    objectives=(1, 3),
    takes="with_news(messages, news)",
    promises=(
        news_stands_at_the_bottom,
        nothing_that_was_sent_changes,
        behind_results_it_stands_in_the_last_one,
        a_result_may_hold_blocks,
        where_nothing_came_back_it_is_words_of_the_user,
        without_news_the_messages_are_as_they_were,
    ),
)

COMPACT = Exercise(
    name="compact",
    title="One deliberate cut",
    minutes=12,
    difficulty="hard",
    lines=7,
    points=5,
    objectives=(3,),
    takes="compact(messages, summary, keep)",
    promises=(
        the_prompt_stays_and_the_summary_stands_behind_it,
        the_last_messages_stay_as_they_are,
        no_call_is_parted_from_its_result,
        a_cut_in_front_of_the_users_words_is_a_good_one,
        with_nothing_kept_there_are_the_prompt_and_the_summary,
        what_is_short_is_left_alone,
    ),
)

LAB = Lab(
    "07_order_is_load_bearing",
    "Order is load-bearing",
    (FIRST_CHANGE, BROKEN_PREFIX, MARKED, WITH_NEWS, COMPACT),
)
