"""The cache as the documentation tells of it: what is written, what is read, what is lost."""

import pytest
from counting import lines_of
from hypothesis import given, settings
from hypothesis import strategies as some
from offline import client, fine, new_api, post

from harness_zero.messages import reply, said, text, tool_result, tool_use, user
from harness_zero.models.claude import REACH, claude
from harness_zero.models.prices import cost_usd, multipliers
from harness_zero.prefix import rendering
from harness_zero.simulator import examples
from harness_zero.simulator.cache import Cache
from harness_zero.simulator.catalogue import MODELS
from harness_zero.simulator.examples import ADD, GO, kept
from harness_zero.simulator.invalidation import CHANGES, base, lost, marked
from harness_zero.simulator.on_demand import failed, lost_after, lost_before
from harness_zero.simulator.sources import script

MARK = {"type": "ephemeral"}


def body(*messages, model="claude-opus-5", **fields):
    """A small request to a model whose cache takes 512 tokens and more."""
    return examples.body(*messages, model=model, **fields)


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def cache(clock):
    """A cache in which every block has as many tokens as its text says, or 1,000."""
    return Cache(clock, declared)


def declared(block):
    words = str(block.get("text") or block.get("content") or block.get("description") or "")
    return int(words.split()[0]) if words.split()[:1] and words.split()[0].isdigit() else 1_000


def serve(cache, request, **options):
    return cache.serve(request, MODELS[request["model"]], **options)


def ended(request, ttl=None):
    """A request that is marked on its last block."""
    *before, last = request["messages"]
    *blocks, end = last["content"]
    return {**request, "messages": [*before, {**last, "content": [*blocks, kept(end, ttl)]}]}


def of_blocks(count, *marks):
    """A request of so many blocks, each a position; those by number are marked."""
    content = [
        kept(text(f"1000 {n}")) if n in marks else text(f"1000 {n}") for n in range(1, count + 1)
    ]
    return body(user(*content))


def rounds(count, calls=1):
    """The messages of some rounds, with so many calls in each."""
    messages = [user("1000 go")]
    for number in range(count):
        ids = [f"toolu_{number}_{at}" for at in range(calls)]
        messages.append(said(reply(*[tool_use(id, "add", x=number) for id in ids])))
        messages.append(user(*[tool_result(id, "1000 done") for id in ids]))
    return messages


def counts(counted):
    return counted.fresh, counted.read, counted.written_5m, counted.written_1h


# what is written, and what is read


def test_without_a_mark_nothing_is_cached_however_often_it_is_sent(cache):
    assert [counts(serve(cache, of_blocks(5))) for _ in range(3)] == [(5_000, 0, 0, 0)] * 3


def test_a_mark_writes_all_before_it_and_the_next_request_reads_it(cache):
    first, second = serve(cache, of_blocks(3, 2)), serve(cache, of_blocks(4, 2))
    assert counts(first) == (1_000, 0, 2_000, 0)
    assert counts(second) == (2_000, 2_000, 0, 0)


def test_tools_come_first_then_the_system_prompt_then_the_messages(cache):
    tools, system = [{**ADD, "description": "700"}], [text("800")]
    wholes = body(user("900"), tools=tools, system=[kept(system[0])])
    serve(cache, wholes)
    assert serve(cache, {**wholes, "messages": [user("901 else")]}).read == 700 + 800


def test_what_is_the_same_and_was_not_marked_is_not_read(cache):
    serve(cache, of_blocks(10, 10))
    other = of_blocks(10, 5)  # the same blocks; at its mark nothing was written
    assert serve(cache, other).read == 0


def test_three_requests_of_10_15_and_35_blocks_as_the_documentation_tells_of_them(cache):
    assert serve(cache, of_blocks(10, 10)).read == 0
    assert serve(cache, of_blocks(15, 15)).read == 10_000
    assert serve(cache, of_blocks(35, 35)).read == 0, "positions 35 to 16 are looked at"


