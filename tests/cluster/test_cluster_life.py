"""A real kind cluster by ./lab cluster: made, looked at, made again in vain, taken away."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from experiments_app.targets.kubernetes.docker_cli import CLUSTER_LABEL
from experiments_app.targets.kubernetes.images import cpulab_image
from tests.cluster import programs
from tests.cluster.parts import Parts, cluster_parts, missing
from tests.cluster.programs import Unavailable
from tests.conftest import require
from tests.lab_process import ROOT
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.cluster]

UP_S = 280
OTHER_CONFIG = "apiVersion: v1\nkind: Config\ncurrent-context: mine\n"


@dataclass(frozen=True)
class Lab:
    """./lab with a var folder of its own, and a person's own kubeconfig that is not to change."""

    parts: Parts
    var: Path
    name: str

    @property
    def mine(self) -> Path:
        return self.var.parent / "mine"

    @property
    def environment(self) -> dict[str, str]:
        own = {"THROTTLE_LAB_VAR": str(self.var), "KUBECONFIG": str(self.mine)}
        return {**self.parts.environment, **own, "PYTHONPATH": str(ROOT)}

    def argv(self, *arguments: str) -> list[str]:
        run = [sys.executable, "-m", "experiments_app.cli", "cluster", *arguments]
        return [*run, "--name", self.name]

    def cluster(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run(self.argv(*arguments), self.environment, seconds=UP_S)

    def document(self, *arguments: str, status: int = 0) -> dict[str, Any]:
        done = self.cluster(*arguments, "--json")
        assert done.returncode == status, done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    def docker(self, *arguments: str) -> str:
        done = run(["docker", *arguments], self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def containers(self) -> set[str]:
        label = f"label={CLUSTER_LABEL}={self.name}"
        return set(self.docker("ps", "--all", "--quiet", "--filter", label).split())

    def kubectl(self, *arguments: str) -> str:
        """By the lab's kubeconfig and the context's name, as the lab itself will."""
        argv = [str(self.parts.programs["kubectl"]), "--kubeconfig", str(self.var / "kubeconfig")]
        done = run([*argv, "--context", f"kind-{self.name}", *arguments], self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def pod(self, name: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.kubectl("get", "pod", name, "--output=json"))
        return document

    def nothing_left(self) -> None:
        assert self.containers() == set()
        assert not (self.var / "kubeconfig").exists()
        assert self.mine.read_text() == OTHER_CONFIG
        left = [path.name for path in self.var.iterdir()]
        assert not [name for name in left if re.match(r"cluster-", name)], "no drafts"


def run(
    argv: list[str], environment: dict[str, str], *, seconds: float = 60
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )


@pytest.fixture(scope="module")
def parts() -> Iterator[Parts]:
    why = missing()
    require(not why, f"the parts of a cluster: {why}")
    try:
        with cluster_parts() as made:
            yield made
    except Unavailable as error:
        require(False, str(error))
        raise


def new_lab(parts: Parts, folder: Path, name: str) -> Lab:
    lab = Lab(parts, folder / "var", f"throttle-lab-{name}{os.getpid()}")
    lab.mine.write_text(OTHER_CONFIG)
    return lab


@pytest.fixture(scope="module")
def lab(parts: Parts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One cluster for the tests of this file, in their order; the last takes it down."""
    made = new_lab(parts, tmp_path_factory.mktemp("cluster"), "t")
    try:
        yield made
    finally:
        made.cluster("down")


def test_up_makes_two_ready_nodes_with_the_images(lab: Lab) -> None:
    document = lab.document("up", "--image", lab.parts.image)
    assert document["ready"] is True
    assert document["image"] == lab.parts.image
    nodes = {node["name"]: node for node in document["nodes"]}
    assert {name: node["role"] for name, node in nodes.items()} == {
        f"{lab.name}-control-plane": "control-plane",
        f"{lab.name}-worker": "worker",
    }
    for node in nodes.values():
        assert node["ready"] is True
        assert node["images"] is True
        assert node["kubelet"] == f"v{programs.KUBERNETES}"
        assert node["runtime"].startswith("containerd://")
        assert int(node["cpus"]) == len(os.sched_getaffinity(0))


def test_the_kubeconfig_in_var_leads_to_the_nodes_and_no_other_was_touched(lab: Lab) -> None:
    shown = json.loads(lab.kubectl("get", "nodes", "--output=json"))
    ready = {
        item["metadata"]["name"]: condition["status"]
        for item in shown["items"]
        for condition in item["status"]["conditions"]
        if condition["type"] == "Ready"
    }
    assert ready == {f"{lab.name}-control-plane": "True", f"{lab.name}-worker": "True"}
    assert stat.S_IMODE((lab.var / "kubeconfig").stat().st_mode) == 0o600
    assert lab.mine.read_text() == OTHER_CONFIG


def test_a_pod_of_each_image_runs_on_a_node_of_its_own_under_its_limit(lab: Lab) -> None:
    for build, role in (("go1.24", "worker"), ("go1.25", "control-plane")):
        program = ROOT / ".build" / "cpulab" / "current" / f"cpulab-{build}"
        image = cpulab_image(build, program, "amd64").name
        name = f"info-{role}"
        container = {
            "name": "info",
            "image": image,
            "imagePullPolicy": "Never",
            "args": ["info"],
            "resources": {"limits": {"cpu": "500m"}},
        }
        spec = {
            "restartPolicy": "Never",
            "nodeName": f"{lab.name}-{role}",
            "containers": [container],
        }
        overrides = json.dumps({"apiVersion": "v1", "spec": spec})
        lab.kubectl("run", name, f"--image={image}", f"--overrides={overrides}")

        def ended(name: str = name) -> str:
            phase = lab.pod(name)["status"]["phase"]
            return phase if phase in ("Succeeded", "Failed") else ""

        assert until(ended, f"{name} has ended", seconds=90) == "Succeeded"
        told = json.loads(lab.kubectl("logs", name).splitlines()[0])
        assert told["build"] == build
        assert told["cgroup"]["quota_us"] * 2 == told["cgroup"]["period_us"], "500m"
        lab.kubectl("delete", "pod", name, "--now")


def test_up_again_changes_nothing(lab: Lab) -> None:
    before, config = lab.containers(), (lab.var / "kubeconfig").read_text()
    assert lab.document("up")["ready"] is True
    assert lab.document("status")["ready"] is True
    assert lab.containers() == before
    assert (lab.var / "kubeconfig").read_text() == config


def test_another_image_for_a_cluster_that_is_there_is_refused(lab: Lab) -> None:
    done = lab.cluster("up", "--image", "localhost/another:1")
    assert done.returncode == 1
    assert "exists already, with the node image" in done.stderr
    assert f"./lab cluster down --name {lab.name}" in done.stderr
    assert lab.document("status")["ready"] is True


def test_a_kubeconfig_that_was_lost_is_written_again(lab: Lab) -> None:
    (lab.var / "kubeconfig").unlink()
    found = lab.document("status", status=1)
    assert "kubeconfig" in found["problem"]
    assert lab.document("up")["ready"] is True
    assert lab.kubectl("get", "nodes", "--output=name").count("node/") == 2


def test_a_node_that_stands_still_is_named(lab: Lab) -> None:
    lab.docker("stop", "--time", "1", f"{lab.name}-worker")
    found = lab.document("status", status=1)
    assert found["problem"] == f"Stopped: {lab.name}-worker."
    done = lab.cluster("up")
    assert done.returncode == 1
    assert f"does not run: {lab.name}-worker." in done.stderr


def test_down_leaves_no_container_and_no_kubeconfig(lab: Lab) -> None:
    assert lab.document("down") == {"name": lab.name, "removed": True}
    lab.nothing_left()
    assert lab.document("down") == {"name": lab.name, "removed": False}
    assert lab.document("status", status=1)["exists"] is False


def test_an_interrupted_up_takes_away_what_it_began(parts: Parts, tmp_path: Path) -> None:
    lab = new_lab(parts, tmp_path, "i")
    process = subprocess.Popen(
        lab.argv("up", "--image", parts.image),
        cwd=ROOT,
        env=lab.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        until(lab.containers, "a node is being made", seconds=UP_S)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, said
    assert f"removing what there is of {lab.name}" in said
    lab.nothing_left()


def test_an_image_that_is_nowhere_ends_in_words_and_leaves_nothing(
    parts: Parts, tmp_path: Path
) -> None:
    lab = new_lab(parts, tmp_path, "n")
    done = lab.cluster("up", "--image", "127.0.0.1:1/no/such:1")
    assert done.returncode == 1
    assert "kind could not make the cluster" in done.stderr
    assert "--image" in done.stderr, "the remedy"
    lab.nothing_left()
