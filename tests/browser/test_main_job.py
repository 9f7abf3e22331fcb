"""The main job in a real browser: sign in, queue, watch, reload, a killed worker, the archive."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import playwright as playwright_package
import pytest
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from tests.browser.chromium import binary, launch
from tests.conftest import require
from tests.lab_process import ROOT, LabProcess, running_lab
from tests.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.kernel]

WAIT_MS = 60_000
expect.set_options(timeout=WAIT_MS)


@pytest.fixture(scope="module")
def lab() -> Iterator[LabProcess]:
    require(os.geteuid() == 0 and Path("/sys/fs/cgroup").exists(), "root and cgroups")
    require(binary() is not None, "Chromium")
    with tempfile.TemporaryDirectory(prefix="lab-browser-") as var, running_lab(Path(var)) as lab:
        yield lab


@pytest.fixture(scope="module")
def context(lab: LabProcess) -> Iterator[BrowserContext]:
    """A browser signed in by the link that `./lab up` printed."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        page.goto(lab.link)
        expect(page).to_have_url(f"{lab.base}/")
        page.close()
        yield context
        browser.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that must not log an error or ask another host for anything."""
    page = context.new_page()
    problems: list[str] = []
    hosts: set[str] = set()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: hosts.add(re.sub(r"^\w+://([^/]*).*$", r"\1", request.url)))
    page.set_default_timeout(WAIT_MS)
    yield page
    page.close()
    assert problems == []
    assert len(hosts - {""}) <= 1, "no external requests"


def queue(page: Page, lab: LabProcess, *arms: str) -> int:
    """Queue burst-limits from its page with only these arms; the run's number."""
    page.goto(f"{lab.base}/experiments/burst-limits/")
    page.locator("#launch details summary", has_text="Arms").click()
    for box in page.locator("#launch input[name=arms]").all():
        box.set_checked(box.get_attribute("value") in arms)
    page.get_by_role("button", name="Queue the run").click()
    page.wait_for_url(re.compile(r"/runs/\d+/"))
    return int(page.url.rstrip("/").rpartition("/")[2])


def rounds_seen(page: Page, arm: str) -> int:
    """How many rounds of an arm the page shows."""
    return int(page.locator(f"a.arm[data-arm={arm}]").get_attribute("data-rounds") or 0)


def test_a_link_works_once(lab: LabProcess, context: BrowserContext) -> None:
    page = context.browser.new_context().new_page()  # type: ignore[union-attr]
    page.goto(lab.link)
    assert "/sign-in/" in page.url
    assert "Traceback" not in page.content()
    answer = page.goto(f"{lab.base}/archive/")
    assert answer is not None
    assert "/sign-in/" in page.url, "nobody sees the archive without signing in"


def test_the_first_visit_has_one_button_that_starts_a_run(lab: LabProcess, page: Page) -> None:
    page.goto(lab.base)
    page.get_by_role("button", name="Run burst-limits on local").click()
    page.wait_for_url(re.compile(r"/runs/\d+/"))
    number = int(page.url.rstrip("/").rpartition("/")[2])
    expect(page.locator("[data-role=connection]")).to_have_text("live")
    page.locator("form[data-role=cancel] button").click()
    page.get_by_role("button", name="Cancel the run").click()
    expect(page.locator("[data-role=status]")).to_have_text("cancelled", timeout=15_000)
    assert lab.run(number)["status"] == "cancelled"
    until(lambda: not lab.left_on_kernel(), "nothing is left on the kernel")


def test_a_run_live_reloaded_in_the_middle_and_complete(lab: LabProcess, page: Page) -> None:
    number = queue(page, lab, "no-limit", "limit-500m")
    until(lambda: rounds_seen(page, "no-limit") >= 3, "three rounds on the page", seconds=60)
    page.reload()
    until(lambda: rounds_seen(page, "no-limit") >= 4, "the page has caught up", seconds=30)
    until(lambda: rounds_seen(page, "limit-500m") >= 3, "the next arm's rounds", seconds=60)
    expect(page.locator("[data-role=connection]")).to_have_text("complete")
    expect(page.locator("[data-role=status]")).to_have_text("finished")
    assert [rounds_seen(page, arm) for arm in ("no-limit", "limit-500m")] == [20, 20]
    assert lab.rounds(number) == [*range(1, 21), *range(1, 21)]
    document = json.loads(lab.cli("show", str(number), "--json").stdout)
    free, limited = document["arms"]
    assert limited["summary"]["nr_throttled"] > 0
    assert not free["summary"]["nr_throttled"]
    assert not lab.left_on_kernel()


