"""The warnings of a run's repeats: what a reader of their figures must know beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from experiments_app.models import Event, EventKind, Run

WARNING = "warning"


def warnings_of(run: Run) -> Mapping[int, list[str]]:
    """The texts of every repeat's notes of level warning, in order, by the repeat's key.

    One query; a repeat without any is not in it.
    """
    found: dict[int, list[str]] = defaultdict(list)
    notes = Event.objects.filter(run_id=run.pk, kind=EventKind.NOTE, body__level=WARNING)
    for body in notes.order_by("seq").values_list("body", flat=True):
        if body["repeat"] is not None:
            found[body["repeat"]].append(body["text"])
    return dict(found)
