"""Arms that do not fit a target: one stated factor, or a refusal."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments_app import catalogue
from experiments_app.core.errors import PlanError
from experiments_app.core.plan import Plan, make_plan
from experiments_app.core.scaling import Room, factor_of
from experiments_app.core.spec import Burst, Spec, parse_spec


def spec(*arms: dict[str, Any]) -> Spec:
    work = {"kind": "burst", "threads": 8, "work": "20ms", "interval": "1s", "rounds": 20}
    return parse_spec({"name": "x", "arms": [{"workload": work, **arm} for arm in arms]})


def plan_of(*arms: dict[str, Any], cpus: int = 2, **kw: Any) -> Plan:
    return make_plan(spec(*arms), kind=kw.pop("kind", "local"), cpus=cpus, **kw)


def container(plan: Plan, index: int = 0) -> Any:
    return plan.arms[index].arm.measured.containers[0]


def test_a_limit_above_the_cpus_that_are_there_is_scaled() -> None:
    plan = plan_of({"name": "limit-4", "limit": "4", "request": "500m"})
    assert (plan.arms[0].scale, plan.arms[0].label) == ("1/2", "limit-4 (scaled by 1/2)")
    found = container(plan)
    assert (found.limit, found.request) == ("2", "250m")
    assert isinstance(found.workload, Burst)
    assert found.workload.threads == 4
    assert found.env == {"GOMAXPROCS": "2"}


def test_only_the_arms_that_do_not_fit_are_scaled() -> None:
    plan = plan_of({"name": "limit-1", "limit": "1"}, {"name": "limit-4", "limit": "4"})
    assert [arm.scale for arm in plan.arms] == [None, "1/2"]
    assert container(plan).env == {}


def test_all_scaled_arms_share_one_factor() -> None:
    plan = plan_of({"name": "four", "limit": "4"}, {"name": "eight", "limit": "8"})
    assert [arm.scale for arm in plan.arms] == ["1/4", "1/4"]
    assert [container(plan, i).limit for i in (0, 1)] == ["1", "2"]


def test_arms_that_would_become_the_same_are_refused() -> None:
    with pytest.raises(PlanError) as error:
        plan_of({"name": "limit-2", "limit": "2"}, {"name": "limit-4", "limit": "4"})
    text = str(error.value)
    assert "limit-2 and limit-4 (scaled by 1/2) would be the same" in text
    assert "no longer differ in limit" in text
    assert "leave one of the two out" in text


def test_arms_that_were_written_alike_are_a_choice() -> None:
    plan = plan_of({"name": "a", "limit": "4"}, {"name": "b", "limit": "4000m"})
    assert [arm.scale for arm in plan.arms] == ["1/2", "1/2"]


def test_gomaxprocs_is_explicit() -> None:
    own = plan_of({"name": "a", "limit": "4", "env": {"GOMAXPROCS": "8"}})
    assert container(own).env == {"GOMAXPROCS": "4"}
    old = plan_of({"name": "a", "limit": "8", "build": "go1.24"}, cpus=4)
    assert container(old).env == {"GOMAXPROCS": "4"}
    new = plan_of({"name": "a", "limit": "8"}, cpus=3)
    assert container(new).limit == "3"
    assert container(new).env == {"GOMAXPROCS": "3"}


def test_threads_that_do_not_divide_are_told() -> None:
    work = {"kind": "burst", "threads": 5, "work": "20ms", "interval": "1s", "rounds": 2}
    plan = plan_of({"name": "a", "limit": "4", "workload": work})
    assert container(plan).workload.threads == 2
    assert "5 threads scaled by 1/2 are rounded to 2" in " ".join(plan.arms[0].notes)


def test_a_burst_allowance_stays_within_its_quota() -> None:
    plan = plan_of({"name": "a", "limit": "4", "burst": "400ms"})
    assert container(plan).burst == "200ms"


def test_work_that_uses_no_cpu_keeps_its_limit() -> None:
    plan = plan_of({"name": "a", "limit": "2500m", "workload": {"kind": "info"}})
    assert plan.arms[0].scale is None


def test_requests_matter_only_where_a_scheduler_hands_out_cpu() -> None:
    arm = {"name": "a", "request": "4", "limit": "none"}
    assert plan_of(arm).arms[0].scale is None
    plan = plan_of(arm, kind="kubernetes", allocatable_milli={"work": 1_900})
    assert plan.arms[0].scale == "9/19"
    assert container(plan).request_milli <= 1_900
    assert container(plan).env == {"GOMAXPROCS": "2"}


def test_requests_add_up_over_replicas_and_groups_of_a_place() -> None:
    info = {"workload": {"kind": "info"}, "request": "1"}
    groups = [
        {"name": "a", "replicas": 2, "containers": [info]},
        {"name": "b", "containers": [info]},
        {"name": "c", "place": "load", "containers": [info]},
    ]
    steps = [{"start": ["a", "b", "c"]}, {"measure": "a"}]
    (arm,) = parse_spec(
        {"name": "x", "arms": [{"name": "a", "groups": groups, "steps": steps}]}
    ).arms
    assert Room(None, {"work": 1_500, "load": 4_000}).share(arm) == Fraction(1, 2)
    assert Room(None, {"work": 3_000, "load": 1_000}).fits(arm)


def test_nothing_to_request_is_refused() -> None:
    with pytest.raises(PlanError, match="Nothing can be requested at work"):
        plan_of({"name": "a"}, kind="kubernetes", allocatable_milli={"work": 0})


@settings(deadline=None)
@given(st.integers(1, 64_000), st.integers(1, 64))
def test_a_scaled_arm_fits_and_its_factor_reads_well(limit: int, cpus: int) -> None:
    one = spec({"name": "a", "limit": f"{limit}m"})
    factor = factor_of(one.arms, Room(cpus))
    plan = make_plan(one, kind="local", cpus=cpus)
    assert (factor is None) == (limit <= cpus * 1000)
    assert Room(cpus).fits(plan.arms[0].arm)
    if factor is not None:
        share = Fraction(cpus * 1000, limit)
        assert share * Fraction(9, 20) < factor <= share
        assert factor.denominator <= 20 or share < Fraction(1, 20)


def test_what_scaling_takes_from_a_comparison_is_told() -> None:
    arms = make_plan(catalogue.find("serve-steady"), kind="local", cpus=2).arms
    free, old, new = arms
    assert not any("unscaled" in note for note in free.notes)
    for arm in (old, new):
        assert f"{free.label} runs unscaled: compare within one scale." in arm.notes
    assert not any("But for the build" in note for note in old.notes)
    assert any(
        note.startswith(f"But for the build the same as {old.label} here") for note in new.notes
    )
    roomy = make_plan(catalogue.find("serve-steady"), kind="local", cpus=16).arms
    assert not any("unscaled" in n or "But for" in n for arm in roomy for n in arm.notes)
