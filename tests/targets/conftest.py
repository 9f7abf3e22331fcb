"""Fixtures: the built workload program, real cgroups, made-up machines."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from experiments_app.targets.local.hierarchy import discover
from experiments_app.targets.local.place import Place, choose
from tests.targets.support import Bench, Builds, Fake, ProcTree, require

REPO = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def builds() -> Iterator[Builds]:
    """Both builds of cpulab, in a directory that every user may read.

    CPULAB_BUILDS names a directory that has them already, for a machine without Go (tests run
    without the lab's own variables, so it is none of them).
    """
    require(sys.platform == "linux", "cgroups need Linux")
    ready = os.environ.get("CPULAB_BUILDS")
    if ready:
        yield {build: Path(ready) / f"cpulab-{build}" for build in ("go1.24", "go1.25")}
        return
    require(shutil.which("go") is not None, "building cpulab needs Go")
    base = Path(tempfile.mkdtemp(prefix="throttle-lab-"))
    base.chmod(0o755)  # pytest's own temporary directories are closed to other users
    found: Builds = {}
    for build, modfile in (("go1.24", "go.mod"), ("go1.25", "go125.mod")):
        path = base / f"cpulab-{build}"
        subprocess.run(
            ["go", "build", "-trimpath", f"-modfile={modfile}", "-o", str(path), "."],
            cwd=REPO / "cpulab",
            env={**os.environ, "CGO_ENABLED": "0"},
            check=True,
        )
        path.chmod(0o755)
        found[build] = path
    yield found
    shutil.rmtree(base)


@pytest.fixture(scope="session")
def place() -> Place:
    """Where cgroups go on this machine, as root."""
    require(sys.platform == "linux" and os.geteuid() == 0, "real cgroups need Linux and root")
    return choose(discover(), euid=0)


@pytest.fixture
def bench(place: Place, builds: Builds) -> Iterator[Bench]:
    """A lab with a name of its own; whatever a test does, it must leave nothing of it."""
    bench = Bench(place, builds, f"test-{secrets.token_hex(4)}")
    try:
        yield bench
        left = bench.left()
    finally:
        for run in bench.target.leftovers(lab=bench.lab):
            bench.target.cleanup(lab=bench.lab, run=run)
        for directory in bench.left():
            directory.rmdir()
    assert not left


@pytest.fixture
def never() -> threading.Event:
    """A stop flag that nobody sets."""
    return threading.Event()


@pytest.fixture
def fake(tmp_path: Path, builds: Builds) -> Fake:
    """Builds whose go1.24 does in the workload's place what a test says; all else is real."""

    def make(body: str) -> Builds:
        script = tmp_path / "cpulab-fake"
        script.write_text(
            f"#!{sys.executable}\n"
            "import json, os, signal, sys, time\n"
            f"real = {str(builds['go1.24'])!r}\n"
            "if sys.argv[1] in ('exec', 'version', 'info'):\n"
            "    os.execv(real, [real, *sys.argv[1:]])\n"
            "n = 0\n"
            "def say(type, **fields):\n"
            "    global n\n"
            "    n = fields.pop('n', n + 1)\n"
            "    line = {'n': n, 'type': type, 'mono_us': time.monotonic_ns() // 1000, **fields}\n"
            "    print(json.dumps(line), flush=True)\n"
            f"{body}\n"
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        return {**builds, "go1.24": script}

    return make


@pytest.fixture
def proc_tree(tmp_path: Path) -> ProcTree:
    """A made-up /proc and / : mountinfo, own memberships, and directories with files."""

    def make(
        mountinfo: str, cgroup: str, directories: Mapping[str, Mapping[str, str]]
    ) -> tuple[Path, Path]:
        proc, fs = tmp_path / "proc", tmp_path / "fs"
        (proc / "self").mkdir(parents=True)
        (proc / "self" / "mountinfo").write_text(mountinfo)
        (proc / "self" / "cgroup").write_text(cgroup)
        for name, files in directories.items():
            directory = fs / name.lstrip("/")
            directory.mkdir(parents=True, exist_ok=True)
            for file, text in {"cgroup.procs": "", **files}.items():
                (directory / file).write_text(text)
        return proc, fs

    return make
