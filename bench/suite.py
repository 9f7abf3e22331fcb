"""The benchmarks in their order: those of the lab on one lab, then those of cpulab."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from bench import live, load, page, record, sampler
from bench.figure import Figure
from tests.lab_process import LabProcess, running_lab

OF_THE_LAB = ("up", "record", "page", "live")
OF_CPULAB = {"load": load.measure, "sampler": sampler.measure}
NAMES = (*OF_THE_LAB, *OF_CPULAB)


def run(var: Path, names: Sequence[str]) -> list[Figure]:
    """Measure what is named; a lab is started only for what needs one."""
    figures = _of_the_lab(var, names) if set(names) & set(OF_THE_LAB) else []
    for name, measure in OF_CPULAB.items():
        if name in names:
            say(f"cpulab: {name}")
            figures += measure()
    return figures


def _of_the_lab(var: Path, names: Sequence[str]) -> list[Figure]:
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
