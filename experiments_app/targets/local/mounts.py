"""What the kernel says about mounts and memberships: /proc/self/mountinfo and .../cgroup."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """One cgroup mount. `root` is the cgroup, as its hierarchy names it, shown at `point`."""

    point: PurePosixPath
    root: str
    fstype: str
    options: frozenset[str]
    writable: bool

    def locate(self, cgroup: str, fs: Path) -> Path | None:
        """The directory of a cgroup named as in /proc/PID/cgroup; None when not shown here."""
        own, top = PurePosixPath(cgroup), PurePosixPath(self.root)
        # A name that leaves our cgroup namespace ("/../x") says nothing about the path below.
        if ".." in own.parts or ".." in top.parts or not own.is_relative_to(top):
            return None
        return self.path(fs) / own.relative_to(top)

    def path(self, fs: Path) -> Path:
        return fs / self.point.relative_to("/")


@dataclass(frozen=True, slots=True)
class Membership:
    """One line of /proc/PID/cgroup; no controllers and not named is the v2 hierarchy."""

    controllers: frozenset[str]
    path: str


def _unescape(text: str) -> str:
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)


def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """The cgroup mounts that are not hidden by a later mount on the same point.

    Fields: id parent major:minor root point options [optional...] - fstype source super.
    Lines of another shape are skipped: they are not ours to judge.
    """
    seen: dict[str, Mount | None] = {}
    for line in text.splitlines():
        left, dash, right = line.partition(" - ")
        fields, tail = left.split(" "), right.split(" ")
        if not dash or len(fields) < 6 or len(tail) < 3:
            continue
        point, fstype = _unescape(fields[4]), tail[0]
        if not point.startswith("/"):
            continue
        seen.pop(point, None)
        if fstype not in ("cgroup", "cgroup2"):
            seen[point] = None
            continue
        super_options = frozenset(tail[2].split(","))
        writable = "rw" in fields[5].split(",") and "rw" in super_options
        seen[point] = Mount(
            PurePosixPath(point), _unescape(fields[3]), fstype, super_options, writable
        )
    return tuple(mount for mount in seen.values() if mount is not None)


def parse_memberships(text: str) -> tuple[Membership, ...]:
    """Lines ID:CONTROLLERS:PATH; a path may hold colons."""
    found = []
    for line in text.splitlines():
        parts = line.split(":", 2)
        if len(parts) == 3:
            names = frozenset(name for name in parts[1].split(",") if name)
            found.append(Membership(names, parts[2].removesuffix(" (deleted)")))
    return tuple(found)
