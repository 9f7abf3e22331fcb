"""The benchmarks in their order, on one lab."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from bench import live, page, record
from bench.figure import Figure
from tests.lab_process import LabProcess, running_lab

NAMES = ("up", "record", "page", "live")


def run(var: Path, names: Sequence[str]) -> list[Figure]:
    """Start a lab once to make everything, then again, warm, and measure on that one."""
    say("starting a lab (cold)")
    with running_lab(var):
        pass
    say("starting it again (warm)")
    figures: list[Figure] = []
    with running_lab(var) as lab:
        seconds = lab.seconds_to_link
        if "up" in names:
            note = "from the command to the first page served"
            figures.append(Figure("up", "warm start", seconds, "s", 5.0, note=note))
        figures += _on(lab, names)
    return figures


def _on(lab: LabProcess, names: Sequence[str]) -> list[Figure]:
    figures: list[Figure] = []
    if "record" in names or "page" in names:
        say("recording 10,000 rounds")
        number, recorded = record.measure()
        if "record" in names:
            figures += recorded
        if "page" in names:
            say("opening their page")
            figures += page.measure(lab, number)
    if "live" in names:
        say("a live run with 50 watchers")
        figures += live.measure(lab)
    return figures


def say(text: str) -> None:
    print(f"bench: {text} …", file=sys.stderr, flush=True)
