"""An own experiment in a real browser: built in the form, mended, kept, run, changed."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Locator, Page, expect, sync_playwright

from tests.browser.chromium import binary, launch
from tests.conftest import require
from tests.lab_process import LabProcess, running_lab

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.kernel]

WAIT_MS = 60_000
expect.set_options(timeout=WAIT_MS)

FILE = """
name = "from-a-file"
title = "From a file"

[[arms]]
name = "only"
limit = "500m"
workload = { kind = "tasks", work = "2ms", count = 5 }
"""


@pytest.fixture(scope="module")
def lab() -> Iterator[LabProcess]:
    require(os.geteuid() == 0 and Path("/sys/fs/cgroup").exists(), "root and cgroups")
    require(binary() is not None, "Chromium")
    with tempfile.TemporaryDirectory(prefix="lab-own-") as var, running_lab(Path(var)) as lab:
        yield lab


@pytest.fixture(scope="module")
def context(lab: LabProcess) -> Iterator[BrowserContext]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        page.goto(lab.link)
        page.close()
        yield context
        browser.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that must not log an error."""
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    page.set_default_timeout(WAIT_MS)
    yield page
    page.close()
    assert problems == []


def state(page: Page) -> Locator:
    return page.locator("[data-role=state]")


def sound(page: Page) -> None:
    expect(state(page)).to_have_text("Nothing is wrong with it.")


def message_of(page: Page, control: Locator) -> Locator:
    """Where the message of a control stands, as a screen reader finds it."""
    described = control.get_attribute("aria-describedby") or ""
    return page.locator(f"#{described.split()[-1]}")


def fill_first_arm(page: Page) -> None:
    page.get_by_label("name of arm 1").fill("held")
    page.get_by_label("limit of arm 1").fill("100m")
    for name, value in (("threads", "2"), ("work", "10ms"), ("interval", "200ms"), ("rounds", "4")):
        page.get_by_label(f"{name} of arm 1", exact=True).fill(value)


def test_an_experiment_of_two_arms_is_built_mended_kept_and_run(
    lab: LabProcess, page: Page
) -> None:
    page.goto(f"{lab.base}/catalogue/")
    page.get_by_role("link", name="New experiment").click()
    expect(state(page)).to_contain_text("1 thing to mend")
    name = page.get_by_label("Name", exact=True)
    expect(name).not_to_have_attribute("aria-invalid", "true")
    name.fill("held-or-free")
    page.get_by_label("Title").fill("Held or free")
    fill_first_arm(page)
    page.get_by_role("button", name="Duplicate arm 1").click()
    expect(page.get_by_label("name of arm 2")).to_be_focused()
    page.get_by_label("name of arm 2").fill("free")
    page.get_by_label("limit of arm 2").fill("")
    sound(page)

    rounds = page.get_by_label("rounds of arm 2", exact=True)
    rounds.fill("many")
    expect(message_of(page, rounds)).to_contain_text("not a whole number")
    expect(rounds).to_have_attribute("aria-invalid", "true")
    page.get_by_role("button", name="Keep the experiment").click()
    expect(rounds).to_be_focused()
    assert page.url.endswith("/own/new/"), "nothing is sent while something is wrong"
    page.get_by_label("name of arm 2").focus()
    state(page).get_by_role("link", name="arm 2 free, rounds").click()
    expect(rounds).to_be_focused()
    rounds.fill("4")
    sound(page)
    expect(message_of(page, rounds)).to_be_hidden()

    preview = page.locator("[data-role=preview]")
    expect(preview).to_contain_text("for 1 repeat of 2 arms on local")
    expect(preview.locator("b").first).to_have_text(re.compile(r"^[1-9]\d*\ss$"))
    page.get_by_role("button", name="Keep the experiment").click()
    page.wait_for_url("**/experiments/held-or-free/")
    expect(page.locator(".messages")).to_contain_text("Kept held-or-free as version 1.")

    page.get_by_role("button", name="Queue the run").click()
    page.wait_for_url(re.compile(r"/runs/\d+/"))
    number = int(page.url.rstrip("/").rpartition("/")[2])
    expect(page.locator("[data-role=status]")).to_have_text("finished")
    expect(page.locator(".head")).to_contain_text("held-or-free version 1")
    for arm in ("held", "free"):
        expect(page.locator(f"a.arm[data-arm={arm}]")).to_have_attribute("data-rounds", "4")
    document = json.loads(lab.cli("show", str(number), "--json").stdout)
    held, free = (arm["summary"] for arm in document["arms"])
    assert held["wall_us"]["n"] == free["wall_us"]["n"] == 4
    assert held["nr_throttled"] > 0
    assert not free["nr_throttled"]
    assert min(held["usage_us"], free["usage_us"]) >= 4 * 20_000

    page.get_by_role("link", name="Run again with changes").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("held-or-free-2")
    expect(page.get_by_label("limit of arm 1")).to_have_value("100m")
    sound(page)


