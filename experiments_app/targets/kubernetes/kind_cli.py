"""The kind command: found or built, and called with a kubeconfig of the lab's own."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments_app.core.records import StopFlag
from experiments_app.targets.kubernetes.commands import ClusterError, Done, Say, ask, work
from experiments_app.targets.kubernetes.node_programs import find_go

MODULE = "sigs.k8s.io/kind"
CREATE_S, BUILD_S, SHORT_S = 900, 900, 120


@dataclass(frozen=True, slots=True)
class Release:
    """A kind release and a node image that was built for it, pinned by its digest."""

    kind: str
    image: str


CURRENT = Release(
    "0.33.0",
    "kindest/node:v1.34.11@sha256:44e222ee2132dab25ff87301682f89eb82c7880ea3a1bf543bfe9708fd08d67d",
)
# Its runc still turns a request into a weight by the old, linear form.
OLD = Release(
    "0.30.0",
    "kindest/node:v1.34.0@sha256:7416a61b42b1662ca6ca89f02028ac133a309a2a30ba309614e8ec94d976dc5a",
)

# A step that is done, less the picture at its end.
_STEP = re.compile(r" ✓ (.*[\w)])")

# What kind says when it fails, and what a person can do.
REMEDIES = (
    (r"no space left on device", "Make room: docker system df shows what takes it."),
    (
        r"too many open files|inotify",
        "Raise the limits: sudo sysctl fs.inotify.max_user_watches=524288 "
        "fs.inotify.max_user_instances=512",
    ),
    (
        r"failed to pull image|pull access denied|no such host|Client\.Timeout",
        "The node image has to be fetched once: see to the network, load it with docker load, "
        "or name one that is here with --image.",
    ),
    (
        r"could not find a log line that matches|container .* is not running",
        "The node did not start: it needs a privileged container. Docker must run rootful, "
        "or be delegated cpu and cpuset.",
    ),
    (r"already exist", "Another lab makes it just now. Look again with: ./lab cluster status"),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind program of a known version; `kubeconfig` is the only one that it ever touches."""

    program: Path
    version: str
    kubeconfig: Path

    def create(
        self, name: str, *, image: str, config: Path, log: Path, stop: StopFlag, say: Say
    ) -> None:
        """Make a cluster and wait for its control plane. Raises ClusterError, Stopped."""
        argv = [str(self.program), "create", "cluster", "--name", name, "--image", image]
        argv += ["--config", str(config), "--kubeconfig", str(self.kubeconfig), "--wait", "120s"]

        def say_step(line: str) -> None:
            step = _STEP.match(line)
            if step:
                say(f"  {step[1]}")

        done = work(
            argv,
            log=log,
            environment=self._environment(),
            limit_s=CREATE_S,
            stop=stop,
            say=say_step,
        )
        if done.status:
            raise _failed("make the cluster", name, done, f"All that kind said is in {log}.")

    def delete(self, name: str) -> Done:
        """Remove a cluster and its entry in the kubeconfig; fine where there is none."""
        argv = [str(self.program), "delete", "cluster", "--name", name]
        argv += ["--kubeconfig", str(self.kubeconfig)]
        return ask(argv, environment=self._environment(), limit_s=SHORT_S)

    def export_kubeconfig(self, name: str) -> None:
        """Write the cluster's entry once more: its port and keys change with each cluster."""
        argv = [str(self.program), "export", "kubeconfig", "--name", name]
        argv += ["--kubeconfig", str(self.kubeconfig)]
        done = ask(argv, environment=self._environment(), limit_s=SHORT_S)
        if done.status:
            raise _failed("write the kubeconfig of", name, done, "./lab cluster down, then up.")

    def load(self, name: str, archive: Path, *, log: Path, stop: StopFlag) -> None:
        """Hand an image archive to every node. Raises ClusterError, Stopped."""
        argv = [str(self.program), "load", "image-archive", str(archive), "--name", name]
        done = work(
            argv,
            log=log,
            environment=self._environment(),
            limit_s=SHORT_S,
            stop=stop,
            say=lambda _line: None,
        )
        if done.status:
            raise _failed("load the images into", name, done, f"All that kind said is in {log}.")

    def _environment(self) -> Mapping[str, str]:
        # Whatever is set there is another tool's: ours are Docker containers and our own file.
        own = {"KIND_EXPERIMENTAL_PROVIDER": "docker", "KUBECONFIG": str(self.kubeconfig)}
        return {**os.environ, **own}


