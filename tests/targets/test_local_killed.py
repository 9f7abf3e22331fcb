"""A worker killed in the middle: what it left ends by itself, and another removes the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.targets.support import REPO, Bench, Fake, all_pids, wait_for, with_repo_on_path

pytestmark = [pytest.mark.kernel, pytest.mark.slow]

WORKER = """
import json, sys, threading
from pathlib import Path
from experiments_app.core.records import Hello
from tests.targets.support import Bench
from experiments_app.targets.local.hierarchy import discover
from experiments_app.targets.local.place import choose

lab, arm, last, *paths = sys.argv[1:]
builds = dict(zip(("go1.24", "go1.25"), map(Path, paths)))
bench = Bench(choose(discover(), euid=0), builds, lab)
session = bench.open(**json.loads(arm))
session.prepare()
def sink(record):
    if isinstance(record, Hello) and record.group == last:
        print("measuring", flush=True)
session.measure(sink, threading.Event())
"""


BURST = {"kind": "burst", "threads": 8, "work": "20ms", "interval": "600ms", "rounds": 100}
JOB: dict[str, Any] = {
    "groups": [
        {
            "name": "app",
            "containers": [{"build": "go1.24", "limit": "500m", "period": "1s", "workload": BURST}],
        }
    ]
}
# A pod with two containers, two servers, a load, and a spinning neighbour.
EVERYTHING: dict[str, Any] = {
    "groups": [
        {
            "name": "pod",
            "containers": [
                {"name": name, "limit": "300m", "workload": {"kind": "spin"}} for name in "ab"
            ],
        },
        {
            "name": "server",
            "replicas": 2,
            "containers": [{"limit": "200m", "workload": {"kind": "serve", "live": "1MiB"}}],
        },
        {
            "name": "load",
            "place": "load",
            "containers": [{"workload": {"kind": "load", "warmup": "60s", "rate": 200}}],
        },
        {
            "name": "jobs",
            "containers": [
                {
                    "limit": "100m",
                    "workload": {
                        "kind": "parallel",
                        "processes": 8,
                        "work": "1s",
                        "rounds": 100,
                    },
                }
            ],
        },
    ],
    "steps": [{"start": ["pod", "server", "jobs"]}, {"start": ["load"]}, {"measure": "load"}],
}


def start_worker(
    bench: Bench, arm: dict[str, Any] = JOB, last: str = "app"
) -> subprocess.Popen[bytes]:
    """Another process with a session in the middle of its measurement."""
    paths = [str(bench.builds[build]) for build in ("go1.24", "go1.25")]
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, bench.lab, json.dumps(arm), last, *paths],
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


def test_workload_ends_by_itself_when_the_worker_dies(bench: Bench) -> None:
    kill(start_worker(bench))
    wait_for(lambda: not all_pids(bench), within_s=20)
    bench.target.cleanup(lab=bench.lab, run="run")


def test_pods_services_and_jobs_of_a_killed_worker(bench: Bench) -> None:
    kill(start_worker(bench, EVERYTHING, last="load"))
    pids = all_pids(bench)
    removed = bench.target.cleanup(lab=bench.lab, run="run")
    for name in ("pod/a", "pod/b", "pod", "server-1", "server-2", "load", "jobs", ".sampler"):
        ends = [path for path in removed if path.endswith(f"{bench.lab}/run/r1/{name}")]
        assert len(ends) == len(bench.place.base.dirs)
    assert not bench.left()
    wait_for(lambda: not any(is_running(pid) for pid in pids))


def test_pods_services_and_jobs_end_by_themselves_when_the_worker_dies(bench: Bench) -> None:
    worker = start_worker(bench, EVERYTHING, last="load")
    assert len(all_pids(bench)) >= 7
    kill(worker)
    wait_for(lambda: not all_pids(bench), within_s=30)
    bench.target.cleanup(lab=bench.lab, run="run")


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
