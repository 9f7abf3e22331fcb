"""What pages and scripts get of the published figures of an arm."""

from __future__ import annotations

from experiments_app import catalogue
from experiments_app.core.plan import make_plan
from experiments_app.web.published import arm_figures, beside, out_of_reach


def test_walls_and_counters_of_one_run() -> None:
    found = arm_figures(catalogue.published("burst-limits"), "limit-1")
    assert found is not None
    assert (found["wall_us_p50"], found["wall_us_max"]) == (84_400, 118_100)
    assert (found["nr_throttled"], found["nr_periods"]) == (20, 60)
    assert found["throttled_us"] == 7_052_500
    assert found["measures"] == found["facts"] == found["units"] == {}
    assert found["windows"]["rounds"] == found["rounds_window"] == "20 rounds, one a second"


def test_latencies_have_a_value_a_repeat_and_counters_are_medians() -> None:
    found = arm_figures(catalogue.published("serve-clumped"), "limit-2-go124")
    assert found is not None
    work, ping = found["measures"]["work_us"], found["measures"]["ping_us"]
    assert work["p50_us"] == [70_800, 63_000]
    assert work["p99_us"] == [370_100, 359_900]
    assert work["p999_us"] == [658_100, 608_600]
    assert work["max_us"] == [665_000, 622_200]
    assert work["n"] == [6_100, 7_000]
    assert ping["n"] == [1_200, 1_237]
    assert ping["p999_us"] == [None, None]
    # Of two the lower.
    assert (found["nr_throttled"], found["nr_periods"]) == (147, 490)
    assert found["throttled_us"] == 53_589_500
    assert 0.6 < found["cpus"] < 0.6845
    assert found["run_window"].endswith("median of 2 repeats")
    assert found["wall_us_p50"] is None
    assert found["facts"] == {"gomaxprocs": 10}


def test_one_repeat_is_no_median() -> None:
    found = arm_figures(catalogue.published("serve-steady"), "limit-2-go125")
    assert found is not None
    assert found["run_window"] == "60 s after a warm-up of 10 s, counted in the server"
    assert found["nr_periods"] == 600


def test_units_facts_and_medians() -> None:
    weights = arm_figures(catalogue.published("weights"), "two-containers")
    assert weights is not None
    assert weights["units"]["pair.small"]["share"] == 0.144
    tiers = arm_figures(catalogue.published("quota-tiers"), "limit-500m")
    assert tiers is not None
    assert tiers["measures"]["request_us"]["p99_us"] == [76_490]
    assert tiers["measures"]["request_us"]["n"] == [None]
    assert tiers["nr_throttled"] == 101
    assert arm_figures(catalogue.published("weights"), "no-such-arm") is None
    assert arm_figures(None, "tree") is None


def test_a_scaled_arm_keeps_its_published_figures() -> None:
    plan = make_plan(catalogue.find("serve-steady"), kind="local", cpus=2)
    assert [arm.scale for arm in plan.arms] == [None, "1/2", "1/2"]
    assert all(beside("serve-steady", arm) for arm in plan.arms)
    assert beside("somebody-s-own", plan.arms[0]) is None


def test_parallel_work_that_needs_more_cpus_is_out_of_reach() -> None:
    source = catalogue.published("burst-limits")
    arm = {"kind": "parallel", "label": "four", "threads": 4, "work_us": 30_000}
    said = out_of_reach(source, [arm | {"published": {"wall_us_p50": 31_000}}], 2)
    assert "4 processes × 30.0 ms need at least 60.0 ms, so 31.0 ms (four) is out of reach" in said
    assert out_of_reach(source, [arm | {"published": {"wall_us_p50": 61_000}}], 2) == ""
