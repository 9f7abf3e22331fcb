"""Where the lab may make cgroups: as root, delegated, handed over, or nowhere."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments_app.core.errors import LabError, TargetError
from experiments_app.targets.local import delegation, place
from experiments_app.targets.local.hierarchy import Hierarchy, Layout
from experiments_app.targets.local.place import NoPlace, check_name, choose

Restrict = Callable[..., None]


@pytest.fixture
def only_writable(monkeypatch: pytest.MonkeyPatch) -> Restrict:
    """As another user: only these paths may be written."""

    def restrict(*allowed: Path) -> None:
        def access(path: str | Path, mode: int) -> bool:
            return any(Path(path) == a or Path(path).parent == a for a in allowed)

        monkeypatch.setattr(os, "access", access)

    return restrict


def make_v2(tmp_path: Path, *names: str, cpu: bool = True, enabled: bool = True) -> Layout:
    """A line of nested groups; the last is our own."""
    directory = tmp_path
    for name in ("", *names):
        directory = directory / name
        directory.mkdir(exist_ok=True)
        (directory / "cgroup.procs").write_text("")
        (directory / "cgroup.events").write_text("populated 1\n")
        (directory / "cgroup.controllers").write_text("cpu memory\n" if cpu else "memory pids\n")
        (directory / "cgroup.subtree_control").write_text("cpu\n" if cpu and enabled else "")
    return Layout(2, Hierarchy(tmp_path, directory, True), None, hybrid=False)


def make_v1(tmp_path: Path, own: str) -> Layout:
    found = []
    for name in ("cpu", "cpuacct"):
        (tmp_path / name / own).mkdir(parents=True)
        found.append(Hierarchy(tmp_path / name, tmp_path / name / own, True))
    return Layout(1, found[0], found[1], hybrid=False)


def test_root_takes_the_visible_top(tmp_path: Path) -> None:
    assert choose(make_v2(tmp_path, "a", "b"), euid=0).base.cpu == tmp_path


def test_v1_root_takes_both_tops(tmp_path: Path) -> None:
    chosen = choose(make_v1(tmp_path, "a/b"), euid=0)
    assert chosen.base.dirs == (tmp_path / "cpu", tmp_path / "cpuacct")
    assert chosen.group("lab", "run").procs == (
        tmp_path / "cpu/throttle-lab/lab/run/cgroup.procs",
        tmp_path / "cpuacct/throttle-lab/lab/run/cgroup.procs",
    )


def test_delegated_v2_takes_the_nearest_that_is_ours(
    tmp_path: Path, only_writable: Restrict
) -> None:
    layout = make_v2(tmp_path, "user.slice", "user@1000.service", "lab.scope")
    service = tmp_path / "user.slice/user@1000.service"
    only_writable(service / "lab.scope", service)
    assert choose(layout, euid=1000).base.cpu == service / "lab.scope"


def test_groups_go_beside_our_own_leaf_not_into_it(tmp_path: Path, only_writable: Restrict) -> None:
    layout = make_v2(tmp_path, "lab.scope", delegation.HOME)
    only_writable(tmp_path / "lab.scope", tmp_path / "lab.scope" / delegation.HOME)
    assert choose(layout, euid=1000).base.cpu == tmp_path / "lab.scope"


@pytest.mark.parametrize("enabled", [False, True])
def test_processes_of_others_in_the_scope(
    tmp_path: Path, only_writable: Restrict, enabled: bool
) -> None:
    layout = make_v2(tmp_path, "lab.scope", enabled=enabled)
    (tmp_path / "lab.scope/cgroup.procs").write_text(f"{os.getpid()}\n1\n")
    only_writable(tmp_path / "lab.scope")
    with pytest.raises(NoPlace) as caught:
        choose(layout, euid=1000)
    assert caught.value.code == "cgroup-has-other-processes"
    assert "systemd-run --user --scope -p Delegate=yes" in caught.value.remedy


def test_processes_that_are_ours_may_be_moved(tmp_path: Path, only_writable: Restrict) -> None:
    layout = make_v2(tmp_path, "lab.scope", enabled=False)
    (tmp_path / "lab.scope/cgroup.procs").write_text(f"{os.getpid()}\n{os.getppid()}\n")
    only_writable(tmp_path / "lab.scope")
    assert choose(layout, euid=1000).base.cpu == tmp_path / "lab.scope"


def make_scope_with_groups(tmp_path: Path, *, populated: bool) -> Path:
    """A scope where cpu is on, with us in it, our leaf, and a lab's groups."""
    make_v2(tmp_path, "lab.scope", "throttle-lab", "lab")
    scope = tmp_path / "lab.scope"
    make_v2(scope, delegation.HOME)
    (scope / "cgroup.procs").write_text(f"{os.getpid()}\n")
    (scope / delegation.HOME / "cgroup.events").write_text("populated 1\nfrozen 0\n")
    for group in (scope / "throttle-lab", scope / "throttle-lab/lab"):
        (group / "cgroup.events").write_text(f"populated {int(populated)}\nfrozen 0\n")
    return scope


