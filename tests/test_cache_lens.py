"""The cache lens: requests compared and priced, what is sent to the browser, and without one."""

import json
import subprocess
import sys
import time
from copy import deepcopy

import pytest
from click.testing import CliRunner
from counting import lines_of

from harness_zero.assembly import assemble, of_messages
from harness_zero.cli import main
from harness_zero.loop import ModelFailed
from harness_zero.messages import reply, said, tool_result, tool_use, user
from harness_zero.models.prices import cost_usd
from harness_zero.models.recorded import recorded, replay
from harness_zero.models.scripted import scripted
from harness_zero.notebook.cache_lens import cache_lens
from harness_zero.notebook.compared import Lines, changes
from harness_zero.notebook.export import page_of
from harness_zero.notebook.priced import prices
from harness_zero.notebook.sent import NothingToCompare, parts
from harness_zero.prefix import first_byte, first_difference, rendering
from harness_zero.run import Run
from harness_zero.simulator.cache import Cache, Counted
from harness_zero.simulator.catalogue import MODELS
from harness_zero.view import cached, marked, placed, plain

TOOL = {"name": "look", "description": "Look at a file. " * 60, "input_schema": {"type": "object"}}


def deep(levels):
    """A list in a list, and so on."""
    inner = []
    for _ in range(levels):
        inner = [inner]
    return inner


def requests(rounds, size=600, mark=lambda request: request, **fields):
    """The requests of a run that looks at a file in each round."""
    messages, sent = [user("Mend it.")], []
    for n in range(rounds):
        whole = {"model": "claude-sonnet-5", "system": "Be kind. " * 500, "tools": [TOOL]}
        sent.append(mark({**whole, **fields, "messages": [*messages]}))
        messages.append(said(reply(tool_use(f"c{n}", "look", at=f"{n}.py"))))
        messages.append(user(tool_result(f"c{n}", f"{n}: " + "x" * size)))
    return sent


def sent(run):
    return len(json.dumps(run.payload, ensure_ascii=False, allow_nan=False).encode())


def test_the_text_face_tells_each_round_and_each_way_to_lose_the_prefix():
    assert (
        repr(cache_lens(requests(3, mark=marked)))
        == """\
3 requests to claude-sonnet-5. Bytes are exact; the costs are those of the input.
as sent: 7,725 tokens, estimated; $0.0082 for them.
round      bytes     shared   tokens     read  written    fresh      cost
    1      5,617          0    2,254        0    2,254        0   $0.0056
    2      6,364      5,617    2,575    2,254      321        0   $0.0013
    3      7,111      6,364    2,896    2,575      321        0   $0.0013
the same run              tokens      read      cost against  first lost in round
as sent                    7,725     4,829   $0.0082   1.00x
clock at the top           7,787         0   $0.0195   2.37x  2: system, block 0 (text)
tools reordered            7,725     4,829   $0.0082   1.00x
system prompt improved     7,759     2,592   $0.0134   1.64x  2: system, block 0 (text)
status near the top        7,803     4,454   $0.0093   1.13x  2: message 0, block 0 (...
middle trimmed             7,404     4,508   $0.0081   0.99x  3: message 1, block 0 (...
tool_choice changed        7,725     4,802   $0.0083   1.01x  2: another tool_choice
thinking changed           7,725     4,802   $0.0083   1.01x  2: another thinking
too many positions         8,981     4,454   $0.0122   1.49x  2: out of sight
slow tool                  7,725     2,575   $0.0134   1.63x  2: 330 s later"""
    )


def test_where_a_round_parts_from_the_one_before_is_named_by_block_and_byte():
    run = requests(3, mark=marked)
    run[2] = marked({**run[2], "system": "Be kind? " * 500})
    told = repr(cache_lens(run))
    assert "parts at byte 16 of system, block 0 (text)" in told


def test_the_text_face_of_a_long_run_is_short():
    told = repr(cache_lens(requests(60, mark=marked))).splitlines()
    assert "      ... 42 more rounds ..." in told and len(told) < 36


def test_unmarked_requests_are_cached_nowhere_and_the_lens_says_why():
    told = repr(cache_lens(requests(3)))
    assert "No request is marked with cache_control, so nothing is cached" in told
    assert "with marks" in told


