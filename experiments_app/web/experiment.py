"""One experiment: question, arms, published and own figures, launch form, its past runs."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from experiments_app.archive.experiments import find_spec, own_entry, versions
from experiments_app.archive.selectors import past_runs
from experiments_app.catalogue import entries
from experiments_app.core.errors import LabError, SpecError
from experiments_app.core.spec import Spec, select_arms
from experiments_app.core.spec_model import MAX_REPEATS
from experiments_app.models import Role
from experiments_app.runs.launch import Request, launch
from experiments_app.runs.ring import ring
from experiments_app.runs.wiring import registry
from experiments_app.web.access import needs, who
from experiments_app.web.arm_table import arm_table
from experiments_app.web.card_pictures import picture
from experiments_app.web.catalogue import expected_us
from experiments_app.web.figure_tables import published_sources, tables
from experiments_app.web.forms import LaunchForm
from experiments_app.web.machines import best_for, statuses
from experiments_app.web.own_figures import latest_own
from experiments_app.web.preview import Choice, choice
from experiments_app.web.published import reference


@require_safe
def page(request: HttpRequest, name: str) -> HttpResponseBase:
    """Aliases lead to the experiment's own address; the form asks for its preview alone."""
    spec = _find(name)
    if spec.name != name:
        return redirect("web:experiment", name=spec.name)
    if getattr(request, "htmx", False):
        chosen = _chosen(_choices(spec, _form(spec, request.GET)))
        response = render(request, "experiment/preview.html", {"spec": spec, "chosen": chosen})
    else:
        response = _page(request, spec, _form(spec))
    # The address is the same for the preview alone: a cache must not give one for the other.
    patch_vary_headers(response, ("HX-Request",))
    return response


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
        return find_spec(name)
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
    latest = latest_own(spec)
    choices = _choices(spec, form)
    own = None if spec in entries() else own_entry(spec.name)
    context = {
        "spec": spec,
        "form": form,
        "arms": [{"arm": arm, "ticked": arm.name in form.ticked} for arm in spec.arms],
        "table": arm_table(spec),
        "source": source,
        "latest": latest,
        "figures": tables(
            spec, [*published_sources(source, spec), *(latest.sources if latest else ())]
        ),
        "picture": picture(spec),
        "targets": choices,
        "chosen": _chosen(choices),
        "not_ready": [each for each in choices if not each.ready and not each.checked],
        "best": best_for(spec),
        "expected_us": expected_us(spec),
        "own": own,
        "versions": versions(spec.name) if own else [],
        "past": past_runs(spec.name, limit=10),
    }
    return render(request, "experiment/page.html", context, status=status)


def _choices(spec: Spec, form: LaunchForm) -> list[Choice]:
    """Every target, with what it would do with the arms and repeats that the form has."""
    ticked = [arm.name for arm in spec.arms if arm.name in form.ticked]
    wanted = select_arms(spec, ticked) if ticked else spec
    repeats = _repeats(form)
    return [
        choice(wanted, status, repeats=repeats, checked=form.chosen_target == status.name)
        for status in statuses()
    ]


def _chosen(choices: list[Choice]) -> Choice | None:
    return next((each for each in choices if each.checked), None)


def _repeats(form: LaunchForm) -> int | None:
    """The number in the form; None, as published, where it is none that can be run."""
    text = str(form["repeats"].value() or "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0
    return number if 1 <= number <= MAX_REPEATS else None
