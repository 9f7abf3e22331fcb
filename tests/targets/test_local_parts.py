"""What an arm becomes here: cgroups with their limits, commands, CPUs."""

from __future__ import annotations

from typing import Any

import pytest

from experiments_app.core.plan import make_plan
from experiments_app.core.records import Limits
from experiments_app.core.spec_model import Arm, Spec
from experiments_app.targets.local.cpus import seat
from experiments_app.targets.local.jobs import Job, jobs_of
from experiments_app.targets.local.parts import parts_of
from experiments_app.web.run_units import unit_data

SPIN = {"kind": "spin", "duration": "1s", "report": "500ms"}


def container(name: str, **settings: Any) -> dict[str, Any]:
    return {"name": name, "workload": SPIN, **settings}


def pod(*containers: dict[str, Any], **group: Any) -> Arm:
    return Arm.model_validate(
        {"name": "a", "groups": [{"name": "pair", "containers": containers, **group}]}
    )


def job_of(**workload: Any) -> Job:
    (job,) = jobs_of(Arm.model_validate({"name": "a", "workload": workload}))
    return job


def test_a_group_of_one_container_is_one_cgroup() -> None:
    (part,) = parts_of(pod(container("app", limit="500m", request="100m")))
    assert (part.name, part.path, part.limits) == (
        "pair",
        ("pair",),
        Limits(50_000, 100_000, 0, 102),
    )
    assert part.weigh(102) == 4  # a pod's form


def test_a_pod_has_the_sums_and_its_containers_are_below_it() -> None:
    small = container("small", limit="300m", request="100m", burst="10ms")
    big = container("big", limit="1", request="400m")
    parts = parts_of(pod(small, big))
    assert [(part.name, part.path) for part in parts] == [
        ("pair", ("pair",)),
        ("pair.small", ("pair", "small")),
        ("pair.big", ("pair", "big")),
    ]
    assert parts[0].limits == Limits(130_000, 100_000, 10_000, 512)
    assert [part.weigh(102) for part in parts] == [4, 17, 17]


@pytest.mark.parametrize(
    ("one", "two", "whole"),
    [
        ({"limit": "1"}, {}, Limits(None, 100_000)),  # no quota unless all have one
        ({}, {"request": "250m"}, Limits(None, 100_000, 0, 256)),
        # at another period than 100 ms, where they agree on it
        (
            {"limit": "500m", "period": "20ms"},
            {"limit": "1", "period": "20ms"},
            Limits(30_000, 20_000),
        ),
        ({"limit": "333m", "period": "7ms"}, {"limit": "1"}, Limits(133_300, 100_000)),
        # 1 ms is the least that the kernel takes: the pod gets the sum of what is in force
        ({"limit": "1m"}, {"limit": "1m"}, Limits(2_000, 100_000)),
        (
            {"limit": "1m", "period": "1s"},
            {"limit": "1m", "period": "500ms"},
            Limits(1_000, 100_000),
        ),
    ],
)
def test_limits_of_a_pod(one: dict[str, Any], two: dict[str, Any], whole: Limits) -> None:
    parts = parts_of(pod(container("one", **one), container("two", **two)))
    assert parts[0].limits == whole


def test_replicas_have_cgroups_of_their_own_whatever_other_groups_are_called() -> None:
    groups = [
        {"name": "web", "replicas": 2, "containers": [container("app")]},
        {"name": "web-2", "containers": [container("app")]},
        {"name": "tasks", "containers": [container("tasks"), container("b")]},
    ]
    steps = [{"start": ["web", "web-2", "tasks"]}, {"measure": "web"}]
    arm = Arm.model_validate({"name": "a", "groups": groups, "steps": steps})
    parts = parts_of(arm)
    paths = {part.name: part.path for part in parts}
    assert list(paths) == ["web.1", "web.2", "web-2", "tasks", "tasks.tasks", "tasks.b"]
    assert len(set(paths.values())) == len(paths)
    # "tasks" is a file in every directory of cgroup v1
    assert not any("tasks" in path for path in paths.values())
    assert [(job.unit, job.measured) for job in jobs_of(arm)] == [
        ("web.1", True),
        ("web.2", True),
        ("web-2", False),
        ("tasks.tasks", False),
        ("tasks.b", False),
    ]


