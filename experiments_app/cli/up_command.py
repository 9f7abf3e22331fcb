"""./lab up, ./lab sign-in: start everything, and let a person in."""

from __future__ import annotations

import http.client
import os
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Annotated

import typer
from django.conf import settings
from django.core.management import call_command

from experiments_app.cli import common
from experiments_app.core.errors import LabError
from experiments_app.web.sign_in import make_link
from labsite import supervisor


class PortTaken(LabError):
    code = "bad-usage"


def register(app: typer.Typer) -> None:
    app.command("up")(up)
    app.command("sign-in")(sign_in)


def up(
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="0 takes a free one")] = None,
) -> int:
    """Set up and start everything on loopback; prints a one-time sign-in link."""
    environment = settings.ENV
    wanted = environment.port if port is None else port
    chosen = free_port(environment.host, wanted)
    environment = environment.model_copy(update={"port": chosen})
    with common.hold_lab(chosen):
        common.migrate()
        collect_static()
        arbiter = supervisor.arbiter(environment, supervisor.programs(environment))
        base = f"http://{_shown(environment.host)}:{chosen}"
        threading.Thread(
            target=_greet, args=(environment.host, chosen, base), name="greet", daemon=True
        ).start()
        arbiter.start()
    common.say("lab: everything has stopped.")
    return 0


def sign_in(
    port: Annotated[int | None, typer.Option(min=1, max=65535)] = None,
) -> int:
    """Print a new one-time sign-in link."""
    common.migrate()
    print(make_link(f"http://{_shown(settings.ENV.host)}:{port or _running_port()}"))
    return 0


def _running_port() -> int:
    """The port of the lab that runs here, as it wrote it beside its lock."""
    try:
        text = common.lock_path().read_text()
    except OSError:
        text = ""
    digits = text.rpartition("port ")[2]
    return int(digits) if common.lab_is_up() and digits.isdigit() else int(settings.ENV.port)


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


def collect_static() -> None:
    """Hash and compress the static files; only when one of them has changed."""
    import plotly

    root = settings.BASE_DIR / "static"
    marks = [
        f"{path.relative_to(root)} {path.stat().st_mtime_ns} {path.stat().st_size}"
        for path in sorted(root.rglob("*"))
        if path.is_file()
    ]
    marks.append(f"plotly {plotly.__version__}")
    stamp = Path(settings.STATIC_ROOT) / ".collected"
    wanted = "\n".join(marks)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    common.say("lab: preparing the static files (once) …")
    call_command("collectstatic", verbosity=0, interactive=False, clear=True)
    stamp.write_text(wanted)


def _greet(host: str, port: int, base: str) -> None:
    """Wait until the first page is served, then print the link."""
    began = time.monotonic()
    while not _answers(host, port):
        if time.monotonic() - began > 60:
            common.say(
                "lab: the pages do not answer yet; see web.log in "
                f"{settings.ENV.var / 'log'} for what went wrong."
            )
            began = time.monotonic()
        time.sleep(0.1)
    link = make_link(base)
    print(f"\n  Throttle Lab is up. Sign in (this link works once):\n\n    {link}\n", flush=True)
    print(
        f"  Ctrl-C stops everything. Logs: {os.path.relpath(settings.ENV.var / 'log')}/\n",
        flush=True,
    )
    sys.stdout.flush()


def _answers(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=2)
    try:
        connection.request("GET", "/sign-in/", headers={"Host": f"localhost:{port}"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
