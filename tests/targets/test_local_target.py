"""The target as a whole: status, what it says elsewhere, and another user's delegated place."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experiments_app.core.errors import LabError
from experiments_app.core.records import ArmFinished, Round
from experiments_app.targets.base import Target
from experiments_app.targets.local import LocalTarget, facts, sweep
from experiments_app.targets.local.delegation import HOME, pids_in
from experiments_app.targets.local.hierarchy import discover
from experiments_app.targets.local.place import ROOT, Place, choose
from tests.targets.support import Bench, Builds, Fake, Recorder, require

NOBODY = 65534
REPO = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits a quarter of a second to see how busy the machine is."""
    monkeypatch.setattr(facts, "_WINDOW_S", 0.0)


@pytest.mark.kernel
def test_status_tries_it_for_real_and_leaves_nothing(bench: Bench) -> None:
    target: Target = bench.target
    status = target.status()
    assert status.ready, status.problems
    assert status.facts.cgroup == f"v{bench.place.version}"
    assert status.facts.cpus == len(os.sched_getaffinity(0))
    assert "go1.24" in (status.facts.cpulab or "")
    assert status.facts.extra["base"] == str(bench.place.base.cpu)
    for directory in bench.place.group(".probe").dirs:
        assert not list(directory.glob(f"{os.getpid()}-*"))


@pytest.mark.kernel
def test_status_removes_what_a_killed_probe_left(bench: Bench) -> None:
    dead = 2**22 + 1  # above the largest pid there can be
    left = [d / f"{dead}-00000000" for d in bench.place.group(".probe").dirs]
    for directory in left:
        directory.mkdir(parents=True)
    assert bench.target.status().ready
    assert not any(d.exists() for d in left)


@pytest.mark.kernel
def test_status_without_cpulab(place: Place) -> None:
    for builds in ({}, {"go1.25": Path("/nowhere/cpulab")}):
        status = LocalTarget(builds=builds).status()
        assert not status.ready
        (problem,) = [p for p in status.problems if p.blocking]
        assert problem.code == "cpulab-missing"
        assert problem.remedy


@pytest.mark.kernel
def test_status_when_a_process_does_not_land_inside(bench: Bench, fake: Fake) -> None:
    bench.builds = {"go1.24": fake("")["go1.24"]}
    script = bench.builds["go1.24"]
    script.write_text('#!/bin/sh\necho \'{"cgroup": {"quota_us": null}}\'\n')
    (problem,) = [p for p in bench.target.status().problems if p.blocking]
    assert problem.code == "readback-mismatch"
    script.write_text("#!/bin/sh\necho 'no such cgroup' >&2\nexit 126\n")
    (problem,) = [p for p in bench.target.status().problems if p.blocking]
    assert problem.code == "join-failed"
    assert "no such cgroup" in problem.message


def test_elsewhere_than_on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    target = LocalTarget(builds={}, machine="mac")
    status = target.status()
    assert not status.ready
    assert [p.code for p in status.problems] == ["not-linux"]
    assert "docker or kind" in status.problems[0].remedy
    assert target.cleanup(lab="lab", run="run") == ()
    assert target.leftovers(lab="lab") == ()


@pytest.mark.parametrize(
    ("release", "warned"),
    [
        ("4.18.0-553.el8_10.x86_64", True),
        ("4.19.83", True),
        ("4.19.84", False),
        ("4.14.153-1", True),
        ("4.14.154", False),
        ("4.9.337", False),
        ("5.3.18-150300.59", True),
        ("5.4.0-26-generic", False),
        ("6.18.44", False),
        ("odd", False),
    ],
)
def test_old_kernels_may_have_the_fault(release: str, warned: bool) -> None:
    problem = facts.kernel_warning(release)
    assert (problem is not None) == warned
    if problem is not None:
        assert "may have" in problem.message
        assert not problem.blocking


@pytest.mark.parametrize(
    ("after", "codes"),
    [
        ("cpu 110 0 0 990 0 0 0 0 0 0", []),
        ("cpu 200 0 0 1000 0 0 0 0 0 0", ["machine-busy"]),
        ("cpu 100 0 0 990 0 0 0 10 0 0", ["cpu-steal"]),
        ("cpu 100 0 0 900 0 0 0 0 0 0", []),
        ("garbled", []),
    ],
)
def test_how_busy_the_machine_is(tmp_path: Path, after: str, codes: list[str]) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu 100 0 0 900 0 0 0 0 0 0\ncpu0 1\n")

    def pause(_: float) -> None:
        stat.write_text(after)

    found = facts.busy_warnings(stat=stat, pause=pause)
    assert [problem.code for problem in found] == codes
    assert not any(problem.blocking for problem in found)


def test_cpu_model_of_other_architectures() -> None:
    assert facts.cpu_model("processor : 0\nmodel name\t: AMD EPYC\n") == "AMD EPYC"
    assert facts.cpu_model("processor\t: 0\nModel\t\t: Raspberry Pi 5\n") == "Raspberry Pi 5"
    assert facts.cpu_model("flags : a\n") is None


