"""What the workload program's histograms say when Python reads them."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from experiments_app.core.latencies import Latencies, decode
from experiments_app.core.records import Measure
from tests.conftest import require
from tests.lab_process import ROOT

PROGRAM = ROOT / ".build" / "cpulab" / "current" / "cpulab-go1.24"

# Written by the program: the fourth powers of 1 to 100.
FOURTH_POWERS = (
    "HISTFAAAAPV42iyMMUvDUBRG85330hBBFzf1v/hDxEGcOhWRDuJQBINIB5EQSikdSu3QQTp2KKWIQweR4lBBOnRw"
    "CJJBHTMpec0d7oXLOefgOt71PO15mzHlVbHe4wfv8Kf8sE+DFax9JltMd+hu8xryGxKFvAUsArIKuU8vYGTp+CQV"
    "PgwtS2aZWGLD3BBZBpZnSOHOMDakhlvow5Sin0PbkIpv8ScSGMIMlvApnsRCrMSXyFWILWhCV/TFoxg75kUsxVpk"
    "DmtwI5oiEW3RE0MxcuxMzF2yTo1zLrjkSiV974SOEwYuHokjjjnhlCpVapxR5z8AAP//VClIjA=="
)

Line = dict[str, Any]


def test_a_known_histogram_has_its_values() -> None:
    expected = [n**4 for n in range(1, 101)]
    found = [value for value, count in decode(FOURTH_POWERS) for _ in range(count)]
    assert len(found) == 100
    for exact, got in zip(expected, found, strict=True):
        assert exact <= got <= exact + exact // 1000


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    """A load of 2 s on a server that does nothing."""
    require(PROGRAM.exists(), "cpulab is built")
    idle = ["--work", "0us", "--alloc", "0", "--live", "0", "--until-eof"]
    load = ["--rate", "200", "--ping-rate", "50", "--arrivals", "constant", "--warmup", "0us"]
    with subprocess.Popen(
        [str(PROGRAM), "serve", "--listen", "127.0.0.1:0", "--name", "server.1", *idle],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        ready = next(line for line in map(json.loads, server.stdout) if line["type"] == "ready")
        done = subprocess.run(
            [str(PROGRAM), "load", "--to", f"http://{ready['address']}", *load, "--for", "2s"],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        server.communicate(timeout=30)
    return [json.loads(line) for line in done.stdout.splitlines()]


def measure(line: Line, name: str) -> Measure:
    found = line["measures"][name]
    return Measure(name, found["hdr"], found["max"], found["errors"])


def test_every_histogram_holds_what_its_line_says(lines: list[Line]) -> None:
    for line in lines:
        for name, found in line.get("measures", {}).items():
            counts = decode(found["hdr"])
            assert sum(count for _, count in counts) == found["n"]
            # A bucket's value is never below what was counted in it.
            largest = counts[-1][0]
            assert found["max"] <= largest <= found["max"] + found["max"] // 1000 + 1, name


def test_the_rounds_add_up_to_the_end(lines: list[Line]) -> None:
    rounds = [line for line in lines if line["type"] == "round"]
    end = lines[-1]
    assert (end["type"], end["reason"], len(rounds)) == ("end", "done", 2)
    for name, n in (("work_us", 400), ("ping_us", 100), ("lag_us", 500)):
        whole, added = Latencies(), Latencies()
        whole.add(measure(end, name))
        for line in rounds:
            added.add(measure(line, name))
        assert added.summary() == whole.summary()
        assert whole.n == n
