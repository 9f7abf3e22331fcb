"""The environment, read once, typed and loud: a misspelt or impossible setting stops the start."""

from __future__ import annotations

import difflib
import hashlib
import os
import secrets
import socket
import sys
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

ROOT = Path(__file__).resolve().parent.parent


def _redis_url(value: str) -> str:
    if value and not value.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("must start with redis://, rediss:// or unix://")
    return value


class Environment(BaseSettings):
    """Settings from variables named THROTTLE_LAB_* (and DATABASE_URL, REDIS_URL)."""

    model_config = SettingsConfigDict(env_prefix="THROTTLE_LAB_", extra="ignore", frozen=True)

    var: Path = ROOT / "var"
    debug: bool = False
    secret_key: str = ""
    hosts: str = "localhost,127.0.0.1,[::1]"
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    machine: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]{0,60}$")] = "local"
    cpulab_dir: Path = ROOT / ".build" / "cpulab" / "current"
    kind: Path | None = None
    secure_cookies: bool = False
    lease_seconds: Annotated[float, Field(ge=1)] = 10.0
    log_level: Annotated[str, Field(pattern=r"^(DEBUG|INFO|WARNING|ERROR)$")] = "INFO"
    database_url: str = Field(default="", validation_alias="DATABASE_URL")
    redis_url: Annotated[str, AfterValidator(_redis_url)] = Field(
        default="", validation_alias="REDIS_URL"
    )

    @property
    def allowed_hosts(self) -> list[str]:
        return [name.strip() for name in self.hosts.split(",") if name.strip()]

    @property
    def broker_url(self) -> str:
        """REDIS_URL, else the embedded server's socket under var/."""
        return self.redis_url or f"unix://{valkey_socket(self.var)}"


def valkey_socket(var: Path) -> Path:
    """Where the embedded Valkey listens: a socket in var/, so no port and no stranger.

    A Unix socket's path may have 107 bytes; a deep checkout gets one under /tmp instead,
    in a directory of its own that only this user can enter.
    """
    path = var / "valkey" / "valkey.sock"
    if len(os.fsencode(path)) <= 100:
        return path
    digest = hashlib.sha256(os.fsencode(var)).hexdigest()[:12]
    return Path("/tmp") / f"throttle-lab-{os.getuid()}-{digest}" / "valkey.sock"


def _reject_unknown() -> None:
    known = {f"THROTTLE_LAB_{name.upper()}" for name in Environment.model_fields}
    for name in os.environ:
        if name.startswith("THROTTLE_LAB_") and name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            names = ", ".join(sorted(known))
            print(
                f"throttle-lab: unknown setting {name} in the environment.{hint} Known: {names}",
                file=sys.stderr,
            )
            sys.exit(2)


def load() -> Environment:
    """Read the environment or stop with one line a problem (exit 2)."""
    _reject_unknown()
    try:
        environment = Environment()
    except ValidationError as error:
        for problem in error.errors():
            name = "_".join(str(part) for part in problem["loc"]).upper()
            variable = name if name in ("DATABASE_URL", "REDIS_URL") else f"THROTTLE_LAB_{name}"
            print(
                f"throttle-lab: {variable}={problem['input']!r} cannot be used: {problem['msg']}.",
                file=sys.stderr,
            )
        sys.exit(2)
    return environment


def prepare_var(environment: Environment) -> None:
    """Make the var folder, for its owner only: it holds sessions, the key and sockets.

    Exits with a message (2) where it cannot be made or written to.
    """
    os.umask(0o077)
    var = environment.var
    try:
        var.mkdir(mode=0o700, parents=True, exist_ok=True)
        if var.stat().st_uid == os.getuid():
            var.chmod(0o700)
        probe = var / f".probe.{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        print(
            f"throttle-lab: the folder {var} cannot be used: {error.strerror}. "
            "Set THROTTLE_LAB_VAR to one that you may write to.",
            file=sys.stderr,
        )
        sys.exit(2)


def _kept(path: Path, make: Any) -> str:
    """The content of a small private file, made once; safe when two processes start at once."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        with open(draft, "x", opener=_private) as handle:
            handle.write(make())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        return path.read_text().strip()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)


def secret_key(environment: Environment) -> str:
    """The configured key, else one made once and kept in var/ (readable by its owner only)."""
    return environment.secret_key or _kept(
        environment.var / "secret-key", lambda: secrets.token_urlsafe(48)
    )


def lab_id(environment: Environment) -> str:
    """This lab's label on targets, made once: a sweep touches only what this lab made."""
    host = "".join(c for c in socket.gethostname().lower() if c.isalnum())[:12] or "lab"
    return _kept(environment.var / "lab-id", lambda: f"{host}-{secrets.token_hex(4)}")
