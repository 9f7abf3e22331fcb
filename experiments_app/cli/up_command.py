"""./lab up, ./lab sign-in: start everything, and let a person in."""

from __future__ import annotations

from typing import Annotated

import typer
from django.conf import settings

from labsite.up import running_port, sign_in_link
from labsite.up import up as start


def register(app: typer.Typer) -> None:
    app.command("up")(up)
    app.command("sign-in")(sign_in)


def up(
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="0 takes a free one")] = None,
) -> int:
    """Set up and start everything on loopback; prints a one-time sign-in link."""
    return start(settings.ENV, settings.ENV.port if port is None else port)


def sign_in(
    port: Annotated[int | None, typer.Option(min=1, max=65535)] = None,
) -> int:
    """Print a new one-time sign-in link."""
    print(sign_in_link(settings.ENV, port or running_port(settings.ENV) or settings.ENV.port))
    return 0
