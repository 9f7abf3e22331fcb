"""The running workloads of an arm: started in order, watched, dismissed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from experiments_app.core.errors import TargetError
from experiments_app.core.records import Readback, Sink
from experiments_app.targets.local.jobs import Job, binary
from experiments_app.targets.local.place import Group
from experiments_app.targets.local.process import Child
from experiments_app.targets.local.workload import Workload


class Crew:
    """Workloads by the unit that they are, started group by group."""

    def __init__(
        self,
        *,
        jobs: tuple[Job, ...],
        groups: dict[str, Group],
        readbacks: dict[str, Readback],
        cpus: dict[str, tuple[int, ...] | None],
        builds: dict[str, Path],
        sink: Sink,
    ) -> None:
        self._jobs, self._groups, self._readbacks = jobs, groups, readbacks
        self._cpus, self._builds, self._sink = cpus, builds, sink
        self._workloads: dict[str, Workload] = {}

    def __iter__(self) -> Iterator[Workload]:
        return iter(self._workloads.values())

    def get(self, unit: str) -> Workload | None:
        """The workload of a unit; None for a whole pod, or before it is started."""
        return self._workloads.get(unit)

    def start(self, group: str) -> Iterator[Workload]:
        """Start every container of a group; what it calls must be up."""
        for job in self._jobs:
            if job.group == group:
                yield self._start(job)

    def _start(self, job: Job) -> Workload:
        child = Child.start(
            f"the workload of group {job.unit}",
            self._groups[job.unit],
            binary(self._builds, job.build),
            job.command.with_addresses(self._addresses(job)),
            job.env,
            self._cpus[job.group],
        )
        workload = Workload(
            job,
            self._groups[job.unit],
            child,
            self._readbacks[job.unit],
            self._sink,
            self._cpus[job.group],
        )
        self._workloads[job.unit] = workload
        return workload

    def _addresses(self, job: Job) -> tuple[str, ...]:
        if job.command.calls is None:
            return ()
        servers = [w for w in self._of(job.command.calls) if w.job.command.serves]
        found = tuple(w.address for w in servers if w.address is not None)
        if len(found) < len(servers) or not found:
            raise TargetError(
                f"Group {job.command.calls} does not listen everywhere, so {job.unit} cannot "
                f"call it.{''.join(w.child.said() for w in servers)}",
                remedy="Run it again; if it repeats, the lines above say why.",
                code="workload-failed",
            )
        return found

    def _of(self, group: str) -> list[Workload]:
        return [w for w in self._workloads.values() if w.job.group == group]

    def calls(self, group: str) -> set[str]:
        """The groups that this one calls."""
        found = {job.command.calls for job in self._jobs if job.group == group}
        return {name for name in found if name is not None}

    def started(self, group: str) -> bool:
        """Whether every container of a group is up."""
        return all(workload.started for workload in self._of(group))

    def done(self, group: str) -> bool:
        """Whether every container of a group has done its work."""
        return all(workload.done for workload in self._of(group))

    def check(self) -> None:
        """Raise TargetError when one of them has failed."""
        for workload in self._workloads.values():
            workload.check()

    @property
    def counting_us(self) -> int | None:
        """When the measured load began to count, of several the last; None without one."""
        found = [w.counting_us for w in self._workloads.values() if w.job.measured]
        return max((instant for instant in found if instant is not None), default=None)

    def run_delay_us(self, unit: str) -> int | None:
        """Waiting for a CPU since then, of a container or of all of a pod; None if unknown."""
        own = [w for w in self._workloads.values() if w.job.unit == unit]
        within = own or [w for w in self._workloads.values() if w.job.unit.startswith(f"{unit}.")]
        delays = [workload.run_delay_us(self.counting_us) for workload in within]
        known = [delay for delay in delays if delay is not None]
        return sum(known) if known and len(known) == len(delays) else None
