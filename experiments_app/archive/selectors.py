"""What the lists of runs ask: searching the archive, an experiment's past, a machine's queue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from experiments_app.archive.arms import planned_groups
from experiments_app.archive.sparks import wall_sparks
from experiments_app.models import RepeatState, Round, Run, RunStatus

MOST_WORDS = 12
_US = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class ArmCounts:
    """Rounds of an arm's result; rounds of its counted units that have a counter, and those
    throttled of them."""

    rounds: int
    counted: int
    throttled: int


@dataclass(frozen=True, slots=True)
class ArchiveRow:
    """One line of a table of runs.

    `spark` holds the walls in us (see archive.sparks). `arms_throttled` counts arms with at
    least one throttled round, of `arms_counted` arms that have the counter at all; `line`
    says the same in words.
    """

    run: Run
    arms: int
    repeats: int
    repeats_done: int
    repeats_failed: int
    rounds: int
    spark: list[int]
    arms_counted: int
    arms_throttled: int
    line: str


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Runs of the same experiment beside one, by number; None at either end."""

    older: Run | None
    newer: Run | None


@dataclass(frozen=True, slots=True)
class Place:
    """A queued run: its place from 1, and seconds until it may begin; None where unknown."""

    run: Run
    place: int
    starts_in_s: int | None


@dataclass(frozen=True, slots=True)
class Queue:
    """What a machine does now and what waits for it. `remaining_s` is of the running run."""

    machine: str
    running: Run | None
    remaining_s: int | None
    places: tuple[Place, ...]


def search_runs(query: str = "", *, limit: int = 50, before: int | None = None) -> list[ArchiveRow]:
    """Runs that match every word of the query, newest first, with number < `before`.

    A word is looked for in experiment, title, target, status, reason and who launched it;
    "41", "#41" or "run 41" is a number, "imported" the runs that came from elsewhere. Five
    queries at most, however many runs.
    """
    runs = Run.objects.order_by("-number")
    if before is not None:
        runs = runs.filter(number__lt=before)
    for condition in conditions(query):
        runs = runs.filter(condition)
    return rows_of(list(runs[:limit]))


def past_runs(experiment: str, *, limit: int = 20) -> list[ArchiveRow]:
    """The newest runs of an experiment."""
    runs = Run.objects.filter(experiment=experiment)
    return rows_of(list(runs.order_by("-number")[:limit]))


def neighbours(run: Run) -> Neighbours:
    """The runs of the same experiment just before and after this one."""
    same = Run.objects.filter(experiment=run.experiment)
    return Neighbours(
        older=same.filter(number__lt=run.number).order_by("-number").first(),
        newer=same.filter(number__gt=run.number).order_by("number").first(),
    )


def rows_of(runs: Sequence[Run]) -> list[ArchiveRow]:
    """The lines of these runs, in their order."""
    sparks = wall_sparks(runs)
    numbers = [run.pk for run in runs]
    repeats = _repeats(numbers)
    counts = _counts(runs)
    return [_row(run, sparks[run.pk], repeats[run.pk], counts[run.pk]) for run in runs]


def conditions(query: str) -> list[Q]:
    """One condition a word; "run 41" is one word."""
    # PostgreSQL takes no NUL in text.
    words = query.replace("\0", " ").casefold().split()[:MOST_WORDS]
    found: list[Q] = []
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word == "run" and _number(following) is not None:
            continue
        number = _number(word)
        named = (place > 0 and words[place - 1] == "run") or word.startswith("#")
        if number is not None and named:
            found.append(Q(number=number))
            continue
        found.append(_anywhere(word) | (Q() if number is None else Q(number=number)))
    return found


def queue(machine: str, *, now: datetime | None = None) -> Queue:
    """The running run of a machine and its queue, with when each may begin.

    A start is the rest of the running run plus what is expected of those before. It is None
    when one of these is not known, as when the running run takes far longer than expected.
    """
    at = now or timezone.now()
    runs = list(
        Run.objects.filter(
            machine=machine, status__in=(RunStatus.QUEUED, RunStatus.RUNNING)
        ).order_by("number")
    )
    running = next((run for run in runs if run.status == RunStatus.RUNNING), None)
    rest = _remaining_us(running, at) if running else 0
    wait = rest
    places: list[Place] = []
    for run in runs:
        if run.status != RunStatus.QUEUED:
            continue
        places.append(Place(run, len(places) + 1, _seconds(wait)))
        known = wait is not None and run.expected_us > 0
        wait = wait + run.expected_us if wait is not None and known else None
    return Queue(machine, running, _seconds(rest) if running else None, tuple(places))


