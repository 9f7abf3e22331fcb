"""Damaged, foreign and hostile zips: refused with a sentence, nothing stored."""

from __future__ import annotations

import io
import json
import random
import zipfile
from contextlib import suppress
from typing import Any

import pytest

from experiments_app.archive import bundle as bundles
from experiments_app.archive import incoming
from experiments_app.archive.exports import export_zip
from experiments_app.archive.imports import DocumentError, import_run
from experiments_app.archive.incoming import read_file
from experiments_app.core import packing
from experiments_app.core.records import Sample
from experiments_app.models import Run, RunStatus
from tests.archive.refusals import Body, files_of, taken, zipped

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.9, 0.99])
def test_a_truncated_zip(full: Run, keep: float) -> None:
    data = export_zip(full)
    Run.objects.all().delete()
    assert "damaged or was cut short" in taken(data[: int(len(data) * keep)], "run.zip")


def test_any_damaged_byte_gives_a_sentence_or_a_run(full: Run) -> None:
    data = export_zip(full)
    chance = random.Random(7)
    for _ in range(300):
        damaged = bytearray(data)
        damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        with suppress(DocumentError):
            read_file(bytes(damaged), "run.zip")


def test_a_bomb_that_says_its_size(full: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    files = files_of(full) | {"samples/00000.bin": b"\0" * 2_100_000}
    assert "files are too large" in taken(zipped(files), "run.zip")
    monkeypatch.setattr(bundles, "MAX_BYTES", 1_000_000)
    assert "1 MB in all is the most" in taken(zipped({"run.json": b" " * 1_000_001}), "run.zip")


def test_a_bomb_that_lies_about_its_size(full: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "MAX_BYTES", 3_000)
    data = zipped(files_of(full) | {"run.json": b" " * 1_000_000})
    # The size stands in the local header and in the directory.
    lying = data.replace((1_000_000).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    assert lying != data
    assert "damaged" in taken(lying, "run.zip")


def test_all_that_is_read_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"one": b"x" * 600, "two": b"x" * 600}
    reader = bundles.Bundle(zipped(files), "run.zip")
    monkeypatch.setattr(reader, "_left", 1_000)
    assert reader.read("one") == files["one"]
    with pytest.raises(DocumentError, match="too large"):
        reader.read("two")


def test_too_many_files_or_bytes(full: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "MAX_FILES", 3)
    assert "it holds 6 files; an export has 3" in taken(export_zip(full), "run.zip")
    monkeypatch.setattr(incoming, "MAX_BYTES", 10)
    assert "MB can be imported" in taken(b"x" * 11)
    monkeypatch.setattr(incoming, "MAX_BYTES", 100)
    monkeypatch.setattr(incoming, "MAX_DOCUMENT", 10)
    assert "MB can be imported" in taken(b"x" * 11)


def test_names_in_a_zip_are_no_paths(full: Run, tmp_path: Any) -> None:
    files = files_of(full) | {"../../evil.txt": b"x", "/etc/evil": b"x", "__MACOSX/run.json": b""}
    Run.objects.all().delete()
    import_run(zipped(files), filename="../../run.zip", user=None, who="ines")
    assert not list(tmp_path.iterdir())


def index_with(run: Run, block: int, **changes: Any) -> bytes:
    files = files_of(run)
    body = json.loads(files["samples.json"])
    body["blocks"][block] |= changes
    return zipped(files | {"samples.json": json.dumps(body).encode()})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"file": "../../etc/passwd"}, "it has no ../../etc/passwd"),
        ({"repeat": 9}, "no group app in that repeat"),
        ({"group": "other"}, "no group other in that repeat"),
        ({"count": 11}, "count or times are not those of the index"),
        ({"count": 0}, "0 is out of range"),
        ({"t0_us": 5}, "count or times"),
        ({"t1_us": 9_000_000}, "count or times"),
    ],
)
def test_a_wrong_index_of_samples(full: Run, changes: Body, words: str) -> None:
    data = index_with(full, 0, **changes)
    Run.objects.all().delete()
    assert words in taken(data, "run.zip")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"t0_us": 1_000_001}, "it overlaps the block before"),
        ({"file": "samples/00000.bin"}, "the same file is named twice"),
    ],
)
def test_blocks_that_overlap(full: Run, changes: Body, words: str) -> None:
    data = index_with(full, 1, **changes)
    Run.objects.all().delete()
    assert words in taken(data, "run.zip")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80" * 1_000_000,
        b"\x0c" + b"\x01" * 10,
        packing.pack([Sample(1_000_000 - n, 1, 1, 1, 1) for n in range(12)]),
        b"\xff\xff\xff\xff\x0f",
    ],
)
def test_samples_that_are_none(full: Run, content: bytes) -> None:
    data = zipped(files_of(full) | {"samples/00000.bin": content})
    Run.objects.all().delete()
    assert "samples/00000.bin" in taken(data, "run.zip")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"nonsense", "log.ndjson line 2 is not a run document"),
        (b"{}", "has no kind that is known here"),
        (b'{"at":"2026-01-01T00:00:00.000Z","kind":"note","repeat":7,"level":"info","text":""}',
         "the run has no repeat 7"),
        (b'{"at":"2026-01-01T00:00:00.000Z","kind":"note","repeat":0,"level":"loud","text":""}',
         '"loud" is not one of'),
    ],
)  # fmt: skip
def test_a_wrong_line_of_the_log(full: Run, line: bytes, words: str) -> None:
    files = files_of(full)
    data = zipped(files | {"log.ndjson": files["log.ndjson"] + line})
    Run.objects.all().delete()
    assert words in taken(data, "run.zip")


def test_a_zip_without_document_or_with_two(full: Run) -> None:
    files = files_of(full)
    Run.objects.all().delete()
    document = files.pop("run.json")
    assert "it has no run.json" in taken(zipped(files), "run.zip")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as bundle:
        bundle.writestr("run.json", document)
        with pytest.warns(UserWarning, match="Duplicate"):
            bundle.writestr("run.json", document)
    assert "two of its files have the same name" in taken(out.getvalue(), "run.zip")


def test_a_zip_with_only_the_document_is_enough(full: Run) -> None:
    data = zipped({"run.json": files_of(full)["run.json"]})
    Run.objects.all().delete()
    assert import_run(data, filename="run.zip", user=None, who="i").status == RunStatus.FINISHED
