"""What is done on the test machine. Each scenario returns what its test looks at, as JSON."""

from __future__ import annotations

import json
import os
import platform
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments_app.targets.local.delegation import HOME
from tests.v2.people import TOP, Person, alive, processes_in
from tests.waiting import until

ROOT = Person("root-lab")
PROGRAMS = Path(".build/cpulab/current").absolute()
# Those that judge limits, counts and what is left; the others need a CPU of a known speed.
KERNEL_TESTS = [
    *(f"tests/targets/test_local_{name}.py" for name in ("cleanup", "groups", "target")),
    "-k",
    "not directory_handed_over and not v1_parent",  # of cgroup v1
]

BURST = """
name = "burst-allowance"
title = "A burst allowance"
question = "Is it counted?"
targets = ["local"]

[[arms]]
name = "allowance"
limit = "500m"
burst = "50ms"
workload = { kind = "burst", threads = 2, work = "90ms", interval = "1500ms", rounds = 3 }
"""

SHORT = """
name = "short-bursts"
title = "Short bursts"
question = "Does it throttle?"
targets = ["local"]

[[arms]]
name = "quarter"
limit = "250m"
request = "100m"
workload = { kind = "burst", threads = 2, work = "30ms", interval = "600ms", rounds = %d }
"""


def machine() -> Any:
    """What the product stands on here."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    return {
        "kernel": platform.release(),
        "cpus": len(os.sched_getaffinity(0)),
        "mounts": [[kind, at] for _, at, kind, *_ in mounts if kind.startswith("cgroup")],
        "controllers": (TOP / "cgroup.controllers").read_text().split(),
    }


def doctor() -> Any:
    return doctored(ROOT)


def burst_limits() -> Any:
    arms = ("--arms", "no-limit,limit-500m", "--set", "rounds=3")
    return ran(ROOT, "burst-limits", *arms)


def quota_tiers() -> Any:
    arms = ("--arms", "limit-500m,limit-1", "--set", "duration=2s", "--repeats", "1")
    return ran(ROOT, "quota-tiers", *arms)


def limit_tree() -> Any:
    return ran(ROOT, "limit-tree")


def burst_allowance() -> Any:
    return ran(ROOT, written("burst-allowance", BURST))


def killed() -> Any:
    """kill -9 of the process that measures; then the next run, which must find and clean."""
    started = ROOT.lab("run", written("long", SHORT % 200), "--target", "local")
    sql = "SELECT DISTINCT run_id FROM lab_round ORDER BY run_id DESC"
    before = len(ROOT.query(sql))
    try:
        until(lambda: len(ROOT.query(sql)) > before, "a round is stored", seconds=120)
        number = ROOT.query(sql)[0][0]
        (group,) = ROOT.left()
        pids = processes_in(Path(group))
    finally:
        os.kill(started.pid, signal.SIGKILL)
        code = started.wait().code
    after = {"code": code, "pids": pids, "left": ROOT.left()}
    again = ran(ROOT, written("short", SHORT % 1))
    state = ROOT.query(f"SELECT status, reason_code FROM lab_run WHERE number = {number}")
    return {**after, "again": again, "state": state, "alive": [p for p in pids if alive(p)]}


def delegated() -> Any:
    """A user who was given a group with cpu in it.

    The first command moves what is in the group to a leaf and turns cpu on. Others follow: one
    in that leaf, and one in the group itself beside what a killed lab has left. While something
    runs below the group the kernel lets nobody into it.
    """
    (TOP / "cgroup.subtree_control").write_text("+cpu")
    group = handed_over(TOP / "user-lab")
    user = Person("user-lab", uid=1000, group=group)
    first = ran(user, written("user", SHORT % 2))
    groups = sorted(path.name for path in group.iterdir() if path.is_dir())
    in_home = doctored(replace(user, group=group / HOME))
    handed_over(group / "throttle-lab")
    handed_over(group / "throttle-lab" / "gone")
    (group / "throttle-lab" / "cgroup.subtree_control").write_text("+cpu")
    again = ran(user, written("again", SHORT % 1))
    return {**first, "groups": groups, "home": in_home, "again": again}


def not_delegated() -> Any:
    """A user in a group that is root's, and one whose group is theirs but has no cpu in it."""
    (TOP / "alien").mkdir()
    (TOP / "bare").mkdir()
    inner = handed_over(TOP / "bare" / "inner")
    return {
        "permission": doctored(Person("alien", uid=1000, group=TOP / "alien")),
        "controller": doctored(Person("bare", uid=1000, group=inner)),
    }


def kernel_tests() -> Any:
    """The local target's own tests of control groups, most of which know both versions."""
    outcomes: list[list[Any]] = []
    path = Path("/tmp/outcomes")

    def act() -> int:
        import pytest

        os.environ["CPULAB_BUILDS"] = str(PROGRAMS)
        options = ["-q", "-m", "kernel", "-p", "no:cacheprovider"]
        with open("/dev/console", "w", buffering=1) as console:

            class Listener:
                def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
                    if report.when == "call" or report.outcome != "passed":
                        text = report.longreprtext[-1500:]
                        outcomes.append([report.nodeid, report.outcome, text])
                        took = f"{report.duration:.0f} s"
                        console.write(f"machine: {report.nodeid} {report.outcome}, {took}\n")

            code = pytest.main([*options, *KERNEL_TESTS], plugins=[Listener()])
        path.write_text(json.dumps(outcomes))
        return int(code)

    done = Person("tester").start(act).wait()
    return {
        "code": done.code,
        "out": done.out[-3000:],
        "outcomes": json.loads(path.read_text()) if path.exists() else [],
    }


def ran(person: Person, *arguments: str) -> dict[str, Any]:
    """./lab run ARGUMENTS: its document, and what of it is still there."""
    done = person.lab("run", *arguments, "--target", "local", "--json").wait()
    print(done.err, flush=True)
    return {"code": done.code, "document": done.json(), "left": person.left()}


def doctored(person: Person) -> dict[str, Any]:
    """What ./lab doctor says of the local target."""
    done = person.lab("doctor", "--json").wait()
    (local,) = [target for target in done.json()["targets"] if target["name"] == "local"]
    return {"code": done.code, "local": local}


def handed_over(group: Path) -> Path:
    """What an administrator does to delegate: the kernel's Delegation, cgroup-v2.rst."""
    group.mkdir()
    names = ("", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control")
    for name in names:
        os.chown(group / name, 1000, 1000)
    return group


def written(name: str, text: str) -> str:
    path = Path("/tmp") / f"{name}.toml"
    path.write_text(text)
    return str(path)


SCENARIOS: dict[str, Callable[[], Any]] = {
    each.__name__: each
    for each in (
        machine,
        doctor,
        burst_limits,
        burst_allowance,
        killed,
        delegated,
        not_delegated,
        limit_tree,
        quota_tiers,
        kernel_tests,
    )
}
