"""./lab experiments and ./lab doctor: what can be run, and what this machine can run."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console

from experiments_app import catalogue
from experiments_app.cli import common
from experiments_app.cli.checks import checks
from experiments_app.cli.text import time_text
from experiments_app.core.plan import make_plan
from experiments_app.core.spec import Spec, dump_spec, dump_toml
from experiments_app.runs import wiring


def register(app: typer.Typer) -> None:
    app.command("experiments")(experiments)
    app.command("doctor")(doctor)


def experiments(
    name: Annotated[str | None, typer.Argument()] = None,
    json_: Annotated[bool, typer.Option("--json")] = False,
    toml: Annotated[bool, typer.Option("--toml", help="the spec as a file to start from")] = False,
) -> int:
    """The catalogue, or one experiment of it."""
    if name is None:
        return _all(json_)
    spec = catalogue.find(name)
    if toml:
        print(dump_toml(spec), end="")
    elif json_:
        common.print_json(dump_spec(spec))
    else:
        _one(spec)
    return 0


def _all(json_: bool) -> int:
    entries = catalogue.entries()
    if json_:
        common.print_json([_brief(spec) for spec in entries])
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
    console.print(f"[bold]{spec.title}[/bold] ({spec.name})\n{spec.question}\n", highlight=False)
    for arm in spec.arms:
        console.print(f"  {arm.name}: {arm.label or arm.name}", highlight=False)
    for title, texts in (("Shows", spec.shows), ("Does not show", spec.does_not_show)):
        for text in texts:
            console.print(f"{title}: {text}", highlight=False)
    console.print(f"\nRun it: ./lab run {spec.name} --target local", highlight=False)


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
