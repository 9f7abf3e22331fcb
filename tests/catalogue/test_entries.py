"""Each experiment of the catalogue is what was published, and can be planned where it says."""

from __future__ import annotations

from fractions import Fraction

import pytest

from experiments_app import catalogue
from experiments_app.core.errors import PlanError
from experiments_app.core.plan import make_plan
from experiments_app.core.spec_model import TARGET_KINDS, Arm, Spec
from experiments_app.core.workloads import Load, Requests, Serve, Spin, Tasks

ENTRIES = catalogue.entries()
EVERYWHERE = ("local", "docker", "kubernetes", "simulated")
# name -> aliases, arms, repeats, kinds of target
PUBLISHED: dict[str, tuple[tuple[str, ...], int, int, tuple[str, ...]]] = {
    "limit-tree": (("E1",), 2, 1, ("local", "kubernetes")),
    "burst-limits": (("E2a",), 5, 1, EVERYWHERE),
    "go-maxprocs": (("E3",), 14, 1, ("local", "docker", "kubernetes")),
    "serve-steady": (("E2b-steady",), 3, 1, EVERYWHERE),
    "serve-clumped": (("E2b-clumped", "E2b"), 3, 2, EVERYWHERE),
    "weights": (("E4", "E5"), 3, 1, ("local", "kubernetes")),
    "task-period": (("D1",), 6, 1, EVERYWHERE),
    "short-tasks": (("D2",), 2, 1, EVERYWHERE),
    "parallel-tasks": (("D3",), 3, 1, EVERYWHERE),
    "quota-tiers": (("C1",), 3, 5, EVERYWHERE),
}
# On one CPU a limit of all CPUs is that of another arm: a run would compare nothing.
TOO_SMALL = {"burst-limits", "parallel-tasks", "quota-tiers"}
CASES = [(spec, kind, cpus) for spec in ENTRIES for kind in spec.targets for cpus in (1, 2, 4, 10)]
IDS = [f"{spec.name}-{kind}-{cpus}" for spec, kind, cpus in CASES]


def test_the_catalogue_in_reading_order() -> None:
    assert [spec.name for spec in ENTRIES] == list(PUBLISHED)
    for spec in ENTRIES:
        found = (spec.aliases, len(spec.arms), spec.repeats, spec.targets)
        assert found == PUBLISHED[spec.name]


@pytest.mark.parametrize(("spec", "kind", "cpus"), CASES, ids=IDS)
def test_it_is_planned_or_refused_with_a_reason(spec: Spec, kind: str, cpus: int) -> None:
    if cpus == 1 and spec.name in TOO_SMALL:
        with pytest.raises(PlanError, match="would be the same") as refused:
            make_plan(spec, kind=kind, cpus=cpus)
        assert "more CPUs" in refused.value.remedy
        return
    plan = make_plan(spec, kind=kind, cpus=cpus)
    assert plan.expected_us > 0
    assert len(plan.arms) == len(spec.arms)
    for arm in plan.arms:
        assert (arm.scale is None) == (arm.arm == spec.arms[arm.index])
        if arm.scale is not None:
            assert Fraction(arm.scale) < 1
            assert f"scaled by {arm.scale}" in arm.label
    if cpus == 10:
        assert all(arm.scale is None for arm in plan.arms), "it runs as published"


@pytest.mark.parametrize("spec", ENTRIES, ids=[spec.name for spec in ENTRIES])
def test_it_is_refused_where_it_does_not_run(spec: Spec) -> None:
    for kind in set(TARGET_KINDS) - set(spec.targets):
        with pytest.raises(PlanError, match="does not run on a target of kind"):
            make_plan(spec, kind=kind, cpus=4)


def arm(name: str, arm_name: str) -> Arm:
    return next(arm for arm in catalogue.find(name).arms if arm.name == arm_name)


@pytest.mark.parametrize(("name", "clump"), [("serve-steady", 1), ("serve-clumped", 50)])
def test_a_service_and_its_load(name: str, clump: int) -> None:
    for one in catalogue.find(name).arms:
        server, load = one.groups
        serves, calls = server.containers[0].workload, load.containers[0].workload
        assert isinstance(serves, Serve)
        assert isinstance(calls, Load)
        assert (serves.work_us, serves.alloc_bytes, serves.live_bytes) == (5_000, 2**20, 2**26)
        assert (calls.rate, calls.ping_rate, calls.arrivals) == (100, 20, "poisson")
        assert (calls.warmup_us, calls.duration_us, calls.timeout_us) == (
            10_000_000,
            60_000_000,
            10_000_000,
        )
        assert (calls.clump, calls.connections, calls.idle) == (clump, "keep-alive", 1_000)
        assert (load.place, load.role, one.measured.name) == ("load", "load", "load")
        assert server.containers[0].request == "500m"
    limits = [
        (a.groups[0].containers[0].limit, a.groups[0].containers[0].build)
        for a in catalogue.find(name).arms
    ]
    assert limits == [("none", "go1.24"), ("2", "go1.24"), ("2", "go1.25")]


def test_weights_make_the_cpu_scarce() -> None:
    requests = {
        group.name: [container.request for container in group.containers]
        for group in arm("weights", "tree").groups
    }
    assert requests == {
        "req-100m": ["100m"],
        "req-1": ["1"],
        "req-2": ["2"],
        "req-1-limit-1": ["1"],
        "pair": ["100m", "1"],
    }
    for name, groups in (("three-pods", 3), ("two-containers", 1)):
        scarce = arm("weights", name)
        assert (scarce.steps[0].pin, scarce.steps[0].cpus) == ("work", 1)
        assert len(scarce.groups) == groups
        for container in scarce.measured.containers:
            spin = container.workload
            assert isinstance(spin, Spin)
            assert (spin.threads, spin.duration_us, spin.report_us) == (1, 45_000_000, 10_000_000)


def test_tasks_come_in_both_forms() -> None:
    works = {one.name: one.groups[0].containers[0] for one in catalogue.find("D1").arms}
    assert [(c.limit, c.period_us, c.workload) for c in works.values()] == [
        (limit, period, Tasks(work="30ms", count=100, gap=gap))
        for gap in ("0s", "3750us")
        for limit, period in (("none", 100_000), ("500m", 100_000), ("500m", 10_000))
    ]


def test_tiers_of_a_quota() -> None:
    containers = [one.groups[0].containers[0] for one in catalogue.find("C1").arms]
    assert [c.limits.quota_us for c in containers] == [50_000, 100_000, 200_000]
    for container in containers:
        assert container.workload == Requests(threads=2, steps=200_000, duration="10s")
