"""A virtual machine with a kernel of its own and cgroup v2 only, for one round of scenarios.

Emulated by QEMU (TCG), so it needs no rights and no hardware support; its clock and counters
are consistent with each other, its speed is not that of any real machine.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.v2 import contents
from tests.v2.cpio import Archive

QEMU = "qemu-system-x86_64"
KERNEL = "linux-image-cloud-amd64"
BUSYBOX = "busybox-static"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
CACHE = CACHE / "throttle-lab-tests" / "v2"
KEPT_S = 14 * 86_400  # since it was last used
LIMIT_S = 900
# The timer's and the clock's own checks fail where the emulation is short of CPU.
OPTIONS = "console=ttyS0 quiet panic=-1 rdinit=/init mitigations=off "
OPTIONS += "no_timer_check tsc=reliable nowatchdog"


class Unavailable(Exception):
    """Why there can be no such machine here."""


@dataclass(frozen=True, slots=True)
class Result:
    """What the scenarios have reported, and the machine's console."""

    scenarios: dict[str, dict[str, Any]]
    console: str
    seconds: float


def missing() -> str:
    """Why the machine cannot be built here; "" when it can."""
    for program in (QEMU, "apt-get", "apt-cache", "dpkg-deb", "ldd"):
        if not shutil.which(program):
            return f"not installed: {program}"
    if not any(contents.PROGRAMS.glob("cpulab-*")):
        return "cpulab is not built"
    return ""


def boot(*names: str, limit_s: float = LIMIT_S) -> Result:
    """Build what is missing, run these scenarios (else all), take the machine away."""
    if why := missing():
        raise Unavailable(why)
    kernel = _from_package(_kernel_package(), "./boot/vmlinuz-*")
    base = _base(_from_package(BUSYBOX, "./bin/busybox"))
    # The large file has no name: it goes with this process, however that ends.
    with (
        tempfile.TemporaryDirectory(prefix="lab-v2-") as folder,
        tempfile.TemporaryFile() as initrd,
    ):
        at = Path(folder)
        with open(base, "rb") as first:
            shutil.copyfileobj(first, initrd, 1 << 20)
        archive = Archive(initrd)
        contents.write_lab(archive, names)
        archive.end()
        initrd.flush()
        began = time.monotonic()
        with _qemu(at, kernel, initrd.fileno()) as process:
            try:
                process.wait(limit_s)
            except subprocess.TimeoutExpired:
                (at / "error").write_text(f"machine: ended after {limit_s:g} s\n")
        seconds = time.monotonic() - began
        console = _text(at / "console") + _text(at / "error")
        return Result(_scenarios(_text(at / "results")), console, seconds)


@contextmanager
def _qemu(at: Path, kernel: Path, initrd: int) -> Iterator[subprocess.Popen[bytes]]:
    # Whatever becomes of this process, the machine goes with it.
    argv = [sys.executable, "-m", "labsite.lifeline", QEMU]
    argv += ["-machine", "q35", "-accel", "tcg,thread=multi,tb-size=512", "-cpu", "max"]
    argv += ["-smp", "2", "-m", "2048", "-nodefaults", "-no-user-config", "-display", "none"]
    argv += ["-no-reboot", "-kernel", str(kernel), "-initrd", f"/dev/fd/{initrd}"]
    argv += ["-append", OPTIONS]
    for name in ("console", "results"):
        argv += ["-chardev", f"file,id={name},path={at / name}", "-serial", f"chardev:{name}"]
    with open(at / "error", "wb") as error:
        process = subprocess.Popen(
            argv,
            cwd=contents.ROOT,
            stdin=subprocess.DEVNULL,
            stdout=error,
            stderr=error,
            pass_fds=[initrd],
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def _scenarios(text: str) -> dict[str, dict[str, Any]]:
    """One JSON object a line; what a killed machine has cut off is left out."""
    found = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
    return {entry["scenario"]: entry for entry in found}


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


def _base(busybox: Path) -> Path:
    """The archive of what seldom changes; made once for a set of locked packages."""
    here = Path(__file__).parent
    sources = [contents.ROOT / "requirements-dev.lock", here / "contents.py", here / "cpio.py"]
    total = hashlib.sha256(f"{sys.version} {sys.prefix} {busybox}".encode())
    for path in sources:
        total.update(path.read_bytes())
    made = CACHE / f"base-{total.hexdigest()[:16]}.cpio"
    if not made.exists():
        draft = made.with_suffix(f".{os.getpid()}")
        try:
            with open(draft, "wb") as file:
                archive = Archive(file)
                contents.write_base(archive, busybox)
                archive.end()
            draft.replace(made)
        finally:
            draft.unlink(missing_ok=True)
    made.touch()
    for other in CACHE.glob("base-*"):
        if other.stat().st_mtime < time.time() - KEPT_S:
            other.unlink(missing_ok=True)
    return made


def _kernel_package() -> str:
    """The package that holds the kernel to which the always newest one leads."""
    with contextlib.suppress(Unavailable):
        return _newest_kernel()
    _apt(["apt-get", "-q", "update"])  # a fresh system has no lists yet
    return _newest_kernel()


def _newest_kernel() -> str:
    for line in _apt(["apt-cache", "depends", KERNEL]).splitlines():
        kind, _, name = line.strip().partition(": ")
        if kind == "Depends" and name.startswith("linux-image-"):
            return name
    raise Unavailable(f"apt knows no package {KERNEL}: this is not Debian, or has no such source")


def _from_package(package: str, pattern: str) -> Path:
    """One file of a Debian package that is not installed, kept by the package's version."""
    shown = _apt(["apt-cache", "show", "--no-all-versions", package])
    version = next(line[9:] for line in shown.splitlines() if line.startswith("Version: "))
    made = CACHE / f"{package}_{version.replace(':', '-')}"
    if not made.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="package-", dir=CACHE) as folder:
            _apt(["apt-get", "-q", "download", package], cwd=folder)
            deb = next(Path(folder).glob("*.deb"))
            tar = subprocess.run(
                ["dpkg-deb", "--fsys-tarfile", deb], capture_output=True, check=True
            )
            argv = ["tar", "-x", "-C", folder, "--wildcards", pattern]
            subprocess.run(argv, input=tar.stdout, check=True)
            next(Path(folder).glob(pattern)).replace(made)
    return made


def _apt(argv: list[str], cwd: str | None = None) -> str:
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise Unavailable(f"{' '.join(argv)}: {done.stderr.strip()[-500:]}")
    return done.stdout


if __name__ == "__main__":
    shown = boot(*sys.argv[1:])
    print(shown.console)
    print(json.dumps(shown.scenarios, indent=2))
