"""The machine's own cgroups as a target."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

from experiments_app.core.errors import LabError, TargetError
from experiments_app.targets.base import Problem, RepeatContext, Session, TargetStatus
from experiments_app.targets.local import facts, sweep
from experiments_app.targets.local.hierarchy import Layout, discover
from experiments_app.targets.local.place import Place, check_name, choose, every_root
from experiments_app.targets.local.probe import as_problem, probe
from experiments_app.targets.local.session import LocalSession


def machine_name() -> str:
    """What targets on this machine have in common: its host name."""
    return platform.node().split(".")[0].lower() or "local"


class LocalTarget:
    """Runs arms in cgroups of this machine. `builds`: the workload program by build name."""

    kind = "local"

    def __init__(
        self,
        *,
        builds: Mapping[str, Path],
        name: str = "local",
        machine: str | None = None,
    ) -> None:
        self.name = name
        self.machine = machine or machine_name()
        self._builds = dict(builds)

    def status(self) -> TargetStatus:
        """Look, and try it for real with a group that is gone again at the end."""
        layout: Layout | None = None
        base: Path | None = None
        problems: list[Problem] = []
        try:
            layout = self._layout()
            place = choose(layout, euid=os.geteuid())
            base = place.base.cpu
            problems += facts.busy_warnings()
            problems += probe(place, self._builds)
        except LabError as error:
            problems.append(as_problem(error))
        warning = facts.kernel_warning(platform.release()) if sys.platform == "linux" else None
        if warning is not None:
            problems.append(warning)
        found = facts.gather(layout, base, self._builds)
        return TargetStatus(self.name, self.kind, self.machine, tuple(problems), found)

    def open(self, context: RepeatContext) -> Session:
        """A session for one repeat. Raises TargetError where there is no place for it."""
        return LocalSession(context, self._place(), self._builds)

    def cleanup(self, *, lab: str, run: str) -> tuple[str, ...]:
        """End what runs in the cgroups of a run and remove them; returns their directories."""
        check_name("lab", lab)
        check_name("run", run)
        removed: list[str] = []
        for root in self._roots():
            removed += sweep.remove([root / lab / run])
            sweep.prune(root / lab, up_to=root)
        return tuple(removed)

    def leftovers(self, *, lab: str) -> tuple[str, ...]:
        """Runs of this lab that have cgroups here, whether they are used or left."""
        check_name("lab", lab)
        found: set[str] = set()
        for root in self._roots():
            # A run that ends meanwhile takes its directories with it.
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                found |= {path.name for path in (root / lab).iterdir() if path.is_dir()}
        return tuple(sorted(found))

    def _layout(self) -> Layout:
        if sys.platform != "linux":
            raise TargetError(
                f"The local target needs Linux; this is {platform.system() or sys.platform}.",
                remedy="Use a docker or kind target: they run in a Linux machine.",
                code="not-linux",
            )
        return discover()

    def _place(self) -> Place:
        return choose(self._layout(), euid=os.geteuid())

    def _roots(self) -> tuple[Path, ...]:
        try:
            return tuple(every_root(self._layout()))
        except TargetError:
            return ()  # no cgroups: then nothing was ever made here
