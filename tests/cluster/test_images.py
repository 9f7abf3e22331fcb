"""Image archives as Docker and containerd read them."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from pathlib import Path

from experiments_app.targets.kubernetes.images import (
    NOBODY,
    Image,
    cpulab_image,
    cpulab_images,
    write_archive,
)


def program(folder: Path, content: bytes = b"\x7fELF program") -> Path:
    path = folder / "program"
    path.write_bytes(content)
    path.chmod(0o755)
    return path


def test_an_archive_has_a_layer_a_configuration_and_a_manifest(tmp_path: Path) -> None:
    image = cpulab_image("go1.25", program(tmp_path), "arm64")
    write_archive(tmp_path / "images.tar", [image])
    with tarfile.open(tmp_path / "images.tar") as archive:
        files = {name: archive.extractfile(name) for name in archive.getnames()}
        content = {name: file.read() for name, file in files.items() if file}
    (manifest,) = json.loads(content["manifest.json"])
    assert manifest["RepoTags"] == [image.name]
    (layer,) = manifest["Layers"]
    config = content[manifest["Config"]]
    assert manifest["Config"] == f"{hashlib.sha256(config).hexdigest()}.json"
    said = json.loads(config)
    assert said["architecture"] == "arm64"
    assert said["os"] == "linux"
    assert said["config"]["Entrypoint"] == ["/cpulab"]
    assert said["config"]["User"] == NOBODY
    assert said["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(content[layer]).hexdigest()}"]
    (tmp_path / "layer.tar").write_bytes(content[layer])
    with tarfile.open(tmp_path / "layer.tar") as opened:
        (member,) = opened.getmembers()
    assert (member.name, member.mode, member.uid, member.mtime) == ("cpulab", 0o755, 0, 0)


def test_the_same_files_give_the_same_bytes_and_other_programs_another_tag(tmp_path: Path) -> None:
    path = program(tmp_path)
    archives = []
    for n in (1, 2):
        os.utime(path, (n * 1000, n * 1000))
        images = cpulab_images({"go1.24": path, "go1.25": path}, "amd64")
        write_archive(tmp_path / f"{n}.tar", images.values())
        archives.append((tmp_path / f"{n}.tar").read_bytes())
    assert archives[0] == archives[1]
    before = cpulab_image("go1.25", path, "amd64").name
    assert before.startswith("localhost/throttle-lab/cpulab:go1.25-")
    assert cpulab_image("go1.25", program(tmp_path, b"another"), "amd64").name != before


def test_layers_that_images_share_are_written_once_and_links_stay_links(tmp_path: Path) -> None:
    path = program(tmp_path)
    link = tmp_path / "link"
    link.symlink_to("program")
    images = [
        Image(f"localhost/x:{n}", [("/a", path), ("/b", link)], ["/a"], "amd64") for n in "12"
    ]
    write_archive(tmp_path / "images.tar", images)
    with tarfile.open(tmp_path / "images.tar") as archive:
        layers = [name for name in archive.getnames() if name.endswith("layer.tar")]
        assert len(layers) == 1
        archive.extract(layers[0], tmp_path, filter="data")
    with tarfile.open(tmp_path / layers[0]) as layer:
        assert layer.getmember("b").linkname == "program"
    assert not list(tmp_path.glob("*.layer"))
