"""Several cgroups at once: pods, weights, replicas, pins, and limits from above."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest

from experiments_app.core.errors import ReadbackMismatch
from experiments_app.core.records import Hello, Note, Readback, Round, Samples, Tree
from experiments_app.targets.local.cpus import parse_cpu_list
from tests.targets.support import Bench, Fake, Recorder, require

pytestmark = [pytest.mark.kernel, pytest.mark.slow]

SPIN = {"kind": "spin", "duration": "2s", "report": "500ms"}


def container(name: str, work: dict[str, Any] = SPIN, **settings: Any) -> dict[str, Any]:
    return {"name": name, "workload": work, "env": {"GOMAXPROCS": "1"}, **settings}


def group(name: str, *containers: dict[str, Any], **settings: Any) -> dict[str, Any]:
    return {"name": name, "containers": list(containers), **settings}


def steps(*names: str, pin: str = "") -> list[dict[str, Any]]:
    pins: list[dict[str, Any]] = [{"pin": pin, "cpus": 1}] if pin else []
    return [*pins, {"start": list(names)}, {"measure": names[0]}]


def by_name(readbacks: tuple[Readback, ...]) -> dict[str, Readback]:
    return {readback.group: readback for readback in readbacks}


def units_with(sink: Recorder, kind: type[Samples] | type[Round] | type[Tree]) -> set[str]:
    return {record.group for record in sink.of(kind)}


def test_a_pod_counts_what_its_containers_use_and_pauses_them(bench: Bench) -> None:
    sink = Recorder()
    pair = group("pair", container("small", limit="300m"), container("big", limit="400m"))
    found = by_name(bench.run(sink, groups=[pair], steps=steps("pair")))
    units = {"pair", "pair.small", "pair.big"}
    assert found.keys() == units
    assert (found["pair"].found.quota_us, found["pair.big"].found.quota_us) == (70_000, 40_000)
    assert units_with(sink, Samples) == units_with(sink, Tree) == units
    assert units_with(sink, Round) == units - {"pair"}
    trees = {tree.group: [level.path for level in tree.levels] for tree in sink.of(Tree)}
    assert trees["pair.small"][-2:] == [trees["pair"][-1], f"{trees['pair'][-1]}/small"]
    totals = sink.totals
    assert totals.keys() == units
    small, big, whole = (totals[name].usage_us for name in ("pair.small", "pair.big", "pair"))
    assert small is not None
    assert big is not None
    assert small + big == pytest.approx(whole, rel=0.02)
    assert small < big
    for name in ("pair.small", "pair.big"):
        assert (totals[name].nr_throttled or 0) > 0


def limit_to_two_fifths(bench: Bench, *names: str) -> str:
    """Limit a cgroup of the run to 0.4 CPU, behind the lab's back; its directory."""
    cpu = bench.place.group(bench.lab, "run", *names).cpu
    if bench.place.version == 2:
        (cpu / "cpu.max").write_text("40000 100000")
    else:
        (cpu / "cpu.cfs_quota_us").write_text("40000")
    return str(cpu)


def pauses_from_above(sink: Recorder) -> list[Note]:
    notes = [note for note in sink.of(Note) if "limit of its ancestor" in note.text]
    require(bool(notes), "cpu.stat.local is there from Linux 6.6")
    return notes


def test_a_pod_pauses_its_containers_which_do_not_count_it(bench: Bench) -> None:
    sink = Recorder()
    session = bench.open(
        groups=[group("pair", container("one"), container("two"))], steps=steps("pair")
    )
    try:
        session.prepare()
        bench.shield()
        pod = limit_to_two_fifths(bench, "r1", "pair")
        session.measure(sink, threading.Event())
    finally:
        session.clean()
    totals = sink.totals
    assert (totals["pair"].nr_throttled or 0) > 0
    assert (totals["pair"].usage_us or 0) <= 0.4 * totals["pair"].window_us * 1.15
    assert not totals["pair.one"].throttled_us
    notes = pauses_from_above(sink)
    assert [note.level for note in notes] == ["warning", "warning"]
    assert "The group pair.one was paused" in notes[0].text
    assert f"ancestor {pod};" in notes[0].text


def test_a_limit_above_the_lab_that_pauses_a_group_is_named(bench: Bench) -> None:
    sink = Recorder()
    session = bench.open(groups=[group("app", container("app"))])
    try:
        session.prepare()
        bench.shield()
        ancestor = limit_to_two_fifths(bench)
        session.measure(sink, threading.Event())
    finally:
        session.clean()
    assert not sink.totals["app"].throttled_us
    (note,) = pauses_from_above(sink)
    assert f"ancestor {ancestor};" in note.text


def test_weights_share_a_pinned_cpu(bench: Bench) -> None:
    sink = Recorder()
    work = {"kind": "spin", "duration": "4s", "report": "1s"}
    groups = [
        group("small", container("app", work, request="100m")),
        group("big", container("app", work, request="400m")),
    ]
    found = by_name(bench.run(sink, groups=groups, steps=steps("small", "big", pin="work")))
    assert {readback.cpus for readback in found.values()} == {1}
    cpus = {record.program["affinity"] for record in sink.of(Hello)}
    assert cpus == {str(min(os.sched_getaffinity(0)))}
    (note,) = [note for note in sink.of(Note) if note.text.startswith("CPUs (pinned)")]
    assert note.level == "info"
    small, big = (
        sum(r.facts["cpu_us"] for r in sink.of(Round) if r.group == name and r.n in (2, 3))
        for name in ("small", "big")
    )
    # 102 : 409 shares on v1; the linear weights 4 : 16 on v2.
    assert small / (small + big) == pytest.approx(0.2, rel=0.1)


