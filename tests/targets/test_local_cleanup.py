"""Nothing is left: after success, after kill -9 of the worker, twice, with stubborn processes."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments_app.core.errors import LabError, TargetError
from experiments_app.targets.local import LocalTarget, delegation, groups, sweep
from tests.targets.support import Bench, Fake, require, wait_for

pytestmark = [pytest.mark.kernel]

REPO = Path(__file__).resolve().parents[2]
WORKER = """
import sys, threading
from pathlib import Path
from experiments_app.core.records import Hello
from tests.targets.support import Bench
from experiments_app.targets.local.hierarchy import discover
from experiments_app.targets.local.place import choose

lab, *paths = sys.argv[1:]
builds = dict(zip(("go1.24", "go1.25"), map(Path, paths)))
bench = Bench(choose(discover(), euid=0), builds, lab)
session = bench.session(build="go1.24", limit="500m", period="1s", work={"rounds": 100})
session.prepare()
sink = lambda record: isinstance(record, Hello) and print("measuring", flush=True)
session.measure(sink, threading.Event())
"""


def with_repo_on_path() -> dict[str, str]:
    paths = [str(REPO), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def start_worker(bench: Bench) -> subprocess.Popen[bytes]:
    """Another process with a session in the middle of its measurement."""
    paths = [str(bench.builds[build]) for build in ("go1.24", "go1.25")]
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, bench.lab, *paths],
        cwd=REPO,
        env=with_repo_on_path(),
        stdout=subprocess.PIPE,
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == b"measuring\n"
    return worker


def kill(worker: subprocess.Popen[bytes]) -> None:
    worker.kill()
    worker.communicate()


def all_pids(bench: Bench) -> set[int]:
    found: set[int] = set()
    for top in bench.place.group(bench.lab).dirs:
        for path, _, _ in os.walk(top):
            found.update(delegation.pids_in(Path(path)))
    return found


@pytest.mark.slow
def test_killed_worker_leaves_what_another_process_removes(bench: Bench) -> None:
    worker = start_worker(bench)
    assert bench.target.leftovers(lab=bench.lab) == ("run",)
    kill(worker)
    removed = bench.target.cleanup(lab=bench.lab, run="run")
    ends = [f"{bench.lab}/run/r1/app", f"{bench.lab}/run/r1/.sampler", f"{bench.lab}/run"]
    for end in ends:
        assert sum(path.endswith(end) for path in removed) == len(bench.place.base.dirs)
    assert not bench.left()
    assert bench.target.leftovers(lab=bench.lab) == ()
    assert bench.target.cleanup(lab=bench.lab, run="run") == ()


@pytest.mark.slow
def test_workload_ends_by_itself_when_the_worker_dies(bench: Bench) -> None:
    kill(start_worker(bench))
    wait_for(lambda: not all_pids(bench), within_s=20)
    bench.target.cleanup(lab=bench.lab, run="run")


@pytest.mark.slow
def test_stubborn_workload_of_a_killed_worker(bench: Bench, fake: Fake) -> None:
    """It ignores the end of its stdin and SIGTERM, forks, and is frozen by its limit."""
    bench.builds = fake(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "for _ in range(20):\n"
        "    if os.fork() == 0: break\n"
        "else: say('hello', unix_us=1)\n"
        "while True: pass"
    )
    kill(start_worker(bench))
    pids = all_pids(bench)
    assert len(pids) > 10
    bench.target.cleanup(lab=bench.lab, run="run")
    assert not bench.left()
    wait_for(lambda: not any(is_running(pid) for pid in pids))


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_other_runs_of_the_lab_stay(bench: Bench) -> None:
    first, second = bench.session(run="one"), bench.session(run="two")
    first.prepare()
    second.prepare()
    assert bench.target.leftovers(lab=bench.lab) == ("one", "two")
    bench.target.cleanup(lab=bench.lab, run="one")
    assert bench.target.leftovers(lab=bench.lab) == ("two",)
    second.clean()


def test_a_repeat_left_by_a_crash_gives_way_to_the_same_repeat(bench: Bench) -> None:
    bench.session().prepare()
    again = bench.session()
    again.prepare()
    again.clean()
    assert not bench.left()


def test_a_process_in_only_one_hierarchy_is_found(bench: Bench) -> None:
    group = groups.create(bench.place, bench.lab, "run", "r1", "app")
    with subprocess.Popen(["sleep", "1000"]) as sleeper:
        (group.dirs[-1] / "cgroup.procs").write_text(str(sleeper.pid))
        bench.target.cleanup(lab=bench.lab, run="run")
        assert sleeper.wait(10) == -signal.SIGKILL


def test_a_process_outside_is_never_touched(bench: Bench) -> None:
    bench.session().prepare()
    with subprocess.Popen(["sleep", "1000"]) as outsider:
        bench.target.cleanup(lab=bench.lab, run="run")
        assert outsider.poll() is None
        outsider.kill()


def test_what_cannot_be_removed_is_an_error_with_the_way_out(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = groups.create(bench.place, bench.lab, "run", "r1", "app")
    with subprocess.Popen(["sleep", "1000"]) as sleeper:
        (group.cpu / "cgroup.procs").write_text(str(sleeper.pid))
        monkeypatch.setattr(sweep, "_kill_in", lambda directory: False)
        with pytest.raises(TargetError) as caught:
            sweep.remove([group.cpu], deadline_s=0.0)
        assert caught.value.code == "cleanup-failed"
        assert str(sleeper.pid) in caught.value.message
        monkeypatch.undo()
        bench.target.cleanup(lab=bench.lab, run="run")


def test_the_lab_never_kills_itself(bench: Bench) -> None:
    assert os.getpid() not in all_pids(bench)
    sweep._kill(os.getpid(), bench.place.base.cpu)


@pytest.mark.parametrize(("lab", "run"), [("..", "x"), ("x", "../../system.slice"), ("", "x")])
def test_names_cannot_lead_elsewhere(lab: str, run: str) -> None:
    with pytest.raises(LabError):
        LocalTarget(builds={}).cleanup(lab=lab, run=run)


@pytest.fixture
def unified() -> Iterator[Path]:
    """A real cgroup v2 directory, which has no limits here but all the rest."""
    mounts = [m for m in Path("/proc/self/mountinfo").read_text().splitlines() if " cgroup2 " in m]
    require(bool(mounts) and os.geteuid() == 0, "needs a cgroup v2 mount and root")
    top = Path(mounts[0].split()[4]) / f"throttle-lab-test-{secrets.token_hex(4)}"
    top.mkdir()
    yield top
    sweep.remove([top])


def test_v2_tree_with_processes_is_removed(unified: Path) -> None:
    child = unified / "a" / "b"
    child.mkdir(parents=True)
    with subprocess.Popen(["sleep", "1000"]) as one, subprocess.Popen(["sleep", "1000"]) as two:
        (unified / "cgroup.procs").write_text(str(one.pid))
        (child / "cgroup.procs").write_text(str(two.pid))
        assert sweep.remove([unified]) == (str(child), str(child.parent), str(unified))
        assert {one.wait(10), two.wait(10)} == {-signal.SIGKILL}


FAMILY = """
import subprocess, sys
from pathlib import Path
from experiments_app.targets.local import delegation
scope = Path(sys.argv[1])
(scope / "cgroup.procs").write_text("0")
with subprocess.Popen(["sleep", "1000"]) as child:
    print(delegation.may_host(scope), flush=True)
    sys.stdin.readline()
    print(delegation.may_host(scope), flush=True)
    sys.stdin.readline()
    delegation._move_home(scope)
    print(Path("/proc/self/cgroup").read_text().splitlines()[-1].split(":")[2], flush=True)
    print(delegation.pids_in(scope / delegation.HOME).count(child.pid), flush=True)
    child.kill()
"""


def test_v2_scope_of_our_own_tree_is_cleared_for_groups(unified: Path) -> None:
    lab = subprocess.Popen(
        [sys.executable, "-c", FAMILY, str(unified)],
        cwd=REPO,
        env=with_repo_on_path(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert lab.stdin is not None
    assert lab.stdout is not None
    assert lab.stdout.readline() == "True\n"
    with subprocess.Popen(["sleep", "1000"]) as stranger:
        (unified / "cgroup.procs").write_text(str(stranger.pid))
        lab.stdin.write("\n")
        lab.stdin.flush()
        assert lab.stdout.readline() == "False\n"
        stranger.kill()
        stranger.wait()
    lab.stdin.write("\n")
    lab.stdin.flush()
    assert lab.stdout.readline().strip() == f"/{unified.name}/{delegation.HOME}"
    assert lab.stdout.readline() == "1\n"
    lab.communicate()