def test_the_longest_names_fit() -> None:
    work = {"kind": "serve"}
    longest = "a" * 60
    groups = [
        {
            "name": longest,
            "replicas": 33,
            "containers": [{"name": name, "workload": work} for name in ("b" * 60, "c")],
        },
        {"name": "app", "containers": [container("app")]},
    ]
    steps = [{"start": [longest, "app"]}, {"measure": "app"}]
    arm = Arm.model_validate({"name": "a", "groups": groups, "steps": steps})
    paths = [part.path for part in parts_of(arm)]
    assert len(set(paths)) == len(paths)
    assert max(len(name) for path in paths for name in path) <= 63
    names = [job.command.arguments[4] for job in jobs_of(arm) if job.command.serves]
    assert max(map(len, names)) <= 63


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        (
            {"kind": "tasks", "work": "30ms", "count": 100},
            "tasks --work 30000us --count 100 --gap 0us",
        ),
        (
            {"kind": "parallel", "processes": 4, "work": "30ms", "rounds": 10, "gap": "5ms"},
            "parallel --processes 4 --work 30000us --rounds 10 --gap 5000us",
        ),
        ({"kind": "spin"}, "spin --threads 1 --report 10000000us"),
        (
            {"kind": "spin", "threads": 2, "duration": "45s"},
            "spin --threads 2 --for 45000000us --report 10000000us",
        ),
        ({"kind": "requests"}, "requests --threads 2 --steps 200000 --for 10000000us"),
        ({"kind": "info", "hold": True}, "info --hold"),
    ],
)
def test_commands(workload: dict[str, Any], words: str) -> None:
    if workload == {"kind": "spin"}:
        groups = [
            {"name": "idle", "containers": [{"name": "app", "workload": workload}]},
            {"name": "app", "containers": [container("app")]},
        ]
        steps = [{"start": ["idle", "app"]}, {"measure": "app"}]
        job = jobs_of(Arm.model_validate({"name": "a", "groups": groups, "steps": steps}))[0]
    else:
        job = job_of(**workload)
    assert job.command.arguments == (*words.split(), "--until-eof")


def service(**load: Any) -> Arm:
    server = {"kind": "serve", "work": "5ms", "alloc": "1MiB", "live": "64MiB"}
    groups = [
        {
            "name": "server",
            "replicas": 2,
            "containers": [{"name": "app", "workload": server}],
        },
        {
            "name": "load",
            "place": "load",
            "containers": [{"name": "app", "workload": {"kind": "load", **load}}],
        },
    ]
    steps = [{"start": ["server"]}, {"start": ["load"]}, {"measure": "load"}]
    return Arm.model_validate({"name": "a", "groups": groups, "steps": steps})


def test_commands_of_a_service_and_its_load() -> None:
    first, second, load = jobs_of(service(rate=50, warmup="2s", duration="5s", timeout="3s"))
    words = "serve --listen 127.0.0.1:0 --name server.1 --work 5000us --alloc 1048576"
    assert first.command.arguments == (*words.split(), "--live", "67108864", "--until-eof")
    assert "server.2" in second.command.arguments
    addresses = ("127.0.0.1:5", "127.0.0.1:6")
    words = (
        "load --to http://127.0.0.1:5,http://127.0.0.1:6 --rate 50 --ping-rate 20 --arrivals "
        "poisson --clump 1 --warmup 2000000us --for 5000000us --timeout 3000000us "
        "--connections keep-alive --idle 1000 --until-eof"
    )
    assert load.command.with_addresses(addresses) == tuple(words.split())
    assert load.command.calls == "server"
    # Silent while it warms up, drains, and waits for the last answer of the first second.
    assert load.patience_us(None, None) > 2_000_000 + 3_000_000 + 1_000_000


