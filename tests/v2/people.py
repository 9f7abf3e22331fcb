"""On the test machine: somebody who runs ./lab, in a control group and as a user of choice.

Emulated, Python takes long to import what the lab stands on. So that is imported once, and
every command is a fork that goes on from there, as `python -m experiments_app.cli` would.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import sqlite3
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOP = Path("/sys/fs/cgroup")
DATABASE = "/opt/lab.sqlite3"  # empty, with its tables
CLI = "experiments_app.cli"


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended: its exit status (negative: the signal) and what it said."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Standard output as JSON. Raises AssertionError with what was said instead."""
        try:
            return json.loads(self.out)
        except ValueError:
            raise AssertionError(f"status {self.code}: {self.err[-2000:]}") from None


@dataclass(frozen=True, slots=True)
class Started:
    """A command that runs."""

    pid: int
    out: Path
    err: Path

    def wait(self) -> Done:
        _, status = os.waitpid(self.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        return Done(code, self.out.read_text(), self.err.read_text())


@dataclass(frozen=True, slots=True)
class Person:
    """A user with a lab; `group`: the control group in which the commands are started."""

    name: str
    uid: int = 0
    group: Path | None = None

    @property
    def var(self) -> Path:
        return Path("/tmp") / self.name

    def start(self, act: Callable[[], int]) -> Started:
        """`act` in a process of this person's; its result is the exit status."""
        files = [Path(f"/tmp/{self.name}.{kind}") for kind in ("out", "err")]
        for path in files:
            path.write_text("")
        pid = os.fork()
        if pid == 0:
            os._exit(self._in_child(act, *files))
        return Started(pid, *files)

    def lab(self, *arguments: str) -> Started:
        """./lab ARGUMENTS."""

        def act() -> int:
            sys.argv = [CLI, *arguments]
            try:
                runpy.run_module(CLI, run_name="__main__", alter_sys=True)
            except SystemExit as done:
                return int(done.code or 0)
            return 0

        return self.start(act)

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """What this person's database says; nothing before it is there."""
        path = self.var / "lab.sqlite3"
        if not (self.var / "migrated").exists():
            return []
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def left(self) -> list[str]:
        """This lab's control groups that are there."""
        ident = self.var / "lab-id"
        name = ident.read_text().strip() if ident.exists() else "none"
        return sorted(str(path) for path in TOP.glob(f"**/throttle-lab/{name}"))

    def _in_child(self, act: Callable[[], int], out: Path, err: Path) -> int:
        try:
            for number, path in ((0, Path(os.devnull)), (1, out), (2, err)):
                os.dup2(os.open(path, os.O_RDWR), number)
            if self.group is not None:
                (self.group / "cgroup.procs").write_text("0")
            if self.uid:
                os.setgroups([])
                os.setgid(self.uid)
                os.setuid(self.uid)
            os.environ["THROTTLE_LAB_VAR"] = str(self.var)
            if not self.var.exists():
                self._new_var()
            code = act()
        except BaseException:  # noqa: BLE001 - told on the command's standard error
            traceback.print_exc()
            code = 70
        sys.stdout.flush()
        sys.stderr.flush()
        return code

    def _new_var(self) -> None:
        """With the database that came along: making its tables takes long, emulated."""
        from labsite import env, stamps

        self.var.mkdir(mode=0o700)
        shutil.copyfile(DATABASE, self.var / "lab.sqlite3")
        (self.var / "migrated").write_text(stamps.database_stamp(env.load()))


def processes_in(group: Path) -> list[int]:
    """Of a control group and all below it."""
    found: list[int] = []
    for path in group.glob("**/cgroup.procs"):
        found += map(int, path.read_text().split())
    return sorted(found)


def alive(pid: int) -> bool:
    """Whether it runs; one that waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
