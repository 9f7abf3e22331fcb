"""The load generator against vegeta: how exact it sends, and what a request costs it.

Both send at the same constant rate to the same kind of receiver, which stamps each arrival by
CLOCK_MONOTONIC, one after the other in one run: figures of two runs say little on a shared
machine, their ratio within one says more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from statistics import median

from bench.figure import Figure

ROOT = Path(__file__).resolve().parent.parent
CPULAB = ROOT / ".build" / "cpulab" / "current" / "cpulab-go1.24"
RATES = (100, 1_000, 5_000)
SECONDS = 10
TURNS = 3


@dataclass
class Attack:
    """What one generator did at one rate, over all its turns."""

    errors_us: list[float] = field(default_factory=list)
    cpu_s: float = 0.0
    requests: int = 0
    missing: int = 0  # not sent within the time, because it could not hold the rate

    def error_us(self, share: float) -> float:
        """The send error at a share of all requests, nearest rank, us."""
        ordered = sorted(self.errors_us)
        return ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)]

    @property
    def cpu_us(self) -> float:
        """CPU of the generator for one request, us."""
        return self.cpu_s * 1e6 / self.requests


def measure() -> list[Figure]:
    """Each rate with each generator, turn by turn."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="bench-load-") as folder:
        vegeta = _build_vegeta(Path(folder))
        generators: dict[str, Callable[[str, int], list[str]]] = {
            "cpulab": _cpulab,
            "vegeta": lambda url, rate: [str(vegeta), "attack", url, str(rate), str(SECONDS)],
        }
        for rate in RATES:
            attacks = {name: Attack() for name in generators}
            for turn in range(TURNS):
                order = list(generators) if turn % 2 == 0 else list(generators)[::-1]
                for name in order:
                    print(f"bench: {name} at {rate}/s …", file=sys.stderr, flush=True)
                    _attack(vegeta, attacks[name], generators[name], rate)
            figures += _figures(rate, attacks["cpulab"], attacks["vegeta"])
    return figures


def _figures(rate: int, ours: Attack, theirs: Attack) -> list[Figure]:
    figures = [
        Figure(
            "load",
            f"{name} send error {label} at {rate}/s",
            attack.error_us(share),
            "us",
            note=f"{attack.missing} were never sent" if attack.missing else "",
        )
        for name, attack in (("cpulab", ours), ("vegeta", theirs))
        for label, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    ]
    return [
        *figures,
        Figure("load", f"cpulab CPU a request at {rate}/s", ours.cpu_us, "us"),
        Figure("load", f"vegeta CPU a request at {rate}/s", theirs.cpu_us, "us"),
        Figure(
            "load",
            f"send error p99, share at {rate}/s",
            ours.error_us(0.99) / theirs.error_us(0.99),
            "of vegeta's",
            1.0,
        ),
        Figure("load", f"CPU, share at {rate}/s", ours.cpu_us / theirs.cpu_us, "of vegeta's", 1.0),
    ]


def _cpulab(url: str, rate: int) -> list[str]:
    plain = ["--arrivals", "constant", "--ping-rate", "0", "--warmup", "0us"]
    return [str(CPULAB), "load", "--to", url, "--rate", str(rate), "--for", f"{SECONDS}s", *plain]


def _attack(
    receiver: Path, attack: Attack, command: Callable[[str, int], list[str]], rate: int
) -> None:
    """One turn: send for SECONDS, then compare the arrivals with the schedule."""
    with subprocess.Popen(
        [str(receiver), "receive"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as receiving:
        assert receiving.stdout is not None
        url = f"http://{receiving.stdout.readline().strip()}"
        attack.cpu_s += _cpu_seconds(command(url, rate))
        arrivals: list[int] = sorted(json.loads(receiving.communicate()[0]))
    attack.requests += len(arrivals)
    attack.missing += rate * SECONDS - len(arrivals)
    # Nobody says when the schedule began: the beginning that suits the arrivals best.
    behind = [at - i * 1e6 / rate for i, at in enumerate(arrivals)]
    began = median(behind)
    attack.errors_us += [abs(late - began) for late in behind]


def _cpu_seconds(argv: list[str]) -> float:
    """Run a program and say what CPU time it used. Raises RuntimeError when it fails."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(argv, stdout=output, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{argv[0]} ended with status {process.returncode}.")
    return usage.ru_utime + usage.ru_stime


def _build_vegeta(folder: Path) -> Path:
    """The other generator, with the Go that ./lab builds with."""
    loader = SourceFileLoader("lab_command", str(ROOT / "lab"))
    spec = spec_from_loader("lab_command", loader)
    assert spec is not None
    lab = module_from_spec(spec)
    loader.exec_module(lab)
    target = folder / "vegeta"
    print("bench: building vegeta …", file=sys.stderr, flush=True)
    subprocess.run(
        [lab.find_go(), "build", "-trimpath", "-buildvcs=false", "-o", str(target), "."],
        cwd=ROOT / "bench" / "vegeta",
        env={**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"},
        check=True,
    )
    return target
