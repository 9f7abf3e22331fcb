"""./lab test, check and bench: for those who work on the lab."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

ROOT = Path(__file__).resolve().parent.parent.parent


def register(app: typer.Typer) -> None:
    app.command("test")(test)
    app.command("bench")(bench)


def test(
    paths: Annotated[list[str] | None, typer.Argument(help="only these Python tests")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="the inner loop, under a minute")] = False,
) -> int:
    """Everything: linters, types, Python, Go, browser; installs what it needs when root."""
    module = runpy.run_path(str(ROOT / "tests" / "everything.py"))
    result: int = module["main"](paths=paths or [], fast=fast)
    return result


def bench(
    names: Annotated[list[str] | None, typer.Argument(help="only these benchmarks")] = None,
    json_: Annotated[bool, typer.Option("--json")] = False,
) -> int:
    """Measure the lab itself; figures with their targets."""
    # A process of its own: it works on a lab of its own, with its own settings.
    options = ["--json"] if json_ else []
    argv = [sys.executable, "-m", "bench", *(names or []), *options]
    return subprocess.run(argv, cwd=ROOT, check=False).returncode
