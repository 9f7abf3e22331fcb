"""Facts of a place, in words."""

from __future__ import annotations

import pytest

from experiments_app.web import facts


def test_what_is_not_known_is_left_out() -> None:
    assert facts.rows({"kernel": "6.18.0", "cpus": None, "extra": {}}) == [("kernel", "6.18.0")]
    assert facts.rows({}) == []


@pytest.mark.parametrize(
    ("key", "value", "name", "words"),
    [
        ("bandwidth_slice_us", "5000", "bandwidth slice", "what a CPU takes of the quota"),
        ("bandwidth_slice_us", "odd", "bandwidth slice", "odd"),
        ("hz", "250", "kernel ticks", "250 a second"),
        ("no_turbo", "1", "turbo switched off", "yes"),
        ("cpulab_go1.24", "d32", "cpulab built with go1.24", "d32"),
        ("something_else", "7", "something else", "7"),
    ],
)
def test_a_fact_says_what_it_is(key: str, value: str, name: str, words: str) -> None:
    [(found, text)] = facts.rows({"extra": {key: value}})
    assert found == name
    assert words in text