def test_patience_knows_work_and_limit() -> None:
    tasks = job_of(kind="tasks", work="30ms", count=3, gap="2s")
    assert tasks.patience_us(None, None) > 2_030_000
    assert tasks.patience_us(1_000, 100_000) > tasks.patience_us(None, None) + 3_000_000
    spin = job_of(kind="spin", duration="60s", report="20s")
    assert spin.patience_us(None, None) > 20_000_000


def places(*names: str, steps: list[dict[str, Any]] | None = None) -> Arm:
    groups = [
        {"name": f"g{i}", "place": place, "containers": [container("app")]}
        for i, place in enumerate(names)
    ]
    start = {"start": [group["name"] for group in groups]}
    return Arm.model_validate(
        {"name": "a", "groups": groups, "steps": [*(steps or []), start, {"measure": "g0"}]}
    )


def test_the_load_has_cpus_of_its_own_where_there_are_two() -> None:
    assert seat(places("work", "work"), [0, 1, 2]).by_group == {"g0": None, "g1": None}
    assert not seat(places("work"), [0, 1]).notes
    assert seat(places("work", "load"), [3]).by_group == {"g0": None, "g1": None}
    seats = seat(places("work", "load"), [2, 5])
    assert seats.by_group == {"g0": (2,), "g1": (5,)}
    (note,) = seats.notes
    assert note.level == "info"
    assert "group g0 on CPU 2, group g1 on CPU 5" in note.text
    seats = seat(places("work", "load", "other"), range(8))
    assert seats.by_group["g0"] == seats.by_group["g2"] == tuple(range(6))


def test_pins_of_a_place_and_of_a_group() -> None:
    pins = [{"pin": "work", "cpus": 2}, {"pin": "g1", "cpus": 1}]
    seats = seat(places("work", "work", steps=pins), [0, 1, 2, 3])
    assert seats.by_group == {"g0": (0, 1), "g1": (0,)}
    apart = seat(places("work", "load", steps=[{"pin": "load", "cpus": 1}]), range(8))
    assert apart.by_group == {"g0": tuple(range(6)), "g1": (6,)}


def test_a_pin_wider_than_what_is_there_is_said() -> None:
    seats = seat(places("work", steps=[{"pin": "work", "cpus": 8}]), [0, 1])
    assert seats.by_group == {"g0": (0, 1)}
    assert [note.level for note in seats.notes] == ["info", "warning"]
    assert "8 CPUs, but has 2 here" in seats.notes[1].text


@pytest.mark.parametrize(
    "containers",
    [
        [{"limit": "333m", "period": "7ms"}, {"limit": "1"}],
        [{"limit": "300m", "burst": "10ms"}, {"limit": "1", "request": "400m"}],
        [{"request": "250m"}, {}],
        [{"limit": "1m"}, {"limit": "1m"}],
    ],
)
def test_a_page_asks_for_what_the_kernel_is_given(containers: list[dict[str, Any]]) -> None:
    arm = pod(*(container(name, **each) for name, each in zip("ab", containers, strict=True)))
    plan = make_plan(Spec(name="s", arms=(arm,)), kind="local", cpus=4)
    asked = {unit["name"]: unit for unit in unit_data(plan.arms[0])}
    for part in parts_of(arm):
        unit, limits = asked[part.name], part.limits
        found = (unit["quota_us"], unit["period_us"], unit["burst_us"], unit["shares_asked"])
        assert found == (limits.quota_us, limits.period_us, limits.burst_us, limits.shares)
        weight = None if limits.shares is None else part.weigh(limits.shares)
        assert unit["weight_asked"] == weight
