"""Archive: every run, found by typing; and runs that were exported elsewhere."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from experiments_app.archive.selectors import search_runs
from experiments_app.core.errors import LabError
from experiments_app.models import Role, Run
from experiments_app.web.access import needs, who
from experiments_app.web.forms import ImportForm

PAGE = 50
LONGEST_QUERY = 200


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The table; only its rows when the filter or "older" asks."""
    return _page(request, ImportForm())


@require_POST
@needs(Role.OPERATOR)
def import_file(request: HttpRequest) -> HttpResponseBase:
    """Take an exported run in, and show it."""
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, form, status=400)
    file = form.cleaned_data["file"]
    # Only here: the schema of documents takes longer to build than a page to serve.
    from experiments_app.archive.imports import import_run

    try:
        run = import_run(file.read(), filename=file.name, user=request.user, who=who(request))  # type: ignore[arg-type]
    except LabError as error:
        form.add_error("file", str(error))
        return _page(request, form, status=400)
    messages.success(request, f"Imported as run {run.number}.")
    return redirect("web:run", number=run.number)


def _page(request: HttpRequest, form: ImportForm, status: int = 200) -> HttpResponse:
    query = request.GET.get("q", "")[:LONGEST_QUERY].strip()
    before = _number(request.GET.get("before", ""))
    rows = search_runs(query, limit=PAGE + 1, before=before)
    more = rows[PAGE - 1].run.number if len(rows) > PAGE else None
    context = {
        "rows": rows[:PAGE],
        "q": query,
        "before": before,
        "more": more,
        "any": bool(rows) or Run.objects.exists(),
        "form": form,
    }
    part = getattr(request, "htmx", False) and status == 200
    template = "archive/rows.html" if part else "archive/page.html"
    response = render(request, template, context, status=status)
    # The address is the same for the rows alone: a cache must not give one for the other.
    patch_vary_headers(response, ("HX-Request",))
    return response


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else None
