"""Which clusters are the lab's own, and where it keeps what belongs to them."""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from experiments_app.core.errors import Stopped
from experiments_app.core.records import StopFlag
from experiments_app.targets.kubernetes.commands import ClusterError, Say

NAME, OLD_NAME = "throttle-lab", "throttle-lab-old"
_OWN_NAME = re.compile(r"throttle-lab(-[a-z0-9]+)*")
_LONGEST_NAME = 40  # with "-control-plane" it is a host name


@dataclass(frozen=True, slots=True)
class Place:
    """`var`: the lab's var folder; `root`: the checkout; `builds`: cpulab for this machine.

    `kind`: a person's own choice of the program.
    """

    var: Path
    root: Path
    builds: Mapping[str, Path]
    kind: Path | None = None

    @property
    def kubeconfig(self) -> Path:
        """The only one that the lab reads or writes."""
        return self.var / "kubeconfig"

    def log(self, name: str, what: str) -> Path:
        """Where kind's own words about a cluster are kept."""
        return self.var / "log" / f"{name}-{what}.log"


def context_name(name: str) -> str:
    """The context that kind writes for a cluster."""
    return f"kind-{name}"


def own_name(name: str) -> str:
    """The name itself if a cluster of this name is the lab's own. Raises ClusterError."""
    if _OWN_NAME.fullmatch(name) and len(name) <= _LONGEST_NAME:
        return name
    raise ClusterError(
        f"{name!r} is no name of a cluster of the lab, which touches only its own.",
        remedy=f"Its clusters are called {NAME} or {NAME}-SOMETHING "
        f"(a-z, 0-9 and single -, at most {_LONGEST_NAME} characters).",
        code="bad-usage",
    )


def in_kubeconfig(place: Place, name: str) -> bool:
    """Whether the lab's kubeconfig has the cluster's context."""
    try:
        text = place.kubeconfig.read_text()
    except FileNotFoundError:
        return False
    return re.search(rf"^\s*(- )?name: {context_name(name)}$", text, re.M) is not None


def drop_empty_kubeconfig(place: Place) -> None:
    """kind leaves the file when its last entry is gone."""
    try:
        text = place.kubeconfig.read_text()
    except FileNotFoundError:
        return
    if re.search(r"^- ", text, re.M) is None:
        place.kubeconfig.unlink(missing_ok=True)


@contextmanager
def alone(place: Place, stop: StopFlag, say: Say) -> Iterator[None]:
    """One command at a time changes the clusters of a var folder. Raises Stopped."""
    with open(place.var / "cluster.lock", "w") as lock:
        told = False
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    say("another cluster command is at work here; waiting for it …")
                told = True
            if stop.wait(0.2):
                raise Stopped("Stopped before anything was done.")
        yield
