"""./lab list, show, export, import: the archive on the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from experiments_app.archive.document import document
from experiments_app.archive.exports import export_json, export_zip
from experiments_app.archive.imports import import_run
from experiments_app.archive.tables import repeats_csv, rounds_csv
from experiments_app.cli import common
from experiments_app.cli.summary_tables import print_summary
from experiments_app.core.errors import LabError
from experiments_app.models import Run

FORMATS = ("json", "zip", "repeats.csv", "rounds.csv")


def register(app: typer.Typer) -> None:
    app.command("list")(list_)
    app.command("show")(show)
    app.command("export")(export)
    app.command("import")(import_)


def list_(
    json_: Annotated[bool, typer.Option("--json")] = False,
    most: Annotated[int, typer.Option("--most", min=1, max=10_000)] = 30,
) -> int:
    """The newest runs."""
    common.migrate()
    runs = list(Run.objects.order_by("-number")[:most])
    if json_:
        common.print_json([_line(run) for run in runs])
        return 0
    if not runs:
        common.say("No runs yet. Try ./lab run burst-limits --target local")
        return 0
    table = Table()
    for name in ("run", "experiment", "target", "status", "queued (UTC)", "reason"):
        table.add_column(name)
    for run in runs:
        at = f"{run.created_at:%Y-%m-%d %H:%M:%S}"
        table.add_row(str(run.number), run.experiment, run.target, run.status, at, run.reason)
    Console().print(table)
    return 0


def _line(run: Run) -> dict[str, object]:
    return {
        "number": run.number,
        "id": run.uid,
        "experiment": run.experiment,
        "target": run.target,
        "status": run.status,
        "reason": run.reason or None,
        "created_at": run.created_at.isoformat(timespec="milliseconds"),
    }


def show(
    run: Annotated[str, typer.Argument(metavar="RUN")],
    json_: Annotated[bool, typer.Option("--json", help="print the run document")] = False,
) -> int:
    """One run: its arms and what was measured."""
    common.migrate()
    found = common.find_run(run)
    if json_:
        common.print_json(document(found))
    else:
        print_summary(found)
    return 0


def export(
    run: Annotated[str, typer.Argument(metavar="RUN")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="- for stdout")] = None,
    as_: Annotated[str, typer.Option("--as", help=" | ".join(FORMATS))] = "zip",
) -> int:
    """Write a run to a file: the document, the full zip, or a table."""
    common.migrate()
    if as_ not in FORMATS:
        raise common.UsageError(f"--as {as_}: unknown format.", remedy=f"One of {FORMATS}.")
    found = common.find_run(run)
    data = _bytes(found, as_)
    if str(output) == "-":
        sys.stdout.buffer.write(data)
        return 0
    path = output or Path(f"run-{found.number}-{found.experiment}.{as_}")
    try:
        path.write_bytes(data)
    except OSError as error:
        raise LabError(
            f"{path} cannot be written: {error.strerror}.", remedy="Name another file with -o."
        ) from None
    common.say(f"run {found.number} written to {path}")
    return 0


def _bytes(run: Run, kind: str) -> bytes:
    if kind == "json":
        return export_json(run)
    if kind == "zip":
        return export_zip(run)
    lines = repeats_csv(run) if kind == "repeats.csv" else rounds_csv(run)
    return "".join(lines).encode()


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a run document or a full export")],
) -> int:
    """Take a run that was exported elsewhere into the archive."""
    common.migrate()
    try:
        data = file.read_bytes()
    except OSError as error:
        raise common.UsageError(
            f"{file} cannot be read: {error.strerror}.", remedy="Name an exported run."
        ) from None
    run = import_run(data, filename=file.name, user=None, who=common.person())
    common.say(f"imported as run {run.number}: {run.title} on {run.target}")
    return 0
