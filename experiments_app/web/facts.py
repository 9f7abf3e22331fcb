"""What a target froze of its place, in words that say what each fact is."""

from __future__ import annotations

from collections.abc import Mapping

from experiments_app.templatetags.quantities import time_us

_NAMES = {
    "kernel": "kernel",
    "cgroup": "cgroup",
    "cpus": "CPUs",
    "cpu_model": "CPU",
    "runtime": "runtime",
    "cpulab": "cpulab",
}
_EXTRA = {
    "governor": "CPU frequency governor",
    "smt": "hyper-threading (SMT)",
    "clocksource": "clock of the kernel",
    "bandwidth_slice_us": "bandwidth slice",
    "no_turbo": "turbo switched off",
    "boost": "frequency boost",
    "architecture": "architecture",
    "kernel_build": "kernel build",
    "hz": "kernel ticks",
    "virtualisation": "virtual machine",
    "hierarchy": "cgroup hierarchy",
    "base": "groups are made under",
}


def rows(facts: Mapping[str, object]) -> list[tuple[str, str]]:
    """Names and values; what is not known is left out."""
    known = [(label, str(facts[key])) for key, label in _NAMES.items() if facts.get(key)]
    extra = facts.get("extra") or {}
    assert isinstance(extra, Mapping)
    return [*known, *(_row(str(key), str(value)) for key, value in extra.items())]


def _row(key: str, value: str) -> tuple[str, str]:
    name = _EXTRA.get(key)
    if name is None and key.startswith("cpulab_"):
        name = f"cpulab built with {key.removeprefix('cpulab_')}"
    return name or key.replace("_", " "), _value(key, value)


def _value(key: str, value: str) -> str:
    if key == "bandwidth_slice_us" and value.isascii() and value.isdigit():
        return f"{time_us(int(value))}: what a CPU takes of the quota at a time"
    if key == "hz":
        return f"{value} a second"
    return {"0": "no", "1": "yes"}.get(value, value) if key in ("no_turbo", "boost") else value
