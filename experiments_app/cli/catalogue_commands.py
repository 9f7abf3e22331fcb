"""./lab experiments and ./lab doctor: what can be run, and what this machine can run."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from experiments_app import catalogue
from experiments_app.cli import common
from experiments_app.cli.checks import checks
from experiments_app.cli.own_commands import brief as brief_of_own
from experiments_app.cli.own_commands import (
    find_named,
    keep_spec,
    own_briefs,
    print_own,
    print_versions,
)
from experiments_app.cli.run_command import load_file
from experiments_app.cli.text import time_text
from experiments_app.core.plan import make_plan
from experiments_app.core.spec import Spec, dump_spec, file_to_start_from
from experiments_app.runs import wiring
from experiments_app.web.arm_table import Cell, arm_table


def register(app: typer.Typer) -> None:
    app.command("experiments")(experiments)
    app.command("doctor")(doctor)


def experiments(
    name: Annotated[str | None, typer.Argument()] = None,
    json_: Annotated[bool, typer.Option("--json")] = False,
    toml: Annotated[bool, typer.Option("--toml", help="the spec as a file to start from")] = False,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="FILE", help="keep a TOML file as an own one")
    ] = None,
) -> int:
    """The catalogue and own experiments, or one of them."""
    if keep is not None:
        if name is not None or toml:
            raise common.UsageError(
                "--keep takes its name from the file.", remedy="Give only --keep FILE."
            )
        keep_spec(load_file(keep), json_=json_)
        return 0
    if name is None:
        return _all(json_)
    spec = find_named(name)
    if toml:
        print(file_to_start_from(spec), end="")
    elif json_:
        common.print_json(dump_spec(spec))
    else:
        _one(spec)
    return 0


def _all(json_: bool) -> int:
    entries, own = catalogue.entries(), own_briefs()
    if json_:
        briefs = [_brief(spec) for spec in entries]
        common.print_json(briefs + [_brief(each.spec) | brief_of_own(each) for each in own])
        return 0
    console = Console()
    for spec in entries:
        brief = _brief(spec)
        aliases = f" [{', '.join(spec.aliases)}]" if spec.aliases else ""
        console.print(f"[bold]{spec.name}[/bold]{aliases}: {spec.title}", highlight=False)
        console.print(f"  {spec.question}", highlight=False)
        console.print(
            f"  {len(spec.arms)} arms, about {time_text(brief['expected_us'])} for one repeat; "
            f"targets: {', '.join(spec.targets)}",
            highlight=False,
        )
    print_own(own)
    return 0


def _brief(spec: Spec) -> dict[str, Any]:
    plan = make_plan(spec, kind=spec.targets[0], cpus=None, repeats=1)
    return {
        "name": spec.name,
        "aliases": list(spec.aliases),
        "title": spec.title,
        "question": spec.question,
        "arms": [arm.name for arm in spec.arms],
        "targets": list(spec.targets),
        "expected_us": plan.expected_us,
    }


def _one(spec: Spec) -> None:
    console = Console()
    # People write these texts: what looks like markup in them is not.
    heading, question = escape(spec.heading), escape(spec.question)
    console.print(f"[bold]{heading}[/bold] ({spec.name})\n{question}\n", highlight=False)
    for arm in arm_table(spec).arms:
        console.print(f"  {arm.name}: {escape(arm.label)}", highlight=False)
        for line in arm.lines:
            settings = ", ".join(_said(cell) for cell in line.cells if cell.text not in {"–", ""})
            console.print(f"      {line.unit}: {escape(settings)}", highlight=False)
    for title, texts in (("Shows", spec.shows), ("Does not show", spec.does_not_show)):
        for text in texts:
            console.print(f"{title}: {escape(text)}", highlight=False)
    print_versions(spec.name)
    console.print(f"\nRun it: ./lab run {spec.name} --target local", highlight=False)


def _said(cell: Cell) -> str:
    """A setting of a container in words, without the column's title where it says itself."""
    under = f" {cell.sub}" if cell.sub else ""
    if cell.key in {"work", "env"} or cell.text == "no limit":
        return cell.text
    return f"{cell.title} {cell.text}{under}"


def doctor(json_: Annotated[bool, typer.Option("--json")] = False) -> int:
    """What this machine can run, and the remedy for what it cannot."""
    statuses = [target.status() for target in wiring.registry()]
    parts = checks()
    if json_:
        common.print_json(
            {
                "targets": [{**asdict(status), "ready": status.ready} for status in statuses],
                "parts": [asdict(part) for part in parts],
            }
        )
        return 0
    console = Console()
    for status in statuses:
        mark = "[green]ready[/green]" if status.ready else "[red]not ready[/red]"
        console.print(f"target [bold]{status.name}[/bold] ({status.kind}): {mark}")
        for problem in status.problems:
            kind = "" if problem.blocking else "note: "
            console.print(f"  {kind}{problem.message}\n    {problem.remedy}", highlight=False)
    for part in parts:
        mark = "[green]there[/green]" if part.there else "[red]missing[/red]"
        console.print(f"{part.name}: {mark} {part.detail}", highlight=False)
        if not part.there:
            console.print(f"    {part.remedy}", highlight=False)
    return 0
