"""Writes the archive that the Linux kernel unpacks as its first file system (cpio, newc).

Format: Documentation/driver-api/early-userspace/buffer-format.rst of the kernel. Several such
archives one after another are unpacked one over the other.
"""

from __future__ import annotations

import stat
from pathlib import Path, PurePosixPath
from typing import BinaryIO


class Archive:
    """Everything belongs to root; modification times are kept, so that byte code stays valid."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._names: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name.strip("/") in self._names

    def folder(self, name: str, mode: int = 0o755) -> None:
        self._entry(name, stat.S_IFDIR | mode, b"", 0)

    def link(self, name: str, to: str) -> None:
        self._entry(name, stat.S_IFLNK | 0o777, to.encode(), 0)

    def text(self, name: str, text: str, mode: int = 0o644) -> None:
        self._entry(name, stat.S_IFREG | mode, text.encode(), 0)

    def node(self, name: str, major: int, minor: int) -> None:
        """A character device."""
        self._entry(name, stat.S_IFCHR | 0o600, b"", 0, (major, minor))

    def copy(self, path: Path, name: str = "", *, program: bool = False) -> None:
        """One file of this machine (links are followed), readable by everybody."""
        status = path.stat()
        mode = 0o755 if program or status.st_mode & 0o111 else 0o644
        name = name or str(path)
        self._entry(name, stat.S_IFREG | mode, path.read_bytes(), int(status.st_mtime))

    def end(self) -> None:
        self._write("TRAILER!!!", 0, b"", 0, (0, 0))

    def _entry(
        self, name: str, mode: int, data: bytes, mtime: int, device: tuple[int, int] = (0, 0)
    ) -> None:
        name = name.strip("/")
        if name in self._names:
            return
        parent = str(PurePosixPath(name).parent)
        if parent != "." and parent not in self._names:
            self.folder(parent)
        self._names.add(name)
        self._write(name, mode, data, mtime, device)

    def _write(
        self, name: str, mode: int, data: bytes, mtime: int, device: tuple[int, int]
    ) -> None:
        path = name.encode() + b"\0"
        links = 2 if stat.S_ISDIR(mode) else 1
        numbers = (len(self._names), mode, 0, 0, links, mtime, len(data), 0, 0, *device)
        header = b"070701" + b"".join(b"%08X" % number for number in (*numbers, len(path), 0))
        self._file.write(_padded(header + path))
        self._file.write(_padded(data))


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
