"""Which version of an own experiment a run was, through export and import."""

from __future__ import annotations

import json
from typing import Any

import pytest

from experiments_app.archive.document import document
from experiments_app.archive.errors import DocumentError
from experiments_app.archive.exports import export_json
from experiments_app.archive.imports import import_run
from experiments_app.models import Run
from tests.archive.support import a_run

pytestmark = pytest.mark.django_db


def imported(data: bytes) -> Run:
    Run.objects.all().delete()
    return import_run(data, filename="run.json", user=None, who="ines")


@pytest.mark.parametrize("version", [None, 1, 12])
def test_the_version_is_in_the_document_and_comes_back(version: int | None) -> None:
    run = a_run(own_version=version)
    before = document(run)["run"]
    assert before["own_version"] == version
    after = imported(export_json(run))
    assert after.own_version == version
    assert document(after)["run"] == before | {"number": after.number, "imported": True}


def test_a_document_from_before_there_were_versions() -> None:
    body = json.loads(export_json(a_run()))
    del body["run"]["own_version"]
    assert imported(json.dumps(body).encode()).own_version is None


@pytest.mark.parametrize("version", [-1, 2**31, "2", 1.5, True])
def test_a_version_that_is_none_is_refused(version: Any) -> None:
    body = json.loads(export_json(a_run(own_version=1)))
    body["run"]["own_version"] = version
    with pytest.raises(DocumentError, match="own_version"):
        imported(json.dumps(body).encode())
