"""Running a claimed run: every repeat prepared, measured, cleaned, and an end with a reason."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass

import structlog
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from experiments_app.core.errors import LabError, Stopped
from experiments_app.core.plan import Plan
from experiments_app.core.records import ArmFinished, Hello, Readback, Record, Tree
from experiments_app.models import EventKind, Repeat, RepeatState, Run, RunStatus
from experiments_app.runs.claim import Claim
from experiments_app.runs.compact import compact
from experiments_app.runs.ending import Ending, end_run, repeat_body
from experiments_app.runs.footprint import FootprintMeter
from experiments_app.runs.lease import Heartbeat
from experiments_app.runs.ledger import EventRow
from experiments_app.runs.record import Recorder, rows_of
from experiments_app.runs.stop import Stop, StopReason
from experiments_app.targets.base import RepeatContext, Session, Target

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Execution:
    """What running needs besides the claim."""

    target: Target
    lab: str
    stop: Stop
    announce: Callable[[int, int], None]
    lease_seconds: float


def execute(claim: Claim, execution: Execution) -> RunStatus:
    """Run it to its end; every path leaves the run ended and the target clean."""
    run = Run.objects.get(number=claim.number)
    # The heart beats until the run has ended: cleaning up may take a while too.
    with Heartbeat(claim=claim, stop=execution.stop, lease_seconds=execution.lease_seconds):
        ending = _swept(run, execution, _measured(run, claim, execution))
        final = _end(claim, ending, execution.lease_seconds)
    if final is not None:
        execution.announce(claim.number, final)
        compact(claim.number)
    return ending.status


def _end(claim: Claim, ending: Ending, patience_seconds: float) -> int | None:
    """End the run; a database that is away or full for a moment is waited for."""
    deadline = time.monotonic() + patience_seconds
    while True:
        try:
            return end_run(number=claim.number, ending=ending, fence=claim.fence)
        except (OperationalError, InterfaceError):
            if time.monotonic() > deadline:
                raise
            log.warning("end not stored yet", run=claim.number)
            connection.close()
            time.sleep(0.5)


def _measured(run: Run, claim: Claim, execution: Execution) -> Ending:
    """Run every repeat; how the run ends, whatever happened."""
    stop = execution.stop
    try:
        with Recorder(ledger=claim.ledger, stop=stop, announce=execution.announce) as recorder:
            _note_warnings(recorder, execution.target)
            _run_repeats(run, recorder, execution)
        return _ending_of(run, stop)
    except Stopped as stopped:
        return _stopped_ending(stopped, stop)
    except Exception as error:
        log.exception("run failed", run=run.number)
        return _crash_ending(error)


def _note_warnings(recorder: Recorder, target: Target) -> None:
    """What the target warns of now, when the run begins and not when it was queued."""
    warnings = [problem for problem in target.status().problems if not problem.blocking]
    rows = [
        EventRow(EventKind.NOTE, {"repeat": None, "level": "warning", "text": problem.message})
        for problem in warnings
    ]
    recorder.flush(*rows)


def _run_repeats(run: Run, recorder: Recorder, execution: Execution) -> None:
    plan = Plan.from_dict(run.plan)
    for repeat in run.repeats.order_by("order"):
        execution.stop.check()
        context = RepeatContext(
            lab=execution.lab,
            run=run.uid,
            repeat=f"r{repeat.order}",
            arm=plan.arms[repeat.arm],
            sample_hz=plan.arms[repeat.arm].sample_hz,
        )
        RepeatRunner(repeat, recorder, execution.stop).run(execution.target.open(context))


class RepeatRunner:
    """One repeat through its states, each stored together with the event that tells of it."""

    def __init__(self, repeat: Repeat, recorder: Recorder, stop: Stop) -> None:
        self._repeat = repeat
        self._recorder = recorder
        self._stop = stop

    def run(self, session: Session) -> None:
        """Failures end this repeat alone; Stopped goes on to the caller, after cleaning."""
        repeat = self._repeat
        meter = FootprintMeter()
        repeat.started_at = timezone.now()
        failure: LabError | None = None
        try:
            self._enter(RepeatState.PREPARING)
            readbacks = session.prepare()
            repeat.readback = [_readback(readback) for readback in readbacks]
            self._enter(RepeatState.MEASURING)
            session.measure(self._sink, self._stop)
        except Stopped:
            raise
        except LabError as error:
            failure = error
        finally:
            failure = self._clean(session, failure)
        repeat.lab = meter.stop()
        self._leave(failure)

    def _clean(self, session: Session, failure: LabError | None) -> LabError | None:
        try:
            if not self._stop.is_set():
                self._enter(RepeatState.CLEANING)
        finally:
            failure = self._cleaned(session, failure)
        return failure

    def _cleaned(self, session: Session, failure: LabError | None) -> LabError | None:
        try:
            session.clean()
        except LabError as error:
            log.warning("cleaning failed", repeat=self._repeat.pk, error=str(error))
            return failure or error
        return failure

    def _sink(self, record: Record) -> None:
        repeat = self._repeat
        if isinstance(record, Hello):
            repeat.programs = {**repeat.programs, record.group: asdict(record)}
        elif isinstance(record, Tree):
            repeat.tree = [*(repeat.tree or []), asdict(record)]
        elif isinstance(record, ArmFinished):
            repeat.totals = {
                total.group: {**asdict(total.counters), "run_delay_us": total.run_delay_us}
                for total in record.totals
            }
        self._recorder.put(rows_of(record, repeat.pk))

    def _leave(self, failure: LabError | None) -> None:
        repeat = self._repeat
        repeat.finished_at = timezone.now()
        if failure is not None:
            repeat.reason_code = failure.code
            repeat.reason = str(failure)
        self._enter(RepeatState.FAILED if failure else RepeatState.DONE)

    def _enter(self, state: RepeatState) -> None:
        repeat = self._repeat
        repeat.state = state
        body = repeat_body(repeat, timezone.now())
        if state == RepeatState.MEASURING:
            body["readback"] = repeat.readback
        if repeat.lab is not None:
            body["lab"] = repeat.lab
        self._recorder.flush(EventRow(EventKind.REPEAT, body), also=repeat.save)


def _readback(readback: Readback) -> dict[str, object]:
    return {**asdict(readback), "notes": list(readback.notes)}


def _ending_of(run: Run, stop: Stop) -> Ending:
    stop.check()
    states = list(run.repeats.values_list("state", flat=True))
    failed = states.count(RepeatState.FAILED)
    if failed == len(states):
        first = run.repeats.order_by("order").first()
        reason = first.reason if first else "The plan had no repeats."
        return Ending(
            RunStatus.FAILED,
            first.reason_code if first else "empty-plan",
            f"No repeat could be measured. The first one: {reason}",
        )
    if failed:
        return Ending(
            RunStatus.FINISHED,
            "finished-with-failures",
            f"{failed} of {len(states)} repeats failed; each says why.",
        )
    return Ending(RunStatus.FINISHED)


_STATUS_OF = {"cancelled": RunStatus.CANCELLED, "lab-fault": RunStatus.FAILED}


def _stopped_ending(stopped: Stopped, stop: Stop) -> Ending:
    """What the flag was raised for says more than the session that obeyed it."""
    why = stop.reason or StopReason(stopped.code, stopped.message, stopped.remedy)
    status = _STATUS_OF.get(why.code, RunStatus.INTERRUPTED)
    return Ending(status, why.code, why.text, why.remedy)


def _crash_ending(error: Exception) -> Ending:
    where = traceback.extract_tb(error.__traceback__)[-1]
    return Ending(
        RunStatus.FAILED,
        "lab-fault",
        f"The lab itself failed: {type(error).__name__}: {error} "
        f"(in {where.name}, {where.filename.rsplit('/', 1)[-1]}:{where.lineno}).",
        "This is a fault of Throttle Lab, not of the experiment: the worker's log has the details.",
    )


def _swept(run: Run, execution: Execution, ending: Ending) -> Ending:
    """Nothing of the run may be left on the target, whatever happened before."""
    try:
        execution.target.cleanup(lab=execution.lab, run=run.uid)
    except LabError as error:
        log.error("cleanup failed", run=run.number, error=str(error))
        return Ending(
            ending.status,
            ending.code or "cleanup-failed",
            f"{ending.reason} Cleaning up failed: {error.message}".strip(),
            error.remedy,
        )
    return ending
