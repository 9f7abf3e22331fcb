"""./lab up: everything on loopback under one supervisor. Loads no Django: the first page waits
for the web process alone."""

from __future__ import annotations

import argparse
import fcntl
import http.client
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from experiments_app.core.errors import LabError
from labsite import env, links, stamps, supervisor
from labsite.env import Environment
from labsite.stopping import Stopping


class PortTaken(LabError):
    code = "bad-usage"


class AlreadyUp(LabError):
    code = "bad-usage"


def main(argv: Sequence[str]) -> int:
    """The command; its exit status."""
    parser = argparse.ArgumentParser(
        prog="./lab up",
        description="Set up and start everything on loopback; prints a one-time sign-in link.",
    )
    parser.add_argument("--port", type=_port, help="0 takes a free one (default 8000)")
    environment = env.load()
    wanted = parser.parse_args(argv).port
    try:
        return up(environment, environment.port if wanted is None else wanted)
    except LabError as error:
        print(f"lab: {error.message}\n     {error.remedy}".rstrip(), file=sys.stderr)
        return 2 if error.code == "bad-usage" else 1
    except KeyboardInterrupt:
        print("lab: stopped before it had started.", file=sys.stderr)
        return 130


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) <= 65535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to 65535")


def up(environment: Environment, wanted: int) -> int:
    """Run until told to stop."""
    env.prepare_var(environment)
    with hold_lab(environment) as note:
        chosen = free_port(environment.host, wanted)
        note(f"process {os.getpid()}, port {chosen}")
        environment = environment.model_copy(update={"port": chosen})
        failed = stamps.prepare(environment)
        if failed:
            return failed
        arbiter = supervisor.arbiter(environment, supervisor.programs(environment))
        greeter = threading.Thread(target=greet, args=(environment,), name="greet", daemon=True)
        Stopping(arbiter).install()
        greeter.start()
        arbiter.start()
    print("lab: everything has stopped.", file=sys.stderr)
    return 0


def free_port(host: str, wanted: int) -> int:
    """The wanted port if it can be had (0: any); PortTaken says what to do otherwise."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, wanted))
        except OSError as error:
            raise PortTaken(
                f"Port {wanted} on {host} cannot be used: {error.strerror}.",
                remedy="Choose another one: ./lab up --port 8001 (or --port 0 for any).",
            ) from None
        number: int = probe.getsockname()[1]
    return number


def lock_path(environment: Environment) -> Path:
    return environment.var / "up.lock"


@contextmanager
def hold_lab(environment: Environment) -> Iterator[Callable[[str], None]]:
    """Be the one lab of this var folder, as long as this process lives.

    Yields a function that writes beside the lock who holds it.
    """
    with open(lock_path(environment), "a+") as handle:
        if not _lock(handle, fcntl.LOCK_EX, tries=20):
            handle.seek(0)
            raise AlreadyUp(
                f"A lab is already running here ({handle.read().strip() or 'no details'}).",
                remedy="Use that one (./lab sign-in prints a new link), or stop it first.",
            )

        def note(text: str) -> None:
            handle.truncate(0)
            handle.write(text)
            handle.flush()

        note(f"process {os.getpid()}")
        yield note


def running_port(environment: Environment) -> int | None:
    """The port of the lab that runs here: its supervisor holds a lock while it lives."""
    try:
        with open(lock_path(environment), "a+") as handle:
            if _lock(handle, fcntl.LOCK_SH, tries=1):
                return None
            handle.seek(0)
            digits = handle.read().rpartition("port ")[2].strip()
            return int(digits) if digits.isdigit() else environment.port
    except OSError:
        return None


def _lock(handle: IO[str], kind: int, *, tries: int) -> bool:
    """Take a lock if it can be had. Those who only look share theirs and hold it for a
    moment; who wants to be the lab tries for a second."""
    for attempt in range(tries):
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if attempt + 1 < tries:
                time.sleep(0.05)
        else:
            return True
    return False


def sign_in_link(environment: Environment, port: int) -> str:
    """A link that signs its first visitor in as the machine's own operator."""
    host = f"[{environment.host}]" if ":" in environment.host else environment.host
    token = links.make_token(env.secret_key(environment))
    return f"http://{host}:{port}/sign-in/{token}/"


def greet(environment: Environment) -> None:
    """Wait until the first page is served, then print the link."""
    began = time.monotonic()
    while not _answers(environment.host, environment.port):
        if time.monotonic() - began > 60:
            where = environment.var / "log" / "web.log"
            print(f"lab: the pages do not answer yet; {where} says why.", file=sys.stderr)
            began = time.monotonic()
        time.sleep(0.05)
    link = sign_in_link(environment, environment.port)
    logs = os.path.relpath(environment.var / "log")
    print(f"\n  Throttle Lab is up. Sign in (this link works once):\n\n    {link}\n", flush=True)
    print(f"  Ctrl-C stops everything. Logs: {logs}/\n", flush=True)


def _answers(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", "/sign-in/", headers={"Host": f"localhost:{port}"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
