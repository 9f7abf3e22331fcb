"""What is not an export is refused with a sentence, and nothing of it is stored."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments_app.archive import bundle as bundles
from experiments_app.archive import incoming
from experiments_app.archive.exports import export_json, export_zip
from experiments_app.archive.imports import AlreadyHere, DocumentError, import_run
from experiments_app.archive.incoming import read_file
from experiments_app.core import packing
from experiments_app.core.errors import LabError
from experiments_app.core.records import Sample
from experiments_app.models import AuditEntry, RepeatState, Run, RunStatus
from tests.archive.support import a_run, add_block, add_note, add_rounds, set_totals

pytestmark = pytest.mark.django_db
Body = dict[str, Any]


@pytest.fixture
def full() -> Run:
    run = a_run("none", "500m")
    add_rounds(run, 0, [5_000, 6_000], settled={"usage_us": 7, "nr_throttled": 0})
    set_totals(run, 1, window_us=1_000, usage_us=3)
    add_note(run, "A remark.", order=1)
    add_block(run, 0, 1_000_000, 12)
    add_block(run, 0, 9_000_000, 5)
    return run


def taken(data: bytes, filename: str = "file.json") -> str:
    """The message of a refusal; checks that nothing was stored and that a remedy is given."""
    runs = Run.objects.count()
    with pytest.raises(DocumentError) as caught:
        import_run(data, filename=filename, user=None, who="ines")
    assert caught.value.code == "bad-document"
    assert Run.objects.count() == runs
    assert not AuditEntry.objects.exists()
    assert caught.value.message
    return str(caught.value)


def edited(run: Run, edit: Callable[[Body], object]) -> bytes:
    body = json.loads(export_json(run))
    body["run"]["id"] = "0" * 32
    edit(body)
    return json.dumps(body).encode()


def files_of(run: Run) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(export_zip(run))) as bundle:
        return {name: bundle.read(name) for name in bundle.namelist()}


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in files.items():
            bundle.writestr(name, content)
    return out.getvalue()


def test_the_same_run_twice(full: Run) -> None:
    data = export_zip(full)
    with pytest.raises(AlreadyHere, match=f"already here as run {full.number}") as caught:
        import_run(data, filename="run.zip", user=None, who="ines")
    assert (caught.value.code, caught.value.number) == ("already-here", full.number)
    assert isinstance(caught.value, LabError)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "file.json is empty"),
        (b"hello", "file.json is not a run document: line 1, column 1"),
        (b"\xff\xfe\x00", "byte 0 is not UTF-8"),
        (b"[]", '"format" is not throttle-lab.run/1'),
        (b"null", "not a run document"),
        (b"12", "not a run document"),
        (b'{"format": "other/1"}', "not a run document"),
        (b'{"format": "throttle-lab.run/2"}', "reads throttle-lab.run/1. Update Throttle Lab"),
        (b'{"format": "throttle-lab.run/1"}', "run: is missing."),
        (b'{"a": 1, "a": 2}', 'the key "a" is given twice'),
        (b'{"a": NaN}', "NaN is no number"),
        (b'{"a": 1e999}', "1e999 is too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "more than 18 digits"),
        (b'{"a": "\\u0000"}', "holds NUL"),
        (b'{"a": ["\\ud800"]}', "half a surrogate pair"),
        (b"[" * 100_000, "nested too deeply"),
        (b"PK\x03\x04 and no more", "damaged or was cut short"),
    ],
)
def test_garbage(data: bytes, words: str) -> None:
    assert words in taken(data)


def test_an_escaped_backslash_is_no_nul(full: Run) -> None:
    data = edited(full, lambda body: body["run"].update(reason="C:\\u0000 and \\ud83d"))
    assert import_run(data, filename="f", user=None, who="i").reason == "C:\\u0000 and \\ud83d"


def put(*path: str | int, to: Any) -> Callable[[Body], None]:
    def edit(body: Body) -> None:
        at: Any = body
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = to

    return edit


ROUND = ("arms", 0, "repeats", 0, "rounds", 0)
GROUP = ("arms", 0, "repeats", 0, "groups", 0)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (put(*ROUND, "wall_us", to="12"), 'rounds[0].wall_us: "12" is not a whole number.'),
        (put(*ROUND, "wall_us", to=1.5), "wall_us: 1.5 is not a whole number."),
        (put(*ROUND, "wall_us", to=True), "wall_us: true is not a whole number."),
        (put(*ROUND, "wall_us", to=-1), "wall_us: -1 is out of range."),
        (put(*ROUND, "wall_us", to=2**53), "is out of range."),
        (put(*ROUND, "settled", to=7), "settled: 7 is not an object."),
        (put(*ROUND, "n", to=2), "Round 2 of app is there twice."),
        (put(*ROUND, "group", to="other"), "A round is of other, which is none of the groups."),
        (put(*ROUND, "group", to="../x"), '"../x" is not accepted.'),
        (put(*ROUND, "colour", to=1), "rounds[0].colour: is not known here."),
        (put(*GROUP, "pod", to="web-1"), '"web-1" is not null'),
        (put(*GROUP, "program", to={}), "Either program or clock is there"),
        (put("run", "id", to="XYZ"), 'run.id: "XYZ" is not accepted.'),
        (put("run", "finished_at", to="yesterday"), "This is not an instant."),
        (put("run", "finished_at", to="2026-02-30T00:00:00.000Z"), "This is not an instant."),
        (put("run", "finished_at", to=None), "had not ended"),
        (put("run", "status", to="running"), "had not ended when it was exported"),
        (put("run", "status", to="tired"), '"tired" is not one of'),
        (put("run", "title", to="x" * 201), "is too long: at most 200."),
        (put("arms", to=[]), "arms: is empty."),
        (put("arms", 1, "repeats", 0, "order", to=0), "Two repeats have the same order."),
        (put("arms", 0, "repeats", 0, "state", to="waiting"), '"waiting" is not one of'),
        (
            put("arms", 0, "settings", "limit", to="lots"),
            'settings of arms[0] "arm-0": limit: "lots"',
        ),
        (put("arms", 0, "settings", to={}), 'settings of arms[0] "arm-0": workload: is missing.'),
        (put("spec", to={}), "spec: "),
        (put("spec", "arms", 0, "limit", to="-3"), "spec: "),
        (put("plan", "kind", to="moon"), '"moon" is not one of'),
        (put("environment", "cpus", to="two"), 'environment.cpus: "two" is not a whole number.'),
    ],
)
def test_a_wrong_field_is_named(full: Run, edit: Callable[[Body], None], words: str) -> None:
    message = taken(edited(full, edit), "run-41.json")
    assert words in message
    assert message.startswith("run-41.json: ")


def test_many_wrong_fields_are_counted(full: Run) -> None:
    def edit(body: Body) -> None:
        body["run"] = dict.fromkeys(body["run"])

    message = taken(edited(full, edit))
    assert "more places are wrong." in message
    assert len(message.splitlines()) == 6


def test_fields_that_are_derived_do_not_matter(full: Run) -> None:
    def edit(body: Body) -> None:
        body["arms"][0] |= {"verdict": {"code": "x"}, "prediction": {"model": 3}, "summary": None}

    number = import_run(edited(full, edit), filename="f", user=None, who="i").number
    assert json.loads(export_json(Run.objects.get(number=number)))["arms"][0]["verdict"] is None


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


def test_failed_repeats_are_counted_anew(full: Run) -> None:
    full.repeats.filter(order=1).update(state=RepeatState.FAILED)
    data = edited(full, lambda body: body["run"].update(failed_repeats=40))
    assert import_run(data, filename="f", user=None, who="i").failed_repeats == 1


junk = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=8)
    | st.sampled_from(["500m", "1s", "app", "run", -1, 0, 2**31, 2**53, "=1", "burst"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=6) | st.sampled_from(["name", "kind", "limit"]), inner,
                      max_size=3),
    max_leaves=6,
)  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = [path] if path else []
    for key, item in inner:
        found += _places(item, (*path, key)) if isinstance(item, (dict, list)) else [(*path, key)]
    return found


@pytest.mark.slow
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_whatever_is_put_anywhere(full: Run, data: st.DataObject) -> None:
    """Any value at any place of a document: a run or a sentence, never another exception."""
    body = json.loads(export_json(full))
    body["run"]["id"] = "0" * 32
    for _ in range(data.draw(st.integers(1, 2))):
        places = _places(body)
        *path, key = data.draw(st.sampled_from(places))
        at = body
        for step in path:
            at = at[step]
        at[key] = data.draw(junk)
    try:
        run = import_run(json.dumps(body).encode(), filename="f", user=None, who="i")
    except DocumentError:
        pass
    else:
        export_zip(run)
        run.delete()


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200) | junk.map(lambda value: json.dumps(value).encode()))
def test_whatever_bytes_come(data: bytes) -> None:
    with pytest.raises(DocumentError):
        read_file(data, "file")
