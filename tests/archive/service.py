"""Runs of a load and its server, as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hdrh.histogram import HdrHistogram

from experiments_app.core.records import Answers, Counters, Measure
from experiments_app.core.records import Round as RoundRecord
from experiments_app.core.spec import dump_spec, parse_spec
from experiments_app.models import Run
from tests.archive.support import a_run, add_rounds

SECOND = 1_000_000
SERVER: dict[str, int | None] = {
    "window_us": SECOND,
    "usage_us": 400_000,
    "nr_periods": 10,
    "nr_throttled": 4,
    "throttled_us": 200_000,
}


def encoded(values: Sequence[int]) -> str:
    """An HDR histogram of these values (us) as the workload program sends it."""
    histogram = HdrHistogram(1, 3_600_000_000, 3)
    for value in values:
        histogram.record_value(max(1, value))
    return str(histogram.encode().decode())


def measure(name: str, values: Sequence[int], **errors: int) -> Measure:
    return Measure(name, encoded(values), max(values, default=None), errors)


def telling(
    *measures: Measure,
    facts: Mapping[str, int] | None = None,
    servers: Mapping[str, tuple[int, int]] | None = None,
    group: str = "load",
    n: int = 1,
) -> RoundRecord:
    """A second of a kind that tells more than its wall; servers as (responses, connections)."""
    answers = {name: Answers(*pair) for name, pair in (servers or {}).items()}
    window = Counters(1_000_000, usage_us=5_000)
    return RoundRecord(
        group, n, n * 1_000_000, 1_000_000, window, None, None, measures, facts or {}, answers
    )


def service_spec(replicas: int = 1) -> dict[str, Any]:
    """A spec of one arm "served": a load is measured, its server's counters count."""
    server = {"limit": "500m", "workload": {"kind": "serve"}}
    load = {"workload": {"kind": "load", "duration": "3s", "warmup": "1s"}}
    groups = [
        {"name": "server", "replicas": replicas, "containers": [server]},
        {"name": "load", "role": "load", "place": "load", "containers": [load]},
    ]
    steps = [{"start": ["server"]}, {"start": ["load"]}, {"measure": "load"}]
    arm = {"name": "served", "groups": groups, "steps": steps}
    return dump_spec(parse_spec({"name": "service", "title": "A service", "arms": [arm]}))


def heap(n: int) -> dict[str, int]:
    return {"gc_count": n, "in_flight_max": 50, "heap_bytes_max": 10 * n}


def served(**columns: Any) -> Run:
    """Three seconds of a load on one server, the last of them without an answer."""
    run = a_run(spec=service_spec(), **columns)
    told = {
        1: telling(
            measure("work_us", [10_000] * 60 + [20_000] * 40),
            measure("ping_us", [100, 300]),
            facts={"sent_count": 100, "in_flight_max": 7},
            servers={"server": (100, 3)},
        ),
        2: telling(
            measure("work_us", [30_000] * 49 + [900_000], timeout=2),
            measure("ping_us", [200]),
            facts={"sent_count": 52, "in_flight_max": 9},
            servers={"server": (50, 0)},
        ),
        3: telling(measure("work_us", [], timeout=3), facts={"sent_count": 3, "in_flight_max": 3}),
    }
    add_rounds(run, 0, [SECOND] * 3, group="load", told=told)
    add_rounds(run, 0, [SECOND] * 3, group="server", settled=SERVER,
               told={n: telling(facts=heap(n), group="server") for n in (1, 2, 3)})  # fmt: skip
    return run
