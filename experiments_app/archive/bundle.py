"""Reading an exported zip: bounded in every way, its names never used as paths."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

from experiments_app.archive.errors import DocumentError

MAX_BYTES = 200_000_000
MAX_FILES = 50_100
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# All that zipfile and zlib raise for damaged, encrypted or foreign archives.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    NotImplementedError,
    IndexError,
)


class Bundle:
    """The files of a zip by name. What is read in all is counted, whatever the zip declares."""

    def __init__(self, data: bytes, where: str) -> None:
        """Raises DocumentError where this is no zip, or one too large to be an export."""
        self._where = where
        self._left = MAX_BYTES
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGE as error:
            raise self._damaged() from error
        entries = self._zip.infolist()
        if len(entries) > MAX_FILES:
            raise self._wrong(f"it holds {len(entries)} files; an export has {MAX_FILES} at most")
        if sum(entry.file_size for entry in entries) > MAX_BYTES:
            raise self._too_large()
        self._entries = {entry.filename: entry for entry in entries}
        if len(self._entries) < len(entries):
            raise self._wrong("two of its files have the same name")

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def read(self, name: str, most: int = MAX_BYTES) -> bytes:
        """The content of a file of at most `most` bytes; its checksum is checked."""
        entry = self._entries.get(name)
        if entry is None:
            raise self._wrong(f"it has no {name[:60]}")
        if entry.flag_bits & 1 or entry.compress_type not in _METHODS:
            raise self._wrong(f"{name[:60]} is encrypted or packed in a way that no export uses")
        bound = min(most, self._left)
        try:
            with self._zip.open(entry) as file:
                content = file.read(bound + 1)
        except _DAMAGE as error:
            raise self._damaged() from error
        if len(content) > bound:
            raise self._too_large()
        self._left -= len(content)
        return content

    def _damaged(self) -> DocumentError:
        return self._wrong("it is damaged or was cut short")

    def _too_large(self) -> DocumentError:
        return self._wrong(
            f"its files are too large; {MAX_BYTES // 1_000_000} MB in all is the most"
        )

    def _wrong(self, what: str) -> DocumentError:
        return DocumentError(
            f"{self._where} cannot be imported: {what}.",
            remedy="Choose the zip that an export wrote, as it was written.",
        )
