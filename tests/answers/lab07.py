"""Answers to lab 07: right ones of several shapes, and what people get wrong."""

import json
from copy import deepcopy
from itertools import zip_longest

from harness_zero import view
from harness_zero.grading.lab07 import TRIMMED
from harness_zero.messages import blocks, text, tool_results, user, with_words
from harness_zero.prefix import first_difference, lines, rendering

MARK = {"cache_control": {"type": "ephemeral"}}
BEFORE = "what the request before had"

# first_change


def first_change(before, after):
    there = [line for _, line in lines(after)]
    for at, (name, line) in enumerate(lines(before)):
        if at >= len(there) or there[at] != line:
            return name
    return None


def first_change_by_pairs(before, after):
    for one, other in zip_longest(lines(before), lines(after)):
        if one is not None and (other is None or one[1] != other[1]):
            return one[0]


def first_change_by_bytes(before, after):
    whole, sent = rendering(after), b""
    for name, line in lines(before):
        sent += line
        if not whole.startswith(sent):
            return name
    return None


def changes(of=lines, missing=True, name=lambda one, other: one):
    """The first change with one thing changed."""

    def first_change(before, after):
        for one, other in zip_longest(of(before), of(after)):
            if one is None:
                return None
            if other is None:
                return one[0] if missing else None
            if one[1] != other[1]:
                return name(one[0], other[0])
        return None

    return first_change


def in_the_order_of_the_dict(request):
    for name, content in request.items():
        yield from lines({"messages": [], name: content})


def with_the_marks(request):
    return lines(json.loads(json.dumps(request).replace("cache_control", "mark")))


def sorted_tools(request):
    tools = sorted(request["tools"], key=lambda tool: tool["name"])
    return lines({**request, "tools": tools})


def messages_alone(request):
    return lines({"messages": request["messages"]})


def as_it_stands(request):
    for section in ("tools", "system", "messages"):
        for line in lines({"messages": [], section: request[section]}):
            yield line[0], str(request[section])


def that_takes_marks_off(before, after):
    for message in after["messages"]:
        for block in message["content"]:
            block.pop("cache_control", None)
    return first_change(before, after)


def anything_new(before, after):
    found = first_difference(before, after)
    return found.block if found else None


# marked


def marked(request):
    return view.marked(request)  # our own


def marked_by_hand(request):
    found = bare(request)
    messages = found["messages"]
    spoken = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    before = messages[: spoken[-1]] if spoken else []
    parts = [
        found.get("tools", []),
        found.get("system", []),
        [block for message in before for block in message["content"]],
        [block for message in messages for block in message["content"]],
    ]
    for part in parts:
        for block in reversed(part):
            if block.get("type") not in ("thinking", "redacted_thinking"):
                block.update(deepcopy(MARK))
                break
    return found


def marked_one_by_one(request):
    found = bare(request)
    said = [block for message in found["messages"] for block in message["content"]]
    (found.get("system") or found.get("tools") or [{}])[-1].update(deepcopy(MARK))
    for message in reversed(found["messages"]):
        if message["role"] == "assistant":
            before = found["messages"][found["messages"].index(message) - 1]
            before["content"][-1].update(deepcopy(MARK))
            break
    [block for block in said if "thinking" not in block["type"]][-1].update(deepcopy(MARK))
    return found


def bare(request):
    """A copy without marks, in which everything is a list of blocks."""
    found = deepcopy(request)
    found.pop("cache_control", None)
    if isinstance(found.get("system"), str):
        found["system"] = [text(found["system"])]
    for message in found["messages"]:
        message["content"] = blocks(message)
    inside = [block for message in found["messages"] for block in message["content"]]
    for block in [*found.get("tools", []), *found.get("system", []), *inside]:
        block.pop("cache_control", None)
    return found


