"""A service under load in a real browser: latencies, who answered, the server's periods."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.chromium import binary, launch
from tests.conftest import require
from tests.lab_process import LabProcess, running_lab

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.kernel]

WAIT_MS = 90_000
SERVICE = """
name = "short-service"
title = "A service, shortly"
question = "Does its limit hurt?"
targets = ["local"]

[[arms]]
name = "half"
label = "limit 500m"
steps = [{ start = ["server"] }, { start = ["load"] }, { measure = "load" }]

[[arms.groups]]
name = "server"
containers = [{ limit = "500m", request = "500m", workload = { kind = "serve", live = "1MiB" } }]

[[arms.groups]]
name = "load"
role = "load"
place = "load"

[[arms.groups.containers]]
workload = { kind = "load", rate = 80, warmup = "1s", duration = "5s" }
"""


@pytest.fixture(scope="module")
def lab() -> Iterator[LabProcess]:
    require(os.geteuid() == 0 and Path("/sys/fs/cgroup").exists(), "root and cgroups")
    require(binary() is not None, "Chromium")
    with tempfile.TemporaryDirectory(prefix="lab-service-") as var, running_lab(Path(var)) as lab:
        (lab.var / "service.toml").write_text(SERVICE)
        lab.cli("run", str(lab.var / "service.toml"), "--target", "local")
        yield lab


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(params=[1440, 390])
def page(lab: LabProcess, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The run's page, at two widths, without an error in its console."""
    context = browser.new_context(viewport={"width": request.param, "height": 900})
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.set_default_timeout(WAIT_MS)
    page.goto(lab.new_link())
    page.goto(f"{lab.base}/runs/{lab.newest()}/")
    expect(page.locator("[data-role=connection]")).to_have_text("complete", timeout=WAIT_MS)
    yield page
    context.close()
    assert problems == []


def digits(text: str) -> int:
    return int("".join(c for c in text if c.isdigit()))


def test_a_service_run_shows_its_requests_as_the_document_has_them(
    lab: LabProcess, page: Page
) -> None:
    document = json.loads(lab.cli("show", str(lab.newest()), "--json").stdout)
    measures = document["arms"][0]["summary"]["measures"]
    work = page.locator("#requests tr[data-measure=result]")
    expect(work.locator("[data-role=n]")).not_to_have_text("–", timeout=WAIT_MS)
    assert digits(work.locator("[data-role=n]").inner_text()) == measures["work_us"]["n"]
    ping = page.locator("#requests tr[data-measure=ping_us] [data-role=n]")
    assert digits(ping.inner_text()) == measures["ping_us"]["n"]
    expect(page.locator("#requests [data-role=servers] tr")).to_have_count(1)
    unit = page.locator("[data-role=unit]")
    expect(unit).to_have_value("server")
    expect(page.locator("#counters [data-role=arm]")).to_have_text("limit 500m, server")
    unit.select_option("load")
    expect(page.locator("#counters [data-role=arm]")).to_have_text("limit 500m, load")
    expect(page.locator("#strip-readout")).to_contain_text("There is no limit")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_level_that_binds_is_marked_in_the_control_groups(page: Page) -> None:
    binding = page.locator("#tree tr.binds")
    expect(binding).to_have_count(1, timeout=WAIT_MS)
    expect(binding).to_contain_text("server")
    expect(binding).to_contain_text("binds: 50.0 ms per 100 ms")
