"""A run with a little of everything."""

from __future__ import annotations

import pytest

from experiments_app.models import Run
from tests.archive.service import measure, telling
from tests.archive.support import a_run, add_block, add_note, add_rounds, set_totals


@pytest.fixture
def full(db: None) -> Run:
    run = a_run("none", "500m")
    told = telling(
        measure("request_us", [900, 1_100], timeout=1),
        facts={"requests_count": 2, "in_flight_max": 1},
        servers={"server.1": (2, 1)},
    )
    settled: dict[str, int | None] = {"usage_us": 7, "nr_throttled": 0}
    add_rounds(run, 0, [5_000, 6_000], settled=settled, told={2: told})
    set_totals(run, 1, window_us=1_000, usage_us=3)
    add_note(run, "A remark.", order=1)
    add_block(run, 0, 1_000_000, 12)
    add_block(run, 0, 9_000_000, 5)
    return run
