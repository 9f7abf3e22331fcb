"""The commands of ./lab and how their errors reach a person."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer
from django.db import Error as DatabaseError

from experiments_app.cli import (
    archive_commands,
    catalogue_commands,
    cluster_commands,
    developer_commands,
    run_command,
    up_command,
)
from experiments_app.core.errors import LabError, PlanError, SpecError
from experiments_app.core.spec import SpecErrors

USAGE, FAILED = 2, 1

app = typer.Typer(
    name="lab",
    help="Throttle Lab: experiments on CPU limits. Begin with ./lab up.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for part in (
    up_command,
    run_command,
    catalogue_commands,
    archive_commands,
    cluster_commands,
    developer_commands,
):
    part.register(app)


def run(argv: Sequence[str]) -> int:
    """Run one command; the exit status: 0 done, 1 failed, 2 usage. No traceback for people."""
    command = typer.main.get_command(app)
    try:
        result = command.main(args=list(argv), prog_name="./lab", standalone_mode=False)
    except typer.TyperException as error:
        # Typer's own: an unknown command or option, a value that does not fit.
        show = getattr(error, "show", None)
        if callable(show):
            show()
        else:
            print(f"lab: {error}", file=sys.stderr)
        return USAGE
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except typer.Exit as done:
        return done.exit_code
    except (SpecErrors, SpecError, PlanError) as error:
        return _say(error, USAGE)
    except LabError as error:
        return _say(error, USAGE if error.code in _USAGE_CODES else FAILED)
    except DatabaseError as error:
        print(f"lab: the database does not answer: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        sys.stderr.close()
        return FAILED
    return result if isinstance(result, int) else 0


_USAGE_CODES = frozenset(
    {"unknown-target", "bad-document", "already-here", "no-such-run", "bad-usage", "bad-file"}
)


def _say(error: LabError, status: int) -> int:
    print(f"lab: {error.message}", file=sys.stderr)
    if error.remedy:
        print(f"     {error.remedy}", file=sys.stderr)
    return status