def _anywhere(word: str) -> Q:
    columns = ("experiment", "title", "target", "status", "reason", "launched_who")
    condition = Q()
    for column in columns:
        condition |= Q(**{f"{column}__icontains": word})
    return condition | Q(imported=True) if word == "imported" else condition


def _number(word: str) -> int | None:
    digits = word.removeprefix("#")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 15 else None


def _repeats(numbers: Sequence[int]) -> dict[int, tuple[int, int, int]]:
    """By run: repeats, those done, those failed."""
    found: dict[int, tuple[int, int, int]] = defaultdict(lambda: (0, 0, 0))
    rows = (
        Run.objects.filter(number__in=numbers)
        .order_by()
        .values_list("number")
        .annotate(
            Count("repeats"),
            done=Count("repeats", filter=Q(repeats__state=RepeatState.DONE)),
            failed=Count("repeats", filter=Q(repeats__state=RepeatState.FAILED)),
        )
    )
    for number, total, done, failed in rows:
        found[number] = (total, done, failed)
    return found


def _counts(runs: Sequence[Run]) -> dict[int, dict[int, ArmCounts]]:
    """By run and arm: rounds of its result; of what is counted, measured and throttled ones."""
    found: dict[int, dict[int, ArmCounts]] = defaultdict(dict)
    planned = {run.pk: planned_groups(run.plan) for run in runs}
    rows: QuerySet[Round, tuple[int, int, str, int, int, int]] = (
        Round.objects.filter(run_id__in=list(planned))
        .order_by()
        .values_list("run_id", "repeat__arm", "group")
        .annotate(
            Count("pk"),
            counted=Count("settled_throttled_us"),
            throttled=Count("pk", filter=Q(settled_throttled_us__gt=0)),
        )
    )
    nothing = ArmCounts(0, 0, 0)
    for number, arm, unit, rounds, counted, throttled in rows:
        groups, known = planned[number][arm], found[number].get(arm, nothing)
        of_result, of_counted = unit in groups.results, unit in groups.counted_rounds
        found[number][arm] = ArmCounts(
            known.rounds + (rounds if of_result else 0),
            known.counted + (counted if of_counted else 0),
            known.throttled + (throttled if of_counted else 0),
        )
    return found


def _row(
    run: Run, spark: list[int], repeats: tuple[int, int, int], counts: dict[int, ArmCounts]
) -> ArchiveRow:
    total, done, failed = repeats
    arms = len(run.plan["arms"])
    counted = sum(arm.counted > 0 for arm in counts.values())
    throttled = sum(arm.throttled > 0 for arm in counts.values())
    rounds = sum(arm.rounds for arm in counts.values())
    return ArchiveRow(
        run=run,
        arms=arms,
        repeats=total,
        repeats_done=done,
        repeats_failed=failed,
        rounds=rounds,
        spark=spark,
        arms_counted=counted,
        arms_throttled=throttled,
        line=_line(arms, rounds, counted, throttled),
    )


def _line(arms: int, rounds: int, counted: int, throttled: int) -> str:
    if not rounds:
        return "no rounds"
    if not counted:
        return "throttling not measured"
    among = f"{counted} arm{'s' if counted != 1 else ''}"
    measured = "" if counted == arms else " measured"
    if not throttled:
        return f"not throttled in {among}{measured}"
    return f"throttled in {throttled} of {among}{measured}"


def _remaining_us(run: Run, now: datetime) -> int | None:
    """What is left of a running run; None once it is past half as long again as expected."""
    if run.started_at is None or run.expected_us <= 0:
        return None
    elapsed = max(0, (now - run.started_at) // _US)
    if elapsed > run.expected_us * 3 // 2:
        return None
    return max(0, run.expected_us - elapsed)


def _seconds(us: int | None) -> int | None:
    return None if us is None else -(-us // 1_000_000)
