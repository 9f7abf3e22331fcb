"""The life of the lab's own kind clusters: up, status, down.

Only clusters with the lab's names are ever touched, and only one kubeconfig: the lab's own.
Nobody's current context is read or changed.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from experiments_app.core.errors import Stopped
from experiments_app.core.records import StopFlag
from experiments_app.targets.kubernetes.commands import ClusterError, Say
from experiments_app.targets.kubernetes.docker_cli import Docker, NodeContainer
from experiments_app.targets.kubernetes.images import Image, cpulab_images, write_archive
from experiments_app.targets.kubernetes.kind_cli import CURRENT, Kind, Release, find_kind
from experiments_app.targets.kubernetes.look import ClusterStatus, has_images, look
from experiments_app.targets.kubernetes.node_programs import existing_programs, programs_for
from experiments_app.targets.kubernetes.place import (
    Place,
    alone,
    drop_empty_kubeconfig,
    in_kubeconfig,
    own_name,
)

READY_S = 120
REMOVE_TRIES = 5
# Cluster DNS is left out: services are called by address, and it would be a neighbour of what
# is measured. kind always skips preflight itself, and this list replaces its own.
CONFIG = """\
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
- role: control-plane
- role: worker
kubeadmConfigPatches:
- |
  kind: InitConfiguration
  skipPhases: [preflight, addon/coredns]
"""


def status(place: Place, name: str) -> ClusterStatus:
    """Look at a cluster. Raises ClusterError where Docker cannot be asked."""
    own_name(name)
    docker = Docker()
    architecture = docker.architecture()
    programs = existing_programs(architecture, builds=place.builds, root=place.root)
    names = None
    if programs is not None:
        names = [image.name for image in cpulab_images(programs, architecture).values()]
    return look(docker, place, name, names)


def up(
    place: Place,
    name: str,
    *,
    release: Release = CURRENT,
    image: str | None = None,
    stop: StopFlag,
    say: Say,
) -> ClusterStatus:
    """Have the cluster there, ready, with cpulab's images; what is there already stays.

    `image`: another node image than the release's. Raises ClusterError, and Stopped: then, and
    after a failure, what this call has made is removed.
    """
    own_name(name)
    docker = Docker()
    architecture = docker.architecture()
    with alone(place, stop, say):
        nodes = docker.nodes(name)
        _check_existing(name, nodes, image)
        programs = programs_for(
            architecture, builds=place.builds, root=place.root, stop=stop, say=say
        )
        images = cpulab_images(programs, architecture)
        kind = _kind(place, release, stop, say, exact=image is None and not nodes)
        try:
            if nodes:
                # Another lab may have made it anew since: its port and keys are others then.
                kind.export_kubeconfig(name)
            else:
                _create(kind, place, name, image or release.image, stop, say)
            _load_missing(kind, docker, place, name, images, stop, say)
            return _until_ready(docker, place, name, images, stop)
        except BaseException:
            if not nodes:
                say(f"removing what there is of {name} …")
                _remove(kind, docker, place, name)
            raise


def down(place: Place, name: str, *, stop: StopFlag, say: Say) -> bool:
    """Remove the cluster and its entry in the lab's kubeconfig; whether there was one.

    Raises ClusterError when something is left.
    """
    own_name(name)
    docker = Docker()
    docker.architecture()
    with alone(place, stop, say):
        there = bool(docker.nodes(name))
        if there or in_kubeconfig(place, name):
            _remove(_kind(place, CURRENT, stop, say, exact=False), docker, place, name)
    return there


def _check_existing(name: str, nodes: list[NodeContainer], image: str | None) -> None:
    """Raises ClusterError where a cluster of this name is in the way."""
    if not nodes:
        return
    remedy = f"Take it away first: ./lab cluster down --name {name}"
    stopped = [node.name for node in nodes if not node.running]
    if stopped:
        raise ClusterError(
            f"The cluster {name} exists already, but does not run: {', '.join(stopped)}.",
            remedy=remedy,
            code="cluster-exists",
        )
    if image is not None and nodes[0].image != image:
        raise ClusterError(
            f"The cluster {name} exists already, with the node image {nodes[0].image}.",
            remedy=remedy,
            code="cluster-exists",
        )


def _kind(place: Place, release: Release, stop: StopFlag, say: Say, *, exact: bool) -> Kind:
    return find_kind(
        release,
        kubeconfig=place.kubeconfig,
        root=place.root,
        stop=stop,
        say=say,
        given=place.kind,
        exact=exact,
    )


def _create(kind: Kind, place: Place, name: str, image: str, stop: StopFlag, say: Say) -> None:
    say(f"making the cluster {name} with kind {kind.version} …")
    with tempfile.TemporaryDirectory(prefix="cluster-", dir=place.var) as folder:
        config = Path(folder) / "kind.yaml"
        config.write_text(CONFIG)
        log = place.log(name, "create")
        kind.create(name, image=image, config=config, log=log, stop=stop, say=say)


def _load_missing(
    kind: Kind,
    docker: Docker,
    place: Place,
    name: str,
    images: Mapping[str, Image],
    stop: StopFlag,
    say: Say,
) -> None:
    wanted = frozenset(image.name for image in images.values())
    if all(has_images(docker, node.name, wanted) for node in docker.nodes(name)):
        return
    say(f"loading {', '.join(sorted(wanted))} …")
    with tempfile.TemporaryDirectory(prefix="cluster-", dir=place.var) as folder:
        archive = Path(folder) / "cpulab.tar"
        write_archive(archive, images.values())
        kind.load(name, archive, log=place.log(name, "load"), stop=stop)


def _until_ready(
    docker: Docker, place: Place, name: str, images: Mapping[str, Image], stop: StopFlag
) -> ClusterStatus:
    """kind waits for the control plane only."""
    names = [image.name for image in images.values()]
    end = time.monotonic() + READY_S
    while True:
        found = look(docker, place, name, names)
        if found.ready:
            return found
        if stop.wait(0.5):
            raise Stopped("Stopped before the cluster was ready.")
        if time.monotonic() > end:
            raise ClusterError(
                f"The cluster {name} is not ready after {READY_S} s. {found.problem}",
                remedy=found.remedy,
                code="not-ready",
            )


def _remove(kind: Kind, docker: Docker, place: Place, name: str) -> None:
    """Delete; what an interrupted creation adds in the meantime is removed as well."""
    done = kind.delete(name)
    for _ in range(REMOVE_TRIES):
        left = docker.nodes(name)
        for node in left:
            docker.remove(node.name)
        if not left:
            break
    drop_empty_kubeconfig(place)
    left = docker.nodes(name)
    if left or in_kubeconfig(place, name):
        what = ", ".join(node.name for node in left) or f"its entry in {place.kubeconfig}"
        raise ClusterError(
            f"The cluster {name} could not be removed; left: {what}. {done.said[-300:]}",
            remedy="Run it again; docker rm --force --volumes removes a container by hand.",
            code="not-removed",
        )
