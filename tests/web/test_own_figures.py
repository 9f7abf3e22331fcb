"""Figures of one's own latest run beside the published ones."""

from __future__ import annotations

import csv
from collections.abc import Sequence

import pytest
from django.test import Client
from hdrh.histogram import HdrHistogram

from experiments_app import catalogue
from experiments_app.archive.tables import repeats_csv
from experiments_app.core.records import (
    Answers,
    ArmFinished,
    Counters,
    GroupTotals,
    Hello,
    Measure,
    Record,
    Round,
    RoundSettled,
    Tree,
    TreeLevel,
)
from experiments_app.core.spec import apply_settings, select_arms
from experiments_app.models import Round as Row
from experiments_app.models import Run
from experiments_app.runs.announce import silent
from experiments_app.runs.claim import claim_next
from experiments_app.runs.execute import Execution, execute
from experiments_app.runs.launch import Request, launch
from experiments_app.runs.owner import me
from experiments_app.runs.stop import Stop
from experiments_app.web.figure_tables import Source, published_sources, tables
from experiments_app.web.own_figures import Own, latest_own
from tests.runs.scripted import ScriptedTarget, play

pytestmark = pytest.mark.django_db

LEVEL = TreeLevel("/lab/app", 50_000, 100_000, 0, None, 102)
HELLO = {"gomaxprocs": 2, "num_cpu": 2, "env": {"GOMAXPROCS": None, "GODEBUG": None}}


def run_of(
    name: str,
    records: Sequence[Record],
    *,
    arms: Sequence[str],
    repeats: int = 1,
    settings: dict[str, str] | None = None,
) -> Run:
    """A run of a catalogue experiment through launch and execute, with these records a repeat."""
    target = ScriptedTarget(step=play(records))
    spec = select_arms(apply_settings(catalogue.find(name), settings or {}), arms)
    number = launch(
        Request(spec=spec, target=target, repeats=repeats), user=None, who="olga"
    ).number
    claim = claim_next(machine="local", owner=me())
    assert claim is not None
    execute(
        claim,
        Execution(target=target, lab="lab", stop=Stop(), announce=silent, lease_seconds=10),
    )
    return Run.objects.get(number=number)


def sources(name: str) -> list[Source]:
    found = latest_own(catalogue.find(name))
    assert isinstance(found, Own)
    return list(found.sources)


def rounds(walls: Sequence[int]) -> list[Record]:
    found: list[Record] = []
    for n, wall in enumerate(walls, 1):
        found.append(Round("app", n, n * 1_000_000, wall, Counters(wall, 5_000, 1, 1, 900)))
        found.append(RoundSettled("app", n, Counters(1_000_000, 6_000, 2, 1, 1_000)))
    totals = GroupTotals("app", Counters(10_000_000, 60_000, 20, 10, 125_000))
    return [
        Hello("app", 1, 1, HELLO),
        Tree("app", (LEVEL,)),
        *found,
        ArmFinished((totals,)),
    ]


def histogram(values: Sequence[int]) -> str:
    hdr = HdrHistogram(1, 3_600_000_000, 3)
    for value in values:
        hdr.record_value(value)
    return str(hdr.encode().decode())


def test_no_run_no_figures() -> None:
    assert latest_own(catalogue.find("short-tasks")) is None


def test_walls_counters_and_facts_of_the_latest_run() -> None:
    run_of("short-tasks", rounds([7_000] * 10), arms=["gap"])
    run = run_of("short-tasks", rounds([5_000 + n for n in range(20)]), arms=["gap"])
    found = {source.table: source for source in sources("short-tasks")}
    walls, counters, facts = found["walls"], found["counters"], found["facts"]
    assert walls.who == f"run {run.number}"
    assert walls.window == "20 rounds"
    assert walls.values == {"us_min": 5_000, "us_p50": 5_009, "us_p95": 5_018, "us_max": 5_019}
    assert counters.values["nr_throttled"] == 10
    assert counters.values["throttled_us"] == 125_000
    assert counters.values["throttled_ratio"] == 0.5
    assert counters.window == "10.0\xa0s, read from outside"
    assert facts.values == {
        "gomaxprocs": 2,
        "num_cpu": 2,
        "cpu_max": "50000 100000",
        "shares": 102,
    }


