"""Kubernetes, etcd and kind as programs, built from their Go modules and kept by version.

There is no image registry behind these tests: every program of a cluster is compiled here,
statically, so that it runs in an image that holds nothing else. Five minutes the first time.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

KUBERNETES = "1.34.4"
ETCD = "3.6.13"
KIND = "0.33.0"
COMPONENTS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy")
NODE_PROGRAMS = ("kubelet", "kubectl", "kubeadm")
LIMIT_S = 3600


class Unavailable(Exception):
    """Why the parts of a cluster cannot be made here."""


@dataclass(frozen=True, slots=True)
class Programs:
    """A folder with one static program for each name, and pause.c beside them."""

    folder: Path

    @property
    def kind(self) -> Path:
        return self.folder / "kind"

    def __getitem__(self, name: str) -> Path:
        return self.folder / name


def find_go() -> str:
    go = shutil.which("go")
    if go is None:
        raise Unavailable("not installed: go")
    return go


def build(cache: Path) -> Programs:
    """All of them, from the cache where they are there. Raises Unavailable with Go's words."""
    made = cache / f"programs-kubernetes{KUBERNETES}-etcd{ETCD}-kind{KIND}"
    if not made.exists():
        go = find_go()
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="programs-", dir=cache) as folder:
            work, out = Path(folder), Path(folder) / "out"
            out.mkdir()
            _kubernetes(go, work, out)
            _server(go, work, out)
            _build(go, work, out, "sigs.k8s.io/kind", f"v{KIND}", ["sigs.k8s.io/kind"])
            # A second builder may have been faster; what it made is the same.
            if not made.exists():
                out.rename(made)
    return Programs(made)


def _kubernetes(go: str, work: Path, out: Path) -> None:
    """The module leaves its k8s.io parts to a folder that only its repository has.

    They are published as modules of their own: Kubernetes 1.34.4 goes with 0.34.4.
    """
    module, version = "k8s.io/kubernetes", f"v{KUBERNETES}"
    staging = re.sub(r"^1\.", "v0.", KUBERNETES)
    source = _source(go, work, module, version)
    parts = re.findall(r"^\s+(k8s\.io/\S+) => \./staging/", (source / "go.mod").read_text(), re.M)
    if not parts:
        raise Unavailable(f"{module} {version} has no parts to replace: its go.mod has changed")
    major, minor, _ = KUBERNETES.split(".")
    stamp = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    flags = " ".join(f"-X k8s.io/component-base/version.{k}={v}" for k, v in stamp.items())
    replaced = [f"replace {part} => {part} {staging}" for part in parts]
    packages = [f"{module}/cmd/{name}" for name in (*COMPONENTS, *NODE_PROGRAMS)]
    _build(go, work, out, module, version, packages, flags=flags, replaced=replaced)
    shutil.copy(source / "build" / "pause" / "linux" / "pause.c", out / "pause.c")


def _server(go: str, work: Path, out: Path) -> None:
    module = "go.etcd.io/etcd/server/v3"
    _build(go, work, out, module, f"v{ETCD}", [module])
    # Go names a program after its folder, here the module's.
    for name in ("server", "v3"):
        if (out / name).exists():
            (out / name).rename(out / "etcd")


def _source(go: str, work: Path, module: str, version: str) -> Path:
    _go([go, "mod", "download", f"{module}@{version}"], work)
    cache = _go([go, "env", "GOMODCACHE"], work).strip()
    return Path(cache) / f"{module}@{version}"


def _build(
    go: str,
    work: Path,
    out: Path,
    module: str,
    version: str,
    packages: Sequence[str],
    *,
    flags: str = "",
    replaced: Sequence[str] = (),
) -> None:
    """Compile programs of a module that is no dependency of ours, in a module made for it."""
    folder = Path(tempfile.mkdtemp(prefix="module-", dir=work))
    lines = ["module parts", "go 1.25.0", f"require {module} {version}", *replaced]
    (folder / "go.mod").write_text("\n".join(lines) + "\n")
    argv = ["nice", "-n", "10", go, "build", "-mod=mod", "-trimpath", "-buildvcs=false"]
    _go([*argv, f"-ldflags=-s -w {flags}", "-o", f"{out}/", *packages], folder)


def _go(argv: Sequence[str], cwd: Path) -> str:
    done = subprocess.run(
        argv,
        cwd=cwd,
        env={**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    if done.returncode:
        raise Unavailable(f"{' '.join(argv[:6])} …: {done.stderr.strip()[-1500:]}")
    return done.stdout
