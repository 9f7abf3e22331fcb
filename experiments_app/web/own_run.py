"""Running an experiment that was kept just now."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from experiments_app.core.errors import LabError
from experiments_app.core.spec import Spec
from experiments_app.runs.launch import Request, launch
from experiments_app.runs.ring import ring
from experiments_app.runs.wiring import registry
from experiments_app.web.access import who

# What the form sends as `then` to run what it keeps.
RUN = "run"


def queued(request: HttpRequest, spec: Spec, target: str) -> HttpResponseBase:
    """Queue all arms with the experiment's own repeats and show the run.

    Where the target cannot run it, the experiment's page says why: it is kept all the same.
    """
    try:
        wanted = Request(spec=spec, target=registry().get(target))
        run = launch(wanted, user=request.user, who=who(request))  # type: ignore[arg-type]
    except LabError as error:
        messages.error(request, f"It is kept, and was not queued: {error} {error.remedy}".strip())
        return redirect("web:experiment", name=spec.name)
    ring(run.machine)
    return redirect("web:run", number=run.number)
