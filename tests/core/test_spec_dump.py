"""Any experiment survives being written and read again."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments_app.core.quantity import format_cpu, format_duration
from experiments_app.core.spec import dump_spec, dump_toml, load_spec, parse_spec
from experiments_app.core.toml_text import toml_text

slugs = st.from_regex(r"[a-z0-9]{1,6}(-[a-z0-9]{1,4})?", fullmatch=True)
prose = st.text(st.characters(exclude_categories=["Cc", "Cs"]) | st.just("\n"), max_size=20)
milli = st.integers(100, 64_000)
bursts = st.fixed_dictionaries(
    {
        "kind": st.just("burst"),
        "threads": st.integers(1, 8),
        "work": st.integers(10, 50_000).map(format_duration),
        "interval": st.integers(50_000, 100_000).map(format_duration),
        "rounds": st.integers(1, 100),
    },
    optional={"jitter": st.integers(0, 50_000).map(format_duration)},
)
workloads = st.one_of(bursts, st.just({"kind": "info"}))
containers = st.fixed_dictionaries(
    {"workload": workloads},
    optional={
        "build": st.sampled_from(["go1.24", "go1.25"]),
        "request": st.just("1m") | st.just("none"),
        "limit": milli.map(format_cpu) | st.just("none"),
        "period": st.sampled_from(["5ms", "100ms", "1s"]),
        "env": st.fixed_dictionaries({}, optional={"GOMAXPROCS": st.just("4")}),
    },
)


@st.composite
def arms(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """A short arm, or a long one of a few groups."""
    if draw(st.booleans()):
        return {"name": name, "label": draw(prose), **draw(containers)}
    names = draw(st.lists(slugs, min_size=1, max_size=3, unique=True))
    groups = [{"name": g, "containers": [draw(containers)]} for g in names]
    wait = format_duration(draw(st.integers(0, 10**7)))
    steps = [{"start": names}, {"wait": wait}, {"measure": names[0]}]
    return {"name": name, "groups": groups, "steps": steps}


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    """An experiment as a mapping."""
    names = draw(st.lists(slugs, min_size=1, max_size=3, unique=True))
    optional: dict[str, st.SearchStrategy[Any]] = {
        "title": prose,
        "question": prose,
        "shows": st.lists(prose, max_size=2),
        "repeats": st.integers(1, 3),
        "targets": st.just(["local"]),
        "needs": st.fixed_dictionaries({}, optional={"cpus": st.integers(1, 8)}),
    }
    fixed = draw(st.fixed_dictionaries({"name": slugs}, optional=optional))
    return {**fixed, "arms": [draw(arms(name)) for name in names]}


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(specs())
def test_dump_then_load_is_the_same_spec(data: dict[str, Any]) -> None:
    spec = parse_spec(data)
    dumped = dump_spec(spec)
    assert parse_spec(dumped) == spec
    assert parse_spec(json.loads(json.dumps(dumped))) == spec
    assert load_spec(dump_toml(spec)) == spec
    full = dump_spec(spec, full=True)
    assert parse_spec(json.loads(json.dumps(full))) == spec
    assert load_spec(toml_text(full)) == spec


plain = st.recursive(
    st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.text(max_size=10)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.text(max_size=8), plain, max_size=4))
def test_the_toml_that_is_written_is_toml(data: dict[str, Any]) -> None:
    assert tomllib.loads(toml_text(data)) == data


def test_a_value_that_toml_has_no_form_for_is_a_programming_error() -> None:
    with pytest.raises(TypeError, match="no TOML for NoneType"):
        toml_text({"a": None})
