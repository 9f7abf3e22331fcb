"""./lab cluster where a part is missing: what it says, and that nothing was begun."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from experiments_app.core.errors import Stopped
from experiments_app.targets.kubernetes import commands
from experiments_app.targets.kubernetes.commands import ClusterError
from experiments_app.targets.kubernetes.kind_cli import CURRENT, find_kind
from experiments_app.targets.kubernetes.node_programs import is_linux_program, programs_for
from experiments_app.targets.kubernetes.place import (
    Place,
    drop_empty_kubeconfig,
    in_kubeconfig,
    own_name,
)
from tests.conftest import require
from tests.lab_process import ROOT
from tests.waiting import until

BUILDS = {
    build: ROOT / ".build" / "cpulab" / "current" / f"cpulab-{build}"
    for build in ("go1.24", "go1.25")
}


def quiet(_line: str) -> None:
    pass


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def lab(*arguments: str, path: str, var: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "experiments_app.cli", "cluster", *arguments],
        cwd=ROOT,
        env={"PATH": path, "THROTTLE_LAB_VAR": str(var), "DOCKER_HOST": f"unix://{var}/none"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_without_docker_every_command_says_what_to_install(tmp_path: Path) -> None:
    done = lab("status", "--json", path=str(tmp_path), var=tmp_path / "var")
    assert (done.returncode, done.stdout) == (1, "")
    assert "docker is not on PATH" in done.stderr
    assert "Install Docker" in done.stderr


def test_a_daemon_that_does_not_answer_is_said_in_its_own_words(tmp_path: Path) -> None:
    script(tmp_path / "docker", "echo 'Cannot connect to the Docker daemon.' >&2; exit 1")
    done = lab("up", path=f"{tmp_path}:/usr/bin:/bin", var=tmp_path / "var")
    assert done.returncode == 1
    assert "does not answer: Cannot connect to the Docker daemon." in done.stderr
    assert "Start Docker" in done.stderr


@pytest.mark.parametrize("name", ["prod", "throttle-lab-", "throttle-lab_x", "x-throttle-lab"])
def test_a_cluster_of_another_name_is_never_touched(tmp_path: Path, name: str) -> None:
    with pytest.raises(ClusterError, match="touches only its own"):
        own_name(name)
    script(tmp_path / "docker", f"touch {tmp_path}/called")
    done = lab("down", "--name", name, path=f"{tmp_path}:/usr/bin:/bin", var=tmp_path / "var")
    assert done.returncode == 2
    assert "touches only its own" in done.stderr
    assert not (tmp_path / "called").exists()


def test_own_names_are_the_two_defaults_and_what_begins_like_them() -> None:
    assert own_name("throttle-lab") == "throttle-lab"
    assert own_name("throttle-lab-old") == "throttle-lab-old"
    with pytest.raises(ClusterError):
        own_name("throttle-lab-" + "x" * 40)


def test_kind_is_taken_from_the_choice_then_from_path_in_its_minor_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    minor = CURRENT.kind.rpartition(".")[0]
    script(tmp_path / "kind", f"echo {minor}.9")
    chosen = script(tmp_path / "chosen", "echo 0.1.0")
    # No Go there, and none in .build of this root.
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    stop = threading.Event()

    def find(given: Path | None = None, **more: bool) -> tuple[Path, str]:
        kind = find_kind(
            CURRENT,
            kubeconfig=tmp_path / "kubeconfig",
            root=tmp_path,
            stop=stop,
            say=said.append,
            given=given,
            **more,
        )
        return kind.program, kind.version

    said: list[str] = []
    assert find(chosen) == (chosen, "0.1.0")
    assert find() == (tmp_path / "kind", f"{minor}.9")
    script(tmp_path / "kind", "echo 0.1.0")
    assert find(exact=False) == (tmp_path / "kind", "0.1.0")
    assert said == []
    assert find() == (tmp_path / "kind", "0.1.0")
    assert CURRENT.kind in said[0], "the other version is told"
    (tmp_path / "kind").unlink()
    with pytest.raises(ClusterError, match="no Go to build it with") as raised:
        find()
    assert "THROTTLE_LAB_KIND" in raised.value.remedy
    script(tmp_path / "other", "echo hello")
    with pytest.raises(ClusterError, match="does not say a version"):
        find(tmp_path / "other")
    with pytest.raises(ClusterError, match="cannot be run as kind"):
        find(tmp_path / "nothing")


def test_a_program_told_to_stop_ends_with_what_it_has_started(tmp_path: Path) -> None:
    script(tmp_path / "long", f"sleep 300 &\necho $! > {tmp_path}/pid; echo begun; wait")
    stop = threading.Event()
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        stop.set()

    with pytest.raises(Stopped):
        commands.work(
            [str(tmp_path / "long")],
            log=tmp_path / "log",
            environment=os.environ,
            limit_s=60,
            stop=stop,
            say=say,
        )
    assert lines == ["begun"]
    pid = int((tmp_path / "pid").read_text())
    until(lambda: not psutil.pid_exists(pid), "its child has ended")


def test_a_program_that_takes_too_long_is_ended_and_said(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="had not finished after"):
        commands.work(
            ["sleep", "300"],
            log=tmp_path / "log",
            environment=os.environ,
            limit_s=0.2,
            stop=threading.Event(),
            say=quiet,
        )


def test_a_kubeconfig_without_entries_goes_and_one_with_others_stays(tmp_path: Path) -> None:
    place = Place(tmp_path, tmp_path, {})
    assert not in_kubeconfig(place, "throttle-lab")
    place.kubeconfig.write_text("contexts:\n- context:\n  name: kind-throttle-lab-old\n")
    assert in_kubeconfig(place, "throttle-lab-old")
    assert not in_kubeconfig(place, "throttle-lab")
    drop_empty_kubeconfig(place)
    assert place.kubeconfig.exists()
    place.kubeconfig.write_text("apiVersion: v1\nkind: Config\n")
    drop_empty_kubeconfig(place)
    assert not place.kubeconfig.exists()


@pytest.mark.slow
def test_programs_for_nodes_are_those_of_this_machine_or_cross_built(tmp_path: Path) -> None:
    require(is_linux_program(BUILDS["go1.25"], "amd64"), "cpulab for linux/amd64")
    stop = threading.Event()
    same = programs_for("amd64", builds=BUILDS, root=tmp_path, stop=stop, say=quiet)
    assert same == BUILDS
    (tmp_path / "cpulab").symlink_to(ROOT / "cpulab")
    one = {"go1.25": BUILDS["go1.25"]}
    crossed = programs_for("arm64", builds=one, root=tmp_path, stop=stop, say=quiet)
    assert crossed["go1.25"].is_relative_to(tmp_path / ".build")
    assert is_linux_program(crossed["go1.25"], "arm64")
    assert not is_linux_program(crossed["go1.25"], "amd64")
    made = crossed["go1.25"].stat().st_mtime_ns
    again = programs_for("arm64", builds=one, root=tmp_path, stop=stop, say=quiet)
    assert again["go1.25"].stat().st_mtime_ns == made, "built once"


def test_status_of_nothing_is_one_document(tmp_path: Path) -> None:
    script(tmp_path / "docker", '[ "$1" = version ] && echo amd64; exit 0')
    done = lab("status", "--json", path=f"{tmp_path}:/usr/bin:/bin", var=tmp_path / "var")
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert document["name"] == "throttle-lab"
    assert document["context"] == "kind-throttle-lab"
    assert document["exists"] is document["ready"] is False
    assert document["problem"] == "There is no cluster throttle-lab."
    assert document["remedy"] == "./lab cluster up --name throttle-lab"
