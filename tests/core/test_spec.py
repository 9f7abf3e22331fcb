"""Reading experiments: both forms, and writing them back."""

from __future__ import annotations

from typing import Any

import pytest

from experiments_app.core.records import Limits
from experiments_app.core.short_form import SHORT_KEYS
from experiments_app.core.spec import Burst, Info, Spec, dump_spec, dump_toml, load_spec, parse_spec
from experiments_app.core.spec_model import Container

SHORT = """
name = "mine"
question = "Does it matter?"

[[arms]]
name = "limit-1"
build = "go1.25"
limit = "1"
request = "100m"
env = { GOMAXPROCS = "8" }
workload = { kind = "burst", threads = 8, work = "20ms", interval = "1s", rounds = 20 }
"""

LONG = """
name = "pair"
aliases = ["P1"]
repeats = 2

[[arms]]
name = "with-neighbour"
steps = [
  { start = ["server", "neighbour"] },
  { wait = "15s" },
  { measure = "server" },
]

[[arms.groups]]
name = "server"
role = "measured"
place = "work"

[[arms.groups.containers]]
name = "app"
build = "go1.24"
request = "500m"
limit = "2"
workload = { kind = "burst", threads = 2, work = "5ms", interval = "100ms", rounds = 50 }

[[arms.groups.containers]]
name = "sidecar"
limit = "500m"
workload = { kind = "info" }

[[arms.groups]]
name = "neighbour"
role = "neighbour"
replicas = 2

[[arms.groups.containers]]
workload = { kind = "info" }
"""


def burst(**changes: object) -> dict[str, object]:
    """A workload as a form sends it."""
    work: dict[str, object] = {
        "kind": "burst",
        "threads": 8,
        "work": "20ms",
        "interval": "1s",
        "rounds": 20,
    }
    return work | changes


def short_spec(**arm: Any) -> Spec:
    """A spec with one short arm."""
    return parse_spec({"name": "mine", "arms": [{"name": "a", "workload": burst(), **arm}]})


def test_the_short_form_is_one_measured_group_with_one_container() -> None:
    (arm,) = load_spec(SHORT).arms
    (group,) = arm.groups
    assert (group.name, group.role, group.replicas, group.place) == ("app", "measured", 1, "work")
    (container,) = group.containers
    assert (container.name, container.build, container.env) == (
        "app",
        "go1.25",
        {"GOMAXPROCS": "8"},
    )
    assert container.limits == Limits(100_000, 100_000, 0, 102)
    assert [step.model_dump(exclude_none=True) for step in arm.steps] == [
        {"start": ("app",)},
        {"measure": "app"},
    ]
    work = container.workload
    assert isinstance(work, Burst)
    assert (work.threads, work.work_us, work.interval_us, work.rounds, work.jitter_us) == (
        8,
        20_000,
        1_000_000,
        20,
        0,
    )
    assert work.round_cpu_us == 160_000
    assert arm.is_short


def test_the_long_form_keeps_groups_containers_and_steps() -> None:
    spec = load_spec(LONG)
    (arm,) = spec.arms
    assert [group.name for group in arm.groups] == ["server", "neighbour"]
    assert [c.name for c in arm.groups[0].containers] == ["app", "sidecar"]
    assert isinstance(arm.groups[0].containers[1].workload, Info)
    assert arm.measured.name == "server"
    assert arm.steps[1].wait_us == 15_000_000
    assert not arm.is_short
    assert (spec.repeats, spec.aliases, spec.heading) == (2, ("P1",), "Pair")


def test_an_arm_of_one_group_need_not_write_its_steps() -> None:
    groups = [{"name": "server", "containers": [{"workload": {"kind": "info"}}]}]
    spec = parse_spec({"name": "mine", "arms": [{"name": "a", "groups": groups}]})
    assert spec.arms[0].measured.name == "server"


def test_the_short_form_says_all_of_a_container() -> None:
    assert {"name", *SHORT_KEYS} == set(Container.model_fields)


def test_what_is_not_given_has_the_platforms_default() -> None:
    container = short_spec().arms[0].groups[0].containers[0]
    assert container.limits == Limits(None, 100_000, 0, None)
    assert (container.build, container.limit_milli, container.request_milli) == (
        "go1.25",
        None,
        None,
    )


def test_a_number_in_toml_is_taken_as_it_is_written() -> None:
    assert short_spec(limit=2).arms[0].groups[0].containers[0].limit == "2"
    assert short_spec(limit=0.5).arms[0].groups[0].containers[0].limit_milli == 500
    assert short_spec(env={"GOMAXPROCS": 4}).arms[0].groups[0].containers[0].env == {
        "GOMAXPROCS": "4"
    }
    work = short_spec(workload=burst(threads="4")).arms[0].groups[0].containers[0].workload
    assert isinstance(work, Burst)
    assert work.threads == 4


def test_a_period_and_a_burst_reach_the_kernels_terms() -> None:
    container = short_spec(limit="500m", period="10ms", burst="5ms").arms[0].groups[0].containers[0]
    assert container.limits == Limits(5_000, 10_000, 5_000, None)


def test_a_spec_cannot_be_changed() -> None:
    spec = load_spec(SHORT)
    with pytest.raises(ValueError, match="frozen"):
        spec.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize("text", [SHORT, LONG])
def test_what_is_written_back_reads_the_same(text: str) -> None:
    spec = load_spec(text)
    assert parse_spec(dump_spec(spec)) == spec
    assert load_spec(dump_toml(spec)) == spec
    assert dump_toml(load_spec(dump_toml(spec))) == dump_toml(spec)


def test_a_short_arm_is_written_short() -> None:
    (arm,) = dump_spec(load_spec(SHORT))["arms"]
    assert set(arm) == {"name", "limit", "request", "env", "workload"}


def test_text_of_another_system_is_read() -> None:
    assert load_spec("\ufeff" + SHORT.replace("\n", "\r\n")) == load_spec(SHORT)


def test_text_for_people_may_hold_any_letters_and_lines() -> None:
    arms = [{"name": "a", "label": "½\xa0CPU", "workload": burst()}]
    spec = parse_spec({"name": "mine", "question": "Why?\r\nWhat next?", "arms": arms})
    assert spec.arms[0].label == "½\xa0CPU"
    assert spec.question == "Why?\nWhat next?"
