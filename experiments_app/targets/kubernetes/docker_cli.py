"""What the Docker daemon knows of a kind cluster: its node containers, found by their labels."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import Any

from experiments_app.targets.kubernetes.commands import ClusterError, Done, ask

CLUSTER_LABEL = "io.x-k8s.kind.cluster"
ROLE_LABEL = "io.x-k8s.kind.role"


@dataclass(frozen=True, slots=True)
class NodeContainer:
    """A node as Docker sees it; `image` as it was asked for, `role` as kind calls it."""

    name: str
    role: str
    running: bool
    image: str


class Docker:
    """The docker command on PATH."""

    def __init__(self) -> None:
        found = shutil.which("docker")
        if found is None:
            raise ClusterError(
                "docker is not on PATH; the nodes of a kind cluster are Docker containers.",
                remedy="Install Docker (https://docs.docker.com/get-docker/) and start it.",
                code="docker-missing",
            )
        self._program = found

    def architecture(self) -> str:
        """Of the daemon, and so of the nodes: "amd64", "arm64".

        Raises ClusterError when the daemon does not answer.
        """
        done = self.ask("version", "--format", "{{.Server.Arch}}")
        name = done.out.strip()
        if done.status or not name:
            # Some versions add a complaint about the format.
            words = done.said.splitlines()[0] if done.said else f"exit status {done.status}"
            refused = "permission denied" in done.said
            raise ClusterError(
                f"The Docker daemon does not answer: {words}",
                remedy="You may not use it: join the group docker, or use sudo."
                if refused
                else "Start Docker (Docker Desktop, or: sudo systemctl start docker).",
                code="docker-not-running",
            )
        return name

    def nodes(self, cluster: str) -> list[NodeContainer]:
        """The cluster's containers, running or not, the control plane first."""
        argv = ["ps", "--all", "--quiet", "--no-trunc"]
        found = self._must(*argv, "--filter", f"label={CLUSTER_LABEL}={cluster}").split()
        if not found:
            return []
        # One that is just being removed is not inspected; the others still are.
        done = self.ask("inspect", *found)
        shown: list[dict[str, Any]] = json.loads(done.out or "[]")
        nodes = [
            NodeContainer(
                name=each["Name"].removeprefix("/"),
                role=each["Config"]["Labels"].get(ROLE_LABEL, ""),
                running=bool(each["State"]["Running"]),
                image=each["Config"]["Image"],
            )
            for each in shown
        ]
        return sorted(nodes, key=lambda node: (node.role != "control-plane", node.name))

    def remove(self, node: str) -> None:
        """Remove a node's container with its volumes; nothing where there is none."""
        self.ask("rm", "--force", "--volumes", node, limit_s=60)

    def inside(self, node: str, *argv: str, limit_s: float = 20) -> Done:
        """Run a program in a node."""
        return self.ask("exec", node, *argv, limit_s=limit_s)

    def ask(self, *argv: str, limit_s: float = 30) -> Done:
        return ask([self._program, *argv], limit_s=limit_s)

    def _must(self, *argv: str) -> str:
        done = self.ask(*argv)
        if done.status:
            raise ClusterError(
                f"docker {argv[0]} failed: {done.said}",
                remedy="See whether Docker still answers: docker ps.",
                code="docker-failed",
            )
        return done.out
