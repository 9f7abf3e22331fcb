"""Latencies, facts and servers of a run: added up exactly, over units, repeats and the arm."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments_app.archive.arms import groups_of, planned_groups
from experiments_app.archive.details import Details, added_up, detail_of, point_of, unpacked
from experiments_app.archive.document import document
from experiments_app.archive.selectors import rows_of
from experiments_app.archive.sparks import wall_spark
from experiments_app.archive.summary import arm_summaries, spark
from experiments_app.core.latencies import Latencies
from experiments_app.core.plan import make_plan
from experiments_app.core.spec import parse_spec
from experiments_app.core.workloads import Spin
from tests.archive.service import SECOND, SERVER, heap, measure, served, service_spec, telling
from tests.archive.support import a_run, add_rounds, set_totals


def both(n: int) -> dict[str, tuple[int, int]]:
    return {"server.1": (n, 1), "server.2": (1, 0)}


@pytest.mark.django_db
def test_an_arm_whose_load_is_measured() -> None:
    (arm,) = arm_summaries(served())
    figures = arm.summary
    work = figures.measures["work_us"]
    assert (work.n, work.max, work.errors) == (150, 900_000, {"timeout": 5})
    # 60 of 10 ms, 40 of 20 ms, 49 of 30 ms, 1 of 900 ms; a bucket is 0.1% wide at most.
    assert work.p50 == pytest.approx(20_000, rel=1e-3)
    assert work.p99 == pytest.approx(30_000, rel=1e-3)
    assert work.p999 is None
    assert (figures.measures["ping_us"].n, figures.measures["ping_us"].max) == (3, 300)
    # The load's own: what the server tells stays with the server.
    assert figures.facts == {"sent_count": 155, "in_flight_max": 9}
    assert figures.servers == {"server": {"responses": 150, "connections": 3}}
    # A load's second is no result, and what is counted is the server's.
    assert (figures.wall_us.n, figures.wall_us.p50, figures.rounds) == (0, None, 3)
    assert (figures.usage_us, figures.nr_throttled, figures.counters_from) == (
        1_200_000,
        12,
        "rounds",
    )
    assert (figures.rounds_counted, figures.rounds_throttled) == (3, 3)
    assert figures.last_reports_milli is None
    by_name = {group.name: group.summary for group in arm.repeats[0].groups}
    assert list(by_name) == ["server", "load"]
    assert by_name["server"].measures == {}
    assert by_name["server"].facts == {"gc_count": 6, "in_flight_max": 50, "heap_bytes_max": 30}
    assert by_name["load"].facts == {"sent_count": 155, "in_flight_max": 9}
    assert by_name["server"].last_reports_milli is None


@pytest.mark.django_db
def test_pictures_and_lists_of_a_service() -> None:
    run = served()
    points = wall_spark(run)
    assert points == [pytest.approx(10_000, rel=1e-3), pytest.approx(30_000, rel=1e-3)]
    assert spark(run) == [pytest.approx(20_000, rel=1e-3)]
    (row,) = rows_of([run])
    assert (row.rounds, row.spark, row.line) == (3, points, "throttled in 1 of 1 arm")


@pytest.mark.django_db
def test_a_second_without_an_answer_has_a_maximum_but_no_point() -> None:
    run = served()
    last = run.rounds.get(group="load", n=3)
    assert last.point_us is None
    assert last.detail is not None
    assert (last.detail["measures"]["work_us"]["n"], last.detail["servers"]) == (0, {})


@pytest.mark.django_db
def test_replicas_are_added_up_over_one_window() -> None:
    run = a_run(spec=service_spec(replicas=2))
    told = {n: telling(measure("work_us", [5]), servers=both(n)) for n in (1, 2)}
    add_rounds(run, 0, [SECOND] * 2, group="load", told=told)
    for name, usage in (("server.1", 300_000), ("server.2", 100_000)):
        set_totals(run, 0, name, window_us=2 * SECOND, usage_us=usage, nr_periods=20,
                   nr_throttled=3)  # fmt: skip
    (arm,) = arm_summaries(run)
    figures = arm.summary
    assert (figures.window_us, figures.usage_us, figures.nr_periods) == (2 * SECOND, 400_000, 40)
    assert (figures.nr_throttled, figures.avg_cpu_milli) == (6, 200)
    assert figures.counters_from == "outside"
    assert figures.servers == {
        "server.1": {"responses": 3, "connections": 2},
        "server.2": {"responses": 2, "connections": 0},
    }
    assert [group.name for group in arm.repeats[0].groups] == ["server.1", "server.2", "load"]


@pytest.mark.django_db
@pytest.mark.parametrize("ahead_us", [0, 5_000_000_000])
def test_what_a_server_did_while_it_was_warmed_up_is_left_out(ahead_us: int) -> None:
    """Also where the server's machine has a monotonic clock of its own."""
    run = a_run(spec=service_spec())
    told = {n: telling(facts=heap(n), group="server") for n in range(1, 6)}
    rounds = add_rounds(run, 0, [SECOND] * 5, group="server", settled=SERVER, told=told)
    for row in rounds:
        row.start_us = row.n * SECOND + ahead_us
        row.save()
    answered = {1: telling(measure("work_us", [5]))}
    for row in add_rounds(run, 0, [SECOND] * 2, group="load", told=answered):
        row.start_us = (row.n + 2) * SECOND
        row.save()
    repeat = run.repeats.get()
    repeat.programs = {
        name: {"group": name, "mono_us": mono, "unix_us": 10**15, "program": {}}
        for name, mono in (("server", 500_000 + ahead_us), ("load", 500_020))
    }
    repeat.save()
    (arm,) = arm_summaries(run)
    # Its rounds 3, 4 and 5; 1 and 2 were warming up.
    by_name = {group.name: group.summary for group in arm.repeats[0].groups}
    assert by_name["server"].facts["gc_count"] == 12
    assert (arm.summary.rounds_counted, arm.summary.usage_us) == (3, 1_200_000)
    assert {group.name: group.summary.rounds for group in arm.repeats[0].groups} == {
        "server": 3,
        "load": 2,
    }


