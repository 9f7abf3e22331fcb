"""Catalogue: questions as cards in a reading order, each with a picture of published figures."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from experiments_app.catalogue import entries
from experiments_app.core.errors import PlanError
from experiments_app.core.plan import make_plan
from experiments_app.core.spec import Spec
from experiments_app.web.machines import statuses
from experiments_app.web.published import Bar, wall_bars


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    ready = {status.kind for status in statuses() if status.ready}
    cards = [card(spec, ready) for spec in entries()]
    return render(request, "catalogue/page.html", {"cards": cards})


def card(spec: Spec, ready: set[str]) -> dict[str, object]:
    """What a card shows of an experiment."""
    bars: list[Bar] = wall_bars(spec)
    return {
        "spec": spec,
        "bars": bars,
        "expected_us": expected_us(spec),
        "kinds": [{"kind": kind, "ready": kind in ready} for kind in spec.targets],
    }


def expected_us(spec: Spec) -> int | None:
    """How long it takes as published; None where it cannot be said without a target."""
    try:
        return make_plan(spec, kind=spec.targets[0], cpus=None).expected_us
    except PlanError:
        return None
