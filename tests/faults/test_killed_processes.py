"""Processes of a real lab are killed in the middle of a real run; nothing is lost or left."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.conftest import require
from tests.lab_process import ROOT, LabProcess, running_lab
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.kernel]

ROUNDS = 10


@pytest.fixture(scope="module")
def lab() -> Iterator[LabProcess]:
    require(Path("/sys/fs/cgroup/cpu/cpu.stat").exists() and os.geteuid() == 0, "root and cgroups")
    require((ROOT / ".build" / "cpulab" / "current").exists(), "cpulab is built")
    with tempfile.TemporaryDirectory(prefix="lab-fault-") as var, running_lab(Path(var)) as lab:
        yield lab


def restarted(lab: LabProcess, part: str, old: int) -> None:
    until(lambda: lab.pid(part) not in (None, old), f"{part} runs again", seconds=30)


def whole(lab: LabProcess, number: int) -> None:
    """The run finished with every round once, and its rows are numbered without a hole."""
    run = lab.until_ended(number)
    assert (run["status"], run["reason"]) == ("finished", "")
    assert lab.rounds(number) == list(range(1, ROUNDS + 1))
    until(lambda: not lab.left_on_kernel(), "nothing is left on the kernel")


def test_worker_killed(lab: LabProcess) -> None:
    number = lab.queue(ROUNDS)
    lab.until_rounds(number, 2)
    old = lab.kill("worker")
    run = lab.until_ended(number, seconds=15)
    assert (run["status"], run["reason_code"]) == ("interrupted", "worker-gone")
    assert "killed or crashed" in run["reason"]
    assert len(lab.rounds(number)) >= 2, "what was measured until then is kept"
    until(lambda: not lab.left_on_kernel(), "the sweeper has cleaned up")
    restarted(lab, "worker", old)
    whole(lab, lab.queue(ROUNDS))


def test_broker_killed(lab: LabProcess) -> None:
    number = lab.queue(ROUNDS)
    lab.until_rounds(number, 2)
    old = lab.kill("valkey")
    whole(lab, number)
    restarted(lab, "valkey", old)
    whole(lab, lab.queue(ROUNDS))


def test_queued_while_the_broker_is_down(lab: LabProcess) -> None:
    supervisor = psutil.Process(lab.process.pid)
    supervisor.suspend()
    try:
        lab.kill("valkey")
        number = lab.queue(ROUNDS)
        until(
            lambda: lab.query("SELECT ring_error FROM lab_run WHERE number = ?", number)[0][0],
            "the page can say why it waits",
        )
        assert lab.run(number)["status"] == "queued"
    finally:
        supervisor.resume()
    whole(lab, number)


def test_control_killed(lab: LabProcess) -> None:
    number = lab.queue(ROUNDS)
    lab.until_rounds(number, 2)
    old = lab.kill("control")
    whole(lab, number)
    restarted(lab, "control", old)


def test_web_killed(lab: LabProcess) -> None:
    number = lab.queue(ROUNDS)
    lab.until_rounds(number, 2)
    old = lab.kill("web")
    whole(lab, number)
    restarted(lab, "web", old)


def test_worker_told_to_stop(lab: LabProcess) -> None:
    number = lab.queue(ROUNDS)
    lab.until_rounds(number, 2)
    os.kill(until(lambda: lab.pid("worker"), "the worker runs"), signal.SIGTERM)
    run = lab.until_ended(number, seconds=15)
    assert (run["status"], run["reason_code"]) == ("interrupted", "shutdown")
    until(lambda: not lab.left_on_kernel(), "nothing is left on the kernel")
    whole(lab, lab.queue(ROUNDS))


def test_cancel(lab: LabProcess) -> None:
    number = lab.queue(50)
    lab.until_rounds(number, 2)
    lab.cli("cancel", str(number))
    run = lab.run(number)
    assert run["status"] == "cancelled"
    until(lambda: not lab.left_on_kernel(), "nothing is left on the kernel")


def test_two_at_once_run_one_after_the_other(lab: LabProcess) -> None:
    first, second = lab.queue(ROUNDS), lab.queue(ROUNDS)
    whole(lab, first)
    whole(lab, second)
    spans = lab.query(
        "SELECT started_at, finished_at FROM lab_run WHERE number IN (?, ?) ORDER BY number",
        first,
        second,
    )
    assert spans[0][1] <= spans[1][0]


def test_supervisor_killed_leaves_no_orphan() -> None:
    with tempfile.TemporaryDirectory(prefix="lab-fault-") as var:
        with running_lab(Path(var)) as lab:
            number = lab.queue(50)
            lab.until_rounds(number, 2)
            children = psutil.Process(lab.process.pid).children(recursive=True)
            lab.process.kill()
            lab.process.wait()
            gone, alive = psutil.wait_procs(children, timeout=30)
            assert not alive
            assert len(gone) >= 4
        with running_lab(Path(var)) as again:
            run = again.until_ended(number)
            assert run["status"] == "interrupted"
            until(lambda: not again.left_on_kernel(), "nothing is left on the kernel")


def test_stopping_ends_the_run_and_everything_else() -> None:
    with tempfile.TemporaryDirectory(prefix="lab-fault-") as var:
        with running_lab(Path(var)) as lab:
            number = lab.queue(50)
            lab.until_rounds(number, 2)
            children = psutil.Process(lab.process.pid).children(recursive=True)
            lab.process.send_signal(signal.SIGINT)
            lab.process.wait(40)
            _, alive = psutil.wait_procs(children, timeout=5)
            assert not alive
            run = lab.run(number)
            assert (run["status"], run["reason_code"]) == ("interrupted", "shutdown")
            assert not lab.left_on_kernel()
