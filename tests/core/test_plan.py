"""Plans: order, durations, sampling, and what does not run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from experiments_app.catalogue import find
from experiments_app.core.errors import PlanError
from experiments_app.core.plan import Plan, PlannedArm, make_plan
from experiments_app.core.records import Limits
from experiments_app.core.spec import Spec, apply_settings, parse_spec


def one_arm(workload: dict[str, Any] | None = None, **arm: Any) -> Spec:
    work = {"kind": "burst", "threads": 8, "work": "20ms", "interval": "1s", "rounds": 20}
    return parse_spec({"name": "one", "arms": [{"name": "a", "workload": workload or work, **arm}]})


def planned(spec: Spec, cpus: int = 2) -> PlannedArm:
    return make_plan(spec, kind="local", cpus=cpus).arms[0]


@pytest.mark.parametrize("cpus", [2, 8, 10, None])
def test_burst_limits_runs_as_published_from_two_cpus_on(cpus: int | None) -> None:
    plan = make_plan(find("burst-limits"), kind="local", cpus=cpus)
    assert [arm.scale for arm in plan.arms] == [None] * 5
    assert [arm.label for arm in plan.arms] == [
        "no limit",
        "limit 2",
        "limit 1",
        "limit 500m",
        "limit 1, two threads",
    ]
    assert [arm.measured.containers[0].limits for arm in plan.arms] == [
        Limits(quota, 100_000, 0, 102) for quota in (None, 200_000, 100_000, 50_000, 100_000)
    ]
    assert plan.arms[0].measured.containers[0].env == (("GOMAXPROCS", "8"),)


def test_threads_that_share_cpus_are_told() -> None:
    plan = make_plan(find("burst-limits"), kind="local", cpus=2)
    assert "8 threads share 2 CPUs" in plan.arms[0].notes[0]
    assert "at least 80 ms" in plan.arms[0].notes[0]
    assert plan.arms[4].notes == ()
    assert make_plan(find("burst-limits"), kind="local", cpus=8).arms[0].notes == ()


def test_repeats_interleave_the_arms() -> None:
    plan = make_plan(find("burst-limits"), kind="local", cpus=2, repeats=2)
    assert [(step.n, step.arm) for step in plan.order] == [(n, a) for n in (1, 2) for a in range(5)]


def test_the_duration_is_honest() -> None:
    """Prepare, 20 rounds of a second, two periods and a tick to settle."""
    arm = planned(find("burst-limits"))
    assert arm.expected_us == 500_000 + 20_000_000 + 200_000 + 10_000
    assert arm.rounds == 20
    plan = make_plan(find("burst-limits"), kind="local", cpus=2, repeats=3)
    assert plan.expected_us == 3 * 5 * arm.expected_us


def test_rounds_that_cannot_keep_their_pace_take_longer_and_say_so() -> None:
    slow = planned(one_arm(limit="100m"))
    assert slow.expected_us > 20 * 1_600_000
    assert "A round needs 1.6 s here" in " ".join(slow.notes)


def test_waits_and_an_info_workload_count() -> None:
    groups = [{"name": "g", "containers": [{"workload": {"kind": "info"}}]}]
    steps = [{"start": ["g"]}, {"wait": "15s"}, {"measure": "g"}]
    arm = {"name": "a", "groups": groups, "steps": steps}
    plan = make_plan(parse_spec({"name": "x", "arms": [arm]}), kind="local", cpus=2)
    assert plan.expected_us == 16_210_000
    assert plan.arms[0].rounds == 1


@pytest.mark.parametrize(
    ("period", "hz"), [("100ms", 50), ("1s", 50), ("50ms", 100), ("10ms", 500), ("5ms", 500)]
)
def test_five_samples_a_period_where_the_period_allows(period: str, hz: int) -> None:
    arm = planned(one_arm(limit="1", period=period))
    assert arm.sample_hz == arm.measured.sample_hz == hz
    assert ("too short for 5 samples" in " ".join(arm.notes)) == (period == "5ms")


def test_without_a_limit_there_is_no_period_to_resolve() -> None:
    assert planned(one_arm(period="5ms")).sample_hz == 50


def test_a_limit_below_the_kernels_smallest_says_so() -> None:
    work = {"kind": "burst", "threads": 1, "work": "1ms", "interval": "1s", "rounds": 1}
    assert "5m acts as 10m" in " ".join(planned(one_arm(work, limit="5m")).notes)


def test_a_plan_survives_being_stored() -> None:
    plan = make_plan(find("burst-limits"), kind="local", cpus=2, repeats=2)
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    scaled = make_plan(one_arm(limit="4"), kind="local", cpus=2)
    again = Plan.from_dict(json.loads(json.dumps(scaled.to_dict())))
    assert again == scaled
    assert again.arms[0].scale == "1/2"


def test_settings_are_complete() -> None:
    """A stored run must not change its meaning when a default does."""
    assert planned(one_arm(limit="1")).settings == {
        "build": "go1.25",
        "limit": "1",
        "request": "none",
        "period": "100ms",
        "burst": "0s",
        "env": {},
        "workload": {
            "kind": "burst",
            "threads": 8,
            "work": "20ms",
            "interval": "1s",
            "rounds": 20,
            "jitter": "0s",
        },
    }


def test_a_target_of_another_kind_is_refused() -> None:
    spec = parse_spec({**_data(), "targets": ["docker"]})
    with pytest.raises(PlanError, match="does not run on a target of kind local") as error:
        make_plan(spec, kind="local", cpus=2)
    assert "docker" in error.value.remedy


def test_a_needed_cgroup_version_is_checked() -> None:
    spec = parse_spec({**_data(), "needs": {"cgroup": 2}})
    with pytest.raises(PlanError, match="needs cgroup v2; the target has v1"):
        make_plan(spec, kind="local", cpus=2, cgroup=1)
    make_plan(spec, kind="local", cpus=2, cgroup=2)
    make_plan(spec, kind="local", cpus=2, cgroup=None)


def test_fewer_cpus_than_meant_is_a_note() -> None:
    spec = parse_spec({**_data(), "needs": {"cpus": 4}})
    assert make_plan(spec, kind="local", cpus=2).notes == (
        "The experiment is meant for 4 CPUs; this target has 2.",
    )
    assert make_plan(spec, kind="local", cpus=4).notes == ()


@pytest.mark.parametrize("repeats", [0, -1, 51])
def test_repeats_are_bounded(repeats: int) -> None:
    with pytest.raises(PlanError, match="out of range"):
        make_plan(find("burst-limits"), kind="local", cpus=2, repeats=repeats)


def test_repeats_given_at_launch_count_towards_the_longest_run() -> None:
    spec = apply_settings(find("burst-limits"), {"rounds": "1000"})
    with pytest.raises(PlanError, match="a run may take 6 h 0 min"):
        make_plan(spec, kind="local", cpus=2, repeats=10)


def test_a_target_without_cpus_is_refused() -> None:
    with pytest.raises(PlanError, match="has no CPU"):
        make_plan(find("burst-limits"), kind="local", cpus=0)


def _data() -> dict[str, Any]:
    return {"name": "x", "arms": [{"name": "a", "workload": {"kind": "info"}}]}