def test_a_prefix_below_the_minimum_is_said_to_be_left_out():
    told = repr(cache_lens(requests(2, size=1, mark=marked, system="Be kind.", tools=[])))
    assert "Nothing is cached though it is marked" in told


@pytest.mark.parametrize("mark", [lambda request: request, marked])
def test_bytes_are_those_of_the_rendering_and_parting_is_that_of_the_prefix(mark):
    run = requests(5, mark=mark)
    run += [{**run[-1], "system": "Be brief."}, deepcopy(run[2]), run[4]]
    for (_, change), at in zip(changes(Lines(), run), range(len(run)), strict=True):
        assert change.size == len(rendering(run[at]))
        if at and change.parts:
            assert change.parts == first_difference(run[at - 1], run[at])
        before = rendering(run[at - 1]) if at else b""
        assert change.shared == first_byte(rendering(run[at]), before)


def test_the_lens_and_the_simulator_count_alike():
    run = requests(6, mark=marked)
    cache, facts = Cache(), MODELS["claude-sonnet-5"]
    served = [cache.serve(request, facts, at=20.0 * n) for n, request in enumerate(run)]
    assert cache_lens(run).run.courses[0].counted == served


@pytest.mark.parametrize("model", ["claude-sonnet-5", "claude-haiku-5-5", "claude-fable-5-2"])
@pytest.mark.parametrize("scale", [1, 100])
def test_a_round_costs_what_a_reply_without_words_costs(model, scale):
    counted = Counted(300 * scale, 900 * scale, 200 * scale, 100 * scale)
    usage = {**counted.usage(), "output_tokens": 0}
    assert prices(model).usd(counted) == pytest.approx(cost_usd(usage, model))


def test_a_model_without_a_price_has_none():
    told = repr(cache_lens(requests(2, mark=marked, model="claude-of-tomorrow")))
    assert "their price is not known" in told


def test_times_decide_what_is_gone():
    run = requests(3, mark=marked)
    reads = [c.read for c in cache_lens(run, times=[0, 290, 700]).run.courses[0].counted]
    assert reads[1] > 0 and reads[2] == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "there is no request in this"),
        (requests(1), "this is one request"),
        (requests(1)[0], "this is one request"),
        ([*requests(1), "two"], "item 1 is no request: expected a dict with a list of messages"),
        ([user("a"), user("b")], "item 0 is no request: it is a message"),
        ([{"messages": []}] * 2, "item 0 is no request: its list of messages is empty"),
        ([{"messages": [1]}] * 2, "item 0 is no request: message 0 "),
        ([{"messages": [user("a")], "tools": ["look"]}] * 2, "tools are a list of dicts"),
        ([{"messages": [user(tool_use("c", "look", at=open))]}] * 2, "something in these is not"),
        (requests(2, system=5), "a system prompt is words or a list of blocks, and not 5"),
        (requests(2, system=[{"type": "text"}]), "its system prompt holds a text whose text is no"),
        (requests(2, tool_choice="auto"), "tool_choice is a dict, and not 'auto'"),
        (requests(2, output_config=[1]), r"output_config is a dict, and not \[1\]"),
        (requests(2, model=5), "its model is no name but 5"),
        (requests(2, cache_control="5m"), "it has the mark '5m'; a mark is "),
        (requests(2, mark=lambda r: placed(r, "2h")), "message 0 has the mark .*'2h'}; a mark is"),
        ([{"messages": [user(tool_use("c", "look", at=deep(3_000)))]}] * 2, "nested too deeply"),
        (None, "the lens takes a list of requests, a Run, a Recording, or a file"),
        ([*requests(1), *requests(1, model="claude-opus-5-5")], "a cache is each model's own"),
    ],
    ids=range(19),
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(given, said):
    with pytest.raises(NothingToCompare, match=said):
        cache_lens(given)


@pytest.mark.parametrize("times", [5, "ab", [0, float("nan")], [0, 10**400], iter([0, 1])])
def test_times_are_a_list_of_seconds(times):
    with pytest.raises(NothingToCompare, match="times are a list of seconds, one for each"):
        cache_lens(requests(2, mark=marked), times=times)


@pytest.mark.parametrize("mark", [lambda request: None, lambda request: {}])
def test_what_marks_a_request_gives_a_request_back(mark):
    with pytest.raises(NothingToCompare, match="`mark` gives a request back, and this is none"):
        cache_lens(requests(2), mark=mark)