def test_a_page_lays_them_under_the_published_ones(operating: Client) -> None:
    run = run_of("short-tasks", rounds([5_000 + n for n in range(20)]), arms=["gap"])
    page = operating.get("/experiments/short-tasks/").content.decode()
    assert f"run {run.number}</a>, on local" in page
    spec = catalogue.find("short-tasks")
    found = tables(
        spec, [*published_sources(catalogue.published("short-tasks"), spec), *sources(spec.name)]
    )
    walls = next(table for table in found if table.key == "walls")
    assert [(row.who, row.published) for row in walls.rows] == [
        ("published", True),
        (f"run {run.number}", False),
    ]
    assert [cell.text for cell in walls.rows[1].cells][:2] == ["5.01\xa0ms", "5.02\xa0ms"]
    assert "number was not published" in walls.window
    assert [row.window for row in walls.rows] == ["", "20 rounds"]


def test_an_arm_with_other_settings_says_so() -> None:
    run_of("short-tasks", rounds([5_000] * 3), arms=["gap"], settings={"count": "3"})
    own = latest_own(catalogue.find("short-tasks"))
    assert own is not None
    assert own.notes == (
        "Run with other settings than above: 500m, as published (gap 3.75 ms, inferred).",
    )


def test_many_repeats_give_medians() -> None:
    run_of("short-tasks", rounds([5_000] * 3), arms=["gap"], repeats=5)
    (walls,) = [source for source in sources("short-tasks") if source.table == "walls"]
    assert walls.window == "median of 5 repeats, each over 3 rounds"
    assert walls.values["us_p50"] == 5_000
    assert walls.values["us_p95"] is None, "three rounds have no p95"


def service_records() -> list[Record]:
    values = [1_000 * n for n in range(1, 121)]
    work = Measure("work_us", histogram(values), 120_000, {"timeout": 2})
    ping = Measure("ping_us", histogram([500] * 24), 500)
    load = Round(
        "load",
        1,
        1_000_000,
        1_000_000,
        Counters(1_000_000, 9_000),
        measures=(work, ping),
        facts={"overrun_us": 1_000_000},
        servers={"server.1": Answers(144, 3)},
    )
    server = Round("server", 1, 1_000_000, 1_000_000, Counters(1_000_000), facts={"gc_count": 7})
    totals = (
        GroupTotals("server", Counters(60_000_000, 36_000_000, 500, 150, 53_000_000)),
        GroupTotals("load", Counters(60_000_000, 900_000)),
    )
    return [
        Hello("server", 1, 1, HELLO),
        Hello("load", 1, 1, HELLO),
        server,
        load,
        ArmFinished(totals),
    ]


def test_latencies_of_a_service_and_the_counters_of_its_server() -> None:
    run = run_of(
        "serve-clumped",
        service_records(),
        arms=["no-limit-go124", "limit-2-go124"],
        repeats=2,
        settings={"duration": "60s"},
    )
    found = [source for source in sources("serve-clumped") if source.arm == "limit-2-go124"]
    work = [source for source in found if source.table == "work"]
    assert [source.who for source in work] == [f"run {run.number}"]
    values = work[0].values
    assert (values["requests"], values["errors"]) == (120, 2)
    assert values["achieved_rps"] == pytest.approx(122 / 61), "it went on for a second"
    assert values["us_p50"] == pytest.approx(60_000, rel=0.001)
    assert (values["us_p999"], values["us_max"]) == (None, 120_000)
    assert work[0].window.replace("\xa0", " ") == "median of 2 repeats, each over 1 min 00 s"
    counters = next(source for source in found if source.table == "counters")
    assert (counters.values["nr_throttled"], counters.values["nr_periods"]) == (150, 500)
    assert counters.values["cpus"] == 0.6
    assert counters.values["gc_count"] == 7
    seen = [source for source in found if source.table in {"facts", "units"}]
    assert [(source.table, source.values["gomaxprocs"]) for source in seen] == [("facts", 2)]
    free = [source for source in sources("serve-clumped") if source.arm == "no-limit-go124"]
    counters = next(source for source in free if source.table == "counters")
    assert counters.values["nr_throttled"] == "no limit"