@pytest.mark.django_db
def test_half_of_the_replicas_is_not_the_whole() -> None:
    run = a_run(spec=service_spec(replicas=2))
    set_totals(run, 0, "server.1", window_us=SECOND, usage_us=1)
    figures = arm_summaries(run)[0].summary
    assert (figures.usage_us, figures.counters_from) == (None, None)


def spinning(*shares: str) -> dict[str, Any]:
    """A pod of spins; the names are small, big."""
    work = {"kind": "spin", "duration": "4s", "report": "1s"}
    containers = [
        {"name": name, "request": share, "limit": "none", "workload": work}
        for name, share in zip(("small", "big"), shares, strict=False)
    ]
    arm = {"name": "weights", "groups": [{"name": "pair", "containers": containers}]}
    return {"name": "weights", "title": "Weights", "arms": [arm]}


@pytest.mark.django_db
def test_a_pod_of_spins_by_its_last_three_reports() -> None:
    run = a_run(spec=spinning("100m", "400m"), repeats=2)
    for order in (0, 1):
        for name, usage in (("pair.small", 200_000), ("pair.big", 800_000)):
            rounds = add_rounds(run, order, [SECOND] * 4, group=name,
                                settled={"window_us": SECOND, "usage_us": usage})  # fmt: skip
            # The first one is not among the last three.
            rounds[0].settled_usage_us = 1
            rounds[0].save()
        set_totals(run, order, "pair", window_us=4 * SECOND, usage_us=3_900_000, nr_periods=40,
                   nr_throttled=0)  # fmt: skip
    (arm,) = arm_summaries(run)
    figures = arm.summary
    assert (figures.last_reports_milli, figures.usage_us) == (1000, 7_800_000)
    assert (figures.wall_us.n, figures.rounds) == (0, 16)
    by_name = {group.name: group.summary for group in arm.repeats[0].groups}
    assert {name: part.last_reports_milli for name, part in by_name.items()} == {
        "pair": None,
        "pair.small": 200,
        "pair.big": 800,
    }
    assert by_name["pair"].usage_us == 3_900_000
    assert wall_spark(run) == []
    assert spark(run) == [None]


@pytest.mark.django_db
def test_a_report_without_usage_gives_no_mean() -> None:
    run = a_run(spec=spinning("100m"))
    rounds = add_rounds(run, 0, [SECOND] * 3, group="pair", settled={"usage_us": 5})
    rounds[1].settled_usage_us = None
    rounds[1].save()
    assert arm_summaries(run)[0].summary.last_reports_milli is None