def marking(*ends, mark=None, clean=bare, passes=("thinking",), heads=("system", "tools")):
    """Marks at the last blocks of these messages, counted as in a list, and at the head."""

    def ending(messages, end):
        if end != BEFORE:
            return messages[: len(messages) + 1 + end]
        spoken = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
        return messages[: spoken[-1]] if spoken else []

    def marked(request):
        found = clean(request)
        for head in [name for name in heads if found.get(name)][:1]:
            found[head][-1].update(deepcopy(MARK))
        for end in ends:
            for message in reversed(ending(found["messages"], end)):
                can = [b for b in message["content"] if b["type"] not in passes]
                if can:
                    can[-1].update(deepcopy(mark or MARK))
                    break
        return found

    return marked


def marked_in_place(request):
    found = view.marked(request)
    request.update(found)
    return request


def marked_shallow(request):
    found = {**request, "messages": [*request["messages"]]}
    last = found["messages"][-1]
    last["content"] = blocks(last)
    last["content"][-1]["cache_control"] = {"type": "ephemeral"}
    return found


def adds_to_old_ones(request):
    found = deepcopy(request)
    if isinstance(found.get("system"), str):
        found["system"] = [text(found["system"])]
    for message in found["messages"]:
        message["content"] = blocks(message)
    return marking(-1, BEFORE, clean=lambda request: found)(found)


def keeps_the_top_level(request):
    found = bare(request)
    if "cache_control" in request:
        found["cache_control"] = request["cache_control"]
    return marking(-1, BEFORE, clean=lambda request: found)(found)


def drops_max_tokens(request):
    found = view.marked(request)
    found.pop("max_tokens", None)
    return found


def sorts_the_tools(request):
    found = view.marked(request)
    if "tools" in found:
        found["tools"] = sorted(found["tools"], key=lambda tool: tool["name"])
    return found


# with_news


def with_news(messages, news):
    if not news:
        return messages
    *before, last = messages
    if not tool_results(last):
        return [*messages, user(news)]
    *others, result = last["content"]
    return [*before, {**last, "content": [*others, with_words(result, news)]}]


def with_news_in_a_copy(messages, news):
    found = deepcopy(messages)
    if news and tool_results(found[-1]):
        result = tool_results(found[-1])[-1]
        if isinstance(result["content"], str):
            result["content"] = [text(result["content"])]
        result["content"].append(text(news))
    elif news:
        found.append(user(news))
    return found


def with_news_in_the_prompt(messages, news):
    *before, last = deepcopy(messages)
    if not news:
        return [*before, last]
    if last["role"] == "assistant":
        return [*before, last, user(news)]
    if not tool_results(last):
        last["content"].append(text(news))
        return [*before, last]
    return with_news(messages, news)


def news_at_the_top(messages, news):
    first, *others = messages
    return [{**first, "content": [text(news), *first["content"]]}, *others] if news else messages


def news_in_a_message(messages, news):
    return [*messages, user(news)] if news else messages


def news_in_the_first_result(messages, news):
    if not news or not tool_results(messages[-1]):
        return with_news(messages, news)
    first, *others = messages[-1]["content"]
    return [*messages[:-1], {**messages[-1], "content": [with_words(first, news), *others]}]


def news_instead(messages, news):
    if not news or not tool_results(messages[-1]):
        return with_news(messages, news)
    *others, result = messages[-1]["content"]
    return [*messages[:-1], {**messages[-1], "content": [*others, {**result, "content": news}]}]


def news_without_the_error(messages, news):
    found = with_news(messages, news)
    for result in tool_results(found[-1]) if news else []:
        result.pop("is_error", None)
    return found


def news_in_place(messages, news):
    messages[:] = with_news(messages, news)
    return messages


def news_as_text_alone(messages, news):
    if not news or not tool_results(messages[-1]):
        return with_news(messages, news)
    *others, result = messages[-1]["content"]
    told = {**result, "content": result["content"] + "\n" + news}
    return [*messages[:-1], {**messages[-1], "content": [*others, told]}]


def news_in_an_old_result(messages, news):
    at = max((n for n, each in enumerate(messages) if tool_results(each)), default=None)
    if not news or at is None:
        return with_news(messages, news)
    return [*with_news(messages[: at + 1], news), *messages[at + 1 :]]


