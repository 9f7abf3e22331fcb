"""The environment variables that a spec may set.

A spec cannot name a command, and a variable can be as good as one (LD_PRELOAD): so only
those that steer the Go runtime of the workload program are taken, each with its own values.
"""

from __future__ import annotations

import difflib
import re
from typing import Annotated

from pydantic import BeforeValidator

from experiments_app.core.fields import brief, refuse

ALLOWED: dict[str, tuple[re.Pattern[str], str]] = {
    "GOMAXPROCS": (re.compile(r"[1-9][0-9]{0,3}"), "a number of CPUs from 1 to 9999"),
    "GODEBUG": (
        re.compile(r"[a-z0-9]+=[A-Za-z0-9.]+(,[a-z0-9]+=[A-Za-z0-9.]+){0,19}"),
        'settings such as "containermaxprocs=0"',
    ),
    "GOGC": (re.compile(r"off|[1-9][0-9]{0,5}"), 'a percentage such as "100", or "off"'),
    "GOMEMLIMIT": (re.compile(r"off|[1-9][0-9]{0,15}([KMGT]i)?B?"), 'a size such as "512MiB"'),
}


def environment(value: object) -> dict[str, str]:
    """Check a table of variables; numbers become their text."""
    if not isinstance(value, dict):
        raise refuse(f"{brief(value)} is not a table.", 'Write env = { GOMAXPROCS = "8" }.')
    return {str(name): _variable(str(name), text) for name, text in value.items()}


def _variable(name: str, value: object) -> str:
    if name not in ALLOWED:
        close = difflib.get_close_matches(name.upper(), ALLOWED, 1)
        raise refuse(
            f"{brief(name)} cannot be set: a spec may only steer the Go runtime.",
            (f"Did you mean {close[0]}? " if close else "") + f"Allowed: {', '.join(ALLOWED)}.",
        )
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    pattern, allowed = ALLOWED[name]
    if not isinstance(text, str) or not pattern.fullmatch(text):
        raise refuse(f"{name} = {brief(value)} is not possible.", f"Give {allowed}.")
    return text


Environment = Annotated[dict[str, str], BeforeValidator(environment)]
