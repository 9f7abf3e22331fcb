"""A service and the load that calls it, on real cgroups; and what goes wrong between them."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest

from experiments_app.core.errors import TargetError
from experiments_app.core.latencies import Latencies
from experiments_app.core.records import ArmFinished, Hello, Note, Record, Round, Samples
from experiments_app.targets.local.cpus import parse_cpu_list
from experiments_app.targets.local.delegation import pids_in
from tests.targets.support import Bench, Fake, Recorder

pytestmark = [pytest.mark.kernel, pytest.mark.slow]

RATE = 50
SERVE = {"kind": "serve", "work": "5ms", "alloc": "100kB", "live": "4MiB"}
LOAD = {"kind": "load", "rate": RATE, "ping_rate": 10, "warmup": "500ms", "duration": "2s"}
STEPS = [{"start": ["server"]}, {"start": ["load"]}, {"measure": "load"}]


def service(
    *,
    load: dict[str, Any] | None = None,
    load_build: str = "go1.25",
    server_build: str = "go1.25",
    replicas: int = 1,
    **server: Any,
) -> dict[str, Any]:
    called = {"workload": SERVE, "build": server_build, **server}
    caller = {"workload": {**LOAD, **(load or {})}, "build": load_build}
    return {
        "groups": [
            {"name": "server", "role": "neighbour", "replicas": replicas, "containers": [called]},
            {"name": "load", "place": "load", "containers": [caller]},
        ],
        "steps": STEPS,
    }


def failing(bench: Bench, sink: Recorder, arm: dict[str, Any]) -> TargetError:
    session = bench.open(**arm)
    try:
        session.prepare()
        with pytest.raises(TargetError) as caught:
            session.measure(sink, threading.Event())
    finally:
        session.clean()
    assert caught.value.remedy
    assert not sink.of(ArmFinished)
    return caught.value


def latencies(sink: Recorder, name: str) -> Latencies:
    found = Latencies()
    for record in sink.of(Round):
        for measure in record.measures:
            if record.group == "load" and measure.name == name:
                found.add(measure)
    return found


def test_a_load_is_answered_and_measured(bench: Bench) -> None:
    sink = Recorder()
    bench.run(sink, **service(load={"arrivals": "constant"}, env={"GOMAXPROCS": "1"}))
    rounds = [record for record in sink.of(Round) if record.group == "load"]
    work, ping = latencies(sink, "work_us"), latencies(sink, "ping_us")
    assert work.n + work.errors.total() == 2 * RATE == pytest.approx(100)
    assert not work.errors
    assert 0 < ping.n <= 60  # random: 20 on average
    assert work.percentile("50") is not None
    assert (work.percentile("50") or 0) >= 5_000  # no request is faster than its work
    assert sum(r.servers["server"].responses for r in rounds if r.servers) >= 2 * RATE
    assert sum(r.facts["sent_count"] for r in rounds) >= 2 * RATE
    served = [record for record in sink.of(Round) if record.group == "server"]
    assert sum(r.facts["requests_count"] for r in served) >= 2 * RATE


def test_totals_are_of_the_time_that_counts(bench: Bench) -> None:
    """The warm-up is left out of the server's totals: rate times work is what it used."""
    sink = Recorder()
    bench.run(sink, **service(load={"arrivals": "constant", "duration": "3s"}, limit="1"))
    total = sink.totals["server"]
    first = next(s for s in sink.of(Samples) if s.group == "server").samples[0]
    last = [s for s in sink.of(Samples) if s.group == "server"][-1].samples[-1]
    assert total.window_us < last.mono_us - first.mono_us - 400_000
    assert total.usage_us is not None
    work_us = 3 * RATE * 5_000
    # Beside the work: answering, the collector, pings.
    assert work_us <= total.usage_us <= 1.6 * work_us


def test_the_load_runs_on_cpus_of_its_own(bench: Bench) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    sink = Recorder()
    bench.run(sink, **service(load={"duration": "1s"}))
    seen = {h.group: parse_cpu_list(str(h.program["affinity"])) for h in sink.of(Hello)}
    assert seen["load"]
    assert not seen["server"] & seen["load"]