def test_containers_of_a_pod_share_by_their_own_weights(bench: Bench) -> None:
    sink = Recorder()
    work = {"kind": "spin", "duration": "4s", "report": "1s"}
    pair = group(
        "pair",
        container("small", work, request="100m"),
        container("big", work, request="400m"),
    )
    bench.run(sink, groups=[pair], steps=steps("pair", pin="pair"))
    small, big = (
        sum(r.facts["cpu_us"] for r in sink.of(Round) if r.group == name and r.n in (2, 3))
        for name in ("pair.small", "pair.big")
    )
    share = 0.2 if bench.place.version == 1 else 17 / (17 + 50)  # weight_new(102), (409)
    assert small / (small + big) == pytest.approx(share, rel=0.1)


def test_replicas_run_side_by_side(bench: Bench) -> None:
    sink = Recorder()
    work = {"kind": "tasks", "work": "5ms", "count": 3}
    found = bench.run(
        sink,
        groups=[group("app", container("app", work, limit="500m"), replicas=2)],
        steps=steps("app"),
    )
    assert [readback.group for readback in found] == ["app.1", "app.2"]
    for unit in ("app.1", "app.2"):
        assert [r.n for r in sink.of(Round) if r.group == unit] == [1, 2, 3]
        assert (sink.totals[unit].usage_us or 0) >= 15_000


def test_neighbours_are_dismissed_and_a_shorter_one_may_end_first(bench: Bench) -> None:
    sink = Recorder()
    endless = {"kind": "spin", "report": "200ms"}
    short = {"kind": "tasks", "work": "1ms", "count": 1}
    groups = [
        group("app", container("app", {"kind": "spin", "duration": "1s", "report": "500ms"})),
        group("loud", container("app", endless), role="neighbour"),
        group("brief", container("app", short), role="neighbour"),
    ]
    bench.run(sink, groups=groups, steps=steps("app", "loud", "brief"))
    assert units_with(sink, Round) == {"app", "loud", "brief"}
    assert not [note for note in sink.of(Note) if "told to end" in note.text]


def test_a_neighbour_that_ends_badly_when_told_is_noted(bench: Bench, fake: Fake) -> None:
    bench.builds = fake(
        "say('hello', unix_us=1, cgroup={})\nsys.stdin.read()\n"
        "print('cannot stop', file=sys.stderr)\nsys.exit(4)"
    )
    sink = Recorder()
    groups = [
        group("app", container("app", {"kind": "tasks", "work": "1ms", "count": 1})),
        group("odd", container("app", {"kind": "spin"}, build="go1.24"), role="neighbour"),
    ]
    bench.run(sink, groups=groups, steps=steps("app", "odd"))
    (note,) = [note for note in sink.of(Note) if "told to end" in note.text]
    assert "exit status 4" in note.text
    assert "cannot stop" in note.text


def test_a_program_on_other_cpus_than_its_pin(bench: Bench, fake: Fake) -> None:
    bench.builds = fake("say('hello', unix_us=1, affinity='7-9')\nsignal.pause()")
    session = bench.open(
        groups=[group("app", container("app", build="go1.24"))], steps=steps("app", pin="app")
    )
    try:
        session.prepare()
        with pytest.raises(ReadbackMismatch, match="runs on CPUs 7,8,9"):
            session.measure(Recorder(), threading.Event())
    finally:
        session.clean()


def test_the_kernel_is_asked_where_a_program_does_not_say_its_cpus(
    bench: Bench, fake: Fake
) -> None:
    bench.builds = fake(
        "os.sched_setaffinity(0, {max(os.sched_getaffinity(1))})\n"
        "say('hello', unix_us=1)\nsignal.pause()"
    )
    require(len(os.sched_getaffinity(1)) > 1, "needs two CPUs")
    session = bench.open(
        groups=[group("app", container("app", build="go1.24"))], steps=steps("app", pin="app")
    )
    try:
        session.prepare()
        with pytest.raises(ReadbackMismatch, match="was started on 0"):
            session.measure(Recorder(), threading.Event())
    finally:
        session.clean()


def test_several_places_have_cpus_of_their_own(bench: Bench) -> None:
    require(len(os.sched_getaffinity(0)) > 1, "needs two CPUs")
    sink = Recorder()
    work = {"kind": "tasks", "work": "1ms", "count": 1}
    groups = [
        group("app", container("app", work)),
        group("caller", container("app", work), place="load", role="load"),
    ]
    bench.run(sink, groups=groups, steps=steps("app", "caller"))
    seen = {h.group: parse_cpu_list(str(h.program["affinity"])) for h in sink.of(Hello)}
    assert seen["app"] | seen["caller"] == os.sched_getaffinity(0)
    assert not seen["app"] & seen["caller"]
