"""A whole lab as people start it: its own processes, database, broker and port."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from tests.waiting import until

ROOT = Path(__file__).resolve().parent.parent
ENDED = ("finished", "failed", "cancelled", "interrupted")

SHORT = """
name = "short-bursts"
title = "Short bursts"
question = "Does it throttle?"
targets = ["local"]

[[arms]]
name = "quarter"
limit = "250m"
workload = { kind = "burst", threads = 2, work = "30ms", interval = "400ms", rounds = %d }
"""


@dataclass
class LabProcess:
    """A running lab; `link` signs one browser in."""

    var: Path
    process: subprocess.Popen[str]
    link: str = ""
    seconds_to_link: float = 0.0
    environment: dict[str, str] = field(default_factory=dict)
    followers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def base(self) -> str:
        return self.link.partition("/sign-in")[0]

    @property
    def port(self) -> int:
        return int(self.base.rpartition(":")[2])

    def cli(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run ./lab's own command line against this lab."""
        return subprocess.run(
            [sys.executable, "-m", "experiments_app.cli", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=check,
            timeout=180,
        )

    def new_link(self) -> str:
        return self.cli("sign-in").stdout.strip()

    def pid(self, part: str) -> int | None:
        """The process of web, worker, control or valkey; None while it is not there."""
        marks = {
            "web": "uvicorn",
            "worker": "-Qmachine.local",
            "control": "-Qcontrol",
            "valkey": "-server",
        }
        for child in psutil.Process(self.process.pid).children(recursive=True):
            try:
                line = "".join(child.cmdline())
                mine = child.ppid() == self.process.pid
            except psutil.Error:
                continue
            if mine and marks[part] in line and "lifeline" not in line:
                return child.pid
        return None

    def kill(self, part: str) -> int:
        """kill -9; returns the pid that was killed."""
        pid = until(lambda: self.pid(part), f"{part} runs")
        os.kill(pid, signal.SIGKILL)
        return pid

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Read the lab's database from outside."""
        connection = sqlite3.connect(f"file:{self.var / 'lab.sqlite3'}?mode=ro", uri=True)
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def queue(self, rounds: int = 8) -> int:
        """Queue a short run from the command line without waiting; its number."""
        path = self.var / f"short-{rounds}.toml"
        path.write_text(SHORT % rounds)
        before = self.newest()
        with open(self.var / "cli.log", "ab") as log:
            follower = subprocess.Popen(
                [sys.executable, "-m", "experiments_app.cli", "run", str(path), "-t", "local"],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.followers.append(follower)
        return until(lambda: self.newest() if self.newest() > before else 0, "a run is queued")

    def newest(self) -> int:
        return int(self.query("SELECT coalesce(max(number), 0) FROM lab_run")[0][0])

    def run(self, number: int) -> dict[str, Any]:
        names = "status, reason_code, reason, uid, last_seq"
        row = self.query(f"SELECT {names} FROM lab_run WHERE number = ?", number)[0]
        return dict(zip(names.split(", "), row, strict=True))

    def rounds(self, number: int) -> list[int]:
        rows = self.query("SELECT n FROM lab_round WHERE run_id = ? ORDER BY seq", number)
        return [int(row[0]) for row in rows]

    def until_rounds(self, number: int, count: int) -> None:
        until(lambda: len(self.rounds(number)) >= count, f"run {number} has {count} rounds")

    def until_ended(self, number: int, *, seconds: float = 60) -> dict[str, Any]:
        until(lambda: self.run(number)["status"] in ENDED, f"run {number} ended", seconds=seconds)
        return self.run(number)

    def left_on_kernel(self) -> list[str]:
        """Control groups of this lab that are still there."""
        lab = (self.var / "lab-id").read_text().strip()
        roots = [Path("/sys/fs/cgroup")]
        return [
            str(path)
            for root in roots
            for mount in (root, *(p for p in root.iterdir() if p.is_dir()))
            for path in mount.glob(f"throttle-lab/{lab}/*")
        ]


@contextmanager
def running_lab(var: Path) -> Iterator[LabProcess]:
    """Start a lab on a free port, wait for its first page, end it by SIGTERM."""
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("THROTTLE_LAB_")},
        "THROTTLE_LAB_VAR": str(var),
        "PYTHONPATH": str(ROOT),
    }
    environment.pop("DATABASE_URL", None)
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, ROOT / "lab", "up", "--port", "0"],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lab = LabProcess(var, process, environment=environment)
    try:
        lab.link = _wait_for_link(process)
        lab.seconds_to_link = time.monotonic() - began
        until(lambda: lab.pid("worker"), "the worker runs")
        yield lab
    finally:
        for follower in lab.followers:
            follower.kill()
            follower.wait()
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()
        assert process.stdout is not None
        process.stdout.close()
        if "PYTEST_CURRENT_TEST" in os.environ:
            # Shown by pytest when a test of this lab has failed.
            for log in sorted((var / "log").glob("*.log")):
                print(f"--- {log.name}\n{log.read_text()[-3000:]}")


def _wait_for_link(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    seen: list[str] = []
    for line in process.stdout:
        seen.append(line)
        found = re.search(r"http://\S+/sign-in/\S+/", line)
        if found:
            return found.group()
    raise AssertionError("the lab did not start:\n" + "".join(seen))
