"""Everything a real kind cluster needs on a machine without an image registry.

`python -m tests.cluster.parts` makes the parts and says where they are. They are kept in
`~/.cache/throttle-lab-tests/cluster`, by version; the product never needs any of them.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster import daemon, node_image, programs
from tests.cluster.programs import Programs, Unavailable

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
CACHE = CACHE / "throttle-lab-tests" / "cluster"
# Program on PATH: Debian's package.
DEBIAN = {
    "dockerd": "docker.io",
    "iptables": "iptables",
    "debootstrap": "debootstrap",
    "gcc": "gcc",
}


@dataclass(frozen=True, slots=True)
class Parts:
    """`environment`: kind and docker on PATH, and where the daemon is; `image`: for nodes."""

    programs: Programs
    image: str
    environment: dict[str, str]


def missing() -> str:
    """Why the parts cannot be made here, after an attempt to install; "" when they can."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return "the node image is made for Linux on x86_64 only"
    if os.geteuid() != 0:
        return "debootstrap and the nodes need root"
    if not Path("/sys/fs/cgroup/cpuset").is_dir():
        return "the node image is made for cgroup v1"
    if not shutil.which("go"):
        return "not installed: go"
    absent = [program for program in DEBIAN if not shutil.which(program)]
    if absent and shutil.which("apt-get"):
        _install([DEBIAN[program] for program in absent])
        absent = [program for program in DEBIAN if not shutil.which(program)]
    return f"not installed: {', '.join(absent)}" if absent else ""


@contextmanager
def cluster_parts() -> Iterator[Parts]:
    """Make what is missing and have Docker running; ends the daemon if it was started here."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = programs.build(CACHE)
        node_image.root_files(CACHE)
    with daemon.docker(CACHE) as environment:
        image = node_image.build(CACHE, made, environment)
        # Only kind: the machine's own kubectl and the like keep their place.
        path = f"{_kind_folder(made)}{os.pathsep}{environment.get('PATH', os.defpath)}"
        yield Parts(made, image, {**environment, "PATH": path})


def _kind_folder(made: Programs) -> Path:
    folder = made.folder / "on-path"
    folder.mkdir(exist_ok=True)
    link = folder / "kind"
    if not link.is_symlink():
        link.symlink_to(made.kind)
    return folder


def _install(packages: list[str]) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for argv in (["apt-get", "update"], ["apt-get", "install", "-y", *packages]):
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unavailable(f"{' '.join(argv)}: {done.stderr.strip()[-500:]}")


if __name__ == "__main__":
    began = time.monotonic()
    with cluster_parts() as parts:
        print(f"{parts.programs.folder}\n{parts.image}\n{time.monotonic() - began:.0f} s")