def test_units_by_what_they_are_for() -> None:
    plan = make_plan(parse_spec(spinning("100m", "400m")), kind="local", cpus=2)
    (pod,) = planned_groups(plan.to_dict())
    assert pod.names == ("pair", "pair.small", "pair.big")
    assert (pod.counted, pod.counted_rounds) == (("pair",), ("pair.small", "pair.big"))
    assert (pod.results, pod.result) == (("pair.small", "pair.big"), "cpu")
    assert isinstance(plan.arms[0].measured.containers[0].workload, Spin)
    assert plan.arms[0].result == pod.result
    assert pod.names == tuple(unit.name for unit in plan.arms[0].measured.units)
    short = groups_of({"name": "x", "workload": {"kind": "info"}})
    assert (short.names, short.results, short.result) == (("app",), ("app",), None)
    nameless = groups_of(
        {"groups": [{"name": "g", "containers": [{"workload": {"kind": "burst"}}]}]}
    )
    assert (nameless.names, nameless.result) == (("g",), "wall_us")


values = st.lists(st.integers(1, 5_000_000), max_size=30)
errors = st.dictionaries(st.sampled_from(["timeout", "refused"]), st.integers(0, 9))
seconds = st.lists(st.tuples(values, errors, st.integers(0, 99), st.integers(0, 99)), min_size=1,
                   max_size=6)  # fmt: skip


@settings(max_examples=50, deadline=None)
@given(seconds, st.integers(0, 6))
def test_rounds_added_up_are_the_whole(
    told: list[tuple[list[int], dict[str, int], int, int]], cut: int
) -> None:
    """However they are put together: latencies, facts and answers of all rounds at once."""
    details = []
    for each, failed, sent, top in told:
        facts, servers = {"sent_count": sent, "x_max": top}, {"s": (sent, top)}
        work = measure("work_us", each, **failed)
        details.append(detail_of(telling(work, facts=facts, servers=servers)))
    parts = [Details(), Details()]
    for index, detail in enumerate(details):
        assert detail is not None
        parts[index >= cut].add(detail)
    whole = added_up(parts)
    everything = measure("work_us", [value for each, *_ in told for value in each])
    at_once = Latencies()
    at_once.add(everything)
    for _, failed, _, _ in told:
        at_once.errors.update(failed)
    assert whole.measures["work_us"] == at_once.summary()
    sent = sum(each[2] for each in told)
    assert whole.facts == {"sent_count": sent, "x_max": max(each[3] for each in told)}
    assert whole.servers["s"]["responses"] == sent
    # What a browser is sent adds up to the same counts.
    counts = [pair for detail in details if detail
              for pair in unpacked(detail)["measures"]["work_us"]["counts"]]  # fmt: skip
    assert sum(count for _, count in counts) == at_once.n


def test_a_sum_without_one_of_its_parts_is_left_out() -> None:
    whole = Details()
    for facts in ({"gc_count": 1, "heap_bytes_max": 5}, {"heap_bytes_max": 4}):
        detail = detail_of(telling(facts=facts))
        assert detail is not None
        whole.add(detail)
    assert whole.facts == {"heap_bytes_max": 5}


def test_what_only_the_last_round_tells_is_the_sum_of_those() -> None:
    whole = Details()
    for facts in ({"sent_count": 5}, {"sent_count": 4, "overrun_us": 70}):
        detail = detail_of(telling(facts=facts))
        assert detail is not None
        whole.add(detail)
    assert whole.facts == {"sent_count": 9, "overrun_us": 70}
    assert added_up([whole, whole]).facts == {"sent_count": 18, "overrun_us": 140}


def test_a_round_that_tells_nothing_has_no_detail() -> None:
    assert detail_of(telling()) is None
    assert point_of(None) is None
    assert point_of(detail_of(telling(measure("request_us", [7])))) == 7


@pytest.mark.django_db
def test_the_document_of_a_service() -> None:
    arm = document(served())["arms"][0]
    assert list(arm["summary"])[:5] == ["window_us", "wall_us", "measures", "facts", "servers"]
    work = arm["summary"]["measures"]["work_us"]
    assert list(work) == ["n", "p50", "p90", "p95", "p99", "p999", "max", "errors"]
    (repeat,) = arm["repeats"]
    assert [group["name"] for group in repeat["groups"]] == ["server", "load"]
    assert [group["connections"] for group in repeat["groups"]] == [
        None,
        {"server": {"responses": 150, "connections": 3}},
    ]
    first = next(entry for entry in repeat["rounds"] if entry["group"] == "load")
    assert first["measures"]["work_us"]["n"] == 100
    assert first["measures"]["work_us"]["hdr"].startswith("HISTFAAA")
    assert first["servers"] == {"server": {"responses": 100, "connections": 3}}