def test_every_replica_answers(bench: Bench) -> None:
    sink = Recorder()
    bench.run(sink, **service(replicas=2, load={"connections": "new", "duration": "1s"}))
    answered: dict[str, int] = {}
    for record in sink.of(Round):
        for name, answers in record.servers.items():
            answered[name] = answered.get(name, 0) + answers.responses
    assert answered.keys() == {"server.1", "server.2"}
    assert min(answered.values()) >= 10
    for unit in answered:
        assert (sink.totals[unit].usage_us or 0) >= 10 * 5_000


def test_a_throttled_server_is_slow_and_its_own_counters_say_so(bench: Bench) -> None:
    sink = Recorder()
    # 25% of a CPU is asked for, 10% is there: the queue grows from second to second.
    bench.run(sink, **service(load={"timeout": "1s"}, limit="100m", env={"GOMAXPROCS": "1"}))
    assert (sink.totals["server"].nr_throttled or 0) > 5
    work = latencies(sink, "work_us")
    assert (work.max_us or 0) > 100_000
    assert work.errors["timeout"] > 0


def kill_server(bench: Bench) -> Recorder:
    killed: list[int] = []

    def on(record: Record) -> None:
        if isinstance(record, Hello) and record.group == "load":
            for pid in pids_in(bench.place.group(bench.lab, "run", "r1", "server").cpu):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    return Recorder(on)


def test_a_server_that_dies_in_the_middle(bench: Bench) -> None:
    error = failing(bench, kill_server(bench), service(load={"warmup": "20s"}))
    assert error.code == "workload-failed"
    assert "The workload of group server ended before it was done" in error.message
    assert "SIGKILL" in error.message


SERVER = "say('hello', unix_us=1, cgroup={})\nsay('ready', address='127.0.0.1:9', name='server')\n"


def test_a_server_that_refuses_everybody(bench: Bench, fake: Fake) -> None:
    """It says that it listens, but nobody is there: a failed arm, not one without latency."""
    bench.builds = fake(SERVER + "sys.stdin.read()")
    arm = service(server_build="go1.24", load={"warmup": "0s", "duration": "1s", "timeout": "1s"})
    error = failing(bench, Recorder(), arm)
    assert error.code == "load-failed"
    assert "The load load had not one answer" in error.message
    assert "refused" in error.message


def test_a_server_that_ends_before_it_listens(bench: Bench, fake: Fake) -> None:
    bench.builds = fake("say('hello', unix_us=1, cgroup={})\nsay('end', reason='done')")
    error = failing(bench, Recorder(), service(server_build="go1.24"))
    assert "Group server does not listen everywhere, so load cannot call it" in error.message


LOADED = """
assert sys.argv[2] == '--to' and sys.argv[3].startswith('http://127.0.0.1:'), sys.argv
say('hello', unix_us=1, cgroup={})
for path in ('first', 'second'):
    say('measuring', at_us=MEASURING)
say('warning', text='The load was late by itself.')
say('end', reason='done', measures=MEASURES)
"""


def fake_load(measuring: str, measures: str) -> str:
    return LOADED.replace("MEASURING", measuring).replace("MEASURES", measures)


def test_warnings_of_the_load_reach_the_reader(bench: Bench, fake: Fake) -> None:
    from tests.targets.test_local_streams import histogram

    found = {"work_us": {"n": 1, "max": 7, "errors": {}, "hdr": histogram(7)}}
    bench.builds = fake(fake_load("time.monotonic_ns() // 1000", repr(found)))
    sink = Recorder()
    bench.run(sink, **service(load_build="go1.24"))
    notes = [note for note in sink.of(Note) if note.text == "The load was late by itself."]
    assert [note.level for note in notes] == ["warning"]


def test_a_count_that_begins_in_the_future_is_refused(bench: Bench, fake: Fake) -> None:
    from tests.targets.test_local_streams import histogram

    found = {"work_us": {"n": 1, "max": 7, "errors": {}, "hdr": histogram(7)}}
    bench.builds = fake(fake_load("2 ** 60", repr(found)))
    sink = Recorder()
    bench.run(sink, **service(load_build="go1.24"))
    assert any("its time is far off" in note.text for note in sink.of(Note))
    assert sink.totals["server"].window_us > 0


def test_a_load_that_counted_nothing(bench: Bench, fake: Fake) -> None:
    bench.builds = fake(fake_load("1", "{}"))
    error = failing(bench, Recorder(), service(load_build="go1.24"))
    assert "counted not one request" in error.message
