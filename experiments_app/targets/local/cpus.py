"""Which CPUs the programs of an arm run on: places kept apart, and pins."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments_app.core.places import split_cpus
from experiments_app.core.records import Note
from experiments_app.core.spec_model import Arm, Step
from experiments_app.targets.local.files import read_text


@dataclass(frozen=True, slots=True)
class Seats:
    """CPUs by group, None where it may use all; `notes` say what was decided."""

    by_group: dict[str, tuple[int, ...] | None]
    notes: tuple[Note, ...]


def seat(arm: Arm, available: Sequence[int]) -> Seats:
    """Where each group runs.

    Places are split by core.places; a pin (of a place, or else of a group) then keeps its
    programs on the first so many CPUs of their place, the last pin winning. Nothing is pinned
    without a pin or a second place.
    """
    split = split_cpus(available, arm.places)
    apart = len(set(split.values())) > 1
    cpus: dict[str, tuple[int, ...] | None] = {
        group.name: split[group.place] if apart else None for group in arm.groups
    }
    notes: list[Note] = []
    pins = [(step, _pinned(arm, step)) for step in arm.steps if step.pin is not None]
    for step, names in pins:
        for name, place in names.items():
            cpus[name] = split[place][: step.cpus]
        notes += _too_wide(step, min(len(split[place]) for place in names.values()))
    if said := _said(cpus, apart=apart, pinned=bool(pins)):
        notes.insert(0, said)
    return Seats(cpus, tuple(notes))


def _pinned(arm: Arm, step: Step) -> dict[str, str]:
    """The groups that a pin means, each with its place."""
    at_place = {group.name: group.place for group in arm.groups if group.place == step.pin}
    return at_place or {g.name: g.place for g in arm.groups if g.name == step.pin}


def _too_wide(step: Step, there: int) -> list[Note]:
    if step.cpus is None or step.cpus <= there:
        return []
    text = f"{step.pin} is to run on {step.cpus} CPUs, but has {there} here: it runs on {there}."
    return [Note(text, "warning")]


def _said(cpus: dict[str, tuple[int, ...] | None], *, apart: bool, pinned: bool) -> Note | None:
    listed = [f"group {name} on CPU {cpu_list(own)}" for name, own in cpus.items() if own]
    if not listed:
        return None
    why = [words for words, so in (("places kept apart", apart), ("pinned", pinned)) if so]
    return Note(f"CPUs ({', '.join(why)}): {', '.join(listed)}.")


def usable(levels: Sequence[Path]) -> tuple[int, ...]:
    """CPUs that a program of ours in a group can use: our affinity and the nearest cpuset.

    `levels`: the group's directory and its ancestors, nearest first.
    """
    if sys.platform != "linux":
        return tuple(range(os.cpu_count() or 1))
    affinity = os.sched_getaffinity(0)
    for level in levels:
        text = read_text(level / "cpuset.cpus.effective")
        if text:
            return tuple(sorted(affinity & parse_cpu_list(text) or affinity))
    return tuple(sorted(affinity))


def allowed(pid: int) -> set[int] | None:
    """The CPUs that the kernel lets a process run on; None when it has ended."""
    for line in (read_text(Path("/proc") / str(pid) / "status") or "").splitlines():
        if line.startswith("Cpus_allowed_list:"):
            return parse_cpu_list(line.partition(":")[2])
    return None


def cpu_list(cpus: Sequence[int]) -> str:
    """A list as cpulab reads it: "0,1"."""
    return ",".join(map(str, cpus))


def parse_cpu_list(text: str) -> set[int]:
    """The kernel's list form, "0-3,8": ranges are inclusive; what is no number is left out."""
    cpus: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if first.isdigit() and (last.isdigit() or not dash):
            cpus.update(range(int(first), int(last if dash else first) + 1))
    return cpus
