"""Who owns a run: a process, named so that others on its host can tell whether it lives."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True)
class Owner:
    """One process on one boot of one host; `space` tells process namespaces apart."""

    host: str
    space: str
    pid: int
    started: int

    def __str__(self) -> str:
        return f"{self.host}/{self.space}/{self.pid}/{self.started}"

    @classmethod
    def parse(cls, text: str) -> Owner | None:
        parts = text.split("/")
        if len(parts) != 4 or not parts[2].isdigit() or not parts[3].isdigit():
            return None
        return cls(parts[0], parts[1], int(parts[2]), int(parts[3]))


def me() -> Owner:
    return Owner(
        host=socket.gethostname().replace("/", "-"),
        space=_space(),
        pid=os.getpid(),
        started=_started(os.getpid()) or 0,
    )


def surely_dead(text: str) -> bool:
    """True only where this process can see that the owner is gone; False means unknown."""
    owner = Owner.parse(text)
    if owner is None or owner.host != me().host or owner.space != _space():
        return False
    return _started(owner.pid) != owner.started


def _space() -> str:
    """Boot and process namespace: a pid means something only within both."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8]
        namespace = Path("/proc/self/ns/pid").readlink().name.strip("pid:[]")
    except OSError:
        return f"boot-{int(psutil.boot_time())}"
    return f"{boot}-{namespace}"


def _started(pid: int) -> int | None:
    """When a process started, in its host's clock (ms); None where it is gone or a zombie."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return int(process.create_time() * 1000)
    except psutil.Error:
        return None
