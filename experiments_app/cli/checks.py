"""The parts of the lab itself that doctor looks for."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass

from django.conf import settings

from experiments_app.core.errors import LabError
from labsite.supervisor import valkey_binary


@dataclass(frozen=True, slots=True)
class Part:
    """One thing the lab stands on."""

    name: str
    there: bool
    detail: str
    remedy: str = ""


def checks() -> list[Part]:
    """Python, broker, workload builds, database."""
    return [_python(), _broker(), *_cpulab(), _database()]


def _python() -> Part:
    return Part("python", True, f"{platform.python_version()} on {sys.platform}")


def _broker() -> Part:
    if settings.ENV.redis_url:
        return Part("broker", True, "from REDIS_URL")
    try:
        return Part("broker", True, f"embedded ({valkey_binary().rpartition('/')[2]})")
    except LabError as error:
        return Part("broker", False, error.message, error.remedy)


def _cpulab() -> list[Part]:
    parts: list[Part] = []
    for build in ("go1.24", "go1.25"):
        there = (settings.ENV.cpulab_dir / f"cpulab-{build}").exists()
        parts.append(
            Part(
                f"cpulab ({build})",
                there,
                "built" if there else "not built",
                "Run any ./lab command again: it builds it, with Go from PATH or from PyPI.",
            )
        )
    return parts


def _database() -> Part:
    database = settings.DATABASES["default"]
    kind = "SQLite" if "sqlite3" in database["ENGINE"] else "PostgreSQL"
    return Part("database", True, kind)
