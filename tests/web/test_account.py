"""Signing in by a link."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client

from experiments_app.models import AuditEntry
from labsite.links import make_token

pytestmark = pytest.mark.django_db


def test_a_link_signs_in_once(lab: object) -> None:
    path = f"/sign-in/{make_token(settings.SECRET_KEY)}/"
    first, second = Client(), Client()
    assert first.head(path).status_code == 200
    assert first.get(path)["Location"] == "/"
    assert first.get("/").status_code == 200
    spent = second.get(path)
    assert spent.status_code == 403
    assert b"does not work any more" in spent.content
    assert second.get("/").status_code == 302
    assert AuditEntry.objects.filter(action="sign-in").count() == 1


def test_the_sign_in_page_says_where_a_link_comes_from() -> None:
    page = Client().get("/sign-in/").content.decode()
    assert "./lab up" in page
    assert "./lab sign-in" in page


def test_signing_out_ends_the_session(operating: Client) -> None:
    assert operating.post("/sign-out/")["Location"] == "/sign-in/"
    assert operating.get("/").status_code == 302
