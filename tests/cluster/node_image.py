"""A kind node image from Debian packages and the built programs, without systemd.

It holds what kind expects of its own node images: /kind/version, kubeadm, kubelet, kubectl,
containerd and the images of the components. The node's first process is `node/entrypoint`.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from experiments_app.targets.kubernetes.images import Image, write_archive
from tests.cluster import programs
from tests.cluster.programs import Programs, Unavailable

HERE = Path(__file__).parent / "node"
SUITE = "bookworm"
PACKAGES = (
    "containerd",
    "runc",
    "iptables",
    "containernetworking-plugins",
    "iproute2",
    "mount",
)
UNUSED = ("var/cache/apt/archives", "var/lib/apt/lists", "usr/share/doc", "usr/share/man")
REGISTRY = "registry.k8s.io"
# The names that kubeadm gives them in this version of Kubernetes.
PAUSE = f"{REGISTRY}/pause:3.10.1"
ETCD = f"{REGISTRY}/etcd:3.6.5-0"
ARCHITECTURE = "amd64"
LIMIT_S = 900


def tag() -> str:
    """The image's name: another one for other versions, packages or files."""
    total = hashlib.sha256(f"{programs.KUBERNETES} {programs.ETCD} {PACKAGES}".encode())
    for path in (*sorted(HERE.iterdir()), Path(__file__)):
        total.update(path.read_bytes())
    return f"throttle-lab-test-node:{total.hexdigest()[:16]}"


def build(cache: Path, made: Programs, environment: Mapping[str, str]) -> str:
    """The image's name; built in Docker where it is not there. Raises Unavailable."""
    name = tag()
    if _docker(["image", "inspect", name], environment).returncode == 0:
        return name
    root = root_files(cache)
    with tempfile.TemporaryDirectory(prefix="node-", dir=cache) as folder:
        work = Path(folder)
        _write_components(work, root, made)
        added = _added(work, made)
        _import(name, root, added, environment)
    return name


def root_files(cache: Path) -> Path:
    """Debian with the node's packages, made once for a list of packages."""
    key = hashlib.sha256(f"{SUITE} {PACKAGES}".encode()).hexdigest()[:12]
    made = cache / f"root-{key}"
    if not made.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="root-", dir=cache) as folder:
            root = Path(folder) / "root"
            argv = ["nice", "-n", "10", "debootstrap", "--variant=minbase"]
            argv += [f"--include={','.join(PACKAGES)}", SUITE, str(root), _mirror()]
            _run(argv)
            for unused in UNUSED:
                shutil.rmtree(root / unused, ignore_errors=True)
            if not made.exists():
                root.rename(made)
    return made


def _mirror() -> str:
    """Where this machine's own packages come from."""
    shown = _run(["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)"])
    sites = [line.split()[0] for line in shown.splitlines() if line.endswith(f" {SUITE}")]
    return sites[0] if sites else "http://deb.debian.org/debian"


def _write_components(work: Path, root: Path, made: Programs) -> None:
    """The archives from which a node loads what runs in its pods."""
    pause = work / "pause"
    _run(["gcc", "-O2", "-static", "-s", "-o", str(pause), str(made["pause.c"])])

    def component(program: str, name: str, *more: tuple[str, Path]) -> Image:
        path = f"/usr/local/bin/{program}"
        return Image(name, [(path, made[program]), *more], [path], ARCHITECTURE)

    def of_kubernetes(program: str, *more: tuple[str, Path]) -> Image:
        return component(program, f"{REGISTRY}/{program}:v{programs.KUBERNETES}", *more)

    both = [
        Image(PAUSE, [("/pause", pause)], ["/pause"], ARCHITECTURE),
        of_kubernetes("kube-proxy", *_iptables(work, root)),
    ]
    control_plane = [component("etcd", ETCD)]
    control_plane += [of_kubernetes(name) for name in programs.COMPONENTS if name != "kube-proxy"]
    write_archive(work / "all.tar", both)
    write_archive(work / "control-plane.tar", control_plane)


def _iptables(work: Path, root: Path) -> Iterator[tuple[str, Path]]:
    """What kube-proxy calls: one program under six names, its libraries and extensions."""
    program = "/usr/sbin/xtables-nft-multi"
    yield program, root / program[1:]
    for family in ("iptables", "ip6tables"):
        for name in (family, f"{family}-save", f"{family}-restore"):
            link = work / name
            link.symlink_to("xtables-nft-multi")
            yield f"/usr/sbin/{name}", link
    for library in re.findall(r"(/\S+) \(0x", _run(["chroot", str(root), "ldd", program])):
        # A link's target must be there too; the content under both names is simpler.
        yield library, (root / library[1:]).resolve()
    extensions = root / "usr/lib/x86_64-linux-gnu/xtables"
    for path in sorted(extensions.iterdir()):
        yield f"/{path.relative_to(root)}", path


def _added(work: Path, made: Programs) -> dict[str, Path]:
    """What the node has beside the packages, by path."""
    version = work / "version"
    version.write_text(f"v{programs.KUBERNETES}")
    binaries = {f"usr/local/bin/{name}": made[name] for name in programs.NODE_PROGRAMS}
    return {
        **binaries,
        "usr/local/bin/entrypoint": HERE / "entrypoint",
        "etc/containerd/config.toml": HERE / "containerd.toml",
        "kind/version": version,
        "kind/manifests/default-cni.yaml": HERE / "default-cni.yaml",
        "kind/images/all.tar": work / "all.tar",
        "kind/images/control-plane.tar": work / "control-plane.tar",
    }


def _import(
    name: str, root: Path, added: Mapping[str, Path], environment: Mapping[str, str]
) -> None:
    """Hand the files to Docker as one layer, while they are read."""

    def wanted(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
        path = info.name.removeprefix("./")
        return None if path in added or path.startswith("dev/") else info

    argv = ["docker", "import", "--change", 'ENTRYPOINT ["/usr/local/bin/entrypoint"]']
    argv += ["--change", "ENV container=docker", "-", name]
    with subprocess.Popen(
        argv,
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            with tarfile.open(fileobj=process.stdin, mode="w|") as layer:
                layer.add(root, arcname=".", filter=wanted)
                for path, source in added.items():
                    layer.add(source, arcname=path)
            process.stdin.close()
        except BrokenPipeError:
            pass  # Docker has ended, and says below why
        error = process.stderr.read().decode(errors="replace")
    if process.returncode:
        raise Unavailable(f"docker import: {error.strip()[-500:]}")


def _docker(
    argv: Sequence[str], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["docker", *argv], env=dict(environment), capture_output=True, check=False, timeout=60
    )


def _run(argv: Sequence[str]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    if done.returncode:
        raise Unavailable(f"{' '.join(argv[:5])}: {(done.stderr or done.stdout).strip()[-800:]}")
    return done.stdout
