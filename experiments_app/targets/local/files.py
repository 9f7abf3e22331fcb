"""Small kernel files: read and write them, with errors that a person understands."""

from __future__ import annotations

import errno
import os
from pathlib import Path

_WORDS = {
    errno.EACCES: "permission denied",
    errno.EPERM: "not permitted",
    errno.EROFS: "it is mounted read-only",
    errno.EBUSY: "the kernel says it is busy",
    errno.EINVAL: "the kernel refuses this value",
    errno.ENOENT: "it does not exist",
    errno.ENODEV: "its cgroup was removed",
    errno.ENOSPC: "the kernel has no room for it",
    errno.EOPNOTSUPP: "the kernel does not support it here",
    errno.EEXIST: "it exists already",
}


def in_words(error: OSError) -> str:
    """An OSError's cause as a phrase, with the errno's name for those who search for it."""
    if error.errno is None:
        return str(error)
    name = errno.errorcode.get(error.errno, str(error.errno))
    return f"{_WORDS.get(error.errno, error.strerror or 'unknown error')} ({name})"


def read_text(path: Path) -> str | None:
    """The file's text, stripped; None when it is not there or cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def read_int(path: Path) -> int | None:
    """The file's one integer; None when it is not there or holds something else."""
    text = read_text(path)
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def write_value(path: Path, value: str) -> None:
    """One write(2) into an existing kernel file; raises OSError.

    Never creates: on a kernel file system a missing file means a missing feature.
    """
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, value.encode())
    finally:
        os.close(fd)
