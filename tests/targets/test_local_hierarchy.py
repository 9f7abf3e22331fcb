"""Discovery from what /proc says, on machines of every kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments_app.targets.local.hierarchy import NoCgroups, discover
from experiments_app.targets.local.mounts import parse_memberships, parse_mountinfo
from tests.targets.support import ProcTree

SEPARATE = """\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""
V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
JOINED = """\
30 25 0:26 / /sys/fs/cgroup ro,nosuid shared:9 - tmpfs tmpfs ro,mode=755
31 30 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw,nsdelegate
36 30 0:32 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:16 - cgroup cgroup rw,cpu,cpuacct
"""
DOCKER = """\
700 690 0:60 / /sys/fs/cgroup rw,nosuid - tmpfs tmpfs rw,mode=755
704 700 0:32 /docker/4f1c /sys/fs/cgroup/cpu,cpuacct ro master:16 - cgroup cgroup rw,cpu,cpuacct
"""


def test_separate_mounts_beside_v2_without_cpu(proc_tree: ProcTree) -> None:
    own = "2:cpuacct:/\n1:cpu:/work/a\n0::/\n"
    dirs = [f"/sys/fs/cgroup/{d}" for d in ("cpu", "cpu/work/a", "cpuacct", "unified")]
    proc, fs = proc_tree(SEPARATE, own, {key: {} for key in dirs})
    layout = discover(proc=proc, fs=fs)
    top = fs / "sys/fs/cgroup"
    assert (layout.version, layout.hybrid) == (1, True)
    assert layout.cpu.top == top / "cpu"
    assert layout.cpu.own == top / "cpu/work/a"
    assert layout.cpuacct is not None
    assert layout.cpuacct.own == top / "cpuacct"
    assert list(layout.cpu.ancestors()) == [top / "cpu/work/a", top / "cpu/work", top / "cpu"]


def test_v2_only(proc_tree: ProcTree) -> None:
    own = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/lab.scope\n"
    here = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/lab.scope"
    proc, fs = proc_tree(V2, own, {"/sys/fs/cgroup": {}, here: {}})
    layout = discover(proc=proc, fs=fs)
    assert (layout.version, layout.hybrid, layout.cpuacct) == (2, False, None)
    assert layout.cpu.own == fs / here.lstrip("/")


def test_v1_joined_is_one_hierarchy(proc_tree: ProcTree) -> None:
    own = "4:cpu,cpuacct:/system.slice/lab.service\n0::/system.slice/lab.service\n"
    here = "/sys/fs/cgroup/cpu,cpuacct/system.slice/lab.service"
    dirs = ["/sys/fs/cgroup/cpu,cpuacct", here, "/sys/fs/cgroup/unified"]
    proc, fs = proc_tree(JOINED, own, {key: {} for key in dirs})
    layout = discover(proc=proc, fs=fs)
    assert layout.version == 1
    assert layout.cpuacct is None
    assert layout.hybrid
    assert layout.cpu.own == fs / here.lstrip("/")


def test_docker_shows_its_own_cgroup_as_the_top_and_read_only(proc_tree: ProcTree) -> None:
    own = "4:cpu,cpuacct:/docker/4f1c/inner\n"
    top = "/sys/fs/cgroup/cpu,cpuacct"
    proc, fs = proc_tree(DOCKER, own, {top: {}, f"{top}/inner": {}})
    layout = discover(proc=proc, fs=fs)
    assert layout.cpu.own == fs / top.lstrip("/") / "inner"
    assert not layout.cpu.writable


def test_cgroup_namespace_that_hides_our_own_group(proc_tree: ProcTree) -> None:
    mountinfo = V2.replace("0:26 / ", "0:26 /../.. ")
    proc, fs = proc_tree(mountinfo, "0::/\n", {"/sys/fs/cgroup": {}})
    layout = discover(proc=proc, fs=fs)
    assert layout.cpu.own is None
    assert list(layout.cpu.ancestors()) == [fs / "sys/fs/cgroup"]


def test_of_several_mounts_the_writable_one_that_shows_us(proc_tree: ProcTree) -> None:
    mountinfo = (
        "40 1 0:26 / /a ro,relatime - cgroup2 cgroup2 rw\n"
        "41 1 0:26 /other /b rw,relatime - cgroup2 cgroup2 rw\n"
        "42 1 0:26 /ours /c rw,relatime - cgroup2 cgroup2 rw\n"
    )
    proc, fs = proc_tree(mountinfo, "0::/ours/x\n", {d: {} for d in ("/a", "/b", "/c", "/c/x")})
    layout = discover(proc=proc, fs=fs)
    assert layout.cpu.top == fs / "c"
    assert layout.cpu.own == fs / "c/x"


def test_a_mount_hidden_by_a_later_one_is_not_used(proc_tree: ProcTree) -> None:
    hidden = "50 1 0:70 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    proc, fs = proc_tree(V2 + hidden, "0::/\n", {"/sys/fs/cgroup": {}})
    with pytest.raises(NoCgroups) as caught:
        discover(proc=proc, fs=fs)
    assert caught.value.code == "no-cgroup-mount"


@pytest.mark.parametrize(
    ("mountinfo", "own", "code"),
    [
        ("27 1 254:0 / / rw - ext4 /dev/vda rw\n", "", "no-cgroup-mount"),
        ("32 31 0:29 / /cpu rw - cgroup cgroup rw,cpu\n", "1:cpu:/\n", "controller-missing"),
        ("short\n32 31 0:29 / - cgroup\n\n", "1:cpu:/\n", "no-cgroup-mount"),
    ],
)
def test_what_is_missing_is_named_with_a_remedy(
    proc_tree: ProcTree, mountinfo: str, own: str, code: str
) -> None:
    proc, fs = proc_tree(mountinfo, own, {"/cpu": {}})
    with pytest.raises(NoCgroups) as caught:
        discover(proc=proc, fs=fs)
    assert caught.value.code == code
    assert caught.value.remedy


def test_without_proc(tmp_path: Path) -> None:
    with pytest.raises(NoCgroups) as caught:
        discover(proc=tmp_path, fs=tmp_path)
    assert caught.value.code == "no-proc"


def test_escapes_and_optional_fields() -> None:
    line = r"36 30 0:32 /a\040b /mnt/c\011d\134e rw shared:1 master:2 - cgroup none rw,cpu"
    (mount,) = parse_mountinfo(line)
    assert mount.root == "/a b"
    assert str(mount.point) == "/mnt/c\td\\e"
    assert mount.writable


def test_memberships_keep_colons_and_drop_the_deleted_mark() -> None:
    first, second, third = parse_memberships(
        "4:cpu,cpuacct:/a:b\n0::/x (deleted)\n1:name=systemd:/\n"
    )
    assert first.controllers == {"cpu", "cpuacct"}
    assert first.path == "/a:b"
    assert not second.controllers
    assert second.path == "/x"
    assert third.controllers == {"name=systemd"}
