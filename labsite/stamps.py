"""What has to be made again before a start: told by stamps, without loading Django."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labsite.env import ROOT, Environment


def database_stamp(environment: Environment) -> str:
    """Changes when a migration comes or another database is used."""
    total = hashlib.sha256((environment.database_url or str(environment.var)).encode())
    for path in sorted((ROOT / "experiments_app" / "migrations").glob("*.py")):
        total.update(path.read_bytes())
    return total.hexdigest()


def database_ready(environment: Environment) -> bool:
    there = bool(environment.database_url) or (environment.var / "lab.sqlite3").exists()
    return there and _kept(environment.var / "migrated") == database_stamp(environment)


def static_stamp() -> str:
    """Changes when a static file or a package that brings one changes."""
    root = ROOT / "static"
    marks = [
        f"{path.relative_to(root)} {path.stat().st_mtime_ns} {path.stat().st_size}"
        for path in sorted(root.rglob("*"))
        if path.is_file()
    ]
    marks.append((ROOT / "labsite" / "staticfiles.py").read_text())
    marks += [importlib.metadata.version(name) for name in ("plotly", "django-htmx")]
    return hashlib.sha256("\n".join(marks).encode()).hexdigest()


def static_ready(environment: Environment) -> bool:
    return _kept(environment.var / "static" / ".collected") == static_stamp()


def _kept(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


@contextmanager
def alone(environment: Environment, name: str) -> Iterator[None]:
    """One process at a time makes a thing."""
    environment.var.mkdir(parents=True, exist_ok=True)
    with open(environment.var / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def prepare(environment: Environment) -> int:
    """Migrate and collect in a process of its own where a stamp is missing; its exit status."""
    if database_ready(environment) and static_ready(environment):
        return 0
    print("lab: preparing the database and the static files (once) …", file=sys.stderr, flush=True)
    argv = [sys.executable, "-m", "labsite.prepare"]
    return subprocess.run(argv, cwd=ROOT, check=False).returncode
