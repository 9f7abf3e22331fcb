"""The rounds of a run, tallied by repeat and unit; a service's from when its load counts.

A server reports from its start on. What it did while the load warmed it up is left out, as it
is of the counters from outside: all figures of an arm are then about the same time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db.models import Min

from experiments_app.archive.arms import ArmGroups
from experiments_app.archive.tally import COUNTERS, Tally
from experiments_app.models import Repeat, Round, Run

Key = tuple[int, str]
# Two clocks that differ by less than this are taken for one: programs say their time when
# they start, not at the same instant.
_ONE_CLOCK_US = 1_000_000


def tallies(
    run: Run, repeats: Iterable[Repeat], groups: Sequence[ArmGroups]
) -> Mapping[Key, Tally]:
    """One query, and one more where a load is measured."""
    begins = _begins(run, repeats, groups)
    found: dict[Key, Tally] = defaultdict(Tally)
    settled = ("settled_window_us", *(f"settled_{name}" for name in COUNTERS))
    own = ("start_us", "wall_us", "window_us", "usage_us")
    rows = (
        Round.objects.filter(run_id=run.pk)
        .order_by("seq")
        .values_list("repeat_id", "group", "detail", *own, *settled)
    )
    for (
        repeat,
        unit,
        detail,
        start_us,
        wall_us,
        own_us,
        usage_us,
        window_us,
        *values,
    ) in rows.iterator(chunk_size=5000):
        begin = begins.get((repeat, unit))
        if begin is not None and start_us < begin:
            continue
        found[repeat, unit].add(
            wall_us, window_us, tuple(values), own=(own_us, usage_us), detail=detail
        )
    return found


def _begins(run: Run, repeats: Iterable[Repeat], groups: Sequence[ArmGroups]) -> Mapping[Key, int]:
    """When a unit's rounds begin to count, us of its own clock; only for units of a service."""
    served = {
        repeat.pk: (repeat, groups[repeat.arm])
        for repeat in repeats
        if groups[repeat.arm].result == "work_us"
    }
    if not served:
        return {}
    first: dict[int, tuple[int, str]] = {}
    rows = (
        Round.objects.filter(run_id=run.pk, repeat_id__in=list(served))
        .order_by()
        .values_list("repeat_id", "group")
        .annotate(Min("start_us"))
    )
    for pk, unit, start_us in rows:
        if unit in served[pk][1].results:
            first[pk] = min(first.get(pk, (start_us, unit)), (start_us, unit))
    return {
        (pk, unit): start_us + _ahead(served[pk][0], unit, load)
        for pk, (start_us, load) in first.items()
        for unit in served[pk][1].own
        if unit not in served[pk][1].results
    }


def _ahead(repeat: Repeat, unit: str, other: str) -> int:
    """How far the clock of a unit is ahead of another one's (us); 0 on the same machine."""
    clocks = [repeat.programs.get(name) for name in (unit, other)]
    if None in clocks:
        return 0
    one, two = (clock["mono_us"] - clock["unix_us"] for clock in clocks if clock)
    return one - two if abs(one - two) >= _ONE_CLOCK_US else 0
