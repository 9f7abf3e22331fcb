"""An arm on real counters: prepare, measure, clean."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import pytest

from experiments_app.core.cpustat import add_counters
from experiments_app.core.errors import Stopped, TargetError
from experiments_app.core.records import (
    ArmFinished,
    Hello,
    Note,
    Record,
    Round,
    RoundSettled,
    Sample,
    Samples,
    Tree,
)
from experiments_app.targets.base import RepeatContext
from experiments_app.targets.local import groups
from experiments_app.targets.local.delegation import pids_in
from experiments_app.targets.local.session import LocalSession
from tests.targets.support import Bench, Recorder, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.slow]

WORK_US = 8 * 20_000
COUNTERS = ("usage_us", "nr_periods", "nr_throttled", "throttled_us")


def run(bench: Bench, session: LocalSession, sink: Recorder) -> None:
    try:
        session.prepare()
        bench.shield()
        session.measure(sink, threading.Event())
    finally:
        session.clean()


def all_samples(sink: Recorder) -> list[Sample]:
    return [sample for batch in sink.of(Samples) for sample in batch.samples]


@pytest.mark.parametrize("limit", ["1", "500m", "none"])
def test_burst_arm(bench: Bench, limit: str) -> None:
    sink = Recorder()
    run(bench, bench.session(limit=limit, request="100m"), sink)
    kinds = [type(record) for record in sink.records if not isinstance(record, Samples | Note)]
    assert kinds == [Tree, Hello, *[Round, RoundSettled] * 3, ArmFinished]
    assert [r.n for r in sink.of(Round)] == [r.n for r in sink.of(RoundSettled)] == [1, 2, 3]

    (totals,) = sink.of(ArmFinished)[0].totals
    settled = add_counters(r.counters for r in sink.of(RoundSettled))
    assert totals.counters.usage_us is not None
    assert settled.usage_us is not None
    # Outside holds what inside does, and the program's start and end besides.
    assert 0 <= totals.counters.usage_us - settled.usage_us < 400_000
    assert settled.usage_us >= 3 * WORK_US
    assert settled.nr_throttled is not None
    assert settled.throttled_us is not None
    if limit == "500m":
        assert settled.nr_throttled >= 3
        assert settled.throttled_us > 0
        assert min(r.wall_us for r in sink.of(Round)) > 200_000
    if limit == "none":
        assert (totals.counters.nr_throttled, totals.counters.throttled_us) == (0, 0)
    samples = all_samples(sink)
    assert [s.mono_us for s in samples] == sorted({s.mono_us for s in samples})
    assert totals.counters.window_us == samples[-1].mono_us - samples[0].mono_us
    for name in COUNTERS:
        gains = [getattr(b, name) - getattr(a, name) for a, b in itertools.pairwise(samples)]
        assert min(gains) >= 0
        assert sum(gains) == getattr(totals.counters, name)


def test_the_first_sample_is_before_the_first_instruction(bench: Bench) -> None:
    sink = Recorder()
    run(bench, bench.session(limit="1"), sink)
    assert all_samples(sink)[0].usage_us == 0  # a new group: nothing was missed
    assert all_samples(sink)[-1].usage_us == sink.of(ArmFinished)[0].totals[0].counters.usage_us
    assert isinstance(sink.records[1], Samples)
    assert all_samples(sink)[0].mono_us < sink.of(Hello)[0].mono_us
    assert all(len(batch.samples) <= 4 for batch in sink.of(Samples))


def test_workload_starts_inside_and_the_sampler_stays_outside(bench: Bench) -> None:
    group = bench.place.group(bench.lab, "run", "r1", "app")
    sampler = bench.place.group(bench.lab, "run", "r1", ".sampler")
    seen: list[tuple[tuple[int, ...], tuple[int, ...], object]] = []

    def look(record: Record) -> None:
        if isinstance(record, Hello):
            for inside, outside in zip(group.dirs, sampler.dirs, strict=True):
                seen.append((pids_in(inside), pids_in(outside), record.program["pid"]))

    run(bench, bench.session(limit="1", work={"rounds": 1}), Recorder(look))
    assert len(seen) == len(group.dirs)
    for inside, outside, pid in seen:
        assert inside == (pid,)
        assert len(outside) == 1
        assert pid not in outside


def test_hello_says_what_runs(bench: Bench) -> None:
    sink = Recorder()
    session = bench.session(
        limit="500m", build="go1.24", env={"GOMAXPROCS": "3"}, work={"rounds": 1}
    )
    run(bench, session, sink)
    (hello,) = sink.of(Hello)
    assert (hello.program["build"], hello.program["gomaxprocs"]) == ("go1.24", 3)
    assert hello.unix_us > 1_700_000_000_000_000


def test_the_lab_s_own_environment_stays_out(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOMAXPROCS", "7")
    sink = Recorder()
    run(bench, bench.session(env={}, work={"rounds": 1}), sink)
    assert sink.of(Hello)[0].program["gomaxprocs"] != 7


def test_info_arm(bench: Bench) -> None:
    arm = bench.arm(limit="1", workload={"kind": "info"})
    sink = Recorder()
    session = bench.target.open(RepeatContext(bench.lab, "run", "r1", arm, 50))
    assert isinstance(session, LocalSession)
    run(bench, session, sink)
    assert len(sink.of(Hello)) == 1
    assert not sink.of(Round)
    assert len(sink.of(ArmFinished)) == 1


def test_sampling_rate(bench: Bench) -> None:
    sink = Recorder()
    run(bench, bench.session(hz=200, limit="1", work={"rounds": 2}), sink)
    (totals,) = sink.of(ArmFinished)[0].totals
    expected = totals.counters.window_us / 5_000
    assert expected * 0.2 < len(all_samples(sink)) <= expected + 2


def test_stop_in_the_middle(bench: Bench) -> None:
    stop = threading.Event()
    sink = Recorder(lambda record: stop.set() if isinstance(record, Round) else None)
    session = bench.session(limit="100m", work={"rounds": 50})
    session.prepare()
    bench.shield()
    with pytest.raises(Stopped):
        session.measure(sink, stop)
    assert not sink.of(ArmFinished)
    group = bench.place.group(bench.lab, "run", "r1", "app")
    wait_for(lambda: not any(pids_in(d) for d in group.dirs))
    session.clean()
    assert not bench.left()


def test_a_sink_that_refuses_ends_the_workload(bench: Bench) -> None:
    def refuse(record: Record) -> None:
        if isinstance(record, Round):
            raise Stopped("the lease is lost")

    session = bench.session(work={"rounds": 50})
    session.prepare()
    with pytest.raises(Stopped, match="lease"):
        session.measure(Recorder(refuse), threading.Event())
    session.clean()


def test_clean_is_safe_at_any_point(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    session = bench.session()
    session.clean()
    session.prepare()
    session.clean()
    session.clean()

    def fail(*_: object) -> None:
        raise TargetError("half way")

    monkeypatch.setattr(groups, "apply", fail)
    with pytest.raises(TargetError, match="half way"):
        session.prepare()
    assert bench.left()
    session.clean()
    assert not bench.left()


def test_measure_needs_prepare(bench: Bench) -> None:
    with pytest.raises(TargetError, match="not prepared"):
        bench.session().measure(Recorder(), threading.Event())


def test_a_limit_that_changes_on_the_way_is_noted(bench: Bench) -> None:
    name, value = (
        ("cpu.max", "70000 100000") if bench.place.version == 2 else ("cpu.cfs_quota_us", "70000")
    )
    file = bench.place.group(bench.lab, "run", "r1", "app").cpu / name

    def change(record: Record) -> None:
        if isinstance(record, Round):
            file.write_text(value)

    sink = Recorder(change)
    run(bench, bench.session(limit="500m", work={"rounds": 1}), sink)
    (note,) = [note for note in sink.of(Note) if "changed" in note.text]
    assert "from 50000 100000 to 70000 100000" in note.text


def test_cpulab_not_built(bench: Bench) -> None:
    bench.builds = {"go1.25": Path("/nowhere/cpulab")}
    with pytest.raises(TargetError) as caught:
        bench.session(build="go1.25").prepare()
    assert caught.value.code == "cpulab-missing"
    assert "/nowhere/cpulab" in caught.value.message