def test_a_second_mark_at_the_15th_block_starts_a_window_of_its_own(cache):
    serve(cache, of_blocks(10, 10))
    serve(cache, of_blocks(15, 15))
    assert counts(serve(cache, of_blocks(35, 15, 35))) == (0, 15_000, 20_000, 0)


def test_the_window_is_20_positions_with_its_own(cache):
    for further, read in ((19, 1_000), (20, 0)):
        fresh = Cache(cache.clock, declared)
        serve(fresh, of_blocks(1, 1))
        assert serve(fresh, of_blocks(1 + further, 1 + further)).read == read


def test_a_run_of_calls_is_one_position_and_so_is_a_run_of_results(cache):
    many = body(*rounds(9, calls=30))
    serve(cache, ended(body(*rounds(1, calls=30))))
    assert serve(cache, ended(many)).read == 61_000


def test_ten_rounds_are_21_positions_so_the_mark_must_not_wait_for_ten(cache):
    serve(cache, ended(body(*rounds(0))))
    assert serve(cache, ended(body(*rounds(10)))).read == 0
    assert serve(cache, ended(body(*rounds(9)))).read == 1_000


def test_each_round_reads_what_the_one_before_wrote(cache):
    for number in range(40):
        counted = serve(cache, ended(body(*rounds(number))))
        assert counts(counted) == (0, counted.total - counted.written, counted.written, 0)
        assert counted.written == (2_000 if number else 1_000)


def test_the_mark_at_the_top_moves_with_the_conversation(cache):
    first = serve(cache, body(*rounds(1), cache_control=MARK))
    second = serve(cache, body(*rounds(2), cache_control=MARK))
    assert counts(first) == (0, 0, 3_000, 0) and counts(second) == (0, 3_000, 2_000, 0)


def test_the_mark_at_the_top_stands_on_the_last_block_that_can_bear_one(cache):
    thought = {"type": "thinking", "thinking": "hm", "signature": "x"}
    messages = [user("1000 go"), {"role": "assistant", "content": [text("1000 a"), thought]}]
    assert counts(serve(cache, body(*messages, cache_control=MARK))) == (1_000, 0, 2_000, 0)


def test_a_thought_before_a_mark_is_part_of_what_is_cached(cache):
    thought = {"type": "thinking", "thinking": "hm", "signature": "x"}
    call = tool_use("toolu_1", "add")
    turn = [user("1000 go"), said(reply(thought, call)), user(tool_result("toolu_1", "1000 5"))]
    serve(cache, ended(body(*turn)))
    without = [turn[0], said(reply(call)), turn[2]]
    assert serve(cache, ended(body(*turn))).read == 4_000
    assert serve(cache, ended(body(*without))).read == 0


def test_below_the_models_minimum_nothing_is_cached_and_nothing_is_said(cache):
    short, enough = user(kept(text("1023 tokens"))), user(kept(text("1024 tokens")))
    sonnet = {"model": "claude-sonnet-5"}
    assert [counts(serve(cache, body(short, **sonnet))) for _ in range(2)] == [(1_023, 0, 0, 0)] * 2
    assert counts(serve(cache, body(enough, **sonnet))) == (0, 0, 1_024, 0)
    assert counts(serve(cache, body(enough, model="claude-haiku-4-5"))) == (1_024, 0, 0, 0)


def test_what_is_written_by_a_request_is_not_read_by_itself(cache):
    assert counts(serve(cache, of_blocks(10, 3, 6, 9))) == (1_000, 0, 9_000, 0)


# how long it lives


def test_it_lives_for_five_minutes_and_a_hit_lets_it_live_for_five_more(cache, clock):
    reads = []
    for now in (0, 299, 598, 897, 1197):
        clock.now = now
        reads.append(serve(cache, of_blocks(2, 2)).read)
    assert reads == [0, 2_000, 2_000, 2_000, 0]


