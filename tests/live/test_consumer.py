"""Who may open a run's socket, and what a bad request gets."""

from __future__ import annotations

import asyncio

import pytest
from django.contrib.auth.models import AnonymousUser, User

from experiments_app.live.consumers import RunConsumer
from experiments_app.live.origin import same_origin
from labsite.asgi import Application
from tests.live.sockets import Socket
from tests.runs.scripted import queued_run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("valkey")]


async def close_code(
    path: str, user: User | AnonymousUser | None, *, number: int = 1
) -> int | None:
    """Connect straight to the consumer; the code it closes with, None if it stays open."""
    socket = Socket(RunConsumer.as_asgi(), path)
    socket.scope["user"] = user
    socket.scope["url_route"] = {"kwargs": {"number": number}}
    await socket.connect()
    message = await socket.receive_output(timeout=5)
    await socket.disconnect()
    return message["code"] if message["type"] == "websocket.close" else None


async def test_nobody_is_told_to_sign_in() -> None:
    assert await close_code("/ws/runs/1/", AnonymousUser()) == 4401
    assert await close_code("/ws/runs/1/", None) == 4401


async def test_a_switched_off_account_is_refused(operator: User) -> None:
    await User.objects.filter(pk=operator.pk).aupdate(is_active=False)
    assert await close_code("/ws/runs/1/", operator) == 4403


async def test_there_is_no_such_run(operator: User) -> None:
    assert await close_code("/ws/runs/77/", operator, number=77) == 4404
    assert await close_code("/ws/runs/9/", operator, number=10**30) == 4404


@pytest.mark.parametrize("since", ["-1", "x", "", "1e3", "9" * 400])
async def test_a_bad_since_is_refused(operator: User, since: str) -> None:
    code = await close_code(f"/ws/runs/1/?since={since}", operator)
    assert code in (4400, 4404)


def test_a_viewer_is_sent_the_run(viewer: User) -> None:
    run = queued_run()

    async def watch() -> dict[str, object]:
        socket = Socket(RunConsumer.as_asgi(), f"/ws/runs/{run.number}/")
        socket.scope["user"] = viewer
        socket.scope["url_route"] = {"kwargs": {"number": run.number}}
        await socket.connect()
        hello: dict[str, object] = await socket.receive_json()
        await socket.disconnect()
        return hello

    hello = asyncio.run(watch())
    assert (hello["t"], hello["run"], hello["status"]) == ("hello", run.number, "queued")


@pytest.mark.parametrize(
    ("origin", "allowed"), [(b"http://evil.example", False), (b"http://localhost:8000", True)]
)
async def test_a_page_of_another_site_gets_no_socket(origin: bytes, allowed: bool) -> None:
    headers = [(b"origin", origin), (b"host", b"localhost:8000")]
    socket = Socket(Application(), "/ws/runs/1/", headers=headers)
    assert await socket.connect() is allowed
    await socket.disconnect()


async def test_an_unknown_socket_is_closed_in_words() -> None:
    headers = [(b"origin", b"http://localhost:8000"), (b"host", b"localhost:8000")]
    for path in ("/ws/runs/abc/", "/ws/runs/-1/", "/ws/runs/" + "9" * 5000 + "/", "/ws/"):
        socket = Socket(Application(), path, headers=headers)
        assert await socket.connect()
        message = await socket.receive_output(5)
        assert (message["type"], message["code"]) == ("websocket.close", 4404)
        await socket.disconnect()


@pytest.mark.parametrize(
    ("host", "origin", "same"),
    [
        ("localhost:8000", "http://localhost:8000", True),
        ("localhost:8000", "http://localhost:9999", False),
        ("localhost:8000", "http://127.0.0.1:8000", False),
        ("localhost:8000", "", False),
        ("localhost:8000", "null", False),
        ("evil.example", "http://evil.example", False),
        ("[::1]:8000", "http://[::1]:8000", True),
        ("localhost:8000", "http://[", False),
    ],
)
def test_only_pages_of_this_host_and_port(host: str, origin: str, same: bool) -> None:
    assert same_origin(host, origin) is same


def test_a_socket_does_not_outlive_the_right_to_it(
    viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments_app.live.consumers.BEAT_SECONDS", 0.05)
    run = queued_run()

    async def watch() -> int:
        socket = Socket(RunConsumer.as_asgi(), f"/ws/runs/{run.number}/")
        socket.scope["user"] = viewer
        socket.scope["url_route"] = {"kwargs": {"number": run.number}}
        assert await socket.connect()
        await socket.receive_json()
        await User.objects.filter(pk=viewer.pk).aupdate(is_active=False)
        while True:
            message = await socket.receive_output(5)
            if message["type"] == "websocket.close":
                await socket.disconnect()
                return int(message["code"])

    assert asyncio.run(watch()) == 4403