def news_letter_by_letter(messages, news):
    found = deepcopy(messages)
    if not news or not tool_results(found[-1]):
        return with_news(messages, news)
    found[-1]["content"][-1]["content"] += news
    return found


def news_as_a_reply(messages, news):
    if news and not tool_results(messages[-1]):
        return [*messages, {"role": "assistant", "content": [text(news)]}]
    return with_news(messages, news)


# compact


def compact(messages, summary, keep):
    cut = max(1, len(messages) - keep)
    if tool_results(messages[cut]) if cut < len(messages) else []:
        cut -= 1
    if cut <= 1:
        return messages
    first = messages[0]
    return [{**first, "content": [*blocks(first), text(summary)]}, *messages[cut:]]


def compact_looking_back(messages, summary, keep):
    rest = messages[1:]
    begin = len(rest) - keep
    if 0 < begin < len(rest) and any(b["type"] == "tool_result" for b in rest[begin]["content"]):
        begin -= 1
    if begin <= 0:
        return list(messages)
    return [{"role": "user", "content": [*messages[0]["content"], text(summary)]}, *rest[begin:]]


def cutting(cut=None, first=None, short=True, back=1):
    """A compaction with one thing changed."""

    def compact(messages, summary, keep):
        at = (cut or (lambda messages, keep: max(1, len(messages) - keep)))(messages, keep)
        if back and at < len(messages) and tool_results(messages[at]):
            at -= back
        if short and at <= 1:
            return messages
        top = first or (lambda prompt, summary: [user(*blocks(prompt), summary)])
        return [*top(messages[0], summary), *messages[at:]]

    return compact


def compact_in_place(messages, summary, keep):
    found = compact(messages, summary, keep)
    messages[:] = found
    return messages


def compact_the_prompt_in_place(messages, summary, keep):
    found = compact(messages, summary, keep)
    if found is not messages:
        messages[0]["content"].append(text(summary))
    return found


def marked_for_an_hour(request):
    return view.marked(request, ttl="1h")


RIGHT = {
    "first_change": [first_change, first_change_by_pairs, first_change_by_bytes],
    "broken_prefix": [
        lambda: ("c", 6),
        lambda: ["C", 6],
        lambda: (" c ", TRIMMED),
    ],
    "marked": [marked, marked_by_hand, marked_one_by_one, marked_for_an_hour],
    "with_news": [with_news, with_news_in_a_copy, with_news_in_the_prompt],
    "compact": [compact, compact_looking_back, cutting()],
}

