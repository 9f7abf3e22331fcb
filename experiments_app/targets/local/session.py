"""One repeat of one arm in cgroups of this machine."""

from __future__ import annotations

from pathlib import Path

from experiments_app.core.errors import TargetError
from experiments_app.core.records import Note, Readback, Sink, StopFlag
from experiments_app.targets.base import RepeatContext
from experiments_app.targets.local import groups, sweep
from experiments_app.targets.local.cpus import Seats, seat, usable
from experiments_app.targets.local.crew import Crew
from experiments_app.targets.local.groups import lineage
from experiments_app.targets.local.jobs import binary, jobs_of
from experiments_app.targets.local.measure import Measurement
from experiments_app.targets.local.parts import parts_of
from experiments_app.targets.local.place import SAMPLER, Group, Place, check_name
from experiments_app.targets.local.process import Child
from experiments_app.targets.local.readback import read_back, tree

_REAP_S = 5.0


class LocalSession:
    """prepare, measure, clean; `clean` is safe at any point and more than once."""

    def __init__(self, context: RepeatContext, place: Place, builds: dict[str, Path]) -> None:
        for kind, name in (("lab", context.lab), ("run", context.run), ("repeat", context.repeat)):
            check_name(kind, name)
        self._context = context
        self._place = place
        self._builds = builds
        self._names = (context.lab, context.run, context.repeat)
        self._jobs = jobs_of(context.arm.arm)
        self._parts = parts_of(context.arm.arm)
        self._groups: dict[str, Group] = {}
        self._sampler_group: Group | None = None
        self._readbacks: dict[str, Readback] = {}
        self._seats: Seats | None = None
        self._children: list[Child] = []

    def prepare(self) -> tuple[Readback, ...]:
        """Make the groups and read back what the kernel has.

        Raises TargetError, or ReadbackMismatch when the kernel has something else.
        """
        for job in self._jobs:
            binary(self._builds, job.build)
        # A worker that died here may have left this very repeat.
        sweep.remove(self._place.group(*self._names).dirs)
        top = self._place.layout.cpu.top
        for part in self._parts:
            group = groups.create(self._place, *self._names, *part.path)
            groups.apply(group, part.limits, top, part.weigh)
            self._groups[part.name] = group
        self._sampler_group = groups.create(self._place, *self._names, SAMPLER)
        self._seats = seat(self._context.arm.arm, usable(lineage(self._sampler_group.cpu, top)))
        for part in self._parts:
            self._readbacks[part.name] = read_back(
                part.name,
                self._groups[part.name],
                part.limits,
                top,
                weigh=part.weigh,
                pinned=self._seats.by_group[part.unit.group],
            )
        return tuple(self._readbacks.values())

    def measure(self, sink: Sink, stop: StopFlag) -> None:
        """Run the arm's steps. Raises Stopped within 0.2 s of the flag, or TargetError."""
        if self._sampler_group is None or self._seats is None or not self._readbacks:
            raise TargetError("This repeat was not prepared.", remedy="Call prepare first.")
        top = self._place.layout.cpu.top
        for name, group in self._groups.items():
            for text in self._readbacks[name].notes:
                sink(Note(text, "warning"))
            sink(tree(name, group, top))
        for note in self._seats.notes:
            sink(note)
        crew = Crew(
            jobs=self._jobs,
            groups=self._groups,
            readbacks=self._readbacks,
            cpus=self._seats.by_group,
            builds=self._builds,
            sink=sink,
        )
        measurement = Measurement(
            crew=crew,
            groups=self._groups,
            sampler_group=self._sampler_group,
            readbacks=self._readbacks,
            sampler=binary(self._builds, max(self._builds, default="go1.25")),
            top=top,
            hz=self._hz,
            sink=sink,
            stop=stop,
        )
        self._children = measurement.children
        measurement.run(self._context.arm.arm.steps)

    @property
    def _hz(self) -> int:
        """One sampler reads all groups: as often as the shortest period of any asks for."""
        return max(self._context.sample_hz, *(g.sample_hz for g in self._context.arm.groups))

    def clean(self) -> None:
        """Remove everything this repeat made. Raises TargetError when something stays."""
        for child in self._children:
            child.end_input()
        repeat = self._place.group(*self._names)
        # Kill and reap before removing: a dead child that nobody has asked after may still
        # count as a process of its cgroup.
        sweep.kill(repeat.dirs)
        for child in self._children:
            child.kill()
        stuck = [child for child in self._children if not child.close(_REAP_S)]
        sweep.remove(repeat.dirs)
        for directory in repeat.dirs:
            sweep.prune(directory.parent, up_to=directory.parents[2])
        if stuck:
            raise TargetError(
                f"{stuck[0].name} (process {stuck[0].pid}) does not end.",
                remedy=f"End it by hand: kill -9 {stuck[0].pid}.",
                code="cleanup-failed",
            )
        self._children = []
