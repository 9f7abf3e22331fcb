"""A run, live or ended, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from experiments_app.archive.experiments import find_spec
from experiments_app.archive.selectors import neighbours
from experiments_app.catalogue import entries
from experiments_app.core.errors import LabError, SpecError
from experiments_app.core.plan import PlannedArm
from experiments_app.core.spec import Spec, parse_spec
from experiments_app.models import Role, Run, RunStatus
from experiments_app.runs.cancel import cancel
from experiments_app.runs.launch import Request, launch
from experiments_app.runs.ring import ring
from experiments_app.runs.wiring import registry
from experiments_app.web import facts
from experiments_app.web.access import needs, who
from experiments_app.web.published import out_of_reach, published_cpus, reference
from experiments_app.web.run_data import planned_arms, run_data
from experiments_app.web.run_tables import tables

LARGEST = 2**63 - 1


def found(number: int) -> Run:
    """The run of this number; a number that no database holds is not found either."""
    runs = Run.objects.filter(number=min(number, LARGEST))
    run = runs.first()
    if run is None:
        raise Http404(f"There is no run {str(number)[:20]} in this lab.")
    return run


@require_safe
def page(request: HttpRequest, number: int) -> HttpResponse:
    run = found(number)
    arms = planned_arms(run)
    repeats = list(run.repeats.order_by("order"))
    data = run_data(run, arms, repeats)
    spec = catalogued(run)
    source = reference(spec) if spec else None
    context = {
        **tables(data["arms"], any_published=any(arm["published"] for arm in data["arms"])),
        "run": run,
        "spec": spec,
        "linked": spec is not None or has_page(run.experiment),
        "source": source,
        "reach": out_of_reach(source, data["arms"], run.facts.get("cpus")),
        "arms": data["arms"],
        "repeats": [{"repeat": r, "label": arms[r.arm].label} for r in repeats],
        "data": {**data, "published_cpus": published_cpus(source)},
        "facts": facts.rows(run.facts),
        "near": neighbours(run),
        "notes": plan_notes(run, arms),
        "reason": reason(run),
    }
    return render(request, "run/page.html", context)


def catalogued(run: Run) -> Spec | None:
    """The experiment that the run came from, where the catalogue has it."""
    return next((spec for spec in entries() if spec.name == run.experiment), None)


def has_page(name: str) -> bool:
    """Whether there is an experiment of this name: a run from a file alone has none."""
    try:
        find_spec(name)
    except SpecError:
        return False
    return True


def reason(run: Run) -> dict[str, str] | None:
    """Why a run waits or ended as it did; None where there is nothing to explain.

    The page writes an ended run's anew from its last row.
    """
    if run.status == RunStatus.QUEUED and run.ring_error:
        remedy = "The run stays queued and is started when the broker answers again."
        return {"word": "Waiting", "text": run.ring_error, "remedy": remedy}
    if not run.ended or (run.status == RunStatus.FINISHED and not run.failed_repeats):
        return None
    text = run.reason or "the log says what happened"
    return {"word": run.status.capitalize(), "text": text, "remedy": run.remedy}


def plan_notes(run: Run, arms: Sequence[PlannedArm]) -> list[tuple[str, str]]:
    """What the plan says, once each: whom it is about ("" for all) and the sentence."""
    found: dict[str, list[str]] = {str(note): [] for note in run.plan.get("notes", ())}
    for arm in arms:
        for note in arm.notes:
            found.setdefault(note, []).append(arm.label)
    return [
        ("" if len(labels) == len(arms) else ", ".join(labels), note)
        for note, labels in found.items()
    ]


@require_POST
@needs(Role.OPERATOR)
def cancel_run(request: HttpRequest, number: int) -> HttpResponseBase:
    """Ask the run to stop; the page shows how it ends."""
    run = found(number)
    if run.ended:
        messages.info(request, f"Run {run.number} had ended already ({run.status}).")
    else:
        cancel(number=run.number, who=who(request))
    return redirect("web:run", number=run.number)


@require_POST
@needs(Role.OPERATOR)
def again(request: HttpRequest, number: int) -> HttpResponseBase:
    """Queue the same experiment, arms and repeats on the same target once more."""
    run = found(number)
    try:
        wanted = Request(
            spec=parse_spec(run.spec),
            target=registry().get(run.target),
            repeats=run.repeats_asked,
            own_version=run.own_version,
        )
        new = launch(wanted, user=request.user, who=who(request))  # type: ignore[arg-type]
    except LabError as error:
        context = {"title": f"Run {run.number} cannot be run again now", "error": error}
        return render(request, "error.html", {**context, "run": run}, status=409)
    ring(new.machine)
    return redirect("web:run", number=new.number)
