"""For every rule, requests that break it and near ones that do not: the table behind the tests,
`make conformance` and docs/messages_api.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness_zero.messages import Block, Message, reply, said, text, tool_result, tool_use, user
from harness_zero.prefix import MARK
from harness_zero.simulator.exchange import Body
from harness_zero.simulator.rule import Rule
from harness_zero.simulator.rules import array, caching, content, pairs, request, thinking, tools

GO = user("go")
ADD = {"name": "add", "input_schema": {"type": "object"}}


@dataclass(frozen=True)
class Example:
    """One request near a rule, and how it is answered."""

    rule: Rule
    what: str  # about the request, in words
    body: Body
    says: str = ""  # a piece of the refusal; nothing if the request is accepted
    status: int = 400
    version: str = "2026-10-21"

    @property
    def accepted(self) -> bool:
        """Whether the API answers with a message."""
        return not self.says

    @property
    def name(self) -> str:
        """The rule and the request."""
        return f"{self.rule.name}: {self.what}"


def body(*messages: Message, model: Any = "claude-sonnet-5", **fields: Any) -> Body:
    """A small request. A field given as `...` is left out."""
    whole = {"model": model, "max_tokens": 16, "messages": list(messages) or [GO], **fields}
    return {name: value for name, value in whole.items() if value is not ...}


def asks(*ids: str) -> Message:
    """The model asks for one call of `add` for each id."""
    return said(reply(*[tool_use(id, "add") for id in ids]))


def answers(*ids: str) -> Message:
    """The user's message with one result for each id."""
    return user(*[tool_result(id, "5") for id in ids])


def spoken(*blocks: Any) -> Message:
    """A message of the model."""
    return {"role": "assistant", "content": list(blocks)}


def system(words: str) -> Message:
    """A message with the role system."""
    return {"role": "system", "content": words}


