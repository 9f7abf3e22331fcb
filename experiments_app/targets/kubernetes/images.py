"""Container images written by ourselves: one layer around static programs, nothing else.

No registry and no build service takes part. An archive is a tar file as `docker save` writes
it (https://github.com/moby/docker-image-spec/blob/main/v1.2.md); `docker load`, `ctr images
import` and `kind load image-archive` read it. The same files give the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# With a host in front nothing ever looks for these names in a registry.
REPOSITORY = "localhost/throttle-lab/cpulab"
PROGRAM = "/cpulab"
NOBODY = "65532:65532"
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Image:
    """One image: `files` are (path in the image, file or link here); `user` "" is root."""

    name: str
    files: Sequence[tuple[str, Path]]
    entrypoint: Sequence[str]
    architecture: str
    user: str = ""


def cpulab_image(build: str, program: Path, architecture: str) -> Image:
    """The image of one build of cpulab ("go1.24", "go1.25").

    Its tag is the digest of the program, so that a node never runs an older one under the
    same name.
    """
    digest = hashlib.sha256(program.read_bytes()).hexdigest()[:12]
    name = f"{REPOSITORY}:{build}-{digest}"
    return Image(name, [(PROGRAM, program)], [PROGRAM], architecture, NOBODY)


def cpulab_images(programs: Mapping[str, Path], architecture: str) -> dict[str, Image]:
    """By build."""
    return {build: cpulab_image(build, path, architecture) for build, path in programs.items()}


def write_archive(path: Path, images: Iterable[Image]) -> None:
    """Write the images into one archive. Raises OSError."""
    manifest: list[dict[str, Any]] = []
    with tarfile.open(path, "w") as archive:
        for image in images:
            manifest.append(_write_image(archive, image, path.with_name(f"{path.name}.layer")))
        _add_bytes(archive, "manifest.json", json.dumps(manifest).encode())


def _write_image(archive: tarfile.TarFile, image: Image, draft: Path) -> dict[str, Any]:
    try:
        with tarfile.open(draft, "w") as layer:
            for name, source in image.files:
                _add_file(layer, name, source)
        digest = _digest(draft)
        layer_name = f"{digest}/layer.tar"
        if layer_name not in archive.getnames():
            info = tarfile.TarInfo(layer_name)
            info.size = draft.stat().st_size
            with open(draft, "rb") as content:
                archive.addfile(info, content)
    finally:
        draft.unlink(missing_ok=True)
    config = json.dumps(_config(image, digest), sort_keys=True).encode()
    config_name = f"{hashlib.sha256(config).hexdigest()}.json"
    _add_bytes(archive, config_name, config)
    return {"Config": config_name, "RepoTags": [image.name], "Layers": [layer_name]}


def _config(image: Image, layer: str) -> dict[str, Any]:
    return {
        "architecture": image.architecture,
        "os": "linux",
        "created": "1970-01-01T00:00:00Z",
        "config": {"Entrypoint": list(image.entrypoint), "User": image.user, "WorkingDir": "/"},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer}"]},
        "history": [{"created": "1970-01-01T00:00:00Z", "created_by": "throttle-lab"}],
    }


def _add_file(layer: tarfile.TarFile, name: str, source: Path) -> None:
    info = layer.gettarinfo(source, arcname=name.lstrip("/"))
    # Owner and time of a file here say nothing in the image, and would change its digest.
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = 0
    if info.isreg():
        info.mode = 0o755 if info.mode & 0o100 else 0o644
        with open(source, "rb") as content:
            layer.addfile(info, content)
    else:
        layer.addfile(info)


def _add_bytes(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    archive.addfile(info, io.BytesIO(content))


def _digest(path: Path) -> str:
    total = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            total.update(chunk)
    return total.hexdigest()
