"""Bench: what runs now, what waits, what was found last, where one can run."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from experiments_app.archive.selectors import rows_of
from experiments_app.catalogue import find
from experiments_app.models import Run
from experiments_app.models.run import END_STATES
from experiments_app.web.machines import best_for, queues, statuses
from experiments_app.web.run_data import live_data

FIRST = "burst-limits"
LATEST = 6


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The whole page; its live part asks for itself again every 2 s."""
    return render(request, "bench/page.html", {**_now(), **_rest()})


@require_safe
def now(request: HttpRequest) -> HttpResponse:
    """The part that changes by itself: running, queue, latest."""
    return render(request, "bench/now.html", _now())


def _now() -> dict[str, Any]:
    machines = queues()
    running = [machine.running for machine in machines if machine.running]
    ended = Run.objects.filter(status__in=END_STATES)
    return {
        "machines": machines,
        "running": [
            {"run": run, "data": live_data(run), "id": f"live-{run.number}"} for run in running
        ],
        "waiting": [place for machine in machines for place in machine.places],
        "latest": rows_of(list(ended.order_by("-number")[:LATEST])),
    }


def _rest() -> dict[str, Any]:
    spec = find(FIRST)
    first = not Run.objects.exists()
    return {
        "targets": statuses(),
        "first_visit": first,
        "first_spec": spec,
        "first_target": best_for(spec),
    }
