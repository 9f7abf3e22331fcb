"""What is worth knowing and freezing of this machine, and what about it should be doubted."""

from __future__ import annotations

import gzip
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from experiments_app.targets.base import Problem, TargetFacts
from experiments_app.targets.local.files import read_text
from experiments_app.targets.local.hierarchy import Layout

_BUSY = 0.25
_STEAL = 0.02
_WINDOW_S = 0.25
_SLICES = "/proc/sys/kernel/sched_cfs_bandwidth_slice_us"
_EXTRA = {
    "governor": "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "smt": "/sys/devices/system/cpu/smt/control",
    "clocksource": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "bandwidth_slice_us": _SLICES,
    "no_turbo": "/sys/devices/system/cpu/intel_pstate/no_turbo",
    "boost": "/sys/devices/system/cpu/cpufreq/boost",
}


def gather(layout: Layout | None, base: Path | None, builds: dict[str, Path]) -> TargetFacts:
    """Facts; None for what is not known here. Never raises."""
    extra = {key: text for key, path in _EXTRA.items() if (text := read_text(Path(path)))}
    extra["architecture"] = platform.machine()
    if version := platform.version():
        extra["kernel_build"] = version
    if hz := tick_hz():
        extra["hz"] = hz
    if where := virtualisation():
        extra["virtualisation"] = where
    if layout is not None:
        extra["hierarchy"] = _hierarchy(layout)
    if base is not None:
        extra["base"] = str(base)
    versions = {build: cpulab_version(path) for build, path in sorted(builds.items())}
    known = {build: text for build, text in versions.items() if text}
    extra |= {f"cpulab_{build}": text for build, text in known.items()}
    return TargetFacts(
        kernel=platform.release() or None,
        cgroup=f"v{layout.version}" if layout is not None else None,
        cpus=cpus(),
        cpu_model=cpu_model(),
        runtime=None,
        cpulab=next(iter(known.values()), None),
        extra=extra,
    )


def _hierarchy(layout: Layout) -> str:
    if layout.version == 2:
        return "unified"
    kind = "v1, cpu and cpuacct " + ("joined" if layout.cpuacct is None else "separate")
    return kind + (", beside v2 without cpu" if layout.hybrid else "")


def cpus() -> int:
    """CPUs that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_model(text: str | None = None) -> str | None:
    """The first model name of /proc/cpuinfo; other architectures name it otherwise."""
    text = text if text is not None else read_text(Path("/proc/cpuinfo")) or ""
    for key in ("model name", "Model", "cpu model", "Processor", "cpu"):
        found = re.search(rf"^{key}\s*:\s*(.+)$", text, re.MULTILINE)
        if found:
            return found[1].strip()
    return None


def tick_hz() -> str | None:
    """CONFIG_HZ, when the kernel's configuration can be read."""
    release = platform.release()
    for path in (Path("/proc/config.gz"), Path(f"/boot/config-{release}")):
        try:
            raw = path.read_bytes()
            text = gzip.decompress(raw) if path.suffix == ".gz" else raw
        except (OSError, EOFError):
            continue
        found = re.search(rb"^CONFIG_HZ=(\d+)$", text, re.MULTILINE)
        if found:
            return found[1].decode()
    return None


def virtualisation() -> str | None:
    """A hint that the CPUs are shared with others: what the firmware or the CPU says."""
    for name in ("product_name", "sys_vendor"):
        text = read_text(Path("/sys/class/dmi/id") / name) or ""
        for word in ("KVM", "QEMU", "VMware", "VirtualBox", "Virtual Machine", "Xen", "EC2"):
            if word.lower() in text.lower():
                return text
    flags = re.search(
        r"^flags\s*:.*\bhypervisor\b", read_text(Path("/proc/cpuinfo")) or "", re.MULTILINE
    )
    return "hypervisor" if flags else read_text(Path("/sys/hypervisor/type"))


def cpulab_version(program: Path) -> str | None:
    """What a workload program says of itself; None where it does not run."""
    try:
        done = subprocess.run(
            [str(program), "version"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    try:
        line = json.loads(done.stdout.splitlines()[0])
        return f"{line['version']} ({line['build']}, built with {line['go']})"
    except (ValueError, IndexError, KeyError, TypeError):
        return None


def kernel_warning(release: str) -> Problem | None:
    """Kernels that may let unused slices expire, so that groups get far less than their quota.

    From 4.18 (and its backports) to the fix in 5.4, 4.19.84 and 4.14.154; a distribution's
    version does not show whether it has the fix.
    """
    found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", release)
    if not found:
        return None
    version = (int(found[1]), int(found[2]), int(found[3] or 0))
    fixed = version >= (5, 4, 0) or any(
        version[:2] == last[:2] and version >= last for last in ((4, 14, 154), (4, 19, 84))
    )
    affected = version[:2] == (4, 14) or version >= (4, 18, 0)
    if fixed or not affected:
        return None
    return Problem(
        "kernel-slice-expiry",
        f"Kernel {release} may have the fault that lets unused quota expire: groups are then "
        "throttled far below their limit.",
        "Use Linux 5.4, 4.19.84 or 4.14.154 or later, or check your distribution's notes.",
        blocking=False,
    )


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """/proc/stat's first line, in clock ticks: all, idle (with iowait), and steal."""

    total: int
    idle: int
    steal: int


def parse_cpu_times(text: str) -> CpuTimes | None:
    words = text.split("\n", 1)[0].split()
    if len(words) < 9 or words[0] != "cpu" or not all(w.isdigit() for w in words[1:]):
        return None
    # guest times (fields 9 and 10) are in user and nice already
    user, nice, system, idle, iowait, irq, softirq, steal = map(int, words[1:9])
    total = user + nice + system + idle + iowait + irq + softirq + steal
    return CpuTimes(total, idle + iowait, steal)


def busy_warnings(
    *,
    stat: Path = Path("/proc/stat"),
    pause: Callable[[float], None] = time.sleep,
) -> tuple[Problem, ...]:
    """Whether others use the CPUs now, over a quarter of a second."""
    before = parse_cpu_times(read_text(stat) or "")
    if before is None:
        return ()
    pause(_WINDOW_S)
    after = parse_cpu_times(read_text(stat) or "")
    if after is None or after.total <= before.total:
        return ()
    total = after.total - before.total
    steal = (after.steal - before.steal) / total
    busy = 1 - (after.idle - before.idle) / total - steal
    problems = []
    if busy > _BUSY:
        problems.append(
            Problem(
                "machine-busy",
                f"The machine is busy: {busy:.0%} of its CPU time is in use now.",
                "Figures taken now may show waiting for a CPU; end other work for clean ones.",
                blocking=False,
            )
        )
    if steal > _STEAL:
        problems.append(
            Problem(
                "cpu-steal",
                f"The hypervisor gives {steal:.0%} of this machine's CPU time to others.",
                "Figures taken now may be slower than the limits explain.",
                blocking=False,
            )
        )
    return tuple(problems)
