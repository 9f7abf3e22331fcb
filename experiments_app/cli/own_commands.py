"""Own experiments on the command line: found by name, listed, kept from a file."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape

from experiments_app.archive.experiments import (
    OwnEntry,
    Version,
    find_spec,
    in_catalogue,
    own_entries,
    versions,
)
from experiments_app.cli import common
from experiments_app.core.spec import Spec
from experiments_app.runs.experiments import keep


def find_named(name: str) -> Spec:
    """The experiment of this name: of the catalogue, which needs no database, or an own one."""
    spec = in_catalogue(name)
    if spec is not None:
        return spec
    common.migrate()
    return find_spec(name)


def keep_spec(spec: Spec, *, json_: bool) -> None:
    """Keep a spec as an own experiment; print its name and version."""
    common.migrate()
    kept = keep(spec, user=None, who=common.person())
    if json_:
        common.print_json({"name": kept.name, "version": kept.version, "changed": kept.changed})
        return
    print(f"{kept.name} version {kept.version}")
    if not kept.changed:
        common.say("Nothing has changed: that version was kept already.")


def own_briefs() -> list[OwnEntry]:
    """Own experiments that are not hidden."""
    common.migrate()
    return own_entries()


def print_own(entries: list[OwnEntry]) -> None:
    """The list below the catalogue; nothing where there are none."""
    if not entries:
        return
    console = Console()
    console.print("\nYour own experiments", highlight=False)
    for entry in entries:
        title = f": {escape(entry.spec.title)}" if entry.spec.title else ""
        console.print(f"[bold]{entry.name}[/bold]{title}", highlight=False)
        console.print(f"  version {entry.newest.n}, {escape(_kept(entry.newest))}", highlight=False)


def print_versions(name: str) -> None:
    """When each version of an own experiment was kept, and by whom; nothing for others."""
    if in_catalogue(name) is not None:
        return
    for each in versions(name):
        print(f"version {each.n}: {_kept(each)}")


def brief(entry: OwnEntry) -> dict[str, Any]:
    """What --json lists beside the fields that every experiment has."""
    newest = entry.newest
    return {
        "own": True,
        "version": newest.n,
        "saved_at": newest.saved_at.isoformat(),
        "saved_by": newest.saved_who,
    }


def _kept(version: Version) -> str:
    who = version.saved_who or "nobody known"
    return f"kept {version.saved_at:%Y-%m-%d %H:%M} UTC by {who}"
