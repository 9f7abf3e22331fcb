"""The scripts' own tests, run by the node that comes with Playwright."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import require

FOLDER = Path(__file__).parent.parent / "js"


def _node() -> str | None:
    try:
        import playwright
    except ImportError:
        return shutil.which("node")
    bundled = Path(playwright.__file__).parent / "driver" / "node"
    return str(bundled) if bundled.exists() else shutil.which("node")


@pytest.mark.slow
def test_the_scripts() -> None:
    node = _node()
    require(node is not None, "node (it comes with the Python package playwright)")
    tests = sorted(str(path) for path in FOLDER.glob("*.test.mjs"))
    command = [str(node), "--test", *tests]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