def test_it_lives_for_an_hour_where_the_mark_says_so(cache, clock):
    request = body(user(kept(text("2000"), "1h")))
    reads = []
    for now in (0, 3_599, 7_198, 10_798):
        clock.now = now
        reads.append(serve(cache, request).read)
    assert reads == [0, 2_000, 2_000, 0]


def test_its_life_is_counted_from_the_start_of_the_request(clock):
    seconds = iter((200, 0))

    def slowly(request):
        clock.now += next(seconds)
        return reply("ok")

    api = new_api(slowly, clock=clock)
    request = body(user(kept(text("word " * 2_000))))
    post(api, request)
    clock.now = 301
    assert post(api, request).body["usage"]["cache_read_input_tokens"] == 0


def test_a_hit_refreshes_what_each_mark_finds_and_nothing_else(cache, clock):
    serve(cache, of_blocks(10, 3, 6, 10))
    clock.now = 200
    serve(cache, of_blocks(10, 3, 10))
    clock.now = 400
    assert serve(cache, of_blocks(4, 3)).read == 3_000
    assert serve(cache, of_blocks(7, 6)).read == 3_000, "what was written at 6 is too old"


def test_what_was_written_for_an_hour_keeps_its_hour_whatever_mark_reads_it(cache, clock):
    serve(cache, body(user(kept(text("2000"), "1h"))))
    reads = []
    for now in (3_000, 6_000, 9_000):
        clock.now = now
        reads.append(serve(cache, body(user(kept(text("2000"))))).read)
    assert reads == [2_000] * 3


def test_longer_and_shorter_lives_are_billed_by_positions(cache):
    def mixed(*words):
        content = [kept(text("1000 a"), "1h"), kept(text("1000 b"), "1h"), *map(text, words)]
        return body(user(*content[:-1], kept(content[-1])))

    assert counts(serve(cache, mixed("1000 c"))) == (0, 0, 1_000, 2_000)
    assert counts(serve(cache, mixed("1000 c", "1000 d"))) == (0, 3_000, 1_000, 0)
    assert counts(serve(cache, mixed("1000 e"))) == (0, 2_000, 1_000, 0)


def test_the_read_ends_at_the_longest_hit_and_the_hour_begins_there(cache):
    serve(cache, body(user(kept(text("1000 a"), "1h"))))
    both = user(
        kept(text("1000 a"), "1h"), kept(text("1000 b"), "1h"), kept(text("1000 c")), "1000 d"
    )
    assert counts(serve(cache, body(both))) == (1_000, 1_000, 1_000, 1_000)


# what takes it away

