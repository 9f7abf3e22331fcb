"""What some kinds of work tell of a round beside its wall and counters.

Stored as JSON beside the round, and the same in a run document:
{"measures": {name: {"n", "p50", "p90", "p95", "p99", "p999", "max", "errors", "hdr"}},
 "facts": {name: whole number}, "servers": {name: {"responses", "connections"}}}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from experiments_app.core.histogram import decode
from experiments_app.core.latencies import Latencies, LatencySummary, summarise_measure
from experiments_app.core.records import Measure, Round

Json = dict[str, Any]
PARTS = ("measures", "facts", "servers")
# The latencies that a round stands for; a round has one of them at most.
POINTS = ("work_us", "request_us")
# Facts that only the last round of a unit tells, for all of them.
_OF_THE_WHOLE = frozenset({"overrun_us"})


def detail_of(record: Round) -> Json | None:
    """The detail of a measured round; None for a round that has none.

    Raises BadHistogram.
    """
    if not (record.measures or record.facts or record.servers):
        return None
    return {
        "measures": {measure.name: measure_json(measure) for measure in record.measures},
        "facts": dict(record.facts),
        "servers": {name: asdict(answers) for name, answers in record.servers.items()},
    }


def measure_json(measure: Measure) -> Json:
    """A measure in short, with its histogram. Raises BadHistogram."""
    return {**asdict(summarise_measure(measure)), "hdr": measure.histogram}


def point_of(detail: Json | None) -> int | None:
    """The median latency (us) that stands for the round; None where it has no requests."""
    measures = detail["measures"] if detail else {}
    found = [measures[name]["p50"] for name in POINTS if name in measures]
    return found[0] if found else None


def unpacked(detail: Mapping[str, Any]) -> Json:
    """The detail for those who add rounds up exactly: the pairs instead of the histogram."""
    measures = {
        name: {key: value for key, value in measure.items() if key != "hdr"}
        | {"counts": [list(pair) for pair in decode(measure["hdr"])]}
        for name, measure in detail["measures"].items()
    }
    return {**detail, "measures": measures}


class Details:
    """Adds up the details of rounds, exactly: histograms, facts by their names, answers."""

    def __init__(self) -> None:
        self.latencies: dict[str, Latencies] = {}
        self.servers: dict[str, Json] = {}
        self._facts: dict[str, int] = {}
        self._told: dict[str, int] = {}
        self._rounds = 0

    def add(self, detail: Mapping[str, Any]) -> None:
        """One round's."""
        self._rounds += 1
        for name, measure in detail["measures"].items():
            self._latencies(name).add_counts(
                decode(measure["hdr"]), measure["max"], measure["errors"]
            )
        for name, value in detail["facts"].items():
            self._facts[name] = join_fact(name, self._facts.get(name), value)
            self._told[name] = self._told.get(name, 0) + 1
        self._add_servers(detail["servers"])

    def include(self, other: Details) -> None:
        """All that another one has added up."""
        self._rounds += other._rounds
        for name, latencies in other.latencies.items():
            self._latencies(name).add_counts(
                latencies.counts.items(), latencies.max_us, latencies.errors
            )
        for name, value in other._facts.items():
            self._facts[name] = join_fact(name, self._facts.get(name), value)
            self._told[name] = self._told.get(name, 0) + other._told[name]
        self._add_servers(other.servers)

    @property
    def measures(self) -> dict[str, LatencySummary]:
        """Latencies by name, over all rounds."""
        return {name: latencies.summary() for name, latencies in self.latencies.items()}

    @property
    def facts(self) -> dict[str, int]:
        """Facts by name. A sum that some round did not tell its part of is left out."""
        return {
            name: value
            for name, value in self._facts.items()
            if name.endswith("_max") or name in _OF_THE_WHOLE or self._told[name] == self._rounds
        }

    def _latencies(self, name: str) -> Latencies:
        return self.latencies.setdefault(name, Latencies())

    def _add_servers(self, servers: Mapping[str, Mapping[str, int]]) -> None:
        for name, answers in servers.items():
            known = self.servers.setdefault(name, {"responses": 0, "connections": 0})
            for key in known:
                known[key] += answers[key]


def join_fact(name: str, known: int | None, value: int) -> int:
    """The largest where the name ends in _max, else the sum."""
    if known is None:
        return value
    return max(known, value) if name.endswith("_max") else known + value


def added_up(parts: Iterable[Details]) -> Details:
    """All of these together."""
    whole = Details()
    for part in parts:
        whole.include(part)
    return whole
