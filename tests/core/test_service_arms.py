"""Arms of several groups: what must hold between them, and how CPUs and times come out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from experiments_app.core.places import split_cpus
from experiments_app.core.plan import Plan, make_plan
from experiments_app.core.records import Limits
from experiments_app.core.sizes import parse_size
from experiments_app.core.spec import SpecErrors, dump_spec, dump_toml, load_spec, parse_spec
from experiments_app.core.units import units_of
from experiments_app.core.workloads import Load, Parallel, Requests, Spin, Tasks

LIMIT_500M = Limits(50_000, 100_000)


def group(name: str, work: dict[str, Any], **more: Any) -> dict[str, Any]:
    limit = more.pop("limit", "none")
    return {"name": name, "containers": [{"workload": work, "limit": limit}], **more}


def served(**more: Any) -> dict[str, Any]:
    """An arm of a server and its load, as the service experiments have it."""
    return {
        "name": "a",
        "groups": [
            group("server", {"kind": "serve"}, limit="2"),
            group("load", {"kind": "load"}, role="load", place="load"),
        ],
        "steps": [{"start": ["server"]}, {"start": ["load"]}, {"measure": "load"}],
        **more,
    }


def plan(arm: dict[str, Any], cpus: int | None = 8, kind: str = "local") -> Plan:
    return make_plan(parse_spec({"name": "x", "arms": [arm]}), kind=kind, cpus=cpus)


def refused(arm: dict[str, Any]) -> str:
    with pytest.raises(SpecErrors) as caught:
        parse_spec({"name": "x", "arms": [arm]})
    return str(caught.value)


def test_a_service_arm_is_kept_as_it_is_written() -> None:
    spec = parse_spec({"name": "x", "arms": [served()]})
    assert load_spec(dump_toml(spec)) == spec
    assert parse_spec(dump_spec(spec, full=True)) == spec
    assert plan(served()).arms[0].result == "work_us"
    assert Plan.from_dict(plan(served()).to_dict()) == plan(served())


def test_a_load_lasts_its_warmup_its_count_and_the_drain() -> None:
    assert plan(served()).expected_us == 500_000 + 71_000_000 + 210_000


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"steps": [{"start": ["load"]}, {"start": ["server"]}, {"measure": "load"}]}, "before"),
        (
            {"steps": [{"start": ["server"]}, {"start": ["load"]}, {"measure": "server"}]},
            "container server never ends",
        ),
        (
            {
                "steps": [
                    {"start": ["server"]},
                    {"pin": "work", "cpus": 1},
                    {"start": ["load"]},
                    {"measure": "load"},
                ]
            },
            "pins before the first start",
        ),
        (
            {
                "steps": [
                    {"pin": "elsewhere", "cpus": 1},
                    {"start": ["server", "load"]},
                    {"measure": "load"},
                ]
            },
            "Its places: work, load",
        ),
        (
            {"groups": [group("load", {"kind": "load", "to": "load"})]},
            "serves nothing in this arm",
        ),
    ],
)
def test_what_cannot_work_is_refused(change: dict[str, Any], words: str) -> None:
    if "steps" not in change:
        change["steps"] = [{"start": ["load"]}, {"measure": "load"}]
    arm = served(**change)
    for one in arm["groups"]:
        one["containers"][0]["name"] = one["name"]
    assert words in refused(arm)


@pytest.mark.parametrize(
    ("cpus", "work", "load"),
    [
        ((0,), (0,), (0,)),
        ((0, 1), (0,), (1,)),
        ((0, 1, 2, 3), (0, 1, 2), (3,)),
        (tuple(range(10)), tuple(range(8)), (8, 9)),
    ],
)
def test_the_load_has_cpus_of_its_own_where_there_are_two(
    cpus: tuple[int, ...], work: tuple[int, ...], load: tuple[int, ...]
) -> None:
    assert split_cpus(cpus, ["work", "load"]) == {"work": work, "load": load}
    assert split_cpus(cpus, ["work"]) == {"work": cpus}


def test_an_arm_is_bounded_with_its_replicas() -> None:
    many = [group(f"g{i}", {"kind": "spin", "duration": "10s"}, replicas=51) for i in range(2)]
    steps = [{"start": ["g0", "g1"]}, {"measure": "g0"}]
    assert "102 pods and containers" in refused({"name": "a", "groups": many, "steps": steps})
    many[0]["replicas"] = 49
    assert parse_spec({"name": "x", "arms": [{"name": "a", "groups": many, "steps": steps}]})


def test_a_limit_above_the_cpus_of_its_place_is_scaled_and_said() -> None:
    arm = plan(served(), cpus=2).arms[0]
    assert arm.scale == "1/2"
    assert arm.measured.name == "load"
    server = next(g for g in arm.groups if g.name == "server")
    assert server.containers[0].limits.quota_us == 100_000
    assert any("limited to all of the 1 CPU" in note for note in arm.notes)
    assert plan(served(), cpus=4).arms[0].scale is None
    assert plan(served(), cpus=2, kind="kubernetes").arms[0].scale is None


def test_units_are_named_by_what_tells_them_apart() -> None:
    assert [u.name for u in units_of("server", 1, ("app",))] == ["server"]
    assert [u.name for u in units_of("server", 2, ("app",))] == ["server.1", "server.2"]
    names = [u.name for u in units_of("pair", 1, ("small", "big"))]
    assert names == ["pair", "pair.small", "pair.big"]
    names = [u.name for u in units_of("p", 2, ("a", "b"))]
    assert names == ["p.1", "p.1.a", "p.1.b", "p.2", "p.2.a", "p.2.b"]


def test_how_long_the_kinds_take_under_a_limit() -> None:
    tasks = Tasks(work="30ms", count=100)
    assert tasks.span_us(LIMIT_500M, 2) == 6_000_000
    assert tasks.span_us(Limits(None, 100_000), 2) == 3_000_000
    gap = Tasks(work="30ms", count=100, gap="3750us")
    assert gap.span_us(Limits(None, 100_000), 2) == 3_375_000
    parallel = Parallel(processes=4, work="30ms", rounds=10)
    assert parallel.span_us(Limits(None, 100_000), 2) == 10 * (60_000 + 20_000)
    assert parallel.span_us(Limits(100_000, 100_000), 4) == 10 * (120_000 + 20_000)
    assert Spin(duration="45s", report="10s").round_count == 4
    assert Requests(duration="2500ms").round_count == 3
    assert not Spin().ends
    assert Load().round_count == 60


def test_threads_are_scaled_with_the_factor() -> None:
    assert Spin(threads=8).scaled(Fraction(1, 2))[0].threads == 4
    work, note = Parallel(processes=3, work="30ms", rounds=1).scaled(Fraction(1, 2))
    assert work.processes == 2
    assert "3 processes scaled by 1/2" in note


@pytest.mark.parametrize(
    ("text", "size"),
    [("1MiB", 2**20), ("64Mi", 2**26), ("500k", 500_000), ("0", 0), ("1GB", 10**9)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["1.5", "-1Mi", "much", ""])
def test_no_sizes(text: str) -> None:
    message = refused(served(groups=[group("server", {"kind": "serve", "alloc": text})]))
    assert "arms[0]" in message