def test_the_table_by_keyboard(lab: LabProcess, page: Page) -> None:
    page.goto(f"{lab.base}/own/new/")
    page.get_by_role("button", name="Add an arm").press("Enter")
    second = page.get_by_label("name of arm 2")
    expect(second).to_be_focused()
    second.fill("added")
    page.get_by_role("button", name="Move up arm 2").press("Enter")
    expect(page.get_by_label("name of arm 1")).to_have_value("added")
    expect(page.get_by_role("button", name="Move up arm 1")).to_be_focused()
    page.get_by_role("button", name="Remove arm 1").press("Enter")
    expect(page.get_by_label("name of arm 1")).to_have_value("limit-1")
    expect(page.get_by_role("button", name="Remove arm 1")).to_be_focused()
    page.get_by_role("button", name="Undo").press("Enter")
    expect(page.get_by_label("name of arm 1")).to_have_value("added")
    page.get_by_label("kind of arm 1").select_option("spin")
    expect(page.get_by_label("duration of arm 1")).to_have_value("30s")
    expect(page.get_by_label("kind of arm 1")).to_be_focused()


def test_the_file_is_the_same_experiment(lab: LabProcess, page: Page) -> None:
    page.goto(f"{lab.base}/own/new/")
    page.get_by_role("button", name="As a file").click()
    text = page.get_by_label("Experiment as TOML")
    page.get_by_label("Read a file").set_input_files(
        {"name": "mine.toml", "mimeType": "application/toml", "buffer": FILE.encode()}
    )
    expect(text).to_have_value(FILE)
    sound(page)
    text.fill(FILE.replace('"only"', '"only'))
    expect(message_of(page, text)).to_contain_text("line 6, column")
    text.fill(FILE)
    sound(page)
    page.get_by_role("button", name="As a form").click()
    expect(page.get_by_label("count of arm 1")).to_have_value("5")
    page.get_by_label("count of arm 1").fill("6")
    sound(page)
    page.get_by_role("button", name="Keep the experiment").click()
    page.wait_for_url("**/experiments/from-a-file/")

    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_role("button", name="As a file").click()
    expect(text).to_have_value(re.compile(r"count = 6"))
    text.fill(text.input_value().replace("count = 6", "count = 7"))
    sound(page)
    page.get_by_role("button", name="Keep as a new version").click()
    page.wait_for_url("**/experiments/from-a-file/")
    expect(page.locator(".messages")).to_contain_text("version 2")
    kept = lab.cli("experiments", "from-a-file", "--toml").stdout
    assert "count = 7" in kept


def test_an_arm_of_several_groups_is_one_row_that_stays_as_it_is(
    lab: LabProcess, page: Page
) -> None:
    page.goto(f"{lab.base}/own/new/?experiment=serve-steady")
    sound(page)
    expect(page.locator("#own-arms")).to_contain_text("several groups (server, load)")
    page.get_by_role("button", name="Edit as a file").first.click()
    text = page.get_by_label("Experiment as TOML")
    expect(text).to_be_focused()
    expect(text).to_have_value(re.compile(r'role = "load"'))
    sound(page)


def test_without_scripts_the_file_is_kept_too(lab: LabProcess, context: BrowserContext) -> None:
    browser = context.browser
    assert browser is not None
    plain = browser.new_context(
        java_script_enabled=False, storage_state=context.storage_state()
    ).new_page()
    plain.goto(f"{lab.base}/own/new/")
    plain.get_by_label("Experiment as TOML").fill(FILE.replace("from-a-file", "without scripts"))
    plain.get_by_role("button", name="Keep the experiment").click()
    expect(plain.get_by_role("alert")).to_contain_text("without-scripts")
    plain.get_by_label("Experiment as TOML").fill(FILE.replace("from-a-file", "without-scripts"))
    plain.get_by_role("button", name="Keep the experiment").click()
    expect(plain).to_have_url(f"{lab.base}/experiments/without-scripts/")
    plain.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_the_form_fits_and_is_accessible(
    lab: LabProcess, page: Page, width: int, theme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{lab.base}/own/new/?experiment=burst-limits")
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    page.get_by_label("limit of arm 2").fill("half")
    expect(message_of(page, page.get_by_label("limit of arm 2"))).to_contain_text("not a CPU")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
