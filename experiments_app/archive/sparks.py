"""Small pictures of a run: its walls in at most 60 points, nothing extreme lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db import connection

from experiments_app.archive.arms import planned_groups
from experiments_app.models import Round, Run

POINTS = 60


def wall_spark(run: Run) -> list[int]:
    """The walls of a run's rounds in the order of time, us; see `wall_sparks`."""
    return wall_sparks([run])[run.pk]


def wall_sparks(runs: Sequence[Run]) -> dict[int, list[int]]:
    """The walls of many runs by number, at most 60 points each, in one query.

    Up to 60 rounds are given one by one. Of more, each of 30 stretches gives its smallest
    and its largest wall, so that a single slow round stays in sight. Rounds of groups that
    are not the result (neighbours) are left out.
    """
    found: dict[int, list[int]] = {run.pk: [] for run in runs}
    if not runs:
        return found
    where, values = _wanted(runs)
    quote = connection.ops.quote_name
    # Decimated where the rows are: a list of fifty runs may stand for half a million rounds.
    sql = f"""
        SELECT run_id, MIN(wall_us), MAX(wall_us) FROM (
          SELECT run_id, wall_us, CASE WHEN total <= {POINTS} THEN place
                 ELSE place * {POINTS // 2} / total END AS stretch
          FROM (
            SELECT run_id, wall_us,
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
    """SQL for the rounds that are results; runs with the same groups share a term."""
    by_groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for run in runs:
        names = sorted({groups.result for groups in planned_groups(run.plan)})
        by_groups[tuple(names)].append(run.pk)
    group = connection.ops.quote_name("group")
    terms: list[str] = []
    values: list[int | str] = []
    for results, numbers in by_groups.items():
        terms.append(f"(run_id IN ({_marks(numbers)}) AND {group} IN ({_marks(results)}))")
        values += [*numbers, *results]
    return " OR ".join(terms), values


def _marks(values: Sequence[object]) -> str:
    return ", ".join(["%s"] * len(values)) or "NULL"