def test_a_name_that_would_move_the_cursor_is_spelled_out():
    one, other = ({"messages": [user(tool_result(f"c\x1b[2J{n}", "x"))]} for n in range(2))
    lens = cache_lens([one, other], model="claude\x1b[31m")
    assert "\x1b" not in repr(lens) + lens.page()


def test_copies_of_the_messages_are_as_good_as_the_messages():
    run = requests(300, mark=marked)
    copies = json.loads(json.dumps(run))
    assert cache_lens(copies).payload == cache_lens(run).payload
    assert lines_of(lambda: cache_lens(copies)) < 2 * lines_of(lambda: cache_lens(run))


def test_a_run_that_is_marked_in_its_middle_alone_is_marked():
    run = requests(3)
    told = repr(cache_lens([run[0], marked(run[1]), run[2]]))
    assert "No request is marked" not in told and "with marks" not in told


def test_a_time_is_wanted_for_each_request():
    with pytest.raises(NothingToCompare, match="1 time for 2 requests"):
        cache_lens(requests(2), times=[0])


def play(file, view):
    """A run of three rounds behind the real SDK and the offline API, written down."""
    from harness_zero.notebook import offline_api

    script = [reply(tool_use(f"c{n}", "look", at=f"{n}")) for n in range(2)] + [reply("Done.")]
    model = recorded(offline_api(of_messages(scripted(*script))), file)
    tools = {"look": lambda at: "x = 1\n" * 200}
    return assemble(model, tools, view=view)(Run("Look."))


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    file = tmp_path_factory.mktemp("recorded") / "run.jsonl"
    tool = {**TOOL, "input_schema": {"type": "object", "properties": {"at": {"type": "string"}}}}
    run = play(file, cached(plain("You look. " * 400, [tool])))
    return file, run


def test_a_recording_shows_what_the_api_declared_and_says_so(recording):
    told = repr(cache_lens(recording[0]))
    assert "as the API declared" in told and "as sent, estimated" in told
    declared, estimated, *_ = cache_lens(recording[0]).run.courses
    assert [c.usage() for c in declared.counted] == [c.usage() for c in estimated.counted]


def test_a_replay_and_a_run_are_taken_as_well(recording):
    file, run = recording
    assert repr(cache_lens(replay(file))) == repr(cache_lens(str(file)))
    told = repr(cache_lens(run))
    assert told.startswith("3 requests") and "A run keeps its messages alone" in told


def test_the_step_verb_opens_a_recording(recording, tmp_path):
    page = tmp_path / "lens.html"
    lens = CliRunner().invoke(main, ["step", str(recording[0]), "--cache", "--page", str(page)])
    assert lens.exit_code == 0 and lens.output.startswith("3 requests to claude-sonnet-5")
    assert "hz-lens" in page.read_text("utf-8")
    steps = CliRunner().invoke(main, ["step", str(recording[0])])
    assert steps.exit_code == 0 and "6 messages, 3 rounds, 2 tool calls" in steps.output


@pytest.mark.parametrize("options", [[], ["--cache"]])
def test_a_page_is_never_written_over_the_recording(recording, tmp_path, options):
    file, link = tmp_path / "run.jsonl", tmp_path / "run.html"
    file.write_bytes(recording[0].read_bytes())
    link.symlink_to(file)
    for page in (file, link):
        done = CliRunner().invoke(main, ["step", str(file), *options, "--page", str(page)])
        assert done.exit_code == 1 and "is the recording itself" in done.output
    assert file.read_bytes() == recording[0].read_bytes()


@pytest.mark.parametrize("options", [[], ["--cache"]])
def test_a_line_that_was_cut_off_is_told_of(recording, tmp_path, options):
    file = tmp_path / "run.jsonl"
    file.write_bytes(recording[0].read_bytes()[:-40])
    done = CliRunner().invoke(main, ["step", str(file), *options])
    assert done.exit_code == 0 and "its last line was cut off" in done.output


def test_counters_that_cannot_be_are_counted_as_nothing():
    odd = {"input_tokens": -5, "cache_creation_input_tokens": 4, "cache_read_input_tokens": "x"}
    hour = {"cache_creation": {"ephemeral_1h_input_tokens": 9}}
    assert parts({**odd, **hour}) == (0, 0, 4, 0)


