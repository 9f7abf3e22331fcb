"""Taking the next run of a machine: a conditional update, so that one taker wins."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from experiments_app.core.instants import milliseconds
from experiments_app.models import EventKind, Run, RunStatus
from experiments_app.runs.ledger import EventRow, Ledger
from experiments_app.runs.owner import Owner


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to write a run: valid as long as nobody raised the fence."""

    number: int
    fence: int

    @property
    def ledger(self) -> Ledger:
        return Ledger(number=self.number, fence=self.fence)


def claim_next(*, machine: str, owner: Owner, only: int | None = None) -> Claim | None:
    """Claim the oldest queued run of a machine (or run `only`), or None.

    None: nothing is queued, another run of the machine is under way, or another taker was
    quicker. Runs are taken in the order of their numbers.
    """
    queue = Run.objects.filter(machine=machine, status=RunStatus.QUEUED)
    if only is not None:
        queue = queue.filter(number=only)
    number = queue.order_by("number").values_list("number", flat=True).first()
    if number is None:
        return None
    try:
        with transaction.atomic():
            return _take(number, owner)
    except IntegrityError:
        # The table allows one running run a machine: another one is under way.
        return None


def _take(number: int, owner: Owner) -> Claim | None:
    now = timezone.now()
    taken = Run.objects.filter(number=number, status=RunStatus.QUEUED).update(
        status=RunStatus.RUNNING,
        fence=F("fence") + 1,
        heartbeat=F("heartbeat") + 1,
        owner=str(owner),
        started_at=now,
        ring_error="",
    )
    if not taken:
        return None
    fence: int = Run.objects.values_list("fence", flat=True).get(number=number)
    claim = Claim(number=number, fence=fence)
    body = {"status": RunStatus.RUNNING.value, "reason": "", "at": milliseconds(now)}
    claim.ledger.append([EventRow(EventKind.RUN, body)])
    return claim
