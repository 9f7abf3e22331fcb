"""Published figures: every one with a window, and exactly as they were published."""

from __future__ import annotations

import pytest

from experiments_app import catalogue
from experiments_app.catalogue import Published

ENTRIES = [spec for spec in catalogue.entries() if spec.reference]
NAMES = [spec.name for spec in ENTRIES]


# How many numbers each experiment has, and their sum: added up from the published tables.
SUMS = {
    "limit-tree": (16, 1102),
    "burst-limits": (30, 33850.824),
    "go-maxprocs": (42, 443),
    "serve-steady": (60, 23729.328),
    "serve-clumped": (117, 173740.542),
    "weights": (30, 737.958),
    "task-period": (18, 7038.9),
    "short-tasks": (6, 192.2),
    "parallel-tasks": (15, 1697),
    "quota-tiers": (35, 32918.111),
}


def published(key: str) -> Published:
    found = catalogue.published(key)
    assert found is not None
    return found


@pytest.mark.parametrize("spec", ENTRIES, ids=NAMES)
def test_every_figure_has_a_window_and_names_its_unit(spec: catalogue.Spec) -> None:
    source = published(spec.name)
    for arm in source.arms:
        figures = source.figures(arm.name)
        assert figures
        for figure in figures:
            assert figure.window, figure.name
            timed = any(part in {"ms", "s"} for part in figure.name.split("_"))
            assert (figure.unit in {"ms", "s"}) == timed, figure.name


@pytest.mark.parametrize("spec", ENTRIES, ids=NAMES)
def test_units_of_figures_are_units_of_the_arm(spec: catalogue.Spec) -> None:
    for arm in spec.arms:
        figures = published(spec.name).arm(arm.name)
        if figures is None:
            continue
        known = {group.name for group in arm.groups}
        known |= {f"{g.name}.{c.name}" for g in arm.groups for c in g.containers}
        assert set(figures.units) <= known


def test_a_figure_without_a_window_is_refused() -> None:
    text = 'experiment = "x"\nsource = "y"\nwindows = {}\n[[arms]]\nname = "a"\n'
    with pytest.raises(ValueError, match=r"windows\.run is missing"):
        catalogue.load_published(text + "run = { nr_periods = 1 }\n", "x.toml")
    more = "[[arms.repeats]]\nmeasures = { work_ms = { p50 = 1.0 } }\n"
    with pytest.raises(ValueError, match=r"windows\.measures is missing"):
        catalogue.load_published(text + more, "x.toml")


def test_the_sums_of_what_was_published() -> None:
    """A slip of the pen in any number moves one of these."""
    totals = {}
    for spec in ENTRIES:
        source = published(spec.name)
        values = [
            figure.value
            for arm in source.arms
            for figure in source.figures(arm.name)
            if isinstance(figure.value, int | float)
        ]
        totals[spec.name] = (len(values), round(sum(values), 3))
    assert totals == SUMS


def test_a_clumped_service_in_both_repeats() -> None:
    arm = published("serve-clumped").arm("limit-2-go124")
    assert arm is not None
    one, two = arm.repeats
    assert one.measures["work_ms"].given() == {
        "p50": 70.8,
        "p90": 187.5,
        "p99": 370.1,
        "p999": 658.1,
        "max": 665.0,
    }
    assert (one.requests, one.achieved_rps, one.errors) == (6100, 101.7, 0)
    assert (two.requests, two.achieved_rps, two.errors) == (7000, 116.8, 0)
    assert two.measures["ping_ms"].p99 == 110.7
    assert two.server["nr_throttled"] == 160
    assert two.server["throttled_ms"] == 58_780.4


def test_gomaxprocs_by_limit_and_build() -> None:
    source = published("go-maxprocs")
    seen = {arm.name: arm.facts["gomaxprocs"] for arm in source.arms}
    assert len(seen) == 14
    assert {value for name, value in seen.items() if name.startswith("go124")} == {10}
    assert [seen[f"go125-limit-{limit}"] for limit in ("500m", "1", "1500m", "2", "2500m")] == [
        2,
        2,
        2,
        2,
        3,
    ]
    assert seen["go125-no-limit"] == 10
    assert seen["go125-limit-2-gomaxprocs"] == 6
    assert seen["go125-limit-2-godebug"] == 10


def test_shares_and_weights() -> None:
    source = published("weights")
    pods, containers = source.arm("three-pods"), source.arm("two-containers")
    assert pods is not None
    assert containers is not None
    assert [pods.units[u]["share"] for u in ("req-100m", "req-1", "pair")] == [0.046, 0.447, 0.493]
    assert [pods.units[u]["weight"] for u in ("req-100m", "req-1", "pair")] == [4, 39, 43]
    small, big = containers.units["pair.small"], containers.units["pair.big"]
    assert (small["share"], big["share"]) == (0.144, 0.847)
    assert (small["old_runtime_share"], big["old_runtime_share"]) == (0.092, 0.899)


def test_tasks_tiers_and_trees() -> None:
    tasks = published("task-period").arm("period-10ms-gap")
    assert tasks is not None
    assert tasks.rounds == {"wall_ms_p50": 56.3, "wall_ms_p95": 59.4, "wall_ms_max": 60.4}
    assert tasks.run["nr_throttled"] == 576
    tier = published("quota-tiers").arm("limit-2")
    assert tier is not None
    assert tier.each["nr_throttled"] == (11, 15, 11, 13, 18)
    assert tier.repeats[0].measures["request_ms"].p99 == 0.53
    tree = published("limit-tree").arm("every-limit")
    assert tree is not None
    assert tree.units["pod"] == {"cpu_max": "250000 100000", "weight": 24}
    assert tree.levels["kubepods"] == {"weight": 391}