def test_what_is_no_recording_is_one_sentence(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("hello\n", "utf-8")
    done = CliRunner().invoke(main, ["step", str(file), "--cache"])
    assert done.exit_code == 1 and "is no recording" in done.output


def test_a_recording_that_ends_in_silence_or_in_a_failure_can_be_stepped_through(tmp_path):
    for name, last in (("silent", reply()), ("failed", ModelFailed("529")), ("odd", "no reply")):
        file = tmp_path / f"{name}.jsonl"
        replies = iter([reply("a"), last])

        def model(request, replies=replies):
            if isinstance(said := next(replies), Exception):
                raise said
            return said

        keeps = recorded(model, file)
        for request in requests(2):
            try:
                keeps(request)
            except ModelFailed:
                continue
        done = CliRunner().invoke(main, ["step", str(file)])
        assert done.exit_code == 0, done.exception
        assert ("529" in done.output) == (name == "failed")


def test_calls_that_failed_and_streams_are_told_in_a_sentence(tmp_path):
    file = tmp_path / "run.jsonl"
    replies = iter([reply("a"), ModelFailed("503"), reply("b")])

    def model(request):
        if isinstance(said := next(replies), Exception):
            raise said
        return said

    keeps = recorded(model, file)
    for request in requests(3, stream=True):
        try:
            keeps(request)
        except ModelFailed:
            continue
    told = repr(cache_lens(file))
    assert "1 call that failed is left out." in told
    assert "2 requests asked for a stream" in told


def test_a_run_of_a_thousand_rounds_is_sent_in_less_than_a_megabyte():
    run = cache_lens(requests(1_000, 400, mark=marked))
    assert sent(run) < 1_000_000
    assert "Sent otherwise are the first 100 rounds." in repr(run)
    assert {len(course.counted) for course in run.run.courses} == {1_000, 100}
    assert sent(cache_lens(requests(40, mark=marked))) < 100_000


def test_each_line_is_sent_once():
    payload = cache_lens(requests(30, mark=marked)).payload
    assert len(payload["lines"]) == len({*zip(payload["labels"], payload["lines"], strict=True)})
    assert all(len(splice) < 12 for splice in payload["rounds"][1:])


def test_requests_can_be_told_again_from_what_is_sent():
    run = requests(8, mark=marked)
    payload, shown = cache_lens(run).payload, []
    rows: list[int] = []
    for splice in payload["rounds"]:
        rows = spliced(rows, splice)
        shown.append(rows)
    whole = [line + "\n" for line in payload["lines"]]
    assert ["".join(whole[at] for at in rows).encode() for rows in shown] == [*map(rendering, run)]


def spliced(rows, splice):
    at, gone, *come = splice
    numbers: list[int] = []
    for n in come:
        numbers += [n] if n >= 0 else [numbers[-1] + more for more in range(1, -n)]
    return rows[:at] + numbers + rows[at + gone :]


def test_a_key_is_shown_nowhere(monkeypatch):
    key = "sk-ant-api03-" + "a1B2" * 20
    run = requests(3, mark=marked, system=f"The key is {key}. " + "Be kind. " * 400)
    told = cache_lens(run)
    assert key not in json.dumps(told.payload) + repr(told) + told.page()


def test_two_large_requests_are_compared_in_milliseconds():
    messages = [user(tool_result(f"c{n}", "x" * 2_500)) for n in range(1_000)]
    run = [{"messages": messages}, {"messages": [*messages, user("Go on.")]}]
    lines = Lines()
    (before, _), _ = changes(lines, run)
    began = time.perf_counter()
    rows = type(before)(lines, run[1], before)
    assert rows.rows_shared(before) == len(before.head) + len(before.body)
    assert time.perf_counter() - began < 0.02


def test_the_page_needs_no_kernel_no_network_and_tells_the_same():
    lens = cache_lens(requests(3, mark=marked))
    page = page_of(lens, "a run")
    assert "https://" not in page and lens.page() in page
    assert "clock at the top" in lens.page()


def test_a_kernel_pays_for_the_lens_when_it_uses_it():
    program = (
        "import sys, harness_zero.notebook; print('harness_zero.simulator.cache' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
