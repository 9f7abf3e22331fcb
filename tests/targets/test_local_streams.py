"""Lines of the workload program as records: what is kept, what is dropped, what is said."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from experiments_app.core.records import Answers, Measure, Note, Samples
from experiments_app.core.spec_model import Arm
from experiments_app.targets.local import translate
from experiments_app.targets.local.jobs import jobs_of
from experiments_app.targets.local.process import LineBuffer
from experiments_app.targets.local.sampling import SampleFeed
from experiments_app.targets.local.translate import BadLine, Sequence
from tests.targets.support import Recorder


def samples(n: int, t_us: int, usage: int | None = 0, **extra: object) -> bytes:
    group = {"g": "app", "usage_us": usage, "nr_periods": None, "nr_throttled": 1}
    line = {"n": n, "type": "samples", "mono_us": t_us, "t_us": t_us, "groups": [group], **extra}
    return json.dumps(line).encode()


def feed(sink: Recorder, hz: int = 50) -> SampleFeed:
    return SampleFeed(sink, version=1, hz=hz, generations={"app": 7})


def test_batches_of_three_or_of_forty_milliseconds() -> None:
    sink = Recorder()
    taker = feed(sink)
    for n in range(1, 6):
        taker.take(samples(n, n * 20_000))
    assert [len(batch.samples) for batch in sink.of(Samples)] == [3]
    assert taker.due_us(110_000) == 10_000
    taker.flush(119_999)
    assert len(sink.of(Samples)) == 1
    taker.flush(120_000)
    assert [len(batch.samples) for batch in sink.of(Samples)] == [3, 2]


def test_a_high_rate_is_batched_by_time() -> None:
    sink = Recorder()
    taker = feed(sink, hz=500)
    for n in range(1, 61):
        taker.take(samples(n, n * 2_000))
    assert [len(batch.samples) for batch in sink.of(Samples)] == [20, 20, 20]


def test_totals_are_last_less_first_and_unknown_where_either_is() -> None:
    taker = feed(Recorder())
    taker.take(samples(1, 1_000, 10))
    taker.take(samples(2, 21_000, 35))
    (total,) = taker.totals({"app": 5})
    assert (total.counters.window_us, total.counters.usage_us) == (20_000, 25)
    assert (total.counters.nr_periods, total.counters.nr_throttled) == (None, 0)
    assert total.run_delay_us == 5


def test_a_reset_of_a_counter_is_unknown_not_negative() -> None:
    taker = feed(Recorder())
    taker.take(samples(1, 1_000, 10))
    taker.take(samples(2, 21_000, 3))
    assert taker.totals({})[0].counters.usage_us is None


def test_missed_and_incomplete_readings_are_said() -> None:
    sink = Recorder()
    taker = feed(sink)
    taker.take(samples(1, 1_000, 10))
    taker.take(samples(2, 81_000, None, missed=3))
    taker.report()
    texts = [note.text for note in sink.of(Note)]
    assert "missed 3 of 5 readings" in texts[0]
    assert "1 readings of counters were incomplete" in texts[1]


def test_time_that_does_not_move_on_is_left_out() -> None:
    sink = Recorder()
    taker = feed(sink)
    for n, t_us in enumerate((1_000, 21_000, 21_000, 11_000, 41_000), start=1):
        taker.take(samples(n, t_us))
    taker.flush()
    kept = [sample.mono_us for batch in sink.of(Samples) for sample in batch.samples]
    assert kept == [1_000, 21_000, 41_000]


def test_a_group_that_is_gone_is_remembered_and_strangers_are_not_sampled() -> None:
    sink = Recorder()
    taker = feed(sink)
    assert not taker.complete
    assert taker.latest_us == 0
    taker.take(samples(1, 1_000).replace(b'"app"', b'"other"'))
    assert not taker.complete
    taker.take(b'{"n": 2, "type": "gone", "mono_us": 5, "g": "app", "reason": "no such device"}')
    assert taker.gone == {"app": "no such device"}


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"nonsense",
        b"[]",
        b'{"n": 1}',
        b'{"n": "1", "type": "samples"}',
        b'{"n": 1, "type": "samples", "t_us": 1, "groups": 5}',
        b'{"n": 1, "type": "samples", "t_us": 1.5, "groups": []}',
        b'{"n": 1, "type": "samples", "t_us": true, "groups": []}',
        b'{"n": 1, "type": "samples", "t_us": 1, "groups": [1]}',
        b'{"n": 1, "type": "samples", "t_us": 1, "groups": [{"g": "app", "usage_us": "x"}]}',
        b"\xff\xfe" * 50,
        b"[" * 100_000,
    ],
)
def test_whatever_comes_is_no_crash(raw: bytes) -> None:
    sink = Recorder()
    taker = feed(sink)
    taker.take(raw)
    taker.flush()
    assert not sink.of(Samples)
    assert len(sink.of(Note)) == (1 if raw else 0)


def test_lost_and_repeated_lines() -> None:
    sequence = Sequence("group app")
    assert sequence.take(b'{"n": 1, "type": "a"}')
    assert sequence.take(b'{"n": 4, "type": "a"}')
    assert sequence.drain() == ["2 lines of group app before line 4 are lost."]
    assert sequence.take(b'{"n": 4, "type": "a"}') is None
    assert sequence.drain() == ["group app sent line 4 again; it is left out."]


def test_an_unreadable_line_is_not_lost_as_well() -> None:
    sequence = Sequence("group app")
    sequence.take(b'{"n": 1, "type": "a"}')
    sequence.take(b"half a li")
    sequence.take(b'{"n": 3, "type": "a"}')
    assert len(sequence.drain()) == 1


def test_lines_are_cut_wherever_the_pipe_cuts_them() -> None:
    buffer = LineBuffer()
    assert buffer.feed(b"one\ntw") == [b"one"]
    assert buffer.feed(b"o\n\nthree") == [b"two", b""]
    assert buffer.finish() == [b"three"]
    assert buffer.finish() == []
    assert buffer.feed(b"x" * 2_000_000) == [b"x" * 2_000_000]


def test_hello_keeps_everything_the_program_says() -> None:
    line = translate.parse_line(b'{"n": 1, "type": "hello", "mono_us": 5, "go": "go1.26"}')
    record = translate.hello("app", line, unix_us=9)
    assert (record.mono_us, record.unix_us, record.program) == (5, 9, {"go": "go1.26"})
    with pytest.raises(BadLine, match="mono_us is missing"):
        translate.hello("app", {"type": "hello"}, unix_us=9)


def test_command_and_patience_of_a_burst() -> None:
    work = {"kind": "burst", "threads": 8, "work": "20ms", "interval": "1.037s", "rounds": 20}
    arm = Arm.model_validate({"name": "a", "limit": "500m", "workload": {**work, "jitter": "5ms"}})
    (job,) = jobs_of(arm)
    words = "burst --threads 8 --work 20000us --interval 1037000us --rounds 20 --jitter 5000us"
    assert job.command.arguments == (*words.split(), "--until-eof")
    assert job.measured
    free = job.patience_us(None, None)
    assert free > 1_037_000 + 160_000
    # A hundredth of a CPU makes a round of 160 ms last 16 s: that is no silence.
    assert job.patience_us(1_000, 100_000) > free + 16_000_000


def test_totals_begin_when_the_load_begins_to_count() -> None:
    taker = feed(Recorder())
    for n, (t_us, usage) in enumerate([(1_000, 10), (21_000, 30), (41_000, 60)], start=1):
        taker.take(samples(n, t_us, usage))
    taker.count_from(15_000)  # told late: the sample is here already
    assert taker.totals({})[0].counters.usage_us == 30
    taker.count_from(12_000)  # of several loads the last one counts
    assert taker.totals({})[0].counters.window_us == 20_000
    taker.count_from(50_000)  # told before: the sample is still to come
    taker.take(samples(4, 61_000, 65))
    taker.take(samples(5, 81_000, 75))
    total = taker.totals({})[0].counters
    assert (total.window_us, total.usage_us) == (20_000, 10)


def paused(n: int, own: int, local: int | None) -> bytes:
    group = {"g": "app", "usage_us": n, "throttled_us": own, "local_throttled_us": local}
    t_us = n * 20_000
    line = {"n": n, "type": "samples", "mono_us": t_us, "t_us": t_us, "groups": [group]}
    return json.dumps(line).encode()


@pytest.mark.parametrize(
    ("own", "local", "found"),
    [
        ((0, 0), (100, 700), {"app": 600}),
        ((0, 50), (100, 700), {}),  # its own limit may explain it
        ((0, 0), (100, 100), {}),
        ((0, 0), (None, None), {}),  # a kernel that does not say
    ],
)
def test_pauses_that_only_an_ancestor_can_explain(
    own: tuple[int, int], local: tuple[int | None, int | None], found: dict[str, int]
) -> None:
    taker = feed(Recorder())
    taker.take(paused(1, own[0], local[0]))
    taker.take(paused(2, own[1], local[1]))
    assert taker.paused_from_above() == found


def histogram(*values: int) -> str:
    found = HdrHistogram(1, 3_600_000_000, 3)
    for value in values:
        found.record_value(value)
    encoded = found.encode()
    return encoded.decode() if isinstance(encoded, bytes) else str(encoded)


def measure(**changes: Any) -> dict[str, Any]:
    entry = {"n": 2, "max": 900, "errors": {"timeout": 1}, "hdr": histogram(500, 900)}
    return {**entry, **changes}


def round_line(**fields: Any) -> translate.Line:
    return {"round": 1, "start_us": 5, "wall_us": 6, "window_us": 7, **fields}


def test_a_round_with_latencies_facts_and_servers() -> None:
    line = round_line(
        measures={"work_us": measure(), "ping_us": measure(n=0, max=None, hdr=histogram())},
        facts={"gc_count": 3, "heap_bytes_max": None},
        servers={"server.1": {"responses": 2, "connections": 1}},
        late_us=None,
    )
    record = translate.round_("load", line)
    assert record.measures == (
        Measure("work_us", histogram(500, 900), 900, {"timeout": 1}),
        Measure("ping_us", histogram(), None, {"timeout": 1}),
    )
    assert record.facts == {"gc_count": 3}
    assert record.servers == {"server.1": Answers(2, 1)}
    plain = translate.round_("app", round_line())
    assert (plain.measures, plain.facts, plain.servers) == ((), {}, {})


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"measures": []}, "measures is not an object"),
        ({"measures": {"work": measure()}}, "no name of a measure"),
        ({"measures": {"work_us": 5}}, "is not n, max, errors and hdr"),
        ({"measures": {"work_us": measure(p50=1)}}, "is not n, max, errors and hdr"),
        ({"measures": {"work_us": measure(n=3)}}, "says n = 3"),
        ({"measures": {"work_us": measure(n=-2)}}, "n is below 0"),
        ({"measures": {"work_us": measure(max=None)}}, "max = None"),
        ({"measures": {"work_us": measure(max="x")}}, "max is not a whole number"),
        ({"measures": {"work_us": measure(errors={"timeout": -1})}}, "timeout is below 0"),
        ({"measures": {"work_us": measure(errors=[])}}, "errors is not an object"),
        ({"measures": {"work_us": measure(hdr=None)}}, "hdr is no text"),
        ({"measures": {"work_us": measure(hdr="HISTnonsense")}}, "cannot be decoded"),
        (
            {"measures": {"work_us": measure(hdr=base64.b64encode(b"x" * 99).decode())}},
            "cannot be decoded",
        ),
        ({"facts": {"gc_count": 1.5}}, "gc_count is not a whole number"),
        ({"facts": 7}, "facts is not an object"),
        ({"servers": {"a": 1}}, "a is not an object"),
        ({"servers": {"a": {"responses": 1}}}, "connections is missing"),
    ],
)
def test_what_is_no_measure_is_refused(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(BadLine, match=why):
        translate.round_("load", round_line(**fields))