WRONG = {
    "first_change": {
        "nothing": (lambda before, after: None, "for another result in message 2"),
        "whatever is new": (anything_new, "None for a request and the next one"),
        "messages alone": (changes(of=messages_alone), "another system prompt"),
        "in the order of the dict": (
            changes(of=in_the_order_of_the_dict),
            "'tool 1 (edit)' for another tool",
        ),
        "sorted": (changes(of=sorted_tools), "'tool 0 (edit)'"),
        "what is missing": (changes(missing=False), "a request without its last round"),
        "the other's name": (
            changes(name=lambda one, other: other),
            "'tool 1 (write)'",
        ),
        "a number": (lambda before, after: 0, "None for a request and the next one"),
        "the section": (
            lambda before, after: (first_change(before, after) or "").partition(" ")[0] or None,
            "got:      'message'",
        ),
        "whole sections": (changes(of=as_it_stands), "None for a request and the next one"),
        "the marks": (changes(of=with_the_marks), "the same request with marks in it"),
        "takes them off": (that_takes_marks_off, "both requests to stay as they were"),
    },
    "broken_prefix": {
        "no number": (lambda: "c", "a letter of a, b, c, d, e"),
        "the tools": (lambda: ("a", 6), "a: the tools stay as they are"),
        "the system prompt": (lambda: ("b", 6), "b: the system prompt"),
        "the marks": (lambda: ("d", 6), "all are marked"),
        "the pause": (lambda: ("e", 5), "280 seconds are less than five minutes"),
        "the long file": (lambda: ("c", 3), "look down"),
        "late": (lambda: ("c", 7), "look further up"),
        "from one": (lambda: ("c", 10), "a number from 0 to 9"),
    },
    "marked": {
        "nothing": (lambda request: None, "a request back"),
        "messages": (lambda request: request["messages"], "a request back"),
        "in place": (marked_in_place, "the request that it is given to stay"),
        "shallow": (marked_shallow, "the request that it is given to stay"),
        "no marks": (lambda request: request, "a mark at the last block"),
        "the last alone": (marking(-1), "a mark at the last block of message 4"),
        "the first message": (
            marking(-1, BEFORE, clean=lambda r: {**bare(r), "messages": bare(r)["messages"][:1]}),
            "the same request but for its marks",
        ),
        "the tools alone": (marking(-1, BEFORE, heads=("tools",)), "a second run to read the head"),
        "no tools": (marking(-1, BEFORE, heads=("system",)), "where there is no system prompt"),
        "no head": (marking(-1, BEFORE, heads=()), "a second run to read the head"),
        "the model's words": (marking(-1, -2), "a mark at the last block of message 4"),
        "the third from the end": (marking(-1, -3), "the model has spoken once since"),
        "true": (marking(-1, BEFORE, mark={"cache_control": True}), "{'type': 'ephemeral'}"),
        "on thoughts": (marking(-1, BEFORE, passes=()), "a mark on a thought"),
        "old ones": (adds_to_old_ones, "at most four marks"),
        "for the whole": (keeps_the_top_level, "and one for the whole request"),
        "without max_tokens": (drops_max_tokens, "the same request but for its marks"),
        "sorts the tools": (sorts_the_tools, "another tool"),
    },
    "with_news": {
        "nothing": (lambda messages, news: None, "a list of messages back"),
        "says nothing": (lambda messages, news: messages, "the news in the last message"),
        "at the top": (news_at_the_top, "the news in the last message"),
        "a message": (news_in_a_message, "text after results"),
        "the first result": (news_in_the_first_result, "in the second of two results"),
        "instead": (news_instead, "still that of the tool"),
        "no error": (news_without_the_error, "still marked as an error"),
        "in place": (news_in_place, "to stay as they were"),
        "text alone": (news_as_text_alone, "can only concatenate list"),
        "a reply": (news_as_a_reply, "messages that can be sent"),
        "an old result": (news_in_an_old_result, "the model's own message"),
        "letter by letter": (news_letter_by_letter, "letter by letter"),
    },
    "compact": {
        "nothing": (lambda messages, summary, keep: None, "a list of messages back"),
        "the last ones": (
            lambda messages, summary, keep: messages[-keep:],
            "begins with the prompt",
        ),
        "no summary": (
            lambda messages, summary, keep: [messages[0], *messages[-keep:]],
            "the summary as a block",
        ),
        "the summary first": (
            cutting(first=lambda prompt, summary: [user(summary, *blocks(prompt))]),
            "begins with the prompt",
        ),
        "a message of its own": (
            cutting(first=lambda prompt, summary: [prompt, user(summary)]),
            "a message of its own",
        ),
        "anywhere": (cutting(back=0), "a result without its call is refused"),
        "two back": (cutting(back=2), "with keep=1"),
        "a whole round more": (
            cutting(cut=lambda messages, keep: max(1, len(messages) - keep - 2 * (keep % 2))),
            "nothing more is needed",
        ),
        "always one back": (
            cutting(cut=lambda messages, keep: max(1, len(messages) - keep - 1), back=0),
            "the prompt and the last 2",
        ),
        "minus zero": (
            cutting(cut=lambda messages, keep: len(messages[:-keep]) if keep else 0, short=False),
            "with keep=0",
        ),
        "even if short": (cutting(short=False), "no message is left out"),
        "in place": (compact_in_place, "to stay as they were"),
        "the prompt in place": (compact_the_prompt_in_place, "another message 0"),
    },
}
