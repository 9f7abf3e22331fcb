"""What ./lab test runs: linters, types, import contracts, Go, Python, JavaScript, browser.

Each part says whether it passed, failed or was skipped and why. As root, missing Debian
packages are installed; with CI=true a skipped part is a failure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
BIN = Path(PYTHON).parent
CI = os.environ.get("CI") == "true"
DEBIAN = {
    "chromium": "chromium",
    "gcc": "gcc",
    "qemu-system-x86_64": "qemu-system-x86",
}
# Boots a machine of its own, once; a part by itself.
V2 = "tests/v2"
# Builds a whole Kubernetes first; run by name until there is a target that needs it.
CLUSTERS = "tests/cluster/test_cluster_life.py"


@dataclass(frozen=True, slots=True)
class Part:
    """One command; `missing` says why it cannot run here ("" if it can)."""

    name: str
    argv: Sequence[str]
    cwd: Path = ROOT
    env: Mapping[str, str] = field(default_factory=dict)
    fast: bool = True
    missing: Callable[[], str] = lambda: ""


def node() -> str:
    """The Node.js that playwright brings along runs the JavaScript tests."""
    import playwright

    return str(Path(playwright.__file__).parent / "driver" / "node")


def find_go() -> str:
    local = next((ROOT / ".build" / "go").glob("lib/python*/site-packages/go/bin/go"), None)
    return shutil.which("go") or (str(local) if local else "")


def needs(*programs: str) -> Callable[[], str]:
    """Says which of these programs are missing, after trying to install them."""

    def missing() -> str:
        absent = [program for program in programs if not shutil.which(program)]
        if absent and os.geteuid() == 0 and shutil.which("apt-get"):
            apt_install([DEBIAN[program] for program in absent])
            absent = [program for program in programs if not shutil.which(program)]
        return f"not installed: {', '.join(absent)}" if absent else ""

    return missing


def needs_postgres() -> str:
    """Debian keeps PostgreSQL's server programs off PATH."""
    from tests.on_postgres import server_folder

    if server_folder() is None and os.geteuid() == 0 and shutil.which("apt-get"):
        apt_install(["postgresql"])
    return "" if server_folder() else "no PostgreSQL server"


def apt_install(packages: Sequence[str]) -> None:
    print(f"test: installing {', '.join(packages)} …", flush=True)
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for argv in (["apt-get", "update"], ["apt-get", "install", "-y", *packages]):
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stderr[-1000:], file=sys.stderr)


def pytest_argv(*arguments: str) -> list[str]:
    return [PYTHON, "-m", "pytest", "-q", *arguments]


def parts(paths: Sequence[str], fast: bool) -> Iterator[Part]:
    """Everything, the quick and telling first."""
    if paths:
        yield Part("python", pytest_argv(*paths))
        return
    yield Part("ruff", [str(BIN / "ruff"), "check", "."])
    yield Part("ruff format", [str(BIN / "ruff"), "format", "--check", "."])
    yield Part("imports", [str(BIN / "lint-imports")])
    yield Part("mypy", [str(BIN / "mypy")], env={"THROTTLE_LAB_VAR": str(ROOT / ".build" / "mypy")})
    yield from go_parts()
    yield Part(
        "javascript", [node(), "--test", *map(str, sorted(ROOT.glob("tests/js/*.test.mjs")))]
    )
    if fast:
        yield Part(
            "python", pytest_argv("-m", "not slow and not browser", "--hypothesis-profile=fast")
        )
        return
    yield Part("python", pytest_argv("-m", "not browser", f"--ignore={V2}", f"--ignore={CLUSTERS}"))
    yield Part(
        "python on PostgreSQL",
        [PYTHON, "-m", "tests.on_postgres"],
        fast=False,
        missing=needs_postgres,
    )
    yield Part("browser", pytest_argv("-m", "browser"), fast=False, missing=needs("chromium"))
    yield Part("cgroup v2", pytest_argv(V2), fast=False, missing=needs("qemu-system-x86_64"))


def go_parts() -> Iterator[Part]:
    go = find_go()
    source = ROOT / "cpulab"
    env = {"GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"}

    def missing() -> str:
        return "" if go else "no Go"

    yield Part("go vet", [go, "vet", "./..."], cwd=source, env=env, missing=missing)
    yield Part(
        "go vet (darwin)",
        [go, "vet", "./..."],
        cwd=source,
        env={**env, "GOOS": "darwin", "CGO_ENABLED": "0"},
        fast=False,
        missing=missing,
    )
    yield Part(
        "go test -race",
        [go, "test", "-race", "./..."],
        cwd=source,
        env={**env, "CGO_ENABLED": "1"},
        fast=False,
        missing=lambda: missing() or needs("gcc")(),
    )


def run(part: Part) -> str:
    """passed, failed or skipped, told on standard output."""
    why = part.missing()
    if why:
        print(f"\n== {part.name}: SKIPPED, {why}", flush=True)
        return "failed" if CI else "skipped"
    print(f"\n== {part.name}", flush=True)
    began = time.monotonic()
    env = {**os.environ, "PYTHONPATH": str(ROOT), **part.env}
    code = subprocess.run(list(part.argv), cwd=part.cwd, env=env, check=False).returncode
    result = "failed" if code else "passed"
    print(f"== {part.name}: {result} in {time.monotonic() - began:.0f} s", flush=True)
    return result


def main(paths: Sequence[str], fast: bool) -> int:
    """Run the parts; 0 when none failed. The last line counts them."""
    wanted = [part for part in parts(paths, fast) if part.fast or not fast]
    results = {part.name: run(part) for part in wanted}
    print("\n" + "\n".join(f"{result:8} {name}" for name, result in results.items()))
    count = [list(results.values()).count(kind) for kind in ("passed", "failed", "skipped")]
    print(f"{count[0]} passed, {count[1]} failed, {count[2]} skipped")
    return 1 if count[1] else 0
