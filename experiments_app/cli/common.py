"""What several commands share: the database made ready, runs found, a lab found running."""

from __future__ import annotations

import fcntl
import getpass
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command

from experiments_app.core.errors import LabError
from experiments_app.models import Run


class UsageError(LabError):
    code = "bad-usage"


class NoSuchRun(LabError):
    code = "no-such-run"


def say(text: str) -> None:
    """Progress for a person: standard error, so that standard output stays one document."""
    print(text, file=sys.stderr, flush=True)


def print_json(document: Any) -> None:
    json.dump(document, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


def person() -> str:
    """Who acts on the command line, for the audit log."""
    try:
        return f"{getpass.getuser()} (command line)"
    except (KeyError, OSError):
        return "command line"


def migrate() -> None:
    """Bring the database up to date; a stamp saves the look where nothing has changed."""
    folder = Path(__file__).resolve().parent.parent / "migrations"
    database = settings.DATABASES["default"]
    total = hashlib.sha256(repr((database["ENGINE"], database["NAME"], database["HOST"])).encode())
    for path in sorted(folder.glob("*.py")):
        total.update(path.read_bytes())
    stamp = settings.ENV.var / "migrated"
    kept = Path(str(database["NAME"]))
    there = kept.exists() or "sqlite3" not in database["ENGINE"]
    if there and stamp.exists() and stamp.read_text() == total.hexdigest():
        return
    with open(settings.ENV.var / "migrate.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        call_command("migrate", verbosity=0, interactive=False)
    stamp.write_text(total.hexdigest())


def find_run(reference: str) -> Run:
    """A run by its number ("41") or the beginning of its id (at least four characters)."""
    text = reference.strip().removeprefix("run").strip()
    if text.isascii() and text.isdigit() and len(text) < 18:
        found = Run.objects.filter(number=int(text)).first()
        if found is not None:
            return found
    if len(text) >= 4:
        matches = list(Run.objects.filter(uid__startswith=text.lower())[:2])
        if len(matches) == 1:
            return matches[0]
    raise NoSuchRun(
        f"There is no run {reference!r}.", remedy="./lab list shows the runs that there are."
    )


def lock_path() -> Path:
    path: Path = settings.ENV.var / "up.lock"
    return path


def lab_is_up() -> bool:
    """Whether a supervisor of this var folder is running: it holds a lock while it lives."""
    try:
        with open(lock_path(), "a") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


@contextmanager
def hold_lab(port: int) -> Iterator[None]:
    """Be the one lab of this var folder."""
    with open(lock_path(), "a+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            raise LabError(
                f"A lab is already running here ({handle.read().strip() or 'no details'}).",
                remedy="Use that one (./lab sign-in prints a new link), or stop it first.",
            ) from None
        handle.truncate(0)
        handle.write(f"process {os.getpid()}, port {port}")
        handle.flush()
        yield
