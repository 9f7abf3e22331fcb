"""Every experiment that names the local target runs on this machine's own kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from experiments_app import catalogue
from experiments_app.core.plan import Plan, PlannedArm, make_plan
from experiments_app.core.spec import apply_settings, select_arms
from tests.conftest import require
from tests.lab_process import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.kernel]

Json = dict[str, Any]
ROOTS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Short:
    """Arms and settings that make a run of an experiment last seconds."""

    arms: str
    settings: Mapping[str, str]


RUNS = {
    "limit-tree": Short("every-limit,one-limit", {}),
    "burst-limits": Short("no-limit,limit-500m", {"rounds": "3", "work": "10ms"}),
    "go-maxprocs": Short("go124-limit-1,go125-limit-1,go125-limit-2-gomaxprocs", {}),
    "serve-steady": Short(
        "no-limit-go124,limit-2-go125", {"rate": "20", "duration": "3s", "warmup": "500ms"}
    ),
    "serve-clumped": Short(
        "no-limit-go124,limit-2-go124",
        {"rate": "20", "clump": "5", "duration": "3s", "warmup": "500ms"},
    ),
    "weights": Short("tree,three-pods,two-containers", {"duration": "4s", "report": "1s"}),
    "task-period": Short("no-limit,period-100ms,period-10ms-gap", {"count": "6"}),
    "short-tasks": Short("back-to-back,gap", {"count": "30"}),
    "parallel-tasks": Short("no-limit,limit-1", {"rounds": "2"}),
    # Tighter than published: on a busy machine half a CPU may never be reached.
    "quota-tiers": Short("limit-500m,limit-1", {"duration": "2s", "limit-500m.limit": "50m"}),
}
LOCAL = [spec.name for spec in catalogue.entries() if "local" in spec.targets]


def test_no_name_is_left_out() -> None:
    assert sorted(RUNS) == sorted(LOCAL)


def run(name: str) -> Json:
    """The run's document; the lab has a place of its own and must leave no group behind."""
    short = RUNS[name]
    changes = [
        part for key, value in short.settings.items() for part in ("--set", f"{key}={value}")
    ]
    with tempfile.TemporaryDirectory(prefix="lab-names-") as var:
        done = subprocess.run(
            [
                *(sys.executable, ROOT / "lab", "run", name, "--target", "local", "--json"),
                *("--repeats", "1", "--arms", short.arms, *changes),
            ],
            env={**os.environ, "THROTTLE_LAB_VAR": var},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        lab = Path(var) / "lab-id"
        mine = lab.read_text().strip() if lab.exists() else ""
    assert done.returncode == 0, done.stderr
    groups = [path for glob in ("throttle-lab/*", "*/throttle-lab/*") for path in ROOTS.glob(glob)]
    left = [path for path in groups if path.name == mine]
    assert left == []
    document: Json = json.loads(done.stdout)
    return document


def planned(name: str, document: Json) -> Plan:
    short = RUNS[name]
    spec = select_arms(catalogue.find(name), short.arms.split(","))
    spec = apply_settings(spec, short.settings)
    return make_plan(spec, kind="local", cpus=document["environment"]["cpus"], repeats=1)


@pytest.mark.parametrize("name", LOCAL)
def test_it_runs_and_its_counters_moved(name: str) -> None:
    require(os.geteuid() == 0 and ROOTS.exists(), "root and cgroups")
    document = run(name)
    assert document["run"]["status"] == "finished"
    assert document["run"]["failed_repeats"] == 0
    plan = planned(name, document)
    assert [arm["name"] for arm in document["arms"]] == [arm.name for arm in plan.arms]
    for arm, found in zip(plan.arms, document["arms"], strict=True):
        assert found["scale"] == arm.scale
        assert found["summary"]["repeats_done"] == 1
        (repeat,) = found["repeats"]
        _counters_moved(arm, repeat)
        _has_its_result(arm, found)
    CHECKS.get(name, _nothing_more)(document)


def _counters_moved(arm: PlannedArm, repeat: Json) -> None:
    units = {group["name"]: group for group in repeat["groups"]}
    for group in arm.groups:
        busy = all(c.workload.busy for c in group.containers)
        limited = all(c.limits.quota_us is not None for c in group.containers)
        for unit in group.units:
            totals = units[unit.name]["totals"]
            assert totals["window_us"] > 0
            assert units[unit.name]["tree"], "every level as the kernel had it"
            # A program that only tells what it sees may be done before the first sample.
            if busy:
                assert totals["usage_us"] > 0, unit.name
            if busy and limited:
                assert totals["nr_periods"] > 0, unit.name


def _has_its_result(arm: PlannedArm, found: Json) -> None:
    summary = found["summary"]
    match arm.result:
        case "wall_us":
            assert summary["wall_us"]["n"] == arm.rounds
            assert summary["wall_us"]["p50"] > 0
        case "work_us" | "request_us" as name:
            measure = summary["measures"][name]
            assert measure["n"] > 0
            assert 0 < measure["p50"] <= measure["max"]
        case "cpu":
            assert summary["last_reports_milli"] > 0
        case None:
            programs = [group["program"] for group in found["repeats"][0]["groups"]]
            assert all(each["gomaxprocs"] > 0 for each in programs if each is not None)
            assert any(programs)


def _nothing_more(_document: Json) -> None:
    """Counters and results are all that can be said of a short run of these."""


def _gomaxprocs(document: Json) -> None:
    seen = {
        arm["name"]: group["program"]
        for arm in document["arms"]
        for group in arm["repeats"][0]["groups"]
        if group["program"] is not None
    }
    cpus = seen["go124-limit-1"]["num_cpu"]
    assert seen["go124-limit-1"]["gomaxprocs"] == cpus
    assert seen["go125-limit-1"]["gomaxprocs"] == min(2, cpus)
    assert seen["go125-limit-2-gomaxprocs"]["gomaxprocs"] == 6


def _pod_quotas(document: Json) -> None:
    """The whole has a quota only where every container has one."""
    quotas = {
        arm["name"]: {
            group["name"]: group["tree"][-1]["quota_us"]
            for group in arm["repeats"][0]["groups"]
            if group["tree"]
        }
        for arm in document["arms"]
    }
    assert quotas["every-limit"] == {"pod": 250_000, "pod.app": 200_000, "pod.sidecar": 50_000}
    assert quotas["one-limit"] == {"pod": None, "pod.app": 200_000, "pod.sidecar": None}


def _answered(document: Json) -> None:
    for arm in document["arms"]:
        servers = arm["summary"]["servers"]
        work, ping = (arm["summary"]["measures"][name] for name in ("work_us", "ping_us"))
        assert sum(each["responses"] for each in servers.values()) == work["n"] + ping["n"]


def _throttled(document: Json) -> None:
    """Two threads that never stop use up a small quota in every period."""
    tight, one = (arm["summary"] for arm in document["arms"])
    assert tight["nr_throttled"] > 0
    assert tight["throttled_us"] > 0
    assert tight["measures"]["request_us"]["n"] < one["measures"]["request_us"]["n"]


def _big_gets_more(document: Json) -> None:
    """On one CPU the container of the larger weight gets more of it."""
    for arm in document["arms"][1:]:
        groups = {group["name"]: group["totals"] for group in arm["repeats"][0]["groups"]}
        assert groups["pair.big"]["usage_us"] > groups["pair.small"]["usage_us"]


CHECKS = {
    "go-maxprocs": _gomaxprocs,
    "limit-tree": _pod_quotas,
    "serve-steady": _answered,
    "serve-clumped": _answered,
    "quota-tiers": _throttled,
    "weights": _big_gets_more,
}
