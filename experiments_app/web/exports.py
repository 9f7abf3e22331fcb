"""A run as a file."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from experiments_app.archive.exports import export_json, export_zip
from experiments_app.archive.tables import repeats_csv, rounds_csv
from experiments_app.models import Run
from experiments_app.web.run import found


@require_safe
def as_json(request: HttpRequest, number: int) -> HttpResponseBase:
    run = found(number)
    return _file(run, "json", "application/json", export_json(run))


@require_safe
def as_zip(request: HttpRequest, number: int) -> HttpResponseBase:
    run = found(number)
    return _file(run, "zip", "application/zip", export_zip(run))


@require_safe
def repeats(request: HttpRequest, number: int) -> HttpResponseBase:
    run = found(number)
    return _lines(run, "repeats.csv", repeats_csv(run))


@require_safe
def rounds(request: HttpRequest, number: int) -> HttpResponseBase:
    run = found(number)
    return _lines(run, "rounds.csv", rounds_csv(run))


def _name(run: Run, ending: str) -> str:
    return f'attachment; filename="run-{run.number}-{run.experiment}.{ending}"'


def _file(run: Run, ending: str, kind: str, data: bytes) -> HttpResponse:
    return HttpResponse(
        data, content_type=kind, headers={"Content-Disposition": _name(run, ending)}
    )


def _lines(run: Run, ending: str, lines: Iterable[str]) -> HttpResponse:
    return _file(run, ending, "text/csv; charset=utf-8", "".join(lines).encode())
