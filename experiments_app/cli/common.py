"""What several commands share: the database made ready, runs found, a lab found running."""

from __future__ import annotations

import getpass
import json
import sys
from typing import Any

from django.conf import settings

from experiments_app.core.errors import LabError
from experiments_app.models import Run
from labsite import prepare
from labsite.up import running_port


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
    """Bring the database up to date where it is not."""
    prepare.migrate()


def lab_is_up() -> bool:
    """Whether a supervisor of this var folder is running."""
    return running_port(settings.ENV) is not None


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
