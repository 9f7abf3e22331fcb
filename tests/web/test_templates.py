"""What no template may have: inline style or script, foreign addresses, two of one id."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from tests.runs.scripted import queued_run

TEMPLATES = sorted((settings.BASE_DIR / "templates").rglob("*.html"))
SOURCES = sorted((settings.BASE_DIR / "static").rglob("*.[cj]s*"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_nothing_inline(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"\sstyle=", text)
    assert "<style" not in text
    assert not re.search(r"\son[a-z]+=", text)
    assert not re.search(r"<script(?![^>]*(src=|json))", text)


@pytest.mark.parametrize("path", [*TEMPLATES, *SOURCES], ids=lambda path: path.name)
def test_nothing_is_fetched_from_elsewhere(path: Path) -> None:
    foreign = re.findall(r"https?://[^\s\"')]+", path.read_text())
    assert [url for url in foreign if "www.w3.org" not in url] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_source_stays_readable(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 300


@pytest.mark.django_db
def test_ids_are_unique_on_every_page(operating: Client) -> None:
    run = queued_run()
    pages = ["/", "/catalogue/", "/experiments/burst-limits/", "/archive/", "/targets/"]
    for where in (*pages, f"/runs/{run.number}/"):
        page = operating.get(where).content.decode()
        doubled = [i for i, n in Counter(re.findall(r'\sid="([^"]+)"', page)).items() if n > 1]
        assert doubled == [], where
