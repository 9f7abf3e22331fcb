"""Catalogue: questions as cards in a reading order, each with a picture of published figures."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from experiments_app.archive.experiments import own_entries
from experiments_app.catalogue import entries
from experiments_app.core.errors import PlanError
from experiments_app.core.plan import make_plan
from experiments_app.core.spec import Spec
from experiments_app.web.card_pictures import picture
from experiments_app.web.machines import statuses


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The published experiments, and under them people's own."""
    ready = {status.kind for status in statuses() if status.ready}
    context = {
        "cards": [card(spec, ready) for spec in entries()],
        "own": [
            {"entry": entry, "expected_us": expected_us(entry.spec)} for entry in own_entries()
        ],
        "hidden": own_entries(hidden=True),
    }
    return render(request, "catalogue/page.html", context)


def card(spec: Spec, ready: set[str]) -> dict[str, object]:
    """What a card shows of an experiment."""
    return {
        "spec": spec,
        "picture": picture(spec),
        "expected_us": expected_us(spec),
        "kinds": [{"kind": kind, "ready": kind in ready} for kind in spec.targets],
    }


def expected_us(spec: Spec) -> int | None:
    """How long it takes as published; None where it cannot be said without a target."""
    try:
        return make_plan(spec, kind=spec.targets[0], cpus=None).expected_us
    except PlanError:
        return None