@pytest.fixture
def handed_over(place: Place) -> Iterator[None]:
    """The lab's own directories, made by root and given to nobody."""
    if place.version != 1:
        pytest.skip("handing a directory over is for cgroup v1")
    root = place.group()
    require(not any(d.exists() for d in root.dirs), "another lab is using this machine")
    for directory in root.dirs:
        directory.mkdir()
        os.chown(directory, NOBODY, NOBODY)
    yield
    for directory in root.dirs:
        directory.rmdir()


def as_nobody(act: Callable[[], object], *, join: Path | None = None) -> object:
    """What `act` returns in a child process that has given up root, in the cgroup `join`."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            if join is not None:
                (join / "cgroup.procs").write_text("0")
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            answer = act()
        except BaseException as error:  # noqa: BLE001 - the parent reports it
            answer = f"{type(error).__name__}: {error}"
        os.write(write, json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(text)


@pytest.mark.kernel
@pytest.mark.slow
@pytest.mark.usefixtures("handed_over")
def test_another_user_in_a_directory_handed_over(place: Place, builds: Builds) -> None:
    def act() -> object:
        bench = Bench(choose(discover(), euid=os.geteuid()), builds, "nobodys")
        status = bench.target.status()
        session = bench.session(limit="500m", work={"rounds": 1})
        sink = Recorder()
        session.prepare()
        session.measure(sink, threading.Event())
        left = bench.target.leftovers(lab="nobodys")
        session.clean()
        return {
            "problems": [p.message for p in status.problems if p.blocking],
            "base": status.facts.extra["base"],
            "rounds": len(sink.of(Round)),
            "finished": len(sink.of(ArmFinished)),
            "left": [left, bench.target.leftovers(lab="nobodys")],
        }

    assert as_nobody(act) == {
        "problems": [],
        "base": str(place.base.cpu),
        "rounds": 1,
        "finished": 1,
        "left": [["run"], []],
    }
    for directory in place.group().dirs:
        assert directory.is_dir(), "the directory that was handed over is not ours to remove"


@pytest.mark.kernel
@pytest.mark.slow
def test_another_user_in_a_delegated_scope(place: Place, builds: Builds) -> None:
    if place.version != 2:
        pytest.skip("delegated scopes are for cgroup v2")
    scope = place.base.cpu / f"throttle-lab-test-{secrets.token_hex(4)}.scope"
    scope.mkdir()
    for path in (scope, scope / "cgroup.procs", scope / "cgroup.subtree_control"):
        os.chown(path, NOBODY, NOBODY)

    def act() -> object:
        bench = Bench(choose(discover(), euid=os.geteuid()), builds, "nobodys")
        status = bench.target.status()
        session = bench.session(limit="500m", work={"rounds": 1})
        sink = Recorder()
        session.prepare()
        session.measure(sink, threading.Event())
        session.clean()
        return {
            "problems": [p.message for p in status.problems if p.blocking],
            "base": status.facts.extra["base"],
            "rounds": len(sink.of(Round)),
            "left": bench.target.leftovers(lab="nobodys"),
            "home": pids_in(scope / HOME) == (os.getpid(),),
            "other": choose(discover(), euid=os.geteuid()).base.cpu == scope,
        }

    try:
        answers = [as_nobody(act, join=scope) for _ in range(2)]
    finally:
        sweep.remove([scope])
    # The second starts where cpu is on already, by the first.
    for answer in answers:
        assert answer == {
            "problems": [],
            "base": str(scope),
            "rounds": 1,
            "left": [],
            "home": True,
            "other": True,
        }


@pytest.mark.kernel
def test_another_user_without_a_place_is_told_how_to_get_one(place: Place, builds: Builds) -> None:
    if any((d / ROOT).exists() and (d / ROOT).stat().st_uid == NOBODY for d in place.base.dirs):
        pytest.skip("a place is handed over here")

    def act() -> object:
        status = LocalTarget(builds=builds).status()
        return [status.ready, *[f"{p.code} {p.remedy}" for p in status.problems if p.blocking]]

    answer = as_nobody(act)
    assert isinstance(answer, list)
    assert answer[0] is False
    assert "permission" in answer[1]
    assert "sudo mkdir" in answer[1] or "systemd-run" in answer[1]


def test_open_refuses_bad_names(bench: Bench) -> None:
    with pytest.raises(LabError, match="repeat name"):
        bench.session(repeat="../x")


ELSEWHERE = """
import os, platform, selectors, signal, subprocess, sys, sysconfig, pydantic
sysconfig.get_config_vars()
sys.modules["fcntl"] = None
for module, name in ((os, "sched_getaffinity"), (os, "pidfd_open"), (signal, "pidfd_send_signal")):
    delattr(module, name)
sys.platform = "darwin"
from pathlib import Path
from experiments_app.targets.registry import Registry
print([p.code for p in Registry(builds={"go1.25": Path("/x")}).get("local").status().problems])
"""


def test_nothing_of_linux_is_needed_to_say_so() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], cwd=REPO, capture_output=True, text=True, check=True
    )
    assert done.stdout == "['not-linux']\n"