def request_examples() -> Iterator[Example]:
    """The fields of a request."""
    r = request
    yield Example(r.required, "no max_tokens", body(max_tokens=...), "max_tokens: Field required")
    yield Example(r.required, "no messages", body(messages=...), "messages: Field required")
    yield Example(r.required, "no model", body(model=...), "model: Field required")
    yield Example(r.required, "all three", body())
    extra = body(max_token=5)
    yield Example(r.known_fields, "a slip", extra, "max_token: Extra inputs are not permitted")
    wrong = body(max_tokens="16")
    yield Example(
        r.known_fields, "a text for a number", wrong, "max_tokens: Input should be a valid integer"
    )
    yield Example(r.known_fields, "true for a number", body(max_tokens=True), "max_tokens: Input")
    wrong = body(messages={})
    yield Example(
        r.known_fields, "messages is no list", wrong, "messages: Input should be a valid list"
    )
    yield Example(r.model_exists, "a dead model", body(model="claude-2"), "model: claude-2", 404)
    yield Example(
        r.some_messages, "none", body(messages=[]), "messages: at least one message is required"
    )
    long: Body = {"model": "claude-opus-5", "max_tokens": 128_001}
    says = "max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for"
    yield Example(r.max_tokens_fit, "one too many", body(**long), says)
    yield Example(
        r.max_tokens_fit, "less than none", body(max_tokens=-1), "max_tokens: Input should be"
    )
    for name, value in (("temperature", 1.0), ("top_p", 0.9), ("top_k", 5)):
        yield Example(r.no_sampling, f"{name} in version 2026-10-21", body(**{name: value}), name)
    yield Example(
        r.no_sampling,
        "temperature in version 2023-06-01",
        body(temperature=1.0),
        version="2023-06-01",
    )
    yield Example(r.system_is_text, "a text", body(system="You add."))
    yield Example(r.system_is_text, "a text block", body(system=[text("You add.")]))
    yield Example(
        r.system_is_text, "a blank block", body(system=[text(" ")]), "system: text content blocks"
    )
    wrong = body(system=[{"type": "image"}])
    yield Example(r.system_is_text, "another block", wrong, "system.0: Input should be")
    wrong = body(stop_sequences=[5])
    yield Example(r.stops_are_texts, "a number", wrong, "stop_sequences.0: Input should be")
    yield Example(r.stops_are_texts, "a word", body(stop_sequences=["END"]))
    wrong = body(thread={"type": "create"})
    yield Example(r.no_threads, "a thread is to be made", wrong, "thread: this request")
    on: Body = {"type": "enabled", "budget_tokens": 1024}
    yield Example(
        r.thinking_fits, "enabled on a new model", body(thinking=on, max_tokens=2000), "adaptive"
    )
    wrong = body(thinking={"type": "adaptive"}, model="claude-haiku-4-5")
    yield Example(
        r.thinking_fits, "adaptive on an old model", wrong, "adaptive thinking is not supported"
    )
    wrong = body(thinking={"type": "disabled"}, model="claude-opus-5-5")
    yield Example(
        r.thinking_fits, "off where it cannot be", wrong, '"thinking.type.disabled" is not'
    )
    yield Example(
        r.thinking_fits, "no such way", body(thinking={"type": "deep"}), "Input tag 'deep'"
    )
    yield Example(r.thinking_fits, "adaptive on a new model", body(thinking={"type": "adaptive"}))
    old: Body = {
        "model": "claude-haiku-4-5",
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    yield Example(r.thinking_budget, "less than max_tokens", body(**old, max_tokens=1025))
    yield Example(
        r.thinking_budget, "as much", body(**old, max_tokens=1024), "`max_tokens` must be greater"
    )
    old = {"model": "claude-haiku-4-5", "thinking": {"type": "enabled", "budget_tokens": 1023}}
    yield Example(
        r.thinking_budget, "too little", body(**old, max_tokens=4000), "budget_tokens: Input"
    )
    old = {"model": "claude-haiku-4-5", "thinking": {"type": "enabled"}}
    yield Example(r.thinking_budget, "none", body(**old), "budget_tokens: Field required")


def tool_examples() -> Iterator[Example]:
    """The tools, and the choice among them."""
    t = tools
    yield Example(t.tools_are_whole, "a name and a schema", body(tools=[ADD]))
    yield Example(
        t.tools_are_whole,
        "no schema",
        body(tools=[{"name": "add"}]),
        "input_schema: Field required",
    )
    wrong = body(tools=[{"name": "add", "input_schema": {"type": "array"}}])
    yield Example(
        t.tools_are_whole, "a list's schema", wrong, "input_schema.type: Input should be 'object'"
    )
    yield Example(
        t.tools_are_whole, "a text for a tool", body(tools=["add"]), "tools.0: Input should be"
    )
    for name in ("add two", "", "a" * 129, "ä"):
        wrong = body(tools=[{**ADD, "name": name}])
        says = "tools.0.custom.name: String should match pattern"
        yield Example(t.tool_names, f"{name[:9]!r}, {len(name)} long", wrong, says)
    yield Example(t.tool_names, "64 long", body(tools=[{**ADD, "name": "a" * 64}]))
    yield Example(
        t.tools_differ, "twice", body(tools=[ADD, ADD]), "tools: Tool names must be unique."
    )
    for kind in ("auto", "any", "none"):
        yield Example(t.choice_is_known, kind, body(tools=[ADD], tool_choice={"type": kind}))
    named: Body = {"type": "tool", "name": "add"}
    yield Example(t.choice_is_known, "a tool by name", body(tools=[ADD], tool_choice=named))
    wrong = body(tools=[ADD], tool_choice={"type": "tool", "name": "divide"})
    yield Example(t.choice_is_known, "a tool that is not offered", wrong, "'divide' not found")
    wrong = body(tools=[ADD], tool_choice={"type": "all"})
    yield Example(t.choice_is_known, "no such choice", wrong, "tool_choice.type: Input")
    wrong = body(tool_choice={"type": "any"})
    yield Example(t.choice_is_known, "no tools", wrong, "tool_choice may only be specified")
    for model in ("claude-sonnet-5-5", "claude-opus-5-5", "claude-fable-5-1"):
        wrong = body(tools=[ADD], tool_choice={"type": "any"}, model=model)
        yield Example(t.choice_is_free, model, wrong, 'type "tool" and "any" are not supported')
    free = body(tools=[ADD], tool_choice={"type": "auto"}, model="claude-sonnet-5-5")
    yield Example(t.choice_is_free, "auto on a new model", free)


def content_examples() -> Iterator[Example]:
    """Messages and blocks, one by one."""
    c = content
    yield Example(
        c.message_is_whole, "no role", body({"content": "go"}), "messages.0.role: Field required"
    )
    yield Example(
        c.message_is_whole, "no content", body({"role": "user"}), "content: Field required"
    )
    wrong = body({"role": "user", "content": "go", "at": 5})
    yield Example(c.message_is_whole, "a field more", wrong, "messages.0.at: Extra inputs")
    wrong = body({"role": "tool", "content": "go"})
    yield Example(
        c.message_is_whole, "no such role", wrong, "messages.0.role: Input should be 'user'"
    )
    wrong = body({"role": "user", "content": 5})
    yield Example(c.message_is_whole, "a number", wrong, "messages.0.content: Input should be")
    yield Example(c.message_is_whole, "a text for content", body({"role": "user", "content": "go"}))
    wrong = body(messages=["go"])
    yield Example(c.message_is_whole, "a text for a message", wrong, "messages.0: Input should be")
    wrong = body({"role": "user", "content": [{"text": "go"}]})
    yield Example(c.block_is_whole, "no type", wrong, "messages.0.content.0.type: Field required")
    wrong = body({"role": "user", "content": ["go"]})
    yield Example(
        c.block_is_whole, "a text for a block", wrong, "messages.0.content.0: Input should be"
    )
    wrong = body({"role": "user", "content": [{"type": "hologram"}]})
    yield Example(c.block_is_whole, "no such type", wrong, "Input tag 'hologram' found")
    wrong = body({"role": "user", "content": [{"type": "text"}]})
    yield Example(
        c.block_is_whole, "a text without text", wrong, "content.0.text.text: Field required"
    )
    wrong = body({"role": "user", "content": [{"type": "text", "text": 5}]})
    yield Example(c.block_is_whole, "a number for text", wrong, "text.text: Input should be")
    wrong = body({"role": "user", "content": [{**text("go"), "at": 5}]})
    yield Example(c.no_fields_more, "one more", wrong, "content.0.text.at: Extra inputs are not")
    nulls = body({"role": "user", "content": [{**text("go"), "citations": None}]})
    yield Example(c.no_fields_more, "one of its own that is null", nulls)
    called = {"type": "tool_use", "id": "toolu_1", "name": "add"}
    wrong = body(GO, spoken(called), answers("toolu_1"))
    yield Example(c.block_is_whole, "a call without input", wrong, "tool_use.input: Field required")
    wrong = body(GO, spoken({**called, "input": "[2, 3]"}), answers("toolu_1"))
    yield Example(
        c.input_is_an_object, "a text", wrong, "tool_use.input: Input should be a valid dict"
    )
    yield Example(
        c.input_is_an_object, "an empty one", body(GO, asks("toolu_1"), answers("toolu_1"))
    )
    wrong = body(GO, asks("call 1"), answers("call 1"))
    yield Example(c.id_is_plain, "a space", wrong, "tool_use.id: String should match pattern")
    result = tool_result("toolu_1", "5")
    wrong = body(GO, asks("toolu_1"), user({**result, "content": 5}))
    yield Example(c.result_is_readable, "a number", wrong, "tool_result.content: Input should be")
    wrong = body(GO, asks("toolu_1"), user({**result, "content": [{"type": "tool_use"}]}))
    yield Example(c.result_is_readable, "a call", wrong, "tool_result.content.0: Input should be")
    wrong = body(GO, asks("toolu_1"), user({**result, "is_error": "yes"}))
    yield Example(c.result_is_readable, "a text for is_error", wrong, "is_error: Input should be")
    wrong = body(GO, asks("toolu_1"), user({**result, "content": [{"type": "text"}]}))
    yield Example(c.result_is_readable, "a text without text", wrong, "content.0.text.text: Input")
    bare = {"type": "tool_result", "tool_use_id": "toolu_1"}
    yield Example(c.result_is_readable, "nothing at all", body(GO, asks("toolu_1"), user(bare)))
    listed = {**bare, "content": [text("5")]}
    yield Example(c.result_is_readable, "a text block", body(GO, asks("toolu_1"), user(listed)))
    yield Example(c.text_says_something, "empty", body(user("")), "blocks must be non-empty")
    yield Example(c.text_says_something, "blank", body(user(" \n")), "contain non-whitespace text")
    wrong = body(GO, {"role": "user", "content": [called | {"input": {}}]})
    yield Example(
        c.each_in_its_place, "a call of the user", wrong, "`tool_use` blocks can only be in"
    )
    wrong = body(GO, spoken(result), GO)
    yield Example(
        c.each_in_its_place, "a result of the model", wrong, "`tool_result` blocks can only"
    )
    document = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "a"},
    }
    wrong = body(GO, spoken(document), GO)
    yield Example(
        c.only_there, "a document of the model", wrong, "`document` blocks are not allowed"
    )
    cited = {**text("so it is"), "citations": [{"type": "char_location"}]}
    yield Example(
        c.only_there, "citations of the user", body(user(cited)), "citations: not allowed"
    )


