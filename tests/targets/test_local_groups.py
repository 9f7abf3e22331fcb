"""Writing and reading limits, on a made-up v2 tree and on the real kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments_app.core.errors import ReadbackMismatch, TargetError
from experiments_app.core.records import Limits
from experiments_app.core.weights import weight_new
from experiments_app.targets.local import files, groups
from experiments_app.targets.local.cpus import parse_cpu_list
from experiments_app.targets.local.hierarchy import Hierarchy, Layout
from experiments_app.targets.local.place import Group, Place
from experiments_app.targets.local.readback import read_back, tree
from tests.targets.support import Bench

V2_FILES = {
    "cgroup.procs": "",
    "cgroup.events": "populated 0\n",
    "cgroup.controllers": "cpu\n",
    "cgroup.subtree_control": "",
    "cpu.max": "max 100000\n",
    "cpu.max.burst": "0\n",
    "cpu.weight": "100\n",
}


@pytest.fixture
def v2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A directory tree in which a new directory gets the files that a cgroup has."""
    real = Path.mkdir

    def mkdir(self: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        real(self, mode, parents, exist_ok)
        for name, text in V2_FILES.items():
            (self / name).write_text(text)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    for name, text in {**V2_FILES, "cgroup.subtree_control": "memory\n"}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "cgroup.events").unlink()  # the root has none
    layout = Layout(2, Hierarchy(tmp_path, None, True), None, hybrid=False)
    return Place(layout, Group(2, tmp_path, None))


def test_v2_group_has_cpu_enabled_at_every_level_above(v2: Place, tmp_path: Path) -> None:
    group = groups.create(v2, "lab", "run", "r1", "app")
    assert group.cpu == tmp_path / "throttle-lab/lab/run/r1/app"
    for level in group.cpu.relative_to(tmp_path).parents:
        # What is written over a file of a made-up tree stays as written.
        assert (tmp_path / level / "cgroup.subtree_control").read_text().startswith("+cpu")
    assert (group.cpu / "cgroup.subtree_control").read_text() == ""


def test_v2_limit_burst_and_weight(v2: Place, tmp_path: Path, trace: list[tuple[str, str]]) -> None:
    group = groups.create(v2, "lab", "run", "r1", "app")
    trace.clear()
    groups.apply(group, Limits(50_000, 20_000, burst_us=10_000, shares=102), tmp_path)
    assert trace == [
        ("cpu.max.burst", "0"),
        ("cpu.max", "50000 20000"),
        ("cpu.max.burst", "10000"),
        ("cpu.weight", "4"),
    ]


def test_v2_pod_has_cpu_enabled_for_its_containers_and_they_the_newer_weight(
    v2: Place, tmp_path: Path, trace: list[tuple[str, str]]
) -> None:
    pod = groups.create(v2, "lab", "run", "r1", "pair")
    groups.apply(pod, Limits(None, 100_000, shares=512), tmp_path)
    container = groups.create(v2, "lab", "run", "r1", "pair", "small")
    limits = Limits(None, 100_000, shares=102)
    groups.apply(container, limits, tmp_path, weight_new)
    assert (pod.cpu / "cgroup.subtree_control").read_text().startswith("+cpu")
    assert [value for name, value in trace if name == "cpu.weight"] == ["20", "17"]
    for group, weight in ((pod, "20"), (container, "17")):
        (group.cpu / "cpu.weight").write_text(f"{weight}\n")
        (group.cpu / "cpu.max").write_text("max 100000\n")
    found = read_back("pair.small", container, limits, tmp_path, weigh=weight_new, pinned=(1, 2))
    assert (found.found.shares, found.cpus) == (102, 2)
    with pytest.raises(ReadbackMismatch, match=r"weight in .* is 17, but 4 was"):
        read_back("pair.small", container, limits, tmp_path)


def test_v2_without_a_limit(v2: Place, tmp_path: Path, trace: list[tuple[str, str]]) -> None:
    group = groups.create(v2, "lab", "run", "r1", "app")
    trace.clear()
    groups.apply(group, Limits(None, 100_000), tmp_path)
    assert trace == [("cpu.max.burst", "0"), ("cpu.max", "max 100000")]


