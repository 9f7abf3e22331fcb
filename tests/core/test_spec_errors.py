"""What a person is told about a wrong spec: the field, the value, the way out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments_app.core.spec import SpecErrors, load_spec, parse_spec


def burst(**changes: object) -> dict[str, object]:
    """A workload as a form sends it."""
    work = {"kind": "burst", "threads": 8, "work": "20ms", "interval": "1s", "rounds": 20}
    return {**work, **changes}


def refused(**arm: Any) -> str:
    """The message for a spec whose second arm is wrong."""
    arms = [
        {"name": "fine", "workload": burst()},
        {"name": "limit-1", "workload": burst()} | arm,
    ]
    with pytest.raises(SpecErrors) as error:
        parse_spec({"name": "mine", "arms": arms}, "mine.toml")
    assert len(error.value.errors) == 1, str(error.value)
    assert error.value.field
    assert error.value.remedy
    return str(error.value)


@pytest.mark.parametrize(
    ("arm", "words"),
    [
        ({"limt": "1"}, ["limt", "not known", "Did you mean limit?"]),
        ({"workload": burst(threads=0)}, ["workload.threads", "0 is out of range", "1 to 512"]),
        ({"workload": burst(threads=513)}, ["workload.threads", "513", "1 to 512"]),
        ({"workload": burst(rounds=100_001)}, ["workload.rounds", "100001", "1 to 100000"]),
        ({"workload": burst(threads="x")}, ["workload.threads", '"x"', "whole number"]),
        ({"workload": burst(threads=1.5)}, ["workload.threads", "1.5", "whole number"]),
        ({"workload": burst(threads=True)}, ["workload.threads", "true", "whole number"]),
        ({"workload": burst(kind="bust")}, ["workload", '"bust"', "Did you mean burst?", "info"]),
        ({"workload": burst(kind=3)}, ["workload", "3", "Known: burst, tasks"]),
        ({"workload": {"threads": 8}}, ["workload", "no kind", "burst, tasks"]),
        ({"workload": {**burst(), "thread": 8}}, ["workload.thread", "Did you mean threads?"]),
        ({"workload": "burst"}, ["workload", "not a table"]),
        ({"workload": burst(work=20)}, ["workload.work", "20 has no unit", '"20ms"']),
        ({"workload": burst(work="20")}, ["workload.work", '"20" has no unit']),
        ({"workload": burst(work="2s")}, ["work = 2s", "interval = 1s", "Lengthen interval"]),
        ({"workload": burst(work="1us")}, ["work = 1us", "too short to meter", "10us"]),
        ({"workload": burst(work="5us", interval="9us")}, ["too short", "10us"]),
        ({"workload": burst(work="20us", interval="99us")}, ["interval = 99us", "1ms"]),
        ({"workload": burst(jitter="2s")}, ["jitter = 2s", "interval = 1s"]),
        ({"workload": burst(interval="2h")}, ["workload.interval", "longer than an hour"]),
        ({"build": "go1.26"}, ["build", '"go1.26"', "Did you mean go1.25?", "go1.24"]),
        ({"limit": "0.5m"}, ["limit", '"0.5m"', "finer than 1m", "Kubernetes"]),
        ({"limit": "0"}, ["limit", "lets nothing run", '"none"']),
        ({"limit": "-1"}, ["limit", '"-1" is negative']),
        ({"limit": True}, ["limit", "true"]),
        ({"limit": "2000k"}, ["limit", "more than 1024 CPUs", "Give at most"]),
        ({"request": "2", "limit": "1"}, ["request = 2", "limit = 1", "lower the request"]),
        ({"period": "2s"}, ["period = 2s", "1ms to 1s"]),
        ({"burst": "20ms"}, ["burst = 20ms", "without a limit"]),
        ({"limit": "1", "burst": "200ms"}, ["burst = 200ms", "quota of 100 ms"]),
        ({"env": {"LD_PRELOAD": "x"}}, ["env", '"LD_PRELOAD"', "Allowed: GOMAXPROCS"]),
        ({"env": {"gomaxproc": "2"}}, ["env", "Did you mean GOMAXPROCS?"]),
        ({"env": {"GOMAXPROCS": "0"}}, ["env", 'GOMAXPROCS = "0"', "1 to 9999"]),
        ({"env": {"GODEBUG": "a b"}}, ["env", "GODEBUG", "containermaxprocs=0"]),
        ({"env": "GOMAXPROCS=2"}, ["env", "not a table"]),
        ({"label": "a\x00b"}, ["label", "control characters"]),
        ({"label": "x" * 5000}, ["label", "5000 characters", "4000"]),
        ({"a\x00b": 1}, [r"a\x00b", "not known"]),
        ({"steps": [{"pin": "app"}]}, ["steps[0]", "cpus = 1"]),
        ({"steps": [{"start": ["app"], "wait": "1s"}]}, ["steps[0]", "start and wait"]),
        ({"steps": [{"measure": "app"}]}, ["measured before it is started"]),
        ({"steps": [{"start": ["app"]}]}, ["measures exactly one group"]),
        ({"steps": [{"start": ["a"]}]}, ["names a, which is no group", "Its groups: app"]),
        ({"steps": [{"start": ["app"]}, {"start": ["app"]}]}, ["started twice"]),
    ],
)
def test_a_wrong_arm(arm: dict[str, Any], words: list[str]) -> None:
    message = refused(**arm)
    assert message.startswith('mine.toml: arms[1] "limit-1": ')
    for word in words:
        assert word in message
    assert "groups[0]" not in message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, ["nothing is no experiment"]),
        ([], ["a list is no experiment"]),
        ({"arms": [{"name": "a", "workload": burst()}]}, ["name: is missing"]),
        ({"name": "a"}, ["arms: is missing", "[[arms]]"]),
        ({"name": "a", "arms": []}, ["arms: is empty"]),
        ({"name": "a", "arms": "x"}, ["arms", '"x" is not a list']),
        ({"name": "a", "arms": ["x"]}, ["arms[0]", '"x" is not a table']),
        ({"name": "a", "arms": [{"name": "a"}]}, ["arms[0]", "workload: is missing", "burst"]),
        ({"name": "a", "arms": [{"name": "a", "groups": []}]}, ["groups: is empty"]),
    ],
)
def test_a_wrong_shape(data: object, words: list[str]) -> None:
    with pytest.raises(SpecErrors) as error:
        parse_spec(data)
    assert len(error.value.errors) == 1
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("name", "Foo Bar", ['"Foo Bar" is not a name', '"foo-bar" would do']),
        ("name", "x" * 61, ["at most 60"]),
        ("targets", ["locl"], ["targets[0]", "Did you mean local?", "kubernetes"]),
        ("targets", [], ["targets: is empty"]),
        ("targets", ["local", "local"], ["two targets named local"]),
        ("repeats", 51, ["repeats", "51", "1 to 50"]),
        ("aliases", ["a b"], ["aliases[0]", '"a b" is not an alias']),
        ("question", 3, ["question", "3 is not text"]),
        ("needs", {"cpu": 2}, ["needs.cpu", "Did you mean cpus?"]),
        ("needs", {"cgroup": 3}, ["needs.cgroup", "Known: 1, 2"]),
        ("quesion", "x", ["quesion", "Did you mean question?"]),
    ],
)
def test_a_wrong_key_of_the_experiment(key: str, value: object, words: list[str]) -> None:
    arms = [{"name": "a", "workload": burst()}]
    with pytest.raises(SpecErrors) as error:
        parse_spec({"name": "mine", "arms": arms, key: value})
    assert len(error.value.errors) == 1
    for word in words:
        assert word in str(error.value)


def test_two_names_of_the_same_kind_are_refused() -> None:
    arm = {"name": "a", "workload": burst()}
    with pytest.raises(SpecErrors, match="two arms named a"):
        parse_spec({"name": "mine", "arms": [arm, arm]})
    container = {"workload": {"kind": "info"}}
    groups = [{"name": "g", "containers": [container, container]}]
    with pytest.raises(SpecErrors, match="two containers named app"):
        parse_spec({"name": "mine", "arms": [{"name": "a", "groups": groups}]})


def test_a_key_of_the_short_form_beside_groups_says_where_it_belongs() -> None:
    groups = [{"name": "g", "containers": [{"workload": {"kind": "info"}}]}]
    with pytest.raises(SpecErrors, match="stands beside groups"):
        parse_spec({"name": "mine", "arms": [{"name": "a", "groups": groups, "limit": "1"}]})


def test_a_group_without_steps_is_never_started() -> None:
    groups = [{"name": n, "containers": [{"workload": {"kind": "info"}}]} for n in ("g", "h")]
    with pytest.raises(SpecErrors, match="Group g is never started"):
        parse_spec({"name": "mine", "arms": [{"name": "a", "groups": groups}]})


def test_a_wrong_field_deep_in_a_long_arm_is_found() -> None:
    groups = [{"name": "g", "containers": [{"workload": {"kind": "info"}, "limt": 1}]}]
    with pytest.raises(SpecErrors) as error:
        parse_spec({"name": "mine", "arms": [{"name": "a", "groups": groups}]})
    assert error.value.field == 'arms[0] "a": groups[0] "g": containers[0].limt'


def test_all_that_is_wrong_is_told_at_once() -> None:
    arms = [
        {"name": "a", "limt": "1", "workload": burst(threads=0)},
        {"name": "b", "workload": burst(work="x")},
    ]
    with pytest.raises(SpecErrors) as error:
        parse_spec({"name": "mine", "arms": arms})
    assert len(error.value.errors) == 3
    assert len(str(error.value).splitlines()) == 3


def test_thousands_of_errors_are_cut_short() -> None:
    arm = {"name": "a", "workload": burst(), **{f"x{i}": i for i in range(5_000)}}
    with pytest.raises(SpecErrors, match="and 4980 more") as error:
        parse_spec({"name": "mine", "arms": [arm]})
    assert len(error.value.errors) == 20


def test_a_run_beyond_six_hours_is_refused() -> None:
    arms = [{"name": "a", "workload": burst(rounds=30_000)}]
    with pytest.raises(SpecErrors, match="about 8 h 20 min; a run may take 6 h 0 min"):
        parse_spec({"name": "mine", "arms": arms})


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('name = "x"\nrepeats = \n', "line 2, column 11"),
        ('name = "x', "line 1, column 10: "),
        ('name = "x"\nrepeats = [', "line 2, column 12: "),
        ("[[arms]", "line 1"),
        ("a = 1\na = 2\n", "line 2"),
        ("a = " + "[" * 5000, "nested too deeply"),
        ("x" * 1_000_001, "a million"),
    ],
)
def test_wrong_toml_says_where(text: str, where: str) -> None:
    with pytest.raises(SpecErrors) as error:
        load_spec(text, "mine.toml")
    assert str(error.value).startswith("mine.toml: ")
    assert where in str(error.value)
    assert error.value.remedy


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
KEYS = ("name", "arms", "groups", "containers", "workload", "kind", "steps", "env", "limit", "work")


def tables(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """Tables with the keys of a spec, so that a wrong value stands where it is looked at."""
    return st.dictionaries(st.sampled_from(KEYS), st.one_of(inner, st.lists(inner, max_size=3)))


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.recursive(values, tables, max_leaves=10))
def test_nothing_that_is_given_ends_in_anything_but_our_words(data: object) -> None:
    try:
        parse_spec(data)
    except SpecErrors as error:
        text = str(error)
        for foreign in ("Input should", "validation error", "pydantic", "Traceback"):
            assert foreign not in text
