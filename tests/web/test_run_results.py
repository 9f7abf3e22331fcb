"""The run page by what its arms are judged by: units, limits, tables, and what stands beside."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from experiments_app.core.plan import Plan, make_plan
from experiments_app.core.spec import parse_spec
from experiments_app.models import Repeat, Run
from experiments_app.web.run_data import COUNTERS, arm_data
from experiments_app.web.run_tables import tables
from tests.web.test_run_page import embedded

pytestmark = pytest.mark.django_db

INFO = {"kind": "info"}


def group(name: str, work: dict[str, Any], **more: Any) -> dict[str, Any]:
    own = {key: more.pop(key) for key in ("limit", "request", "build") if key in more}
    return {"name": name, "containers": [{"workload": work, **own}], **more}


def service(limit: str = "2", replicas: int = 1) -> dict[str, Any]:
    return {
        "name": f"limit-{limit}",
        "groups": [
            group("server", {"kind": "serve"}, limit=limit, request="500m", replicas=replicas),
            group("load", {"kind": "load"}, role="load", place="load"),
        ],
        "steps": [{"start": ["server"]}, {"start": ["load"]}, {"measure": "load"}],
    }


def pod(name: str, *containers: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"name": name, "containers": [{"name": each, **more} for each, more in containers]}


SPIN = {"workload": {"kind": "spin", "duration": "30s"}}
PAIR = {
    "name": "pair",
    "groups": [
        pod("pair", ("small", {"request": "100m", **SPIN}), ("big", {"request": "1", **SPIN}))
    ],
}


def plan_of(*arms: dict[str, Any]) -> Plan:
    return make_plan(parse_spec({"name": "x", "arms": list(arms)}), kind="local", cpus=8)


def data_of(*arms: dict[str, Any]) -> list[dict[str, Any]]:
    run = Run(experiment="x")
    return [arm_data(run, arm) for arm in plan_of(*arms).arms]


def run_of(*arms: dict[str, Any]) -> Run:
    plan = plan_of(*arms)
    run = Run.objects.create(
        experiment="x",
        title="X",
        spec={"name": "x", "arms": list(arms)},
        plan=plan.to_dict(),
        target="local",
        target_kind="local",
        machine="local",
        repeats_asked=1,
        expected_us=plan.expected_us,
    )
    for order, step in enumerate(plan.order):
        name = plan.arms[step.arm].name
        Repeat.objects.create(run=run, order=order, arm=step.arm, arm_name=name, n=step.n)
    return run


def test_a_loads_result_is_its_own_and_its_counters_are_the_servers() -> None:
    (arm,) = data_of(service(replicas=2))
    assert (arm["result"], arm["kind"], arm["rounds"]) == ("work_us", "load", 60)
    assert (arm["quota_us"], arm["limit_text"]) == (200_000, "2")
    told = [(u["name"], u["counted"], u["result"], u["inside"]) for u in arm["units"]]
    assert told == [
        ("server.1", True, False, False),
        ("server.2", True, False, False),
        ("load", False, True, False),
    ]


def test_a_pod_counts_as_a_whole_and_its_containers_are_the_result() -> None:
    (arm,) = data_of(PAIR)
    told = [(u["name"], u["counted"], u["result"], u["inside"]) for u in arm["units"]]
    assert told == [
        ("pair", True, False, False),
        ("pair.small", False, True, True),
        ("pair.big", False, True, True),
    ]
    assert [u["shares_asked"] for u in arm["units"]] == [1126, 102, 1024]
    # A pod's weight is linear, a container's as runtimes write it today: 17 and 100.
    assert [u["weight_asked"] for u in arm["units"]] == [43, 17, 100]


@pytest.mark.parametrize(
    ("limits", "quota_us", "text"),
    [(("2", "500m"), 250_000, "2500m, the sum"), (("2", "none"), None, "no limit")],
)
def test_a_pod_is_limited_only_if_every_container_is(
    limits: tuple[str, str], quota_us: int | None, text: str
) -> None:
    containers = [
        (name, {"limit": limit, "workload": INFO})
        for name, limit in zip(("app", "sidecar"), limits, strict=True)
    ]
    (arm,) = data_of({"name": "a", "groups": [pod("pod", *containers)]})
    whole = arm["units"][0]
    assert (whole["quota_us"], whole["limit_text"]) == (quota_us, text)
    assert arm["quota_us"] == quota_us


def test_the_names_of_counters_come_from_the_records() -> None:
    assert COUNTERS[0] == "window_us"
    assert {"usage_us", "nr_bursts", "burst_us", "run_delay_us"} < set(COUNTERS)


def test_every_result_has_its_tables() -> None:
    shown = tables(data_of(service()), any_published=False)
    assert [arm["name"] for arm in shown["latency_arms"]] == ["limit-2"]
    assert shown["chart_title"] == "Second by second"
    assert (shown["wall_arms"], shown["share_rows"], shown["fact_rows"]) == ([], [], [])
    shown = tables(data_of(PAIR), any_published=False)
    assert [row["unit"]["name"] for row in shown["share_rows"]] == [
        "pair",
        "pair.small",
        "pair.big",
    ]
    assert shown["rail"][0]["rail"][0] == ("share-pair.small", "pair.small")
    shown = tables(data_of({"name": "a", "workload": INFO, "limit": "2"}), any_published=False)
    assert [row["unit"]["name"] for row in shown["fact_rows"]] == ["app"]
    assert not shown["side_by_side"]


def test_the_page_of_a_service_has_its_requests_and_a_choice_of_units(operating: Client) -> None:
    run = run_of(service("1"), service("2"))
    page = operating.get(f"/runs/{run.number}/").content.decode()
    assert embedded(page)["counters"] == list(COUNTERS)
    assert 'id="requests"' in page
    assert 'data-role="unit"' in page
    assert "the load’s own lag" in page
    assert "Who answered" in page
    assert "vendor/plotly" not in page, "no chart of it needs Plotly"
    assert 'id="summary"' not in page
    assert len(re.findall(r'<tr data-arm="limit-', page)) == 2


def test_the_page_of_facts_has_a_line_a_container_and_its_control_groups(operating: Client) -> None:
    arms = [{"name": f"l{limit}", "workload": INFO, "limit": limit} for limit in ("1", "2")]
    run = run_of(*arms)
    page = operating.get(f"/runs/{run.number}/").content.decode()
    assert page.count('data-unit="app"') == 2
    assert "GOMAXPROCS" in page
    assert 'id="tree"' in page
    assert "side by side" not in page


def test_a_mixed_run_has_the_tables_of_all_its_arms(operating: Client) -> None:
    burst = {"kind": "burst", "threads": 1, "work": "5ms", "interval": "50ms", "rounds": 3}
    run = run_of(service(), PAIR, {"name": "b", "limit": "500m", "workload": burst})
    page = operating.get(f"/runs/{run.number}/").content.decode()
    for each in ("latencies", "shares", "summary", "requests"):
        assert f'id="{each}"' in page
    assert "vendor/plotly" in page
    assert "Round by round" in page


def test_a_unit_says_on_how_many_cpus_it_is_kept() -> None:
    pinned = {**PAIR, "steps": [{"pin": "pair", "cpus": 1}, *started("pair")]}
    by_place = service()
    by_place["steps"] = [{"pin": "load", "cpus": 2}, *by_place["steps"]]
    for arm, wanted in (
        (pinned, {"pair": 1, "pair.small": 1, "pair.big": 1}),
        (PAIR, {"pair": None, "pair.small": None, "pair.big": None}),
        (by_place, {"server": None, "load": 2}),
    ):
        (data,) = data_of(arm)
        assert {unit["name"]: unit["pinned_cpus"] for unit in data["units"]} == wanted


def started(name: str) -> list[dict[str, Any]]:
    return [{"start": [name]}, {"measure": name}]


def test_a_latency_is_said_to_begin_where_it_does(operating: Client) -> None:
    requests = {"kind": "requests", "threads": 1, "steps": 1000, "duration": "5s"}
    own = {"name": "own", "limit": "1", "workload": requests}
    sent, counted = "from when a request was to be sent", "counted from its start"
    for arm, there, not_there in ((service(), sent, counted), (own, counted, sent)):
        page = operating.get(f"/runs/{run_of(arm).number}/").content.decode()
        section = page[page.index('id="latencies"') : page.index('id="rail"')]
        assert there in section
        assert not_there not in section


def test_a_run_of_a_file_alone_leads_to_no_page_that_is_not_there(operating: Client) -> None:
    run = run_of(PAIR)
    address = f"/experiments/{run.experiment}/"
    assert operating.get(address).status_code == 404
    assert address not in operating.get(f"/runs/{run.number}/").content.decode()


def test_a_run_can_be_changed_before_it_ends(operating: Client, looking: Client) -> None:
    run = run_of(PAIR)
    link = f'<a class="btn" href="/own/new/?from={run.number}">Run again with changes</a>'
    assert link in operating.get(f"/runs/{run.number}/").content.decode()
    assert link not in looking.get(f"/runs/{run.number}/").content.decode()


def test_tables_beside_published_figures_are_medians_and_say_so(operating: Client) -> None:
    run = run_of(service())
    Run.objects.filter(pk=run.pk).update(repeats_asked=5)
    page = operating.get(f"/runs/{run.number}/").content.decode()
    assert '<span data-role="over">median of 5 repeats</span>' in page
