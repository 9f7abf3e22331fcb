"""What there is of a kind cluster: its containers, its nodes by its own API, cpulab's images."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from experiments_app.targets.kubernetes.commands import ClusterError
from experiments_app.targets.kubernetes.docker_cli import Docker, NodeContainer
from experiments_app.targets.kubernetes.place import Place, context_name, in_kubeconfig

ADMIN = "--kubeconfig=/etc/kubernetes/admin.conf"
AGAIN = "./lab cluster up --name {name}"
ANEW = "./lab cluster down --name {name}, then ./lab cluster up --name {name}"


@dataclass(frozen=True, slots=True)
class Node:
    """One node: as Docker has it, and as the cluster's API tells; None where that is silent.

    `images`: whether it has cpulab's images.
    """

    name: str
    role: str
    running: bool
    ready: bool
    images: bool
    kubelet: str | None = None
    runtime: str | None = None
    kernel: str | None = None
    cpus: str | None = None


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """`problem` and `remedy` say why the cluster is not ready; both empty when it is.

    `image`: the node image that it was made with.
    """

    name: str
    context: str
    kubeconfig: str
    image: str | None
    nodes: tuple[Node, ...]
    problem: str
    remedy: str

    @property
    def exists(self) -> bool:
        return bool(self.nodes)

    @property
    def ready(self) -> bool:
        return self.exists and not self.problem


def look(docker: Docker, place: Place, name: str, images: Iterable[str] | None) -> ClusterStatus:
    """The cluster as it is now. `images`: the names that each node must have, None if unknown.

    Raises ClusterError where Docker does not answer.
    """
    containers = docker.nodes(name)
    told = _told_by_api(docker, containers)
    wanted = None if images is None else frozenset(images)
    nodes = tuple(_node(docker, each, told.get(each.name), wanted) for each in containers)
    problem, remedy = _problem(place, name, nodes)
    return ClusterStatus(
        name=name,
        context=context_name(name),
        kubeconfig=str(place.kubeconfig),
        image=containers[0].image if containers else None,
        nodes=nodes,
        problem=problem,
        remedy=remedy.format(name=name),
    )


def has_images(docker: Docker, node: str, wanted: frozenset[str]) -> bool:
    """Whether a node's containerd has all of them."""
    done = docker.inside(node, "ctr", "-n", "k8s.io", "images", "ls", "-q")
    return done.status == 0 and wanted <= set(done.out.split())


def _told_by_api(docker: Docker, containers: list[NodeContainer]) -> dict[str, dict[str, Any]]:
    """Nodes by name; none where there is no control plane that answers."""
    first = next((each for each in containers if each.role == "control-plane"), None)
    if first is None or not first.running:
        return {}
    argv = ["kubectl", ADMIN, "get", "nodes", "--output=json", "--request-timeout=5s"]
    try:
        done = docker.inside(first.name, *argv)
    except ClusterError:
        return {}  # said as "not ready" by whoever asked
    if done.status:
        return {}
    items: list[dict[str, Any]] = json.loads(done.out)["items"]
    return {item["metadata"]["name"]: item["status"] for item in items}


def _node(
    docker: Docker,
    container: NodeContainer,
    told: dict[str, Any] | None,
    wanted: frozenset[str] | None,
) -> Node:
    info: dict[str, str] = told["nodeInfo"] if told else {}
    conditions = {each["type"]: each["status"] for each in told["conditions"]} if told else {}
    images = container.running and wanted is not None and has_images(docker, container.name, wanted)
    return Node(
        name=container.name,
        role=container.role,
        running=container.running,
        ready=container.running and conditions.get("Ready") == "True",
        images=images,
        kubelet=info.get("kubeletVersion"),
        runtime=info.get("containerRuntimeVersion"),
        kernel=info.get("kernelVersion"),
        cpus=told["capacity"]["cpu"] if told else None,
    )


def _problem(place: Place, name: str, nodes: tuple[Node, ...]) -> tuple[str, str]:
    """The first thing that keeps the cluster from being used, with what to do."""
    if not nodes:
        return f"There is no cluster {name}.", AGAIN
    roles = {node.role for node in nodes}
    if "control-plane" not in roles:
        return f"The cluster {name} has no control plane.", ANEW
    stopped = [node.name for node in nodes if not node.running]
    if stopped:
        return f"Stopped: {', '.join(stopped)}.", ANEW
    if all(node.kubelet is None for node in nodes):
        return "The cluster's API server does not answer.", f"Wait a little; otherwise {ANEW}"
    waiting = [node.name for node in nodes if not node.ready]
    if waiting:
        return f"Not ready: {', '.join(waiting)}.", f"Wait a little; otherwise {ANEW}"
    without = [node.name for node in nodes if not node.images]
    if without:
        return f"cpulab's images are missing on {', '.join(without)}.", AGAIN
    if not in_kubeconfig(place, name):
        return f"The lab's kubeconfig {place.kubeconfig} does not have it.", AGAIN
    return "", ""