KEPT = {
    "a tool's description": "",
    "the server's web search on or off": "tools",
    "citations on or off": "tools",
    "`speed`": "tools",
    "the system prompt": "tools",
    "`tool_choice`": "tools system",
    "`disable_parallel_tool_use`": "tools system",
    "a first image": "tools system",
    "`thinking`": "tools system",
    "`output_config.effort`": "tools system",
    "a message": "tools system",
    "the model": "",
    "`max_tokens`": "tools system messages",
    "a mark more": "tools system messages",
    "messages at the end": "tools system messages",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_takes_the_levels_that_the_documentation_says(change):
    assert [level for level, gone in lost(CHANGES[change]).items() if not gone] == KEPT[
        change
    ].split()


def test_a_setting_at_its_default_is_no_change():
    defaults = {
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": False},
        "output_config": {"effort": "high"},
        "speed": "standard",
        "diagnostics": {"previous_message_id": None},
    }
    assert not any(lost(lambda request: {**request, **defaults}).values())


def test_the_order_of_tools_counts_and_the_order_of_fields_does_not(cache):
    two = [{**ADD, "description": "1000"}, {**ADD, "name": "sum", "description": "1001"}]
    request = ended(body(user("1000"), tools=two))
    serve(cache, request)
    fields = [dict(reversed(tool.items())) for tool in two]
    assert serve(cache, {**request, "tools": fields}).read == 3_001
    assert serve(cache, {**request, "tools": two[::-1]}).read == 0


def test_the_order_of_a_calls_arguments_counts(cache):
    def called(**given):
        return ended(
            body(GO, said(reply(tool_use("t", "add", **given))), user(tool_result("t", "1000")))
        )

    serve(cache, called(x=2, y=3))
    assert serve(cache, called(y=3, x=2)).read == 0
    assert serve(cache, called(x=2, y=3)).read == 3_000


def test_a_message_that_is_changed_in_its_place_is_another(cache):
    request = ended(body(*rounds(3)))
    serve(cache, request)
    request["messages"][1]["content"][0]["input"]["x"] = 9
    assert serve(cache, request).read == 0


def test_keys_and_models_have_caches_of_their_own(cache):
    request = of_blocks(5, 5)
    serve(cache, request, key="mine")
    assert serve(cache, request, key="yours").read == 0
    assert serve(cache, {**request, "model": "claude-sonnet-4-6"}, key="mine").read == 0
    assert serve(cache, request, key="mine").read == 5_000


def test_two_conversations_by_turns_read_each_its_own(cache):
    for number in range(1, 8):
        for system in ("1000 mine", "1000 yours"):
            counted = serve(cache, ended(body(*rounds(number), system=system)))
            assert counted.written == (4_000 if number == 1 else 2_000)


# the first change, by name


@pytest.mark.parametrize(
    ("change", "kind", "where"),
    [
        ("the model", "model_changed", "model"),
        ("`speed`", "model_changed", "speed"),
        ("a tool's description", "tools_changed", "tool 0 (add)"),
        ("the server's web search on or off", "tools_changed", "tool 1 (web_search)"),
        ("the system prompt", "system_changed", "system, block 0 (text)"),
        ("a message", "messages_changed", "message 0, block 0 (text)"),
        ("`tool_choice`", "unavailable", "tool_choice"),
        ("`thinking`", "unavailable", "thinking"),
        ("`output_config.effort`", "unavailable", "output_config.effort"),
        ("a first image", "unavailable", "images"),
    ],
)
def test_what_was_missed_names_the_first_change(cache, change, kind, where):
    serve(cache, marked(base(), "messages"))
    missed = serve(cache, marked(CHANGES[change](base()), "messages")).missed
    assert (missed.kind, missed.where) == (kind, where) and missed.tokens > 0


def test_a_request_that_goes_on_missed_nothing_and_one_that_lost_its_middle_did(cache):
    assert serve(cache, ended(body(*rounds(3)))).missed is None
    assert serve(cache, ended(body(*rounds(4)))).missed is None
    cut = [*rounds(4)[:3], *rounds(4)[5:]]
    missed = serve(cache, ended(body(*cut))).missed
    assert missed.where == "message 3, block 0 (tool_use toolu_2_0)"
    assert missed.tokens == 9_000


def test_what_is_read_all_the_same_was_not_missed(cache):
    def asking(words):
        return ended(body(user(words), system=[kept(text("700 You add."))]))

    serve(cache, asking("2000 go"))
    counted = serve(cache, asking("2000 come"))
    assert (counted.read, counted.missed.tokens) == (700, 2_000)


def test_the_api_says_it_to_the_client_that_asks():
    api = new_api()
    words = "word " * 2_000
    ask = {"diagnostics": {"previous_message_id": None}}
    first = client(api).messages.create(**body(user(kept(text(words)))), **ask)
    assert first.diagnostics is None
    again = {"diagnostics": {"previous_message_id": first.id}}
    second = client(api).messages.create(**body(user(kept(text(words)))), **again)
    assert second.diagnostics is None
    other = client(api).messages.create(**body(user(kept(text("a " + words)))), **again)
    reason = other.diagnostics.cache_miss_reason
    assert reason.type == "messages_changed"
    assert reason.cache_missed_input_tokens == first.usage.cache_creation_input_tokens
    stranger = {"diagnostics": {"previous_message_id": "msg_of_yours"}}
    unknown = client(api).messages.create(**body(GO), **stranger)
    assert unknown.diagnostics.cache_miss_reason.type == "previous_message_not_found"
    assert client(api).messages.create(**body(GO)).diagnostics is None


# money

FIRST, STEP, ROUNDS = 10_000, 2_000, 40  # the 40 rounds of 10,000 to 88,000 tokens


def long_run(system=lambda number: "", mark=ended):
    """The requests of a run whose prompt grows from 10,000 tokens by 2,000 each round."""
    messages = [user(f"{FIRST} tokens")]
    for number in range(1, ROUNDS + 1):
        words = {"system": system(number)} if system(number) else {}
        yield mark(body(*messages, **words))
        id = f"toolu_{number}"
        messages += [said(reply(tool_use(id, "add"))), user(tool_result(id, "1000 done"))]


def price(requests, model, ttl="5m"):
    """What the requests cost, in tokens at the full price, and their counters."""
    cache = Cache(lambda: 0.0, declared)
    seen = [serve(cache, request) for request in requests]
    fresh, read, short, long = (sum(column) for column in zip(*map(counts, seen), strict=True))
    by = multipliers(model)
    return fresh + read * by.read + short * by.write_5m + long * by.write_1h, seen


def test_the_run_of_forty_rounds_reads_1_960_000_tokens_and_pays_for_all_without_a_cache():
    cost, _ = price(long_run(mark=lambda request: request), "claude-sonnet-5")
    assert cost == 1_960_000


@pytest.mark.parametrize(
    ("model", "equivalent"),
    [("claude-sonnet-5", 297_200), ("claude-opus-5-5", 203_600), ("claude-fable-5-2", 156_800)],
)
def test_marked_at_its_end_each_round_it_pays_for_a_fraction(model, equivalent):
    cost, seen = price(long_run(), model)
    assert round(cost, 3) == equivalent
    assert sum(c.written for c in seen) == 88_000 and sum(c.read for c in seen) == 1_872_000


def test_for_an_hour_it_pays_more_for_what_it_writes():
    cost, _ = price(long_run(mark=lambda request: ended(request, "1h")), "claude-sonnet-5")
    assert round(cost, 3) == 363_200


def test_with_its_first_message_marked_alone_it_saves_little():
    first = price(
        long_run(mark=lambda r: marked(r, "messages", {"messages": [GO]})), "claude-sonnet-5"
    )
    assert round(first[0], 3) == 1_611_500


def test_a_prompt_that_changes_once_at_round_20_costs_52_900_more():
    cost, _ = price(long_run(lambda n: f"0 {n >= 20}"), "claude-sonnet-5")
    assert round(cost, 3) == 350_100


def test_a_clock_at_the_top_makes_it_dearer_than_no_cache():
    cost, seen = price(long_run(lambda n: f"0 at {n} o'clock"), "claude-sonnet-5")
    assert round(cost, 3) == 2_450_000 and cost / 1_960_000 == 1.25
    assert {c.missed.kind for c in seen[1:]} == {"system_changed"}


def test_writes_of_an_hour_have_a_price_of_their_own():
    usage = {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 3_000}
    parts = {"ephemeral_5m_input_tokens": 1_000, "ephemeral_1h_input_tokens": 2_000}
    assert cost_usd(usage, "claude-sonnet-5") == pytest.approx(3_000 * 2.5 / 1e6)
    mixed = cost_usd({**usage, "cache_creation": parts}, "claude-sonnet-5")
    assert mixed == pytest.approx((1_000 * 2.5 + 2_000 * 4) / 1e6)


@pytest.mark.parametrize(
    ("model", "read"),
    [("claude-sonnet-5", 0.1), ("claude-sonnet-5-5", 0.05), ("claude-fable-5-1", 0.025)],
)
def test_a_models_multipliers_are_its_own(model, read):
    by = multipliers(model)
    assert (by.write_5m, by.write_1h, by.read) == (1.25, 2.0, read)
    assert multipliers("llama-of-mine") is None


def test_a_model_whose_price_has_steps_goes_by_the_whole_prompt():
    usage = {"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 200_000}
    assert cost_usd(usage, "claude-haiku-5-5") == pytest.approx(200_000 * 0.05 / 1e6)


# over the wire

WORDS = "word " * 2_000


def test_the_real_sdk_sees_the_counters(clock):
    api = new_api(clock=clock)
    asked = body(user(kept(text(WORDS)), "and now?"))
    first, second = (client(api).messages.create(**asked).usage for _ in range(2))
    assert first.cache_creation_input_tokens == second.cache_read_input_tokens > 0
    assert first.cache_creation.ephemeral_5m_input_tokens == first.cache_creation_input_tokens
    assert (first.cache_read_input_tokens, second.cache_creation_input_tokens) == (0, 0)
    whole = client(api).messages.count_tokens(model=asked["model"], messages=asked["messages"])
    for usage in (first, second):
        parts = usage.cache_creation_input_tokens, usage.cache_read_input_tokens
        assert usage.input_tokens + sum(parts) == whole.input_tokens


def test_claude_prices_what_was_read_and_written(clock, monkeypatch):
    for name in (*REACH, "HARNESS_ZERO_MODEL"):
        monkeypatch.delenv(name, raising=False)
    model = claude(offline=new_api(clock=clock))
    request = {"messages": [user(kept(text(WORDS), "1h"))]}
    first, second = model(request), model(request)
    tokens = first["usage"]["cache_creation_input_tokens"]
    said = first["usage"]["output_tokens"] * 10
    assert first["usage"]["cache_creation"]["ephemeral_1h_input_tokens"] == tokens
    assert first["cost_usd"] == pytest.approx((tokens * 4 + said) / 1e6)
    assert second["cost_usd"] == pytest.approx((tokens * 0.2 + said) / 1e6)


def test_one_key_does_not_read_what_another_wrote(clock):
    api = new_api(clock=clock)
    asked = body(user(kept(text(WORDS))))
    mine = {"x-api-key": "mine", "anthropic-version": "2026-10-21"}
    yours = {"authorization": "Bearer yours", "anthropic-version": "2026-10-21"}
    reads = [
        post(api, request, headers).body["usage"]["cache_read_input_tokens"] > 0
        for request, headers in (
            (asked, mine),
            (asked, yours),
            ({**asked, "workspace_id": "other"}, mine),
            (asked, mine),
        )
    ]
    assert reads == [False, False, False, True]


def test_a_request_for_no_tokens_fills_the_cache_and_asks_no_model(clock):
    api = new_api(script(reply("hello")), clock=clock)
    asked = body(user(kept(text(WORDS))))
    warmed = client(api).messages.create(**{**asked, "max_tokens": 0})
    assert (warmed.content, warmed.stop_reason) == ([], "max_tokens")
    assert warmed.usage.cache_creation_input_tokens > 0 and warmed.usage.output_tokens == 0
    spoken = client(api).messages.create(**asked)
    assert spoken.content[0].text == "hello" and spoken.usage.cache_creation_input_tokens == 0


@pytest.mark.parametrize(
    ("failure", "written"), [(failed(529), False), (lost_before(), False), (lost_after(), True)]
)
def test_what_failed_before_a_reply_began_wrote_nothing(clock, failure, written):
    entry = failure if not written else lost_after(reply("ok"))
    api = new_api(script(entry, reply("ok")), clock=clock)
    asked = body(user(kept(text(WORDS))))
    post(api, asked)
    assert (post(api, asked).body["usage"]["cache_read_input_tokens"] > 0) is written


def test_words_and_one_block_of_them_count_alike_whichever_came_first():
    words = body({"role": "user", "content": WORDS}, system=WORDS)
    block = body(user(WORDS), system=[text(WORDS)], tools=[])
    counting = "/v1/messages/count_tokens"
    for shapes in ([words, block], [block, words]):
        api, counted = new_api(), []
        for shape in shapes:
            counted.append(post(api, shape).body["usage"]["input_tokens"])
            asked = {name: value for name, value in shape.items() if name != "max_tokens"}
            counted.append(post(api, asked, path=counting).body["input_tokens"])
        assert len({*counted}) == 1


def test_a_request_that_only_counts_writes_nothing(clock):
    api = new_api(clock=clock)
    asked = body(user(kept(text(WORDS))))
    counting = {name: value for name, value in asked.items() if name != "max_tokens"}
    counted = post(api, counting, path="/v1/messages/count_tokens").body["input_tokens"]
    usage = post(api, asked).body["usage"]
    assert usage["cache_creation_input_tokens"] == counted


# what it costs


def test_a_round_runs_the_same_lines_in_round_ten_and_in_round_1000():
    cache, requests = Cache(lambda: 0.0), []
    messages = rounds(1_000)
    requests = [ended(body(*messages[: 2 * n + 1], system="You add.")) for n in range(1_000)]
    lines = [lines_of(lambda request=request: serve(cache, request)) for request in requests]
    assert len({*lines[30:]}) == 1 and lines[-1] < 1_000


def test_the_whole_api_runs_the_same_lines_for_a_marked_request_early_and_late():
    api, messages = new_api(fine), rounds(200)
    requests = [body(*messages[: 2 * n + 1], cache_control=MARK) for n in range(200)]
    lines = [lines_of(lambda request=request: post(api, request)) for request in requests]
    assert len({*lines[30:]}) == 1


# properties

ROUND = some.tuples(some.integers(1, 4), some.booleans())
CHANGE = some.sampled_from(
    ["nothing", "clock", "system", "tool_choice", "trim", "model", "hour", "key"]
)


def marked_at(request, places):
    """A request with marks on the last blocks of some messages, four at most."""
    for place in sorted({place % len(request["messages"]) for place in places})[:4]:
        request = marked(request, "messages", {"messages": request["messages"][: place + 1]})
    return request


@settings(max_examples=60, deadline=None)
@given(
    some.lists(
        some.tuples(ROUND, some.lists(some.integers(0, 40), max_size=4), CHANGE), max_size=12
    )
)
def test_the_counters_always_sum_to_the_whole_and_a_repeated_request_reads_all_it_wrote(turns):
    clock = Clock()
    cache, forgetful = Cache(clock), Cache(clock)
    plain, messages, fields, key = new_api(), [user("go " * 2_000)], {}, "mine"
    last = None
    for number, ((calls, wordy), places, change) in enumerate(turns):
        clock.now += {"clock": 301, "hour": 3_601}.get(change, 1)
        key = "yours" if change == "key" else key
        fields = {
            "system": {"system": f"You add. {number}"},
            "tool_choice": {"tool_choice": {"type": "any"}},
            "model": {"model": "claude-sonnet-4-6"},
        }.get(change, fields)
        messages = messages[:1] + messages[3:] if change == "trim" else messages
        ids = [f"toolu_{number}_{at}" for at in range(calls)]
        messages = [
            *messages,
            said(reply(*[tool_use(id, "add", x=number) for id in ids])),
            user(*[tool_result(id, "5 " * (900 if wordy else 1)) for id in ids]),
        ]
        request = marked_at(body(*messages, tools=[ADD], **fields), places)
        counted = serve(cache, request, key=key)
        whole = post(plain, request).body["usage"]
        assert counted.total == sum(whole[name] for name in COUNTERS) and min(counts(counted)) >= 0
        forgetful.chains.clear()
        forgetful.heads.clear()
        assert counts(serve(forgetful, request, key=key)) == counts(counted)
        if last and last[1:] == (fields, key):
            goes_on = rendering(request).startswith(rendering(last[0]))
            assert (counted.missed is None) is goes_on
        again = serve(cache, request, key=key)
        assert (again.read, again.written) == (counted.read + counted.written, 0)
        serve(forgetful, request, key=key)
        last = request, fields, key


COUNTERS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
