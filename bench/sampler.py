"""The sampler: what it costs to read the counters of 1, 10 and 100 cgroups 50 times a second."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.figure import Figure
from experiments_app.targets.local.hierarchy import Hierarchy, Layout, discover

ROOT = Path(__file__).resolve().parent.parent
CPULAB = ROOT / ".build" / "cpulab" / "current" / "cpulab-go1.24"
COUNTS = (1, 10, 100)
HZ = 50
SECONDS = 6


def measure() -> list[Figure]:
    """CPU of `cpulab sample` for one reading of all its groups."""
    layout = discover()
    figures: list[Figure] = []
    for count in COUNTS:
        with _groups(layout, count) as groups:
            cpu_us, readings = _sample(groups)
        reading = cpu_us / readings
        figures += [
            Figure("sampler", f"CPU a reading of {count} groups", reading, "us"),
            Figure("sampler", f"share of a CPU for {count} groups", reading * HZ / 1e4, "%"),
        ]
    return figures


def _sample(groups: list[str]) -> tuple[float, int]:
    """Sample for SECONDS: CPU of the whole process in us, and how many readings it made."""
    argv = [str(CPULAB), "sample", "--hz", str(HZ), "--for", f"{SECONDS}s"]
    for group in groups:
        argv += ["--cgroup", group]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert process.stdout is not None
    tail = b"{}"
    for line in process.stdout:
        # Only the last one is parsed: the bench shares the CPUs with what it measures.
        tail = line
    last: dict[str, Any] = json.loads(tail)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode or last.get("reason") != "done":
        raise RuntimeError(f"cpulab sample ended with {process.returncode}: {last}.")
    return (usage.ru_utime + usage.ru_stime) * 1e6, int(last["samples"])


@contextmanager
def _groups(layout: Layout, count: int) -> Iterator[list[str]]:
    """Cgroups of the bench's own, below where it runs, as `cpulab sample` takes them."""
    name = f"throttle-lab-bench-{os.getpid()}"
    tops = [_place(hierarchy) / name for hierarchy in layout.hierarchies]
    made: list[Path] = []
    try:
        for top in tops:
            top.mkdir()
            made.append(top)
            if layout.version == 2:
                (top / "cgroup.subtree_control").write_text("+cpu")
            for i in range(count):
                (top / f"g{i}").mkdir()
                made.append(top / f"g{i}")
        yield [f"g{i}=" + ",".join(str(top / f"g{i}") for top in tops) for i in range(count)]
    finally:
        for directory in reversed(made):
            directory.rmdir()


def _place(hierarchy: Hierarchy) -> Path:
    return hierarchy.own if hierarchy.own is not None else hierarchy.top