def test_shares_of_a_pod_are_those_of_its_containers() -> None:
    records: list[Record] = []
    for unit, usage in (("pair.small", 100_000), ("pair.big", 890_000)):
        for n in range(1, 5):
            counters = Counters(1_000_000, usage)
            records.append(Round(unit, n, n * 1_000_000, 1_000_000, counters))
            records.append(RoundSettled(unit, n, counters))
        records.append(Tree(unit, (TreeLevel(f"/lab/{unit}", None, 100_000, 0, 17, None),)))
    records.append(ArmFinished((GroupTotals("pair", Counters(4_000_000, 3_960_000)),)))
    run_of("weights", records, arms=["two-containers"])
    units = {source.of: source.values for source in sources("weights") if source.table == "units"}
    assert units["pair.small"]["share"] == 0.1
    assert units["pair.big"]["share"] == 0.89
    assert units["pair"]["share"] == 0.99
    assert units["pair.big"]["weight"] == 17
    assert units["pair.big"]["cpu_max"] == "max 100000"


def test_medians_have_their_spread() -> None:
    run_of("short-tasks", rounds([5_000] * 3), arms=["gap"], repeats=3)
    run = Run.objects.latest("number")
    for order, wall_us in enumerate((4_000, 9_000, 5_000)):
        Row.objects.filter(repeat__run=run, repeat__order=order).update(wall_us=wall_us)
    (walls,) = [source for source in sources("short-tasks") if source.table == "walls"]
    assert walls.values["us_p50"] == 5_000
    assert walls.extra["us_p50"].replace("\xa0", " ") == "4.00 ms to 9.00 ms"


def test_what_a_model_computed_is_not_measured_here() -> None:
    run_of("short-tasks", rounds([5_000] * 3), arms=["gap"])
    Run.objects.update(target_kind="simulated")
    assert latest_own(catalogue.find("short-tasks")) is None


def spins(units: dict[str, int]) -> list[Record]:
    found: list[Record] = []
    for unit, usage in units.items():
        for n in range(1, 5):
            counters = Counters(1_000_000, usage)
            found.append(Round(unit, n, n * 1_000_000, 1_000_000, counters))
            found.append(RoundSettled(unit, n, counters))
    return found


def test_shares_are_means_over_repeats_and_no_average_of_all() -> None:
    records = spins({"pair.small": 100_000, "pair.big": 890_000})
    records.append(ArmFinished((GroupTotals("pair", Counters(4_000_000, 3_960_000)),)))
    run_of("weights", records, arms=["two-containers"], repeats=2)
    run = Run.objects.latest("number")
    second = Row.objects.filter(repeat__run=run, repeat__order=1, group="pair.small")
    second.update(settled_usage_us=200_000)
    found = sources("weights")
    units = {source.of: source for source in found if source.table == "units"}
    assert units["pair.small"].values["share"] == 0.15
    assert units["pair"].values["share"] == 1.04
    assert units["pair.small"].window.endswith(
        "the share of one CPU over the last three reports, mean of 2 repeats"
    )
    assert not any("cpus" in source.values for source in found if source.table == "counters")


def test_units_that_are_not_pinned_have_no_share() -> None:
    run_of("weights", spins({"req-100m": 100_000}), arms=["tree"])
    assert not any("share" in source.values for source in sources("weights"))


def test_throughput_is_over_the_rounds_of_the_requests() -> None:
    request = Measure("request_us", histogram([500] * 300), 500)
    records: list[Record] = []
    for n, wall_us in ((1, 1_000_000), (2, 500_000)):
        counters = Counters(wall_us, 400_000, 10, 5, 100_000)
        records.append(Round("app", n, n * 1_000_000, wall_us, counters, measures=(request,)))
        records.append(RoundSettled("app", n, counters))
    run_of("quota-tiers", records, arms=["limit-500m"])
    (counters_row,) = [each for each in sources("quota-tiers") if each.table == "counters"]
    assert counters_row.values["throughput_rps"] == 400
    (line,) = csv.DictReader("".join(repeats_csv(Run.objects.latest("number"))).splitlines())
    assert line["requests_per_1000_s"] == "400000"