def test_a_start_beside_groups_that_are_in_use_is_refused(tmp_path: Path) -> None:
    scope = make_scope_with_groups(tmp_path, populated=True)
    with pytest.raises(TargetError) as caught:
        delegation.enable_cpu(scope)
    assert caught.value.code == "cgroup-in-use"
    assert str(scope / "throttle-lab") in caught.value.message
    assert f"start from a process in {scope / delegation.HOME}" in caught.value.remedy
    # Nobody's limits were taken away.
    for directory in (scope, scope / "throttle-lab", scope / "throttle-lab/lab"):
        assert (directory / "cgroup.subtree_control").read_text() == "cpu\n"


def test_cpu_goes_off_from_below_before_we_move_from_beside_empty_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = make_scope_with_groups(tmp_path, populated=False)
    written = []

    def write(path: Path, value: str) -> None:
        written.append((str(path.relative_to(scope)), value))
        if path.parent.name == delegation.HOME:
            (scope / "cgroup.procs").write_text("")
        else:
            path.write_text("cpu\n" if value == "+cpu" else "\n")

    monkeypatch.setattr(delegation, "write_value", write)
    delegation.enable_cpu(scope)
    assert written == [
        ("throttle-lab/lab/cgroup.subtree_control", "-cpu"),
        ("throttle-lab/cgroup.subtree_control", "-cpu"),
        ("cgroup.subtree_control", "-cpu"),
        (f"{delegation.HOME}/cgroup.procs", str(os.getpid())),
        ("cgroup.subtree_control", "+cpu"),
    ]


def test_a_process_that_cannot_be_moved_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = make_scope_with_groups(tmp_path, populated=False)

    def write(path: Path, value: str) -> None:
        if path.name == "cgroup.procs":
            raise OSError(errno.EOPNOTSUPP, "as the kernel has it")

    monkeypatch.setattr(delegation, "write_value", write)
    with pytest.raises(TargetError) as caught:
        delegation.enable_cpu(scope)
    assert caught.value.code == "cgroup-has-other-processes"
    assert f"Process {os.getpid()} " in caught.value.message
    assert "ENOTSUP" in caught.value.message or "EOPNOTSUPP" in caught.value.message
    assert "systemd-run" in caught.value.remedy


def test_a_process_of_another_pid_namespace_is_not_ours(
    tmp_path: Path, only_writable: Restrict
) -> None:
    layout = make_v2(tmp_path, "lab.scope", enabled=False)
    (tmp_path / "lab.scope/cgroup.procs").write_text(f"{os.getpid()}\n0\n")
    only_writable(tmp_path / "lab.scope")
    with pytest.raises(NoPlace):
        choose(layout, euid=1000)


def test_cpu_not_delegated(tmp_path: Path, only_writable: Restrict) -> None:
    """Rootless, with systemd's default delegation of memory and pids only."""
    layout = make_v2(tmp_path, "lab.scope", cpu=False)
    only_writable(tmp_path / "lab.scope")
    with pytest.raises(NoPlace) as caught:
        choose(layout, euid=1000)
    assert caught.value.code == "controller-missing"
    assert "cpu controller" in caught.value.message
    assert "Delegate=" in caught.value.remedy


def test_nothing_is_ours(tmp_path: Path, only_writable: Restrict) -> None:
    only_writable()
    with pytest.raises(NoPlace) as caught:
        choose(make_v2(tmp_path, "a"), euid=1000)
    assert caught.value.code == "permission"


def test_v1_directory_that_was_handed_over(tmp_path: Path, only_writable: Restrict) -> None:
    layout = make_v1(tmp_path, "user")
    only_writable(tmp_path / "cpu/throttle-lab", tmp_path / "cpuacct/user")
    chosen = choose(layout, euid=1000)
    assert chosen.base.dirs == (tmp_path / "cpu", tmp_path / "cpuacct/user")


def test_v1_without_permission_says_what_to_hand_over(
    tmp_path: Path, only_writable: Restrict
) -> None:
    only_writable()
    with pytest.raises(NoPlace) as caught:
        choose(make_v1(tmp_path, "user"), euid=1000)
    assert caught.value.code == "permission"
    assert "chown" in caught.value.remedy


def test_read_only(tmp_path: Path) -> None:
    layout = Layout(2, Hierarchy(tmp_path, None, False), None, hybrid=False)
    with pytest.raises(NoPlace) as caught:
        choose(layout, euid=0)
    assert caught.value.code == "read-only-cgroupfs"


@pytest.mark.parametrize("name", ["", "a/b", "..", ".sampler", "-a", "A", "a" * 64, "a\n", "é"])
def test_names_that_would_leave_our_directory(name: str) -> None:
    with pytest.raises(LabError) as caught:
        check_name("run", name)
    assert caught.value.code == "bad-name"


@pytest.mark.parametrize("name", ["a", "1", "run-7", "a" * 63])
def test_names_that_are_fine(name: str) -> None:
    assert check_name("run", name) == name


def test_every_root_is_found_again(tmp_path: Path) -> None:
    layout = make_v2(tmp_path, "a", "b")
    (tmp_path / "a" / place.ROOT).mkdir()
    assert list(place.every_root(layout)) == [tmp_path / "a" / place.ROOT]