def test_v2_burst_on_a_kernel_without_it(v2: Place, tmp_path: Path) -> None:
    group = groups.create(v2, "lab", "run", "r1", "app")
    (group.cpu / "cpu.max.burst").unlink()
    groups.apply(group, Limits(50_000, 100_000), tmp_path)
    with pytest.raises(TargetError, match=r"no cpu\.max\.burst.*Linux 5\.14"):
        groups.apply(group, Limits(50_000, 100_000, burst_us=1), tmp_path)


def test_v1_never_writes_a_ratio_that_is_half_new(
    tmp_path: Path, trace: list[tuple[str, str]]
) -> None:
    files = ("cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.cfs_burst_us", "cpu.shares")
    for name in files:
        (tmp_path / name).write_text("")
    limits = Limits(200_000, 1_000_000, burst_us=5_000, shares=102)
    groups.apply(Group(1, tmp_path, None), limits, tmp_path)
    assert trace == [
        ("cpu.cfs_quota_us", "-1"),
        ("cpu.cfs_burst_us", "0"),
        ("cpu.cfs_period_us", "1000000"),
        ("cpu.cfs_quota_us", "200000"),
        ("cpu.cfs_burst_us", "5000"),
        ("cpu.shares", "102"),
    ]


@pytest.fixture
def trace(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Every write in order, besides being done."""
    writes: list[tuple[str, str]] = []
    real = files.write_value

    def write(path: Path, value: str) -> None:
        writes.append((path.name, value))
        real(path, value)

    monkeypatch.setattr(groups, "write_value", write)
    return writes


def level(directory: Path, cpu_max: str) -> None:
    directory.mkdir(exist_ok=True)
    (directory / "cpu.max").write_text(cpu_max)


def test_the_tightest_ancestor_by_ratio_not_by_quota(tmp_path: Path) -> None:
    level(tmp_path / "a", "60000 100000")
    level(tmp_path / "a/b", "200000 1000000")  # more quota, less CPU
    level(tmp_path / "a/b/c", "max 100000")
    found = groups.tightest(tmp_path / "a/b/c", 2, tmp_path)
    assert found == (200_000, 1_000_000, tmp_path / "a/b")
    assert groups.tightest(tmp_path, 2, tmp_path) is None


def test_of_equal_limits_the_nearest_is_named(tmp_path: Path) -> None:
    level(tmp_path / "a", "50000 100000")
    level(tmp_path / "a/b", "100000 200000")
    assert groups.tightest(tmp_path / "a/b", 2, tmp_path) == (100_000, 200_000, tmp_path / "a/b")


def test_readback_names_the_ancestor_and_the_cpus(v2: Place, tmp_path: Path) -> None:
    group = groups.create(v2, "lab", "run", "r1", "app")
    lab = tmp_path / "throttle-lab/lab"
    (lab / "cpu.max").write_text("50000 100000\n")
    (tmp_path / "cpuset.cpus.effective").write_text("0\n")
    found = read_back("app", group, Limits(None, 100_000), tmp_path)
    assert (found.effective_quota_us, found.effective_period_us) == (50_000, 100_000)
    assert found.effective_at == str(lab)
    (note,) = found.notes
    assert str(lab) in note
    assert "0.5 CPU" in note
    assert "It sees 1 CPU." in note


def test_a_limit_above_the_cpus_cannot_bind(v2: Place, tmp_path: Path) -> None:
    group = groups.create(v2, "lab", "run", "r1", "app")
    (tmp_path / "cpuset.cpus.effective").write_text("0\n")
    (group.cpu / "cpu.max").write_text("200000 100000\n")
    found = read_back("app", group, Limits(200_000, 100_000), tmp_path)
    assert found.cpus == 1
    assert "cannot bind" in found.notes[0]


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("cpu.max", "100000 100000\n", "quota in {} is 100000, but 50000 was"),
        ("cpu.max", "max 100000\n", "quota in {} is none, but 50000 was"),
        ("cpu.max", "50000 50000\n", "period in {} is 50000, but 100000 was"),
        ("cpu.max.burst", "7\n", "burst in {} is 7, but 0 was"),
        ("cpu.weight", "0\n", "weight in {} is 0, but 4 was"),
    ],
)
def test_a_difference_names_file_asked_and_found(
    v2: Place, tmp_path: Path, file: str, text: str, words: str
) -> None:
    group = groups.create(v2, "lab", "run", "r1", "app")
    (group.cpu / "cpu.max").write_text("50000 100000\n")
    (group.cpu / "cpu.weight").write_text("4\n")
    asked = Limits(50_000, 100_000, shares=102)
    assert read_back("app", group, asked, tmp_path).found == asked
    (group.cpu / file).write_text(text)
    with pytest.raises(ReadbackMismatch) as caught:
        read_back("app", group, asked, tmp_path)
    assert words.format(group.cpu / file) in caught.value.message


def test_tree_is_root_first(v2: Place, tmp_path: Path) -> None:
    group = groups.create(v2, "lab", "run", "r1", "app")
    levels = tree("app", group, tmp_path).levels
    assert levels[0].path == str(tmp_path)
    assert levels[-1].path == str(group.cpu)
    assert (levels[-1].quota_us, levels[-1].period_us, levels[-1].weight) == (None, 100_000, 100)


@pytest.mark.parametrize(
    ("text", "cpus"), [("0-1", {0, 1}), ("0,2-3", {0, 2, 3}), ("", set()), ("x,4", {4})]
)
def test_cpu_lists(text: str, cpus: set[int]) -> None:
    assert parse_cpu_list(text) == cpus


@pytest.mark.kernel
def test_limit_above_a_v1_parent_is_refused_in_words(bench: Bench) -> None:
    if bench.place.version != 1:
        pytest.skip("cgroup v2 allows a child more than its parent")
    session = bench.session(limit="1")
    lab = groups.create(bench.place, bench.lab)
    groups.apply(lab, Limits(50_000, 100_000), bench.place.layout.cpu.top)
    with pytest.raises(TargetError) as caught:
        session.prepare()
    assert caught.value.code == "limit-above-parent"
    assert f"ancestor {lab.cpu} is limited to 50000/100000 us (0.5 CPUs)" in caught.value.message
    assert "100000 100000" in caught.value.message
    session.clean()


@pytest.mark.kernel
def test_limit_of_a_real_ancestor_is_named(bench: Bench) -> None:
    session = bench.session(limit="none")
    lab = groups.create(bench.place, bench.lab)
    groups.apply(lab, Limits(50_000, 100_000), bench.place.layout.cpu.top)
    (found,) = session.prepare()
    assert found.asked.quota_us is None
    assert (found.effective_quota_us, found.effective_at) == (50_000, str(lab.cpu))
    assert str(lab.cpu) in found.notes[0]
    session.clean()


@pytest.mark.kernel
@pytest.mark.parametrize(
    "limits",
    [
        Limits(200_000, 1_000_000, 100_000, 2),
        Limits(1_000, 100_000, 1_000, 102),
        Limits(5_000, 10_000, 0, 262_144),
        Limits(None, 50_000),
    ],
)
def test_the_kernel_has_what_was_asked(bench: Bench, limits: Limits) -> None:
    top = bench.place.layout.cpu.top
    group = groups.create(bench.place, bench.lab, "run", "r1", "app")
    groups.apply(group, limits, top)
    found = read_back("app", group, limits, top).found
    assert (found.quota_us, found.period_us, found.burst_us) == (
        limits.quota_us,
        limits.period_us,
        limits.burst_us,
    )
    groups.apply(group, Limits(500_000, 500_000), top)  # and over another limit
    bench.target.cleanup(lab=bench.lab, run="run")


@pytest.mark.kernel
def test_values_the_kernel_does_not_take(bench: Bench) -> None:
    group = groups.create(bench.place, bench.lab, "run", "r1", "app")
    with pytest.raises(TargetError, match="refused quota and period 500 100000"):
        groups.apply(group, Limits(500, 100_000), bench.place.layout.cpu.top)
    with pytest.raises(TargetError, match="there already"):
        groups.create(bench.place, bench.lab, "run", "r1", "app")
    bench.target.cleanup(lab=bench.lab, run="run")
