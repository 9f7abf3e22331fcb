"""Runs what touches the database once more, on a PostgreSQL of its own."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

TESTS = ("tests/runs", "tests/live", "tests/archive", "tests/cli")


def server_folder() -> Path | None:
    """Where initdb and postgres are: Debian's folder of the newest version, or PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: p.parts[-3])
    if debian:
        return debian[-1].parent
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """A fresh cluster on a Unix socket; its DATABASE_URL."""
    programs = server_folder()
    assert programs is not None, "no PostgreSQL server"
    with tempfile.TemporaryDirectory(prefix="lab-pg-") as name:
        folder = Path(name)
        user: str | None = None
        if os.geteuid() == 0:
            user = "postgres" if _exists("postgres") else "nobody"
            shutil.chown(folder, user)
        data = folder / "data"

        def run(program: str, *arguments: str | Path, check: bool = True) -> None:
            argv = [str(programs / program), "-D", str(data), *map(str, arguments)]
            subprocess.run(argv, user=user, cwd=folder, check=check, stdout=subprocess.DEVNULL)

        run("initdb", "-U", "lab", "-A", "trust", "-N", "-E", "UTF8")
        options = f"-k {folder} -c listen_addresses= -c fsync=off -c max_connections=60"
        run("pg_ctl", "-w", "-l", folder / "log", "-o", options, "start")
        try:
            yield f"postgres://lab@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-m", "immediate", "stop", check=False)


def _exists(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


def main(arguments: list[str]) -> int:
    with postgres() as url:
        argv = [sys.executable, "-m", "pytest", "-q", "-m", "not browser", *(arguments or TESTS)]
        return subprocess.run(argv, env={**os.environ, "DATABASE_URL": url}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