def kept(block: Block, ttl: str | None = None) -> Block:
    """A block that is marked for the cache."""
    return {**block, "cache_control": {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}}


def caching_examples() -> Iterator[Example]:
    """Marks for the cache, and a request that only fills it."""
    c, mark = caching, kept({})["cache_control"]
    five = [kept(text(word)) for word in ("one", "two", "three", "four", "five")]
    yield Example(c.mark_is_known, "on a block", body(user(five[0])))
    spread = body(user(five[0]), tools=[kept(ADD)], system=[kept(text("You add."))])
    yield Example(c.mark_is_known, "on a tool, the system prompt and a block", spread)
    yield Example(
        c.mark_is_known, "at the top, for an hour", body(cache_control=kept({}, "1h")[MARK])
    )
    wrong = body(user({**text("go"), MARK: {"type": "lasting"}}))
    says = "messages.0.content.0.text.cache_control: Input tag 'lasting'"
    yield Example(c.mark_is_known, "of another type", wrong, says)
    wrong = body(user(kept(text("go"), "2h")))
    says = "cache_control.ephemeral.ttl: Input should be '5m' or '1h'"
    yield Example(c.mark_is_known, "for two hours", wrong, says)
    wrong = body(user({**text(" "), MARK: mark}))
    says = "messages.0.content.0.text: cache_control cannot be set for empty text blocks"
    yield Example(c.no_mark_on_nothing, "on a blank text", wrong, says)
    cited = spoken({**text("so it is"), "citations": [kept({"type": "char_location"})]})
    says = "messages.1.content.0.text.citations.0.cache_control: Extra inputs"
    yield Example(c.no_mark_on_a_part, "on a citation", body(GO, cited, GO), says)
    thought = spoken(kept({"type": "thinking", "thinking": "I add.", "signature": "EqoB"}))
    says = "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted"
    yield Example(content.no_fields_more, "a mark on a thought", body(GO, thought, GO), says)
    most = "A maximum of 4 blocks with cache_control may be provided. Found 5."
    yield Example(c.four_at_most, "four", body(user(*five[:4])))
    yield Example(c.four_at_most, "five", body(user(*five)), most)
    wrong = body(user(*five[:4], "and go"), cache_control=mark)
    yield Example(c.room_for_the_automatic, "a fifth", wrong, most)
    same = body(user(*five[:4]), cache_control=mark)
    yield Example(c.room_for_the_automatic, "where the fourth is", same)
    wrong = body(user(five[0]), cache_control=kept({}, "1h")[MARK])
    yield Example(c.automatic_agrees, "an hour, over five minutes", wrong, "ttl='1h' conflicts")
    says = "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."
    wrong = body(user(kept(text("go"), "1h")), system=[kept(text("You add."))])
    yield Example(c.longer_first, "five minutes, then an hour", wrong, says)
    fine = body(user(five[0]), system=[kept(text("You add."), "1h")])
    yield Example(c.longer_first, "an hour, then five minutes", fine)
    yield Example(c.only_fills, "with a mark", body(user(five[0]), max_tokens=0))
    schema = {"type": "json_schema", "schema": {"type": "object"}}
    wishes: dict[str, Body] = {
        "stream": {"stream": True},
        "thinking": {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        "output_config.format": {"output_config": {"format": schema}},
        "tool_choice": {"tools": [ADD], "tool_choice": {"type": "any"}},
    }
    for name, fields in wishes.items():
        model = "claude-sonnet-4-6" if name == "thinking" else "claude-sonnet-5"
        wrong = body(user(five[0]), model=model, max_tokens=0, **fields)
        yield Example(c.only_fills, f"with {name}", wrong, f"{name}: not supported when")


def array_examples() -> Iterator[Example]:
    """The array as a whole."""
    a = array
    wrong = body(spoken(text("hello")), GO)
    yield Example(
        a.begins_with_the_user, "the model", wrong, 'first message must use the "user" role'
    )
    empty = {"role": "assistant", "content": []}
    wrong = body(GO, empty, GO)
    yield Example(
        a.no_empty_messages, "an empty reply", wrong, "messages.1: all messages must have non-empty"
    )
    wrong = body({"role": "user", "content": ""})
    yield Example(
        a.no_empty_messages, "an empty prompt", wrong, "messages.0: all messages must have"
    )
    old = body(GO, empty, model="claude-haiku-4-5")
    yield Example(a.no_empty_messages, "the model's, at the end, on an old model", old)
    wrong = body(GO, spoken(text("It is")))
    yield Example(
        a.no_prefill, "words of the model", wrong, "does not support assistant message prefill"
    )
    old = body(GO, spoken(text("It is")), model="claude-haiku-4-5")
    yield Example(a.no_prefill, "on an old model", old)
    old = body(GO, spoken(text("It is ")), model="claude-haiku-4-5")
    yield Example(a.prefill_is_stripped, "a space", old, "cannot end with trailing whitespace")
    inside = (GO, system("Be brief."))
    wrong = body(*inside)
    yield Example(a.system_is_known, "on Sonnet 5", wrong, 'messages: Unexpected role "system"')
    yield Example(a.system_is_known, "on Opus 5", body(*inside, model="claude-opus-5"))
    wrong = body(GO, asks("toolu_1"), answers("toolu_1"), asks("toolu_1"), answers("toolu_1"))
    yield Example(
        a.ids_are_unique, "in two messages", wrong, "messages.3.content.0: `tool_use` ids must be"
    )
    twice = body(GO, asks("toolu_1", "toolu_1"), answers("toolu_1"))
    yield Example(
        a.ids_are_unique, "in one message", twice, "messages.1.content.1: `tool_use` ids must be"
    )


def pair_examples() -> Iterator[Example]:
    """A message and the next."""
    p = pairs
    found = "`tool_use` ids were found without `tool_result` blocks immediately after"
    wrong = body(GO, asks("toolu_1"), user("and now?"))
    yield Example(
        p.every_call_is_answered, "words instead", wrong, f"messages.1: {found}: toolu_1."
    )
    wrong = body(GO, asks("toolu_1", "toolu_2"), answers("toolu_1"))
    yield Example(p.every_call_is_answered, "one of two", wrong, f"messages.1: {found}: toolu_2.")
    wrong = body(GO, asks("toolu_1"), user("here", tool_result("toolu_1", "5")))
    yield Example(
        p.every_call_is_answered, "text before it", wrong, f"messages.1: {found}: toolu_1."
    )
    late = body(GO, asks("toolu_1"), spoken(text("so")), GO, answers("toolu_1"))
    yield Example(
        p.every_call_is_answered, "a message too late", late, f"messages.1: {found}: toolu_1."
    )
    after = body(GO, asks("toolu_1"), user(tool_result("toolu_1", "5"), "and hurry"))
    yield Example(p.every_call_is_answered, "text after it", after)
    two = body(GO, asks("toolu_1", "toolu_2"), answers("toolu_1"), answers("toolu_2"))
    yield Example(p.every_call_is_answered, "in two messages of the user, which are one", two)
    turned = body(GO, asks("toolu_1", "toolu_2"), answers("toolu_2", "toolu_1"))
    yield Example(p.every_call_is_answered, "in another order", turned)
    found = "unexpected `tool_use_id` found in `tool_result` blocks"
    yield Example(
        p.every_result_was_asked_for,
        "first of all",
        body(answers("toolu_1")),
        f"messages.0.content.0: {found}",
    )
    wrong = body(GO, asks("toolu_1"), answers("toolu_1", "toolu_9"))
    yield Example(
        p.every_result_was_asked_for,
        "a stranger",
        wrong,
        f"messages.2.content.1: {found}: toolu_9.",
    )
    wrong = body(GO, asks("toolu_1"), answers("toolu_1", "toolu_1"))
    says = "messages.2.content.1: each tool_use must have a single result."
    yield Example(p.one_result_each, "twice", wrong, says)
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = "`web_search` tool use with id `srvtoolu_1` was found without a corresponding"
    wrong = body(GO, spoken(search), GO)
    yield Example(p.served_tools_are_answered, "something after it", wrong, f"messages.1: {found}")
    yield Example(p.served_tools_are_answered, "a pause", body(GO, spoken(search)))
    opus: Body = {"model": "claude-opus-5"}
    inside = system("Be brief.")
    yield Example(p.system_has_its_place, "last, after the user", body(GO, inside, **opus))
    between = body(GO, inside, spoken(text("yes")), GO, **opus)
    yield Example(p.system_has_its_place, "between the user and the model", between)
    wrong = body(GO, spoken(text("yes")), inside, **opus)
    yield Example(
        p.system_has_its_place,
        "after the model",
        wrong,
        "messages.2: `system` messages must follow",
    )
    wrong = body(GO, inside, GO, **opus)
    yield Example(
        p.system_has_its_place,
        "before the user",
        wrong,
        "messages.1: `system` messages must be last",
    )
    wrong = body(GO, asks("toolu_1"), inside, answers("toolu_1"), **opus)
    yield Example(
        p.every_call_is_answered, "a system message between", wrong, "messages.1: `tool_use` ids"
    )


def thinking_examples() -> Iterator[Example]:
    """A thinking block that nobody gave out; those that were need an API that remembers."""
    forged = spoken(
        {"type": "thinking", "thinking": "I add.", "signature": "EqoB"}, text("It is 5.")
    )
    wrong = body(GO, forged, GO)
    yield Example(
        thinking.thoughts_are_signed,
        "a forged signature",
        wrong,
        "messages.1.content.0: Invalid `signature`",
    )


def examples() -> tuple[Example, ...]:
    """All of them, in the order of the rules."""
    makers = (
        request_examples,
        tool_examples,
        content_examples,
        caching_examples,
        array_examples,
        pair_examples,
        thinking_examples,
    )
    return tuple(example for maker in makers for example in maker())
