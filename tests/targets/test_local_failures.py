"""What goes wrong in the middle of an arm, in plain words and soon."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from experiments_app.core.errors import ReadbackMismatch, TargetError
from experiments_app.core.records import ArmFinished, Hello, Note, Record, Round
from experiments_app.targets.local import jobs, workload
from experiments_app.targets.local.delegation import pids_in
from experiments_app.targets.local.place import Group
from tests.targets.support import Bench, Fake, Recorder

pytestmark = [pytest.mark.kernel, pytest.mark.slow]

HELLO = "say('hello', unix_us=1, pid=os.getpid(), cgroup={})\n"
ROUND = "say('round', round={0}, start_us=1, wall_us=2, window_us=3, usage_us=4)\n"
SETTLED = "say('settled', round={0}, window_us=3, usage_us=4)\n"
END = "say('end', reason='done')\n"


def failing(bench: Bench, sink: Recorder, **arm: object) -> TargetError:
    session = bench.session(**arm)  # type: ignore[arg-type]
    try:
        session.prepare()
        with pytest.raises(TargetError) as caught:
            session.measure(sink, threading.Event())
    finally:
        session.clean()
    assert caught.value.remedy
    assert not sink.of(ArmFinished)
    return caught.value


def app(bench: Bench) -> Group:
    return bench.place.group(bench.lab, "run", "r1", "app")


def at_first_round(act: object) -> Recorder:
    done: list[float] = []

    def on(record: Record) -> None:
        if isinstance(record, Round) and not done:
            done.append(time.monotonic())
            act()  # type: ignore[operator]

    return Recorder(on)


def test_workload_that_is_killed(bench: Bench) -> None:
    def kill() -> None:
        for pid in pids_in(app(bench).cpu):
            os.kill(pid, signal.SIGKILL)

    error = failing(bench, at_first_round(kill), work={"rounds": 50})
    assert error.code == "workload-failed"
    assert "killed by SIGKILL" in error.message
    assert "memory" not in error.message


def test_workload_that_ran_out_of_memory(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    kills = iter([3])
    monkeypatch.setattr(workload, "oom_kills", lambda: next(kills, 4))

    def kill() -> None:
        for pid in pids_in(app(bench).cpu):
            os.kill(pid, signal.SIGKILL)

    error = failing(bench, at_first_round(kill), work={"rounds": 50})
    assert "memory ran out" in error.message
    assert "memory" in error.remedy


def test_workload_that_is_told_to_stop_by_another(bench: Bench) -> None:
    def stop() -> None:
        for pid in pids_in(app(bench).cpu):
            os.kill(pid, signal.SIGTERM)

    error = failing(bench, at_first_round(stop), work={"rounds": 50})
    assert "stop from outside" in error.message


def move_out(group: Group) -> None:
    for directory in group.dirs:
        for pid in pids_in(directory):
            (directory.parents[4] / "cgroup.procs").write_text(str(pid))


def test_cgroup_that_vanishes(bench: Bench) -> None:
    times: list[float] = []

    def vanish() -> None:
        move_out(app(bench))
        for directory in app(bench).dirs:
            directory.rmdir()
        times.append(time.monotonic())

    error = failing(bench, at_first_round(vanish), work={"rounds": 50})
    assert time.monotonic() - times[0] < 3
    assert error.code == "cgroup-vanished"
    assert f"{app(bench).cpu.parent}" in error.message
    assert "was removed while the arm was running" in error.message


def test_workload_that_is_moved_out(bench: Bench) -> None:
    error = failing(bench, at_first_round(lambda: move_out(app(bench))), work={"rounds": 50})
    assert error.code == "workload-moved"


def test_sampler_that_dies(bench: Bench) -> None:
    sampler = bench.place.group(bench.lab, "run", "r1", ".sampler")

    def kill() -> None:
        for pid in pids_in(sampler.cpu):
            os.kill(pid, signal.SIGKILL)

    error = failing(bench, at_first_round(kill), work={"rounds": 50})
    assert error.code == "sampler-failed"
    assert "SIGKILL" in error.message


def test_workload_that_fails_has_its_last_words_quoted(bench: Bench, fake: Fake) -> None:
    bench.builds = fake(HELLO + "print('no such knob', file=sys.stderr)\nsys.exit(3)")
    error = failing(bench, Recorder(), build="go1.24")
    assert "exit status 3" in error.message
    assert "no such knob" in error.message


def test_workload_that_ends_without_a_word(bench: Bench, fake: Fake) -> None:
    bench.builds = fake(HELLO + "sys.exit(0)")
    assert "without its last line" in failing(bench, Recorder(), build="go1.24").message


def test_workload_that_goes_silent(
    bench: Bench, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs.Job, "patience_us", lambda *_: 1_000_000)
    bench.builds = fake(HELLO + "signal.pause()")
    error = failing(bench, Recorder(), build="go1.24")
    assert error.code == "workload-silent"
    assert "printed nothing for 1 s (its threads have run for 0." in error.message


def test_workload_that_is_elsewhere(bench: Bench, fake: Fake) -> None:
    bench.builds = fake("say('hello', unix_us=1, cgroup={'quota_us': 77000})\nsignal.pause()")
    error = failing(bench, Recorder(), build="go1.24", limit="1")
    assert isinstance(error, ReadbackMismatch)
    assert "77000" in error.message


def notes_on_the_workload(sink: Recorder) -> list[str]:
    """Warnings, less the one that a busy machine made the sampler miss readings."""
    texts = [note.text for note in sink.of(Note) if note.level == "warning"]
    return [text for text in texts if not text.startswith("The sampler missed")]


def test_bad_lines_are_counted_and_no_crash(bench: Bench, fake: Fake) -> None:
    garbage = "print('not json'); print('[1]'); print('{\"n\": 9}'); n += 3\n"
    odd = "say('round', round='x')\nsay('a new type', a=1)\nsys.stdout.write('\\xff\\n')\n"
    skip = "say('round', n=n + 3, round=2, start_us=1, wall_us=2, window_us=3)\n"
    again = "say('round', n=n, round=2, start_us=1, wall_us=2, window_us=3)\n"
    body = HELLO + garbage + odd + ROUND.format(1) + SETTLED.format(1) + skip + again + END
    bench.builds = fake(body)
    sink = Recorder()
    session = bench.session(build="go1.24")
    session.prepare()
    session.measure(sink, threading.Event())
    session.clean()
    assert [r.n for r in sink.of(Round)] == [1, 2]
    assert sink.of(Round)[1].counters.usage_us is None
    notes = notes_on_the_workload(sink)
    assert len(notes) == 4
    assert "cannot be used, it is not JSON: 'not json'" in notes[0]
    assert "2 lines of group app before line" in notes[1]
    assert "again" in notes[2]
    assert "5 lines of group app could not be used" in notes[3]


def test_words_on_stderr_of_a_good_run_are_kept(bench: Bench, fake: Fake) -> None:
    bench.builds = fake(HELLO + "print('clock is odd', file=sys.stderr, flush=True)\n" + END)
    sink = Recorder()
    session = bench.session(build="go1.24")
    session.prepare()
    session.measure(sink, threading.Event())
    session.clean()
    assert notes_on_the_workload(sink) == ["Group app: clock is odd"]
    assert len(sink.of(Hello)) == 1


def test_out_of_memory_counter_of_the_kernel(tmp_path: Path) -> None:
    (tmp_path / "vmstat").write_text("nr_free_pages 5\noom_kill 12\n")
    assert workload.oom_kills(tmp_path / "vmstat") == 12
    assert workload.oom_kills(tmp_path / "none") == 0
