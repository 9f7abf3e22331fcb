"""Settings are loud, starts are slowed down when they come too fast, ports are checked."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from labsite import env, lifeline, links
from labsite.up import PortTaken, free_port
from tests.lab_process import ROOT
from tests.waiting import until


def load(**variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from labsite import env; print(env.load())"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"THROTTLE_LAB_PROT": "1"}, "Did you mean THROTTLE_LAB_PORT?"),
        ({"THROTTLE_LAB_PORT": "http"}, "THROTTLE_LAB_PORT='http' cannot be used"),
        ({"THROTTLE_LAB_PORT": "70000"}, "THROTTLE_LAB_PORT"),
        ({"THROTTLE_LAB_DEBUG": "perhaps"}, "THROTTLE_LAB_DEBUG"),
        ({"REDIS_URL": "localhost:6379"}, "must start with redis://"),
    ],
)
def test_a_wrong_setting_stops_the_start(variables: dict[str, str], said: str) -> None:
    done = load(**variables)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_good_settings() -> None:
    assert load(THROTTLE_LAB_PORT="8123").returncode == 0


def test_a_deep_checkout_gets_a_short_socket_of_its_own(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)
    path = env.valkey_socket(deep)
    assert len(os.fsencode(path)) <= 100
    assert path != env.valkey_socket(tmp_path / ("e" * 120))
    assert env.valkey_socket(Path("/v")) == Path("/v/valkey/valkey.sock")


def test_a_kept_secret_is_private_and_stays(tmp_path: Path) -> None:
    environment = env.Environment(var=tmp_path)
    first = env.secret_key(environment)
    assert first == env.secret_key(environment)
    assert len(first) > 40
    assert (tmp_path / "secret-key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("starts", "wait"),
    [
        ([], 0),
        ([95, 99], 0),
        ([95, 97, 99], 1),
        ([93, 95, 97, 99], 2),
        ([10, 20, 99], 0),
        ([90 - 12 * i for i in range(12)][::-1], 0),
    ],
)
def test_back_off(starts: list[float], wait: float) -> None:
    assert lifeline.back_off([float(start) for start in starts], 100.0) == wait


def test_back_off_has_an_upper_bound() -> None:
    assert lifeline.back_off([100 - i for i in range(20, 0, -1)], 100.0) == 30


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own signal is Linux")
def test_a_program_ends_with_its_killed_parent(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import subprocess, sys;"
            "subprocess.run([sys.executable, '-m', 'labsite.lifeline', 'sh', '-c',"
            f" 'echo $$ > {note}; exec sleep 300'])",
        ],
        cwd=ROOT,
    )
    pid = int(until(lambda: (note.exists() and note.read_text().strip()) or "", "it runs"))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    until(lambda: not psutil.pid_exists(pid), "the program has ended")


def test_a_taken_port_is_refused_with_a_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(PortTaken, match="cannot be used") as caught:
            free_port("127.0.0.1", port)
    assert "--port" in caught.value.remedy
    assert free_port("127.0.0.1", 0) > 0


def test_a_sign_in_token_is_signed_and_ages() -> None:
    token = links.make_token("key", now=1000.0)
    digest = links.check_token("key", token, now=1001.0)
    assert digest is not None
    assert links.check_token("key", token, now=1000.0 + links.LIFETIME_SECONDS) == digest
    assert links.check_token("key", token, now=1001.0 + links.LIFETIME_SECONDS) is None
    assert links.check_token("other key", token, now=1001.0) is None
    assert links.check_token("key", links.make_token("key", now=9999.0), now=1000.0) is None


@pytest.mark.parametrize("position", range(0, 50, 7))
def test_a_changed_token_is_refused_or_the_same(position: int) -> None:
    token = links.make_token("key")
    changed = token[:position] + ("A" if token[position] != "A" else "B") + token[position + 1 :]
    assert links.check_token("key", changed) in (None, links.check_token("key", token))


@pytest.mark.parametrize("token", ["", "x", "é", "=" * 40, "A" * 51, "A" * 4000])
def test_nonsense_is_no_token(token: str) -> None:
    assert links.check_token("key", token) is None


def test_the_var_folder_is_its_owner_s_alone(tmp_path: Path) -> None:
    var = tmp_path / "var"
    var.mkdir(mode=0o755)
    before = os.umask(0o022)
    try:
        env.prepare_var(env.Environment(var=var))
    finally:
        os.umask(before)
    assert var.stat().st_mode & 0o777 == 0o700, "it holds sessions, the key and sockets"


@pytest.mark.slow
@pytest.mark.parametrize("var", ["/dev/null", "/proc/nope", "/dev/null/x"])
def test_a_var_folder_that_cannot_be_used_is_said(var: str) -> None:
    for command in (["list"], ["up", "--port", "0"], ["sign-in"]):
        done = subprocess.run(
            [sys.executable, "-m", "experiments_app.cli", *command],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "THROTTLE_LAB_VAR": var},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert "cannot be used" in done.stderr
        assert "Traceback" not in done.stderr
