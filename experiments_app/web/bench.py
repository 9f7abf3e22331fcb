"""Bench: what runs now, what waits, what was found last, where one can run."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from experiments_app.archive.selectors import Queue, rows_of
from experiments_app.catalogue import find
from experiments_app.models import RepeatState, Round, Run
from experiments_app.models.run import END_STATES
from experiments_app.web.machines import best_for, queues, statuses
from experiments_app.web.run_data import live_data

FIRST = "burst-limits"
LATEST = 6
OVER = (RepeatState.DONE, RepeatState.FAILED, RepeatState.SKIPPED)


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
    ended = Run.objects.filter(status__in=END_STATES)
    return {
        "machines": machines,
        "running": [_running(machine, machine.running) for machine in machines if machine.running],
        "waiting": [place for machine in machines for place in machine.places],
        "latest": rows_of(list(ended.order_by("-number")[:LATEST])),
    }


def _running(machine: Queue, run: Run) -> dict[str, Any]:
    """A run under way: how far, how long still, and what its small strip needs."""
    data = live_data(run)
    planned = sum(data["arms"][repeat["arm"]]["rounds"] for repeat in data["repeats"])
    return {
        "run": run,
        "data": data,
        "id": f"live-{run.number}",
        "remaining_s": machine.remaining_s,
        "rounds": Round.objects.filter(run=run).count(),
        "rounds_planned": planned,
        "repeats_over": sum(repeat["state"] in OVER for repeat in data["repeats"]),
        "repeats": len(data["repeats"]),
    }


def _rest() -> dict[str, Any]:
    spec = find(FIRST)
    newest = Run.objects.order_by("-number").first()
    found = statuses()
    return {
        "ready": [status for status in found if status.ready],
        "not_ready": [status for status in found if not status.ready],
        "first_visit": newest is None,
        "newest": newest,
        "first_spec": spec,
        "first_target": best_for(spec),
    }
