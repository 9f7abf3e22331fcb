"""Benchmarks of the lab itself: `./lab bench [NAME ...] [--json]`.

Every figure is printed beside its target. Nothing here passes or fails: the machine is
shared and noisy, so figures are for people who compare them before and after a change.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bench.figure import Figure


def main(names: Sequence[str], *, as_json: bool) -> int:
    """Run the named benchmarks (all by default) on a lab of their own."""
    with tempfile.TemporaryDirectory(prefix="lab-bench-") as var:
        os.environ["THROTTLE_LAB_VAR"] = var
        os.environ["DJANGO_SETTINGS_MODULE"] = "labsite.settings"
        os.environ.pop("DATABASE_URL", None)
        import django

        django.setup()
        from bench import suite

        unknown = [name for name in names if name not in suite.NAMES]
        if unknown:
            print(f"lab: no benchmark {unknown[0]!r}; known: {', '.join(suite.NAMES)}.")
            return 2
        figures = suite.run(Path(var), names or suite.NAMES)
    if as_json:
        rows = [{**asdict(figure), "met": figure.met} for figure in figures]
        print(json.dumps({"figures": rows}, indent=2))
    else:
        for figure in figures:
            print(_line(figure))
    return 0


def _line(figure: Figure) -> str:
    text = f"{figure.bench:8} {figure.name:34} {figure.value:10.4g} {figure.unit:12}"
    if figure.target is not None:
        sign = "<=" if figure.better == "lower" else ">="
        text += f" target {sign} {figure.target:g}: {'met' if figure.met else 'MISSED'}"
    return f"{text} {figure.note}".rstrip()


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    sys.exit(main(words, as_json="--json" in sys.argv))
