"""Whose worker is gone is ended with a reason; who lives, sleeps or is slow is left alone."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta

import pytest
from django.utils import timezone

from experiments_app.models import Run, RunStatus
from experiments_app.runs.claim import Claim, claim_next
from experiments_app.runs.lease import Heartbeat
from experiments_app.runs.owner import Owner, me, surely_dead
from experiments_app.runs.reap import Reaper
from experiments_app.runs.stop import Stop
from tests.runs.scripted import queued_run

pytestmark = pytest.mark.django_db(transaction=True)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def take(owner: Owner) -> tuple[Run, Claim]:
    run = queued_run()
    claim = claim_next(machine="local", owner=owner)
    assert claim is not None
    return run, claim


FAR = Owner("another-host", "boot-1", 1, 1)


def test_a_silent_owner_is_reaped_after_the_lease_by_the_observer_s_clock() -> None:
    clock = Clock()
    reaper = Reaper(lease_seconds=10, clock=clock)
    run, _ = take(FAR)
    assert reaper.reap() == []
    clock.now += 9.9
    assert reaper.reap() == []
    clock.now += 0.2
    assert [reaped.number for reaped in reaper.reap()] == [run.number]
    run.refresh_from_db()
    assert (run.status, run.reason_code) == (RunStatus.INTERRUPTED, "worker-silent")
    assert "no sign of life" in run.reason
    assert run.remedy


def test_a_beating_owner_is_never_reaped() -> None:
    clock = Clock()
    reaper = Reaper(lease_seconds=10, clock=clock)
    run, claim = take(FAR)
    heartbeat = Heartbeat(claim=claim, stop=Stop(), lease_seconds=10, clock=clock)
    for _ in range(20):
        clock.now += 9
        heartbeat.beat()
        assert reaper.reap() == []
    run.refresh_from_db()
    assert run.status == RunStatus.RUNNING


def test_a_machine_that_slept_loses_no_run() -> None:
    """While it sleeps neither the heartbeat nor the observer's monotonic clock moves."""
    clock = Clock()
    reaper = Reaper(lease_seconds=10, clock=clock)
    run, _ = take(FAR)
    reaper.reap()
    run.started_at = timezone.now() - timedelta(hours=8)
    run.save(update_fields=["started_at"])
    assert reaper.reap() == []


def test_an_owner_on_this_host_that_is_gone_is_reaped_at_once() -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as child:
        owner = Owner(me().host, me().space, child.pid, 1)
    run, claim = take(owner)
    assert [reaped.number for reaped in Reaper(lease_seconds=1000).reap()] == [run.number]
    run.refresh_from_db()
    assert (run.status, run.reason_code) == (RunStatus.INTERRUPTED, "worker-gone")
    assert run.fence == claim.fence + 1


def test_a_cancelled_run_whose_worker_is_gone_ends_as_cancelled() -> None:
    run, _ = take(Owner(me().host, me().space, os.getpid(), 1))
    Run.objects.filter(number=run.number).update(cancel_requested_at=timezone.now())
    Reaper(lease_seconds=1000).reap()
    run.refresh_from_db()
    assert run.status == RunStatus.CANCELLED


def test_this_process_is_alive_and_strangers_are_unknown() -> None:
    assert not surely_dead(str(me()))
    assert not surely_dead(str(FAR)), "what runs on another host cannot be seen from here"
    assert not surely_dead("nonsense")
    elsewhere = Owner(me().host, "other-namespace", me().pid, 1)
    assert not surely_dead(str(elsewhere)), "pids of another namespace mean nothing here"


def test_a_heartbeat_tells_of_a_cancel_and_of_a_lost_fence() -> None:
    run, claim = take(me())
    stop = Stop()
    heartbeat = Heartbeat(claim=claim, stop=stop, lease_seconds=10)
    heartbeat.beat()
    assert not stop.is_set()
    Run.objects.filter(number=run.number).update(cancel_requested_at=timezone.now())
    heartbeat.beat()
    assert stop.reason is not None
    assert stop.reason.code == "cancelled"
    lost = Stop()
    Heartbeat(claim=Claim(run.number, claim.fence + 1), stop=lost, lease_seconds=10).beat()
    assert lost.reason is not None
    assert lost.reason.code == "fence-lost"
