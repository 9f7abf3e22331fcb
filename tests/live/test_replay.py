"""Under any interleaving of store, publish, drop, overflow, reconnect and compaction the
client's list equals the database's rows: real consumer, real database, real Valkey."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.contrib.auth.models import User
from django.db import connections
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments_app.core import packing
from experiments_app.core.records import Sample
from experiments_app.live import reader as reader_module
from experiments_app.live.replay import rows_between
from experiments_app.models import EventKind, Run, RunStatus
from experiments_app.runs.announce import group_name
from experiments_app.runs.claim import Claim, claim_next
from experiments_app.runs.compact import compact
from experiments_app.runs.ending import Ending, end_run
from experiments_app.runs.ledger import EventRow, FrameRow, RoundRow, Row, SettledRow
from experiments_app.runs.owner import me
from tests.live.client import Client
from tests.runs.scripted import a_round, queued_run, samples, settled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("store"), st.integers(1, 12)),
        st.tuples(st.just("publish"), st.just(0)),
        st.tuples(st.just("read"), st.integers(1, 4)),
        st.tuples(st.just("drop"), st.just(0)),
        st.tuples(st.just("pause"), st.integers(1, 3)),
    ),
    max_size=25,
)


@pytest.fixture(autouse=True)
def small_queues(monkeypatch: pytest.MonkeyPatch, valkey: str) -> Iterator[None]:
    """Queues of two chunks overflow at once, chunks of five rows make many of them."""
    monkeypatch.setattr(reader_module, "QUEUE_LENGTH", 2)
    monkeypatch.setattr(reader_module, "LOOK_EVERY", 0.05)
    monkeypatch.setattr("experiments_app.live.replay.CHUNK", 5)
    yield
    connections.close_all()


class Story:
    """One run, one writer, one client that sees everything that can go wrong."""

    def __init__(self, run: Run, claim: Claim, client: Client) -> None:
        self.run = run
        self.claim = claim
        self.client = client
        self.repeat = run.repeats.all()[0].pk
        self.n = 0
        self.clock = 1_000_000

    def rows(self, count: int) -> list[Row]:
        rows: list[Row] = []
        for _ in range(count):
            self.n += 1
            self.clock += 100_000
            done = settled(self.n)
            rows += [
                RoundRow(self.repeat, a_round(self.n)),
                FrameRow(self.repeat, samples(self.clock, 3)),
                SettledRow(self.repeat, "app", self.n, done.counters, done.run_delay_us),
                EventRow(EventKind.NOTE, {"repeat": None, "level": "info", "text": str(self.n)}),
            ]
        return rows

    async def step(self, name: str, argument: int) -> None:
        match name:
            case "store":
                await sync_to_async(self.claim.ledger.append)(self.rows(argument))
            case "publish":
                layer = get_channel_layer()
                message = {"type": "run.rows", "run": self.run.number, "last": 0}
                await layer.group_send(group_name(self.run.number), message)
            case "read":
                for _ in range(argument):
                    await self.client.read(seconds=0.02)
            case "drop":
                await self.client.drop()
                await self.client.connect()
            case "pause":
                await asyncio.sleep(0.03 * argument)

    async def play(self, steps: list[tuple[str, int]], *, compact_before_end: bool) -> None:
        await self.client.connect()
        for name, argument in steps:
            await self.step(name, argument)
        ending = Ending(RunStatus.FINISHED)
        await sync_to_async(end_run)(number=self.run.number, ending=ending, fence=self.claim.fence)
        if compact_before_end:
            await sync_to_async(compact)(self.run.number)
        await self.client.read_to_end()
        await self.client.drop()


def measured(rows: list[dict[str, Any]]) -> list[Sample]:
    """Samples of all rows, each instant once, as the page keeps them."""
    kept: list[Sample] = []
    for row in rows:
        if row["k"] != "samples":
            continue
        for sample in packing.unpack(base64.b64decode(row["data"])):
            if not kept or sample.mono_us > kept[-1].mono_us:
                kept.append(sample)
    return kept


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=STEPS, compact_before_end=st.booleans())
def test_the_client_s_list_is_the_database_s(
    steps: list[tuple[str, int]], compact_before_end: bool
) -> None:
    user, _ = User.objects.get_or_create(username="watcher")
    Run.objects.filter(status=RunStatus.RUNNING).delete()
    run = queued_run()
    claim = claim_next(machine="local", owner=me(), only=run.number)
    assert claim is not None
    story = Story(run, claim, Client(run.number, user))

    asyncio.run(story.play(steps, compact_before_end=compact_before_end))

    run.refresh_from_db()
    stored = rows_between(run.number, 0, run.last_seq)
    client = story.client
    seen = [row["s"] for row in client.rows]
    assert seen == sorted(set(seen)), "in order, nothing doubled"
    assert client.last == run.last_seq
    for rows in (client.rows, stored):
        assert len([row for row in rows if row["k"] == "round"]) == story.n
    plain = [row for row in client.rows if row["k"] != "samples"]
    assert plain == [row for row in stored if row["k"] != "samples"]
    assert measured(client.rows) == measured(stored)
    assert len(measured(stored)) == 3 * story.n


def test_a_finished_run_is_replayed_and_the_socket_closed(operator: User) -> None:
    run = queued_run()
    claim = claim_next(machine="local", owner=me())
    assert claim is not None
    end_run(number=run.number, ending=Ending(RunStatus.FINISHED), fence=claim.fence)
    client = Client(run.number, operator)

    async def watch() -> None:
        await client.connect()
        await client.read_to_end()
        await client.drop()

    asyncio.run(watch())
    assert [row["k"] for row in client.rows] == ["run", "repeat", "repeat", "run"]
    assert client.rows[-1]["final"] == client.last
