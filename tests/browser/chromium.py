"""Debian's Chromium, as tests and benchmarks start it."""

from __future__ import annotations

import os
import shutil

from playwright.sync_api import Browser, Playwright

FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def binary() -> str | None:
    return shutil.which("chromium") or shutil.which("google-chrome")


def launch(playwright: Playwright) -> Browser:
    """A headless browser; as root it needs --no-sandbox."""
    flags = [*FLAGS, "--no-sandbox"] if os.geteuid() == 0 else FLAGS
    return playwright.chromium.launch(executable_path=binary(), args=flags, headless=True)
