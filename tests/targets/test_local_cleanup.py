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
from tests.targets.support import REPO, Bench, all_pids, require, with_repo_on_path

pytestmark = [pytest.mark.kernel]


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
