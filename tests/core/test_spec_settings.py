"""Settings and arms chosen at launch."""

from __future__ import annotations

import pytest

from experiments_app.catalogue import find
from experiments_app.core.errors import SpecError
from experiments_app.core.spec import (
    Burst,
    Container,
    Spec,
    SpecErrors,
    apply_settings,
    parse_spec,
    select_arms,
)


@pytest.fixture
def spec() -> Spec:
    return find("burst-limits")


def app(spec: Spec, arm: str) -> Container:
    """The one container of a short arm."""
    (found,) = [a for a in spec.arms if a.name == arm]
    return found.measured.containers[0]


def burst_of(spec: Spec, arm: str) -> Burst:
    work = app(spec, arm).workload
    assert isinstance(work, Burst)
    return work


def test_a_field_is_set_in_every_arm(spec: Spec) -> None:
    changed = apply_settings(spec, {"rounds": "5", "workload.jitter": "100ms"})
    works = [burst_of(changed, arm.name) for arm in changed.arms]
    assert {(work.rounds, work.jitter) for work in works} == {(5, "100ms")}
    assert {work.threads for work in works} == {8, 2}


def test_a_field_is_set_in_one_arm(spec: Spec) -> None:
    changed = apply_settings(spec, {"limit-1.limit": "750m", "limit-2.workload.threads": "4"})
    assert app(changed, "limit-1").limit_milli == 750
    assert app(changed, "limit-2").limit_milli == 2_000
    assert burst_of(changed, "limit-2").threads == 4
    assert app(changed, "no-limit") == app(spec, "no-limit")


@pytest.mark.parametrize("order", [1, -1])
def test_the_narrower_key_wins_in_any_order(spec: Spec, order: int) -> None:
    settings = {"rounds": "5", "limit-1.rounds": "7"}
    changed = apply_settings(spec, dict(list(settings.items())[::order]))
    assert burst_of(changed, "limit-1").rounds == 7
    assert burst_of(changed, "limit-2").rounds == 5


def test_a_variable_is_set_and_the_others_stay(spec: Spec) -> None:
    changed = apply_settings(spec, {"env.GOGC": "off", "limit-1.env.GOMAXPROCS": "2"})
    assert app(changed, "limit-1").env == {"GOMAXPROCS": "2", "GOGC": "off"}
    assert app(changed, "limit-2").env == {"GOMAXPROCS": "8", "GOGC": "off"}


def test_nothing_set_is_the_same_spec(spec: Spec) -> None:
    assert apply_settings(spec, {}) == spec


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("round", ['"round" is no setting', "Did you mean rounds?", "threads", "limit"]),
        ("limit-1.thread", ["Did you mean threads?"]),
        ("limt-1.limit", ['no arm "limt-1"', "Did you mean limit-1?", "no-limit"]),
        ("kind", ['"kind" is no setting']),
        ("workload", ['"workload" is no setting']),
        ("name", ['"name" is no setting']),
        ("", ['"" is no setting']),
        (".", ["no arm"]),
        ("limit-1.", ["is no setting"]),
        ("repeats", ["Use --repeats"]),
        ("gap", ["is no setting", "Known: build, limit"]),
    ],
)
def test_an_unknown_key_lists_those_that_are_known(spec: Spec, key: str, words: list[str]) -> None:
    with pytest.raises(SpecError) as error:
        apply_settings(spec, {key: "1"})
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("threads", "0", ["workload.threads", "0 is out of range"]),
        ("threads", "many", ["workload.threads", '"many" is not a whole number']),
        ("limit", "", ["limit", '"" is not a CPU quantity']),
        ("work", "5", ["workload.work", '"5" has no unit']),
        ("env.PATH", "/tmp", ["env", '"PATH" cannot be set']),
        ("limit-1.limit", "50m", ["request = 100m is above limit = 50m"]),
    ],
)
def test_a_wrong_value_is_told_as_in_a_file(
    spec: Spec, key: str, value: str, words: list[str]
) -> None:
    with pytest.raises(SpecErrors) as error:
        apply_settings(spec, {key: value})
    assert 'arms[2] "limit-1"' in str(error.value)
    for word in words:
        assert word in str(error.value)


def test_in_a_long_arm_the_measured_group_is_set() -> None:
    work = {"kind": "burst", "threads": 1, "work": "1ms", "interval": "1s", "rounds": 1}
    data = {
        "name": "pair",
        "arms": [
            {
                "name": "a",
                "groups": [
                    {"name": "server", "containers": [{"workload": work}]},
                    {"name": "other", "role": "neighbour", "containers": [{"workload": work}]},
                ],
                "steps": [{"start": ["server", "other"]}, {"measure": "server"}],
            }
        ],
    }
    changed = apply_settings(parse_spec(data), {"limit": "2", "rounds": "3"})
    server, other = changed.arms[0].groups
    assert server.containers[0].limit == "2"
    assert isinstance(server.containers[0].workload, Burst)
    assert server.containers[0].workload.rounds == 3
    assert other == parse_spec(data).arms[0].groups[1]


def test_arms_are_chosen_in_the_experiments_own_order(spec: Spec) -> None:
    chosen = select_arms(spec, ["limit-1", "no-limit", "limit-1"])
    assert [arm.name for arm in chosen.arms] == ["no-limit", "limit-1"]


def test_an_unknown_arm_lists_those_there_are(spec: Spec) -> None:
    with pytest.raises(SpecError) as error:
        select_arms(spec, ["limit1"])
    assert 'burst-limits has no arm "limit1"' in str(error.value)
    assert "Did you mean limit-1?" in str(error.value)
    assert "limit-1-two-threads" in str(error.value)
    with pytest.raises(SpecError, match="No arm is chosen"):
        select_arms(spec, [])
