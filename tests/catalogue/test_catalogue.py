"""The catalogue: valid, findable, exactly as published."""

from __future__ import annotations

import pytest

from experiments_app import catalogue
from experiments_app.core.errors import SpecError
from experiments_app.core.spec import Burst, dump_toml, load_spec

ENTRIES = catalogue.entries()
NAMES = [spec.name for spec in ENTRIES]


@pytest.mark.parametrize("spec", ENTRIES, ids=NAMES)
def test_every_entry_says_what_it_is_for(spec: catalogue.Spec) -> None:
    assert spec.title
    assert spec.question.endswith("?")
    assert spec.shows
    assert spec.does_not_show
    assert load_spec(dump_toml(spec)) == spec


@pytest.mark.parametrize("spec", ENTRIES, ids=NAMES)
def test_published_figures_belong_to_arms_that_are_there(spec: catalogue.Spec) -> None:
    if spec.reference is None:
        return
    published = catalogue.published(spec.reference)
    assert published is not None
    assert published.experiment == spec.name
    assert {arm.name for arm in published.arms} <= {arm.name for arm in spec.arms}
    for arm in published.arms:
        for figure in published.figures(arm.name):
            assert figure.window


def test_entries_are_in_reading_order() -> None:
    assert list(ENTRIES) == sorted(ENTRIES, key=lambda spec: (spec.order, spec.name))


@pytest.mark.parametrize("name", ["burst-limits", "E2a", "e2A", " burst-limits "])
def test_a_name_or_an_alias_is_found(name: str) -> None:
    assert catalogue.find(name).name == "burst-limits"


def test_an_unknown_name_says_what_was_meant() -> None:
    with pytest.raises(SpecError) as error:
        catalogue.find("burst-limit")
    assert "Did you mean burst-limits?" in str(error.value)
    with pytest.raises(SpecError) as error:
        catalogue.find("x" * 500)
    assert len(str(error.value)) < 500


def test_burst_limits_is_as_published() -> None:
    spec = catalogue.find("E2a")
    assert (spec.title, spec.repeats) == ("Same job, four limits", 1)
    assert spec.targets == ("local", "docker", "kubernetes", "simulated")
    rows = []
    for arm in spec.arms:
        (container,) = arm.measured.containers
        work = container.workload
        assert isinstance(work, Burst)
        assert (container.build, container.request) == ("go1.25", "100m")
        assert (work.interval, work.rounds, work.jitter_us) == ("1s", 20, 0)
        rows.append((arm.name, container.limit, work.threads, work.work, container.env))
    eight, two = {"GOMAXPROCS": "8"}, {"GOMAXPROCS": "2"}
    assert rows == [
        ("no-limit", "none", 8, "20ms", eight),
        ("limit-2", "2", 8, "20ms", eight),
        ("limit-1", "1", 8, "20ms", eight),
        ("limit-500m", "500m", 8, "20ms", eight),
        ("limit-1-two-threads", "1", 2, "80ms", two),
    ]


def test_the_published_figures_of_burst_limits() -> None:
    published = catalogue.published("burst-limits")
    assert published is not None
    rows = {arm.name: {**arm.rounds, **arm.run} for arm in published.arms}
    assert rows["limit-500m"] == {
        "wall_ms_p50": 260.4,
        "wall_ms_max": 263.7,
        "avg_cpu_cores": 0.166,
        "nr_periods": 100,
        "nr_throttled": 60,
        "throttled_ms": 23_981.0,
    }
    assert [row["wall_ms_p50"] for row in rows.values()] == [34.3, 34.6, 84.4, 260.4, 132.3]
    assert [row["nr_throttled"] for row in rows.values()] == [0, 0, 20, 60, 17]
    limit_1 = published.arm("limit-1")
    assert limit_1 is not None
    assert [row.wall_ms for row in limit_1.series] == [83.2, 82.4, 85.2, 78.8, 117.0]
    assert published.figures("no-such-arm") == ()


def test_figures_that_were_not_published_are_none() -> None:
    assert catalogue.published("no-such-experiment") is None
    assert catalogue.published("../burst-limits") is None


def test_a_file_of_figures_that_is_wrong_names_itself() -> None:
    with pytest.raises(ValueError, match=r"x\.toml"):
        catalogue.load_published("experiment = 1", "x.toml")


def test_the_version_is_a_digest() -> None:
    assert len(catalogue.CATALOGUE_VERSION) == 12
    assert int(catalogue.CATALOGUE_VERSION, 16) >= 0
