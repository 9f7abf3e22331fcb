"""cpulab for the nodes of a cluster: this machine's builds where they fit, else cross-built."""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
from collections.abc import Mapping
from pathlib import Path

from experiments_app.core.records import StopFlag
from experiments_app.targets.kubernetes.commands import ClusterError, Say, work

# e_machine of an ELF header (elf.h), by Go's name of the architecture.
MACHINES = {"amd64": 62, "arm64": 183}
MODULES = {"go1.24": "go.mod", "go1.25": "go125.mod"}
BUILD_S = 900


def programs_for(
    architecture: str,
    *,
    builds: Mapping[str, Path],
    root: Path,
    stop: StopFlag,
    say: Say,
) -> dict[str, Path]:
    """By build ("go1.24", "go1.25"), a static Linux program for the architecture.

    `builds`: those for this machine; `root`: the checkout, with cpulab's source and .build.
    Raises ClusterError, Stopped.
    """
    found = existing_programs(architecture, builds=builds, root=root)
    if found is not None:
        return found
    return {
        build: _cross_build(build, architecture, root=root, stop=stop, say=say) for build in builds
    }


def existing_programs(
    architecture: str, *, builds: Mapping[str, Path], root: Path
) -> dict[str, Path] | None:
    """The same without building anything; None where one is missing."""
    crossed = {build: _cross_built(build, architecture, root) for build in builds}
    for programs in (dict(builds), crossed):
        if all(is_linux_program(path, architecture) for path in programs.values()):
            return programs
    return None


def is_linux_program(path: Path, architecture: str) -> bool:
    """Whether a file is a 64-bit little-endian ELF program for the architecture."""
    try:
        with open(path, "rb") as file:
            header = file.read(20)
    except OSError:
        return False
    if len(header) < 20 or header[:6] != b"\x7fELF\x02\x01":
        return False
    machine: int = struct.unpack_from("<H", header, 18)[0]
    return machine == MACHINES.get(architecture)


def find_go(root: Path) -> str | None:
    """Go from PATH, else the one that ./lab has put into .build."""
    local = next((root / ".build" / "go").glob("lib/python*/site-packages/go/bin/go"), None)
    return shutil.which("go") or (str(local) if local else None)


def _cross_build(build: str, architecture: str, *, root: Path, stop: StopFlag, say: Say) -> Path:
    made = _cross_built(build, architecture, root)
    if is_linux_program(made, architecture):
        return made
    go = find_go(root)
    if go is None:
        raise ClusterError(
            f"cpulab has to be built for the nodes (linux/{architecture}), and there is no Go.",
            remedy="Install Go 1.25 or newer so that go is on PATH.",
            code="go-missing",
        )
    say(f"building cpulab ({build}) for linux/{architecture} …")
    made.parent.mkdir(parents=True, exist_ok=True)
    source = root / "cpulab"
    version = _version(source)
    draft = made.with_name(f"{made.name}.{os.getpid()}")
    argv = [go, "build", "-trimpath", "-buildvcs=false", f"-modfile={MODULES[build]}"]
    argv += [f"-ldflags=-s -w -X cpulab/internal/build.Version={version}", "-o", str(draft), "."]
    target = {"GOOS": "linux", "GOARCH": architecture, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}
    log = made.with_name(f"{made.name}.log")
    done = work(
        argv,
        log=log,
        environment={**os.environ, **target},
        limit_s=BUILD_S,
        stop=stop,
        say=lambda _line: None,
        cwd=source,
    )
    if done.status:
        draft.unlink(missing_ok=True)
        raise ClusterError(
            f"Building cpulab for linux/{architecture} failed: {done.said[-500:]}",
            remedy=f"All it said is in {log}.",
            code="build-failed",
        )
    draft.replace(made)
    return made


def _cross_built(build: str, architecture: str, root: Path) -> Path:
    """Where a cross-built program is, or will be."""
    version = _version(root / "cpulab")
    return root / ".build" / "cpulab-nodes" / version / architecture / f"cpulab-{build}"


def _version(source: Path) -> str:
    """A digest of what the program is built from."""
    paths = [*source.glob("*.mod"), *source.glob("*.sum"), *source.rglob("*.go")]
    total = hashlib.sha256()
    for path in sorted(path for path in paths if not path.name.endswith("_test.go")):
        total.update(str(path.relative_to(source)).encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()[:16]
