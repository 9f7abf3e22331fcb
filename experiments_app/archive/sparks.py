"""Small pictures of a run: its rounds in at most 60 points, nothing extreme lost.

A round's point is its wall, or the median latency of its requests where these are the result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db import connection

from experiments_app.archive.arms import planned_groups
from experiments_app.models import Round, Run

POINTS = 60
_WALLS = ("wall_us",)
_LATENCIES = ("work_us", "request_us")


def wall_spark(run: Run) -> list[int]:
    """The points of a run's rounds in the order of time, us; see `wall_sparks`."""
    return wall_sparks([run])[run.pk]


def wall_sparks(runs: Sequence[Run]) -> dict[int, list[int]]:
    """The points of many runs by number, at most 60 each, in one query.

    Up to 60 rounds are given one by one. Of more, each of 30 stretches gives its smallest
    and its largest point, so that a single slow round stays in sight. Rounds of units that
    are not the result (neighbours) are left out, and all of a run that is judged by CPU or by
    facts alone: it has nothing to draw.
    """
    found: dict[int, list[int]] = {run.pk: [] for run in runs}
    if not runs:
        return found
    where, values = _wanted(runs)
    if not where:
        return found
    quote = connection.ops.quote_name
    # Decimated where the rows are: a list of fifty runs may stand for half a million rounds.
    sql = f"""
        SELECT run_id, MIN(point), MAX(point) FROM (
          SELECT run_id, point, CASE WHEN total <= {POINTS} THEN place
                 ELSE place * {POINTS // 2} / total END AS stretch
          FROM (
            SELECT run_id, COALESCE(point_us, wall_us) AS point,
                   ROW_NUMBER() OVER (PARTITION BY run_id ORDER BY seq) - 1 AS place,
                   COUNT(*) OVER (PARTITION BY run_id) AS total
            FROM {quote(Round._meta.db_table)} WHERE {where}
          ) AS placed
        ) AS stretched GROUP BY run_id, stretch ORDER BY run_id, stretch"""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        for number, smallest, largest in cursor.fetchall():
            found[number] += [smallest] if smallest == largest else [smallest, largest]
    return found


def _wanted(runs: Iterable[Run]) -> tuple[str, list[int | str]]:
    """SQL for the rounds that are results; runs with the same units share a term."""
    alike: dict[tuple[bool, tuple[str, ...]], list[int]] = defaultdict(list)
    for run in runs:
        groups = planned_groups(run.plan)
        for latencies in (False, True):
            units = {
                unit
                for arm in groups
                if arm.result in (_LATENCIES if latencies else _WALLS)
                for unit in arm.results
            }
            if units:
                alike[latencies, tuple(sorted(units))].append(run.pk)
    group = connection.ops.quote_name("group")
    terms: list[str] = []
    values: list[int | str] = []
    for (latencies, units_alike), numbers in alike.items():
        # A second in which nothing was answered has no latency, and its wall says nothing.
        answered = " AND point_us IS NOT NULL" if latencies else ""
        terms.append(
            f"(run_id IN ({_marks(numbers)}) AND {group} IN ({_marks(units_alike)}){answered})"
        )
        values += [*numbers, *units_alike]
    return " OR ".join(terms), values


def _marks(values: Sequence[object]) -> str:
    return ", ".join(["%s"] * len(values)) or "NULL"
