"""Whatever comes, an import gives a run or a sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments_app.archive.exports import export_json, export_zip
from experiments_app.archive.imports import DocumentError, import_run
from experiments_app.archive.incoming import read_file
from experiments_app.models import Run

pytestmark = pytest.mark.django_db


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
