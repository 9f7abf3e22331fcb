"""A Docker daemon for the tests: the one that answers, else one of our own that ends with us."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.programs import Unavailable

ROOT = Path(__file__).resolve().parents[2]
NODE_FOLDER = Path(__file__).parent / "node"
START_S, STOP_S = 90, 60
CAP_SYS_RESOURCE = 24


@contextmanager
def docker(cache: Path) -> Iterator[dict[str, str]]:
    """An environment in which `docker` works. Raises Unavailable.

    A daemon of our own keeps its images in the cache, so that the next one has them; it is
    used by one process at a time, others wait.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("THROTTLE_LAB_")}
    if _answers(environment):
        yield _with_wrapper(environment, cache)
        return
    if os.geteuid() != 0 or not shutil.which("dockerd"):
        raise Unavailable("no Docker daemon answers, and none can be started (root and dockerd)")
    folder = Path("/run/throttle-lab-tests")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    environment["DOCKER_HOST"] = f"unix://{folder}/docker.sock"
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with _daemon(cache, folder, environment):
            yield _with_wrapper(environment, cache)


@contextmanager
def _daemon(cache: Path, folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    log = cache / "dockerd.log"
    cache.mkdir(parents=True, exist_ok=True)
    # Whatever becomes of this process, the daemon stops its containers and ends.
    argv = [sys.executable, "-m", "labsite.lifeline", "dockerd", "--bridge=none"]
    argv += ["--host", environment["DOCKER_HOST"], "--data-root", str(cache / "docker")]
    argv += ["--exec-root", str(folder / "exec"), "--pidfile", str(folder / "dockerd.pid")]
    forwarding, rules = _forwarding(), _rules()
    with open(log, "wb") as output:
        process = subprocess.Popen(
            argv, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        _wait_for_answer(process, environment, log)
        _remove_containers(environment)
        yield
    finally:
        _remove_containers(environment)
        _docker(["network", "rm", "kind"], environment)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _restore(forwarding, rules)


def _wait_for_answer(
    process: subprocess.Popen[bytes], environment: Mapping[str, str], log: Path
) -> None:
    end = time.monotonic() + START_S
    while not _answers(environment):
        if process.poll() is not None or time.monotonic() > end:
            words = log.read_text(errors="replace").strip()[-1500:]
            raise Unavailable(f"dockerd does not answer; it said: {words}")
        time.sleep(0.2)


def _remove_containers(environment: Mapping[str, str]) -> None:
    """Those of a test that was killed; nobody else uses this daemon."""
    found = _docker(["ps", "--all", "--quiet"], environment).stdout.split()
    if found:
        _docker(["rm", "--force", "--volumes", *found], environment)


def _forwarding() -> str:
    with contextlib.suppress(OSError):
        return Path("/proc/sys/net/ipv4/ip_forward").read_text()
    return ""


def _rules() -> str:
    """The machine's packet filter, as one text."""
    done = subprocess.run(["iptables-save"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"iptables-save: {done.stderr.strip()}")
    return done.stdout


def _restore(forwarding: str, rules: str) -> None:
    """The daemon switches forwarding on for the whole machine, and leaves its rules behind."""
    if forwarding and forwarding != _forwarding():
        Path("/proc/sys/net/ipv4/ip_forward").write_text(forwarding)
    # A table that was not there before is emptied: its rules are the daemon's alone.
    tables = {line[1:] for line in _rules().splitlines() if line.startswith("*")}
    had = {line[1:] for line in rules.splitlines() if line.startswith("*")}
    empty = "".join(f"*{table}\nCOMMIT\n" for table in sorted(tables - had))
    subprocess.run(["iptables-restore"], input=rules + empty, text=True, check=True)


def _with_wrapper(environment: Mapping[str, str], cache: Path) -> dict[str, str]:
    """Where a capability is missing, `docker` becomes a script that does not ask for it."""
    if _has_capability(CAP_SYS_RESOURCE):
        return dict(environment)
    real = shutil.which("docker", path=environment.get("PATH"))
    if real is None:
        raise Unavailable("not installed: docker")
    folder = cache / "wrapper"
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".docker.{os.getpid()}"
    shutil.copy(NODE_FOLDER / "docker", draft)
    draft.replace(folder / "docker")
    return {
        **environment,
        "PATH": f"{folder}{os.pathsep}{environment.get('PATH', os.defpath)}",
        "THROTTLE_TESTS_DOCKER": real,
    }


def _has_capability(number: int) -> bool:
    """Whether this process may ever have it (its bounding set). True where there is no /proc."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("CapBnd:"):
                return bool(int(line.split()[1], 16) >> number & 1)
    return True


def _answers(environment: Mapping[str, str]) -> bool:
    return _docker(["info", "--format", "{{.ID}}"], environment).returncode == 0


def _docker(argv: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["docker", *argv],
            env=dict(environment),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    except FileNotFoundError as error:
        raise Unavailable("not installed: docker") from error
