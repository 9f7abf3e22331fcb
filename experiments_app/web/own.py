"""A person's own experiments: the form and the file, keeping versions, hiding."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST, require_safe

from experiments_app.archive.experiments import find_spec, own_entry, version
from experiments_app.core.errors import SpecError
from experiments_app.core.spec import Spec, file_to_start_from, parse_spec
from experiments_app.core.spec_load import MAX_TEXT
from experiments_app.models import Role
from experiments_app.runs import experiments as keeping
from experiments_app.web.access import needs, who
from experiments_app.web.machines import statuses
from experiments_app.web.own_check import (
    BadDraft,
    Draft,
    checked,
    derived,
    free_name,
    from_file,
    from_form,
    from_spec,
    placed,
    preview,
)
from experiments_app.web.own_run import RUN, queued
from experiments_app.web.own_schema import blank, form_schema
from experiments_app.web.run import found as found_run

LARGEST = 4 * MAX_TEXT
FILE, FORM = "file", "form"


@require_safe
def new(request: HttpRequest) -> HttpResponseBase:
    """The form: blank, from a run as it was (`from`), or from an experiment (`experiment`)."""
    number, name = request.GET.get("from", ""), request.GET.get("experiment", "")
    try:
        if number:
            draft, origin = _from_run(number)
        elif name:
            spec = find_spec(name)
            draft = from_spec(derived(spec, name=free_name(spec.name)))
            origin = f"It begins as {spec.name} is now."
        else:
            draft, origin = from_form(blank()), ""
    except SpecError as error:
        raise Http404(str(error)) from None
    return _page(request, draft, origin=origin, fresh=True)


@require_safe
def edit(request: HttpRequest, name: str) -> HttpResponseBase:
    """The form filled with an own experiment; saving makes its next version."""
    entry = own_entry(name)
    if entry is None:
        target = redirect("web:own-new")
        target["Location"] += f"?experiment={_known(name).name}"
        return target
    chosen = _version(name, request.GET.get("version")) or entry.newest
    origin = f"Keeping it makes version {entry.newest.n + 1}; the versions before stay."
    if chosen.n != entry.newest.n:
        origin = f"It begins as version {chosen.n} was. {origin}"
    draft = from_spec(chosen.spec)
    return _page(request, draft, origin=origin, editing=name, based_on=entry.newest.n)


@require_POST
def check(request: HttpRequest) -> HttpResponseBase:
    """JSON in: {spec} or {toml}, editing, target. Out: what is wrong and where, both forms, the
    plan as a piece of page; null where there is none."""
    try:
        sent = _sent(request)
        draft = checked(_draft(sent), str(sent.get("editing") or ""))
    except BadDraft as error:
        return JsonResponse({"error": str(error)}, status=400)
    plan = preview(draft, str(sent.get("target") or ""))
    html = None if plan is None else render_to_string("own/preview.html", {"plan": plan})
    return JsonResponse(
        {
            "errors": [placed(error) for error in draft.errors],
            "spec": draft.raw,
            "toml": draft.toml,
            "preview": html,
        }
    )


@require_POST
@needs(Role.OPERATOR)
def save(request: HttpRequest) -> HttpResponseBase:
    """Keep the draft as the next version and show the experiment; else the form says why not.

    With `then` = "run" it is queued on `target` at once, and its run is shown.
    """
    editing = request.POST.get("editing", "")
    based_on = _number(request.POST.get("based_on", "")) or 0
    tab = FORM if request.POST.get("how") == FORM else FILE
    try:
        draft, read_only = _posted(request, tab)
    except BadDraft as error:
        draft = Draft(None, request.POST.get("toml", ""), None, (SpecError(str(error)),))
        return _page(request, draft, tab=FILE, editing=editing, based_on=based_on, status=400)
    draft = checked(draft, editing)
    page: dict[str, Any] = {"tab": tab, "editing": editing, "based_on": based_on}
    if read_only:
        return _page(request, draft, **page)
    if draft.spec is None or draft.errors:
        return _page(request, draft, **page, status=400)
    base = based_on if draft.spec.name == editing else 0
    try:
        kept = keeping.keep(draft.spec, user=_user(request), who=who(request), based_on=base)
    except keeping.NewerVersion as error:
        page["based_on"] = error.newest
        return _page(request, draft, **page, conflict=str(error), status=409)
    except SpecError as error:
        taken = Draft(draft.raw, draft.toml, draft.spec, (error,))
        return _page(request, taken, **page, status=409)
    said = f"Kept {kept.name} as version {kept.version}."
    if not kept.changed:
        said = f"Nothing has changed: {kept.name} stays at version {kept.version}."
    messages.success(request, said)
    if request.POST.get("then") == RUN:
        return queued(request, draft.spec, request.POST.get("target", ""))
    return redirect("web:experiment", name=kept.name)


@require_POST
@needs(Role.OPERATOR)
def hide(request: HttpRequest, name: str) -> HttpResponseBase:
    """Out of the lists; the page, its versions and runs stay."""
    return _show(request, name, hidden=True)


@require_POST
@needs(Role.OPERATOR)
def restore(request: HttpRequest, name: str) -> HttpResponseBase:
    """Back into the lists."""
    return _show(request, name, hidden=False)


@require_safe
def as_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """An experiment as a TOML file: the newest version, or that of `version`."""
    chosen = _version(name, request.GET.get("version"))
    spec = chosen.spec if chosen is not None else _known(name)
    answer = HttpResponse(file_to_start_from(spec), content_type="application/toml; charset=utf-8")
    mark = f"-{chosen.n}" if chosen is not None else ""
    answer["Content-Disposition"] = f'attachment; filename="{spec.name}{mark}.toml"'
    return answer


def _show(request: HttpRequest, name: str, *, hidden: bool) -> HttpResponseBase:
    try:
        (keeping.hide if hidden else keeping.restore)(name, who=who(request))
    except keeping.NoOwnExperiment as error:
        raise Http404(str(error)) from None
    said = "is hidden: its page and runs stay" if hidden else "is in the lists again"
    messages.success(request, f"{name} {said}.")
    return redirect("web:experiment", name=name)


def _from_run(text: str) -> tuple[Draft, str]:
    number = _number(text)
    if number is None:
        raise Http404(f"{text[:20]} is no number of a run.")
    run = found_run(number)
    spec = derived(parse_spec(run.spec), name=free_name(run.experiment), repeats=run.repeats_asked)
    return from_spec(spec), f"It begins as run {run.number} of {run.experiment} was."


def _known(name: str) -> Spec:
    try:
        return find_spec(name)
    except SpecError as error:
        raise Http404(str(error)) from None


def _version(name: str, text: str | None) -> Any:
    """The version that the address names; None where it names none."""
    if text is None:
        return None
    number = _number(text)
    chosen = None if number is None else version(name, number)
    if chosen is None:
        raise Http404(f"{name} has no version {text[:20]}.")
    return chosen


def _sent(request: HttpRequest) -> dict[str, Any]:
    if len(request.body) > LARGEST:
        raise BadDraft("That is too long.", remedy=f"A spec has at most {MAX_TEXT} characters.")
    try:
        sent = json.loads(request.body)
    except (ValueError, RecursionError):
        sent = None
    if not isinstance(sent, dict):
        raise BadDraft("What was sent is no JSON object.", remedy="Load the page again.")
    return sent


def _draft(sent: dict[str, Any]) -> Draft:
    if isinstance(sent.get("toml"), str):
        return from_file(sent["toml"])
    return from_form(sent.get("spec"))


def _posted(request: HttpRequest, tab: str) -> tuple[Draft, bool]:
    """The draft of a sent page; True where it only brought a file to look at first."""
    upload = request.FILES.get("upload")
    if upload is not None:
        if (upload.size or 0) > LARGEST:
            raise BadDraft(f"The file has {upload.size} bytes.", remedy="A spec is far smaller.")
        try:
            return from_file(upload.read().decode()), True
        except UnicodeDecodeError:
            raise BadDraft(
                "The file is not UTF-8 text.", remedy="Choose a TOML file of an experiment."
            ) from None
    if tab == FILE:
        return from_file(request.POST.get("toml", "")), False
    try:
        return from_form(json.loads(request.POST.get("spec", ""))), False
    except (ValueError, RecursionError):
        raise BadDraft(
            "The form's values did not arrive.", remedy="Load the page again, or use the file."
        ) from None


def _number(text: str) -> int | None:
    fits = text.isascii() and text.isdigit() and len(text) <= 18
    return int(text) if fits else None


def _user(request: HttpRequest) -> Any:
    return request.user


def _page(
    request: HttpRequest,
    draft: Draft,
    *,
    tab: str = FORM,
    origin: str = "",
    editing: str = "",
    based_on: int = 0,
    conflict: str = "",
    fresh: bool = False,
    status: int = 200,
) -> HttpResponse:
    errors = [] if fresh else [placed(error) for error in draft.errors]
    data = {
        "schema": form_schema(),
        "blank": blank(),
        "spec": draft.raw,
        "tab": tab if draft.raw is not None else FILE,
        "fresh": fresh,
        "editing": editing,
    }
    targets = statuses()
    context = {
        "data": data,
        "draft": draft,
        "errors": errors,
        "origin": origin,
        "editing": editing,
        "based_on": based_on,
        "conflict": conflict,
        "targets": targets,
        "ready": next((target.name for target in targets if target.ready), ""),
    }
    return render(request, "own/page.html", context, status=status)
