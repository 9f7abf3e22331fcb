"""Exports changed by hand, and what an import says to them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from experiments_app.archive.exports import export_json, export_zip
from experiments_app.archive.imports import DocumentError, import_run
from experiments_app.models import AuditEntry, Run

Body = dict[str, Any]


def taken(data: bytes, filename: str = "file.json") -> str:
    """The message of a refusal; checks that nothing was stored and that a remedy is given."""
    runs = Run.objects.count()
    with pytest.raises(DocumentError) as caught:
        import_run(data, filename=filename, user=None, who="ines")
    assert caught.value.code == "bad-document"
    assert Run.objects.count() == runs
    assert not AuditEntry.objects.exists()
    assert caught.value.message
    return str(caught.value)


def edited(run: Run, edit: Callable[[Body], object]) -> bytes:
    body = json.loads(export_json(run))
    body["run"]["id"] = "0" * 32
    edit(body)
    return json.dumps(body).encode()


def files_of(run: Run) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(export_zip(run))) as bundle:
        return {name: bundle.read(name) for name in bundle.namelist()}


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in files.items():
            bundle.writestr(name, content)
    return out.getvalue()
