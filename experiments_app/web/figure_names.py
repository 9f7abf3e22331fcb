"""The names of figures in tables, published and one's own: titles, units, how they are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from experiments_app.templatetags.quantities import NBSP, count, cpu_us, cpus, number, time_us

Value = int | float | str | None
Write = Callable[[int | float], str]


@dataclass(frozen=True, slots=True)
class Name:
    """A column: what it is called and how its numbers are written."""

    key: str
    title: str
    write: Write = count


def _rate(value: int | float) -> str:
    return f"{number(value)}{NBSP}a second"


_TITLES = {"p999": "p99.9", "max": "max", "min": "min"}
_PLAIN = (
    Name("requests", "requests"),
    Name("n", "requests"),
    Name("errors", "failed"),
    Name("achieved_rps", "sent", _rate),
    Name("throughput_rps", "requests done", _rate),
    Name("nr_throttled", "throttled periods"),
    Name("nr_periods", "counted periods"),
    Name("throttled_ratio", "throttled of counted", number),
    Name("throttled_us", "throttled time, summed over CPUs", cpu_us),
    Name("usage_us", "CPU time used", cpu_us),
    Name("cpus", "CPUs used, average", cpus),
    Name("gc_count", "garbage collections"),
    Name("gomaxprocs", "GOMAXPROCS"),
    Name("num_cpu", "CPUs it is told"),
    Name("gomaxprocs_env", "GOMAXPROCS in the environment"),
    Name("godebug_env", "GODEBUG in the environment"),
    Name("cpu_max", "quota and period"),
    Name("weight", "weight"),
    Name("cpu_weight", "weight"),
    Name("shares", "shares (cgroup v1)"),
    Name("share", "share of the CPU", cpus),
    Name("old_runtime_weight", "weight, old runtime"),
    Name("old_runtime_share", "share, old runtime", cpus),
)
NAMES = {name.key: name for name in _PLAIN} | {
    f"us_{part}": Name(f"us_{part}", _TITLES.get(part, part), time_us)
    for part in ("min", "p50", "p90", "p95", "p99", "p999", "max")
}
# As the columns stand, whatever the order in which figures come.
ORDER = {
    key: place
    for place, key in enumerate(
        (
            "requests",
            "n",
            "errors",
            "achieved_rps",
            *(f"us_{part}" for part in ("min", "p50", "p90", "p95", "p99", "p999", "max")),
            *(name.key for name in _PLAIN[4:]),
        )
    )
}
_MEASURES = ("work", "ping", "request")


def placed(scope: str, name: str, value: Value) -> tuple[str, str, Value]:
    """The table, column and value (us, counts, CPUs) of a published figure.

    `wall_ms_p50` = 34.3 of the rounds is ("walls", "us_p50", 34300).
    """
    if scope == "rounds":
        return "walls", name.removeprefix("wall_").replace("ms_", "us_"), _us(value, 1000)
    if scope in ("run", "server"):
        return "counters", *_counter(name, value)
    if scope != "measures":
        return scope, name, value
    for measure in _MEASURES:
        if name == f"{measure}_n":
            return measure, "n", value
        if name.startswith(f"{measure}_ms_"):
            percentile = name.removeprefix(f"{measure}_ms_")
            return measure, f"us_{percentile}", _us(value, 1000)
    return "work", name, value


def _counter(name: str, value: Value) -> tuple[str, Value]:
    if name.endswith("_ms"):
        return f"{name.removesuffix('_ms')}_us", _us(value, 1000)
    if name == "usage_s":
        return "usage_us", _us(value, 1_000_000)
    return ("cpus" if name == "avg_cpu_cores" else name), value


def _us(value: Value, factor: int) -> Value:
    return value if value is None or isinstance(value, str) else round(value * factor)


def written(key: str, value: Value) -> str:
    """A value as its column writes it; a text stays, nothing is a dash."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return quota_words(value) if key == "cpu_max" else value
    return NAMES[key].write(value)


def quota_words(text: str) -> str:
    """cpu.max for people: "50000 100000" is 50 ms per 100 ms."""
    quota, _, period = text.partition(" ")
    if not period.isdigit() or not (quota == "max" or quota.isdigit()):
        return text
    under = f"{number(int(period) / 1000)}{NBSP}ms"
    if quota == "max":
        return f"no quota, per {under}"
    return f"{number(int(quota) / 1000)}{NBSP}ms per {under}"
