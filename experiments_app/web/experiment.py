"""One experiment: question, arms, published result, launch form, its past runs."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from experiments_app.archive.selectors import past_runs
from experiments_app.catalogue import find
from experiments_app.core.errors import LabError, PlanError, SpecError
from experiments_app.core.plan import make_plan
from experiments_app.core.spec import Spec
from experiments_app.models import Role
from experiments_app.runs.launch import Request, launch
from experiments_app.runs.ring import ring
from experiments_app.runs.wiring import registry
from experiments_app.targets.base import TargetStatus
from experiments_app.web.access import needs, who
from experiments_app.web.catalogue import expected_us
from experiments_app.web.forms import LaunchForm
from experiments_app.web.machines import best_for, statuses
from experiments_app.web.published import arm_figures, reference, wall_bars


@require_safe
def page(request: HttpRequest, name: str) -> HttpResponseBase:
    """Aliases lead to the experiment's own address."""
    spec = _find(name)
    if spec.name != name:
        return redirect("web:experiment", name=spec.name)
    return _page(request, spec, _form(spec))


@require_POST
@needs(Role.OPERATOR)
def launch_run(request: HttpRequest, name: str) -> HttpResponseBase:
    """Queue a run and show it; what is wrong stands beside the form."""
    spec = _find(name)
    form = _form(spec, request.POST)
    if not form.is_valid():
        return _page(request, spec, form, status=400)
    wanted = Request(
        spec=spec,
        target=registry().get(form.cleaned_data["target"]),
        repeats=form.cleaned_data["repeats"],
        arms=_arms(spec, form),
    )
    try:
        run = launch(wanted, user=_user(request), who=who(request))
    except LabError as error:
        form.add_error(None, str(error))
        return _page(request, spec, form, status=409)
    ring(run.machine)
    return redirect("web:run", number=run.number)


def _find(name: str) -> Spec:
    try:
        return find(name)
    except SpecError as error:
        raise Http404(str(error)) from None


def _form(spec: Spec, data: Any = None) -> LaunchForm:
    best = best_for(spec)
    return LaunchForm(
        data, spec=spec, targets=statuses(), chosen=best.name if best is not None else None
    )


def _arms(spec: Spec, form: LaunchForm) -> tuple[str, ...]:
    """Nothing where all are wanted: the spec then stays as published."""
    wanted = set(form.cleaned_data["arms"])
    names = tuple(arm.name for arm in spec.arms if arm.name in wanted)
    return () if len(names) == len(spec.arms) else names


def _user(request: HttpRequest) -> Any:
    return request.user


def _page(request: HttpRequest, spec: Spec, form: LaunchForm, status: int = 200) -> HttpResponse:
    source = reference(spec)
    choices = [_choice(spec, target, form) for target in statuses()]
    arms = [
        {
            "arm": arm,
            "container": arm.measured.containers[0],
            "published": arm_figures(source, arm.name),
            "ticked": arm.name in form.ticked,
        }
        for arm in spec.arms
    ]
    context = {
        "spec": spec,
        "form": form,
        "arms": arms,
        "source": source,
        "any_published": any(row["published"] for row in arms),
        "bars": wall_bars(spec),
        "targets": choices,
        "not_ready": [each for each in choices if not each["ready"] and not each["checked"]],
        "best": best_for(spec),
        "expected_us": expected_us(spec),
        "past": past_runs(spec.name, limit=10),
    }
    return render(request, "experiment/page.html", context, status=status)


def _choice(spec: Spec, status: TargetStatus, form: LaunchForm) -> dict[str, Any]:
    """A target in the launch form: what it will do with this experiment, or why it cannot."""
    problems = [f"{p.message} {p.remedy}".strip() for p in status.problems if p.blocking]
    now = [f"{p.message} {p.remedy}".strip() for p in status.problems if not p.blocking]
    warnings: list[str] = []
    plan = None
    if status.kind not in spec.targets:
        problems.append(f"This experiment does not run on a target of kind {status.kind}.")
    elif not problems:
        try:
            plan = make_plan(spec, kind=status.kind, cpus=status.facts.cpus)
            warnings.extend(plan.notes)
            warnings.extend(dict.fromkeys(note for arm in plan.arms for note in arm.notes))
        except PlanError as error:
            problems.append(str(error))
    return {
        "status": status,
        "ready": not problems,
        "problems": problems,
        "now": now,
        "warnings": warnings,
        "plan": plan,
        "checked": form.chosen_target == status.name,
    }
