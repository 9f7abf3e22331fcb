"""A signed-in Chromium for the benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.browser.chromium import launch
from tests.lab_process import LabProcess


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        try:
            yield browser
        finally:
            browser.close()


def signed_in(browser: Browser, lab: LabProcess) -> BrowserContext:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(lab.new_link())
    page.close()
    return context