def test_the_strip_adds_up_to_the_counters(lab: LabProcess) -> None:
    """Used and paused over the cells of the real run's strip equal the arm's totals."""
    number = lab.query("SELECT max(number) FROM lab_run WHERE status = 'finished'")[0][0]
    rows = lab.query(
        "SELECT b.data, b.t0_us, b.t1_us, b.count, r.totals, r.arm FROM lab_sampleblock b"
        " JOIN lab_repeat r ON r.id = b.repeat_id WHERE b.run_id = ? ORDER BY b.seq",
        number,
    )
    repeats: dict[int, dict[str, object]] = {}
    for data, t0, t1, count, totals, arm in rows:
        entry = repeats.setdefault(arm, {"blocks": [], "totals": json.loads(totals)["app"]})
        packed = {"data": base64.b64encode(data).decode(), "t0": t0, "t1": t1, "count": count}
        entry["blocks"].append(packed)  # type: ignore[attr-defined]
        entry["quota"] = [None, 50_000][arm]
    assert len(repeats) == 2
    node = Path(playwright_package.__file__).parent / "driver" / "node"
    script = ROOT / "tests" / "browser" / "strip-sums.mjs"
    done = subprocess.run(
        [node, script],
        input=json.dumps(list(repeats.values())),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for sums, entry in zip(json.loads(done.stdout), repeats.values(), strict=True):
        totals = entry["totals"]
        assert isinstance(totals, dict)
        assert sums == {"used": totals["usage_us"], "paused": totals["throttled_us"]}


def test_a_killed_worker_is_told_with_a_reason(lab: LabProcess, page: Page) -> None:
    number = queue(page, lab, "limit-500m")
    until(lambda: rounds_seen(page, "limit-500m") >= 2, "two rounds on the page", seconds=60)
    lab.kill("worker")
    expect(page.locator("[data-role=status]")).to_have_text("interrupted", timeout=20_000)
    expect(page.locator("[data-role=reason]")).to_contain_text("killed or crashed")
    expect(page.locator("[data-role=reason]")).to_contain_text("Run it again")
    assert lab.run(number)["reason_code"] == "worker-gone"
    until(lambda: not lab.left_on_kernel(), "the sweeper has cleaned up")


def test_a_restarted_web_server_is_caught_up_with(lab: LabProcess, page: Page) -> None:
    """Also shows that the killed worker's successor takes the next run."""
    number = queue(page, lab, "limit-500m")
    until(lambda: rounds_seen(page, "limit-500m") >= 2, "two rounds on the page", seconds=90)
    lab.kill("web")
    expect(page.locator("[data-role=status]")).to_have_text("finished")
    expect(page.locator("[data-role=connection]")).to_have_text("complete")
    assert rounds_seen(page, "limit-500m") == 20
    assert lab.rounds(number) == list(range(1, 21))


def test_both_are_found_in_the_archive(lab: LabProcess, page: Page) -> None:
    numbers = {
        status: lab.query("SELECT max(number) FROM lab_run WHERE status = ?", status)[0][0]
        for status in ("finished", "interrupted")
    }
    page.goto(f"{lab.base}/archive/")
    for status, number in numbers.items():
        row = page.locator("tr", has=page.locator(f"a[href='/runs/{number}/']"))
        expect(row.first).to_contain_text(status)
    page.get_by_role("searchbox").fill("interrupted")
    other = page.locator(f"a[href='/runs/{numbers['finished']}/']")
    expect(other).to_have_count(0)
    page.locator(f"a[href='/runs/{numbers['interrupted']}/']").first.click()
    expect(page.locator("[data-role=reason]")).to_contain_text("killed or crashed")
    expect(page.locator("[data-role=connection]")).to_have_text("all loaded")
