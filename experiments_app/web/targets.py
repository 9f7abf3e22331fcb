"""Targets: each ready or with its remedy, versions, machine and queue."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from experiments_app.web.machines import target_lines


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    return render(request, "targets/page.html", {"lines": target_lines()})
