"""The pages that hold only a message say it at every width."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.chromium import binary, launch
from tests.conftest import require
from tests.lab_process import running_lab

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_message_can_be_seen() -> None:
    require(binary() is not None, "Chromium")
    with (
        tempfile.TemporaryDirectory(prefix="lab-small-") as var,
        running_lab(Path(var)) as lab,
        sync_playwright() as playwright,
    ):
        browser = launch(playwright)
        for width in (390, 1440):
            page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
            for path in ("/sign-in/", "/sign-in/none/", "/nosuch/"):
                page.goto(lab.base + path)
                expect(page.locator("main h1")).to_be_visible()
        browser.close()