def find_kind(
    release: Release,
    *,
    kubeconfig: Path,
    root: Path,
    stop: StopFlag,
    say: Say,
    given: Path | None = None,
    exact: bool = True,
) -> Kind:
    """A kind program to use with a release's node image.

    `given` (a person's choice) wins; then one on PATH of the same minor version, or, where not
    `exact`, of any; then one built from its Go module into .build; then any on PATH, with a
    word of warning. Raises ClusterError, Stopped.
    """
    if given is not None:
        return Kind(given, _version(given), kubeconfig)
    on_path = shutil.which("kind")
    found = Kind(Path(on_path), _version(Path(on_path)), kubeconfig) if on_path else None
    if found and (not exact or _minor(found.version) == _minor(release.kind)):
        return found
    built = _build(release.kind, root=root, stop=stop, say=say)
    if built:
        return Kind(built, release.kind, kubeconfig)
    if found:
        say(
            f"kind {found.version} is on PATH; the node image was made for {release.kind}. "
            "Should the cluster not start, install that one."
        )
        return found
    raise ClusterError(
        "kind is not on PATH, and there is no Go to build it with.",
        remedy=f"Install kind {release.kind} (https://kind.sigs.k8s.io) or Go 1.25, "
        "or set THROTTLE_LAB_KIND to the program.",
        code="kind-missing",
    )


def _build(version: str, *, root: Path, stop: StopFlag, say: Say) -> Path | None:
    """kind from its Go module, made once; None where there is no Go."""
    folder = root / ".build" / f"kind-{version}"
    made = folder / "kind"
    if made.exists():
        return made
    go = find_go(root)
    if go is None:
        return None
    say(f"building kind {version} from its Go module (once) …")
    target = {"GOBIN": str(folder), "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": ""}
    log = folder / "build.log"
    done = work(
        [go, "install", "-trimpath", "-ldflags=-s -w", f"{MODULE}@v{version}"],
        log=log,
        environment={**os.environ, **target},
        limit_s=BUILD_S,
        stop=stop,
        say=lambda _line: None,
    )
    if done.status:
        raise ClusterError(
            f"kind {version} could not be built: {done.said[-400:]}",
            remedy=f"Install kind {version} (https://kind.sigs.k8s.io) so that it is on PATH. "
            f"All that Go said is in {log}.",
            code="build-failed",
        )
    return made


def _version(program: Path) -> str:
    try:
        done = ask([str(program), "version", "--quiet"])
    except OSError as error:
        raise ClusterError(
            f"{program} cannot be run as kind: {error.strerror}.",
            remedy="Set THROTTLE_LAB_KIND to a kind program, or unset it.",
            code="kind-missing",
        ) from error
    found = re.search(r"\d+\.\d+\.\d+", done.out)
    if done.status or found is None:
        raise ClusterError(
            f"{program} does not say a version as kind does: {done.said[:200]}",
            remedy="Set THROTTLE_LAB_KIND to a kind program, or unset it.",
            code="kind-missing",
        )
    return found.group()


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]


def _failed(what: str, name: str, done: Done, otherwise: str) -> ClusterError:
    """kind's own sentence, and the remedy for it where we know one."""
    errors = re.findall(r"^ERROR: (.+)$", done.said, re.M)
    words = errors[-1] if errors else done.said[-300:] or f"exit status {done.status}"
    known = next((remedy for pattern, remedy in REMEDIES if re.search(pattern, done.said)), "")
    return ClusterError(
        f"kind could not {what} {name}: {words}",
        remedy=f"{known} {otherwise}".strip(),
        code="kind-failed",
    )
