"""What the run page's tables hold, by what an arm is judged by: rows, columns and their words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Arm = dict[str, Any]

LATENCIES = ("work_us", "request_us")

# What the arms at the side tell, as (role, words), by result.
RAIL: dict[str | None, tuple[tuple[str, str], ...]] = {
    "wall_us": (
        ("wall", "median wall"),
        ("paused", "paused rounds"),
        ("throttled", "throttled a round"),
        ("cpu", "average CPU"),
    ),
    "latency": (
        ("p50", "median latency"),
        ("p99", "p99"),
        ("max", "slowest request"),
        ("periods", "throttled periods"),
    ),
    None: (
        ("limits", "limit asked"),
        ("gomaxprocs", "GOMAXPROCS"),
        ("num_cpu", "NumCPU"),
        ("cpu_max", "cpu.max as read"),
    ),
}
MOST_SHARES = 4


@dataclass(frozen=True, slots=True)
class Column:
    """A column: the role its cells are found by, and its head."""

    role: str
    title: str
    key: bool = False  # shown on narrow screens for every arm, not for the chosen one alone
    published: bool = True
    marked: bool = False  # a difference from the published figure is marked


REQUEST_COLUMNS = (
    Column("p50", "p50"),
    Column("p90", "p90"),
    Column("p99", "p99"),
    Column("p999", "p99.9"),
    Column("max", "max"),
)
LATENCY_COLUMNS = (
    Column("n", "answered"),
    Column("p50", "p50", key=True),
    Column("p90", "p90"),
    Column("p99", "p99", key=True),
    Column("p999", "p99.9"),
    Column("max", "max", key=True),
    Column("failed", "failed", key=True),
    Column("ping", "ping p99"),
    Column("throttled", "throttled periods of counted", key=True),
    Column("paused", "throttled time, summed over CPUs"),
    Column("cpus", "CPUs used, average"),
)
FACT_COLUMNS = (
    Column("gomaxprocs", "GOMAXPROCS", marked=True),
    Column("num_cpu", "NumCPU", marked=True),
    Column("env", "environment", published=False),
    Column("cpu_max", "cpu.max as read, us", marked=True),
    Column("weight", "weight as read"),
)
REQUEST_ROWS = (
    {"measure": "result", "title": "requests", "what": "from when one was to be sent"},
    {"measure": "ping_us", "title": "pings", "what": "they ask for no work"},
    {"measure": "lag_us", "title": "the load’s own lag", "what": "how late it sent"},
)
# Requests that nobody sends begin when they begin.
OWN_REQUESTS = {"measure": "result", "title": "requests", "what": "fixed work, from begin to end"}
# From when a latency counts, by result.
LATENCY_WORDS = {
    "work_us": "Latency counts from when a request was to be sent; latencies and counters are "
    "those of a repeat from the load’s first counted request to its end.",
    "request_us": "Latency is a request’s own time: they come one after another, each counted "
    "from its start; latencies and counters are those of a whole repeat.",
}
ROUNDS = {
    "burst": ("one burst of work", "from the release of all its threads to the last one’s finish"),
    "tasks": ("one task", "from its begin to its end, pauses included"),
    "parallel": ("one start of all processes", "from the first one’s start to the last one’s exit"),
}
NOUNS = {"wall_us": "round", "cpu": "report", "work_us": "second", "request_us": "second"}


def tables(arms: Sequence[Arm], *, any_published: bool) -> dict[str, Any]:
    """For the page's templates; `arms` as in run_data."""
    walls = [arm for arm in arms if arm["result"] == "wall_us"]
    latencies = [arm for arm in arms if arm["result"] in LATENCIES]
    noun = _noun(arms)
    kinds = dict.fromkeys(arm["kind"] for arm in walls)
    return {
        "rail": [
            {**arm, "rail": rail(arm), "dots": arm["result"] in ("wall_us", *LATENCIES)}
            for arm in arms
        ],
        "side_by_side": any(arm["result"] is not None for arm in arms),
        "wall_arms": walls,
        "latency_arms": latencies,
        "share_rows": list(_unit_rows(arm for arm in arms if arm["result"] == "cpu")),
        "fact_rows": list(_unit_rows((arm for arm in arms if arm["result"] is None), inner=True)),
        "latency_columns": LATENCY_COLUMNS,
        "latency_words": [LATENCY_WORDS[r] for r in dict.fromkeys(a["result"] for a in latencies)],
        "fact_columns": FACT_COLUMNS,
        "request_columns": REQUEST_COLUMNS,
        "request_rows": _request_rows(latencies),
        "round_words": [(kind, *ROUNDS[kind]) for kind in kinds if kind in ROUNDS],
        "chart_title": f"{noun.capitalize()} by {noun}",
        "chart_noun": noun,
        "many_units": any(len(arm["units"]) > 1 for arm in arms),
        "any_published": any_published,
    }


def rail(arm: Arm) -> tuple[tuple[str, str], ...]:
    """The figures beside an arm's name: (role, words)."""
    if arm["result"] == "cpu":
        units = [unit for unit in arm["units"] if unit["kind"] == "spin"]
        return tuple((f"share-{unit['name']}", unit["name"]) for unit in units[:MOST_SHARES])
    return RAIL["latency" if arm["result"] in LATENCIES else arm["result"]]


def _unit_rows(arms: Iterable[Arm], *, inner: bool = False) -> Iterable[dict[str, Any]]:
    """A row a unit; `inner` leaves out pods as a whole, which have no program of their own.

    Units that neither spin nor tell anything (a load beside them) have no row.
    """
    for arm in arms:
        kinds = {None, "spin"} if not inner else {"info"}
        units = [unit for unit in arm["units"] if unit["kind"] in kinds]
        for place, unit in enumerate(units):
            yield {"arm": arm, "unit": unit, "first": place == 0}


def _request_rows(latencies: Sequence[Arm]) -> tuple[dict[str, str], ...]:
    if any(arm["result"] == "work_us" for arm in latencies):
        return REQUEST_ROWS
    return (OWN_REQUESTS,)


def _noun(arms: Sequence[Arm]) -> str:
    """What the rounds of all arms are called: "round" where they are not all of one kind."""
    found = {NOUNS[arm["result"]] for arm in arms if arm["result"] is not None}
    return found.pop() if len(found) == 1 else "round"
