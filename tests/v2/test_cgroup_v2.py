"""The local target on a kernel with nothing but cgroup v2, in an emulated machine.

One boot, every scenario; each test looks at what one scenario has reported. An emulated
machine has a consistent clock and true counters but no speed of its own, so no wall time is
judged here: only limits, counts, and what must hold between counters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import require
from tests.v2 import machine
from tests.v2.machine import Result

pytestmark = [pytest.mark.slow, pytest.mark.kernel]

PERIOD_US = 100_000
CPUS = 2
# Enforcement is by tick and by slice, and a pause of the whole machine counts as use: what a
# group may run over in one go, on every CPU.
OVER_US = CPUS * 50_000
# Limits of the arms that are run, us a period.
QUOTAS = {"limit-500m": 50_000, "limit-1": 100_000, "allowance": 50_000, "quarter": 25_000}


@pytest.fixture(scope="module")
def result() -> Result:
    why = machine.missing()
    require(not why, f"the cgroup v2 machine: {why}")
    try:
        return machine.boot()
    except machine.Unavailable as error:
        require(False, str(error))
        raise


class Reported:
    """Scenarios by name; one that failed fails its test with what was said."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def __getitem__(self, name: str) -> Any:
        entry = self._result.scenarios.get(name)
        if entry is None:
            pytest.fail(f"{name} did not end; the console:\n{self._result.console[-4000:]}")
        if "error" in entry:
            pytest.fail(f"{name}: {entry['error']}\n{self._result.console[-2000:]}")
        return entry["value"]


@pytest.fixture(scope="module")
def reported(result: Result) -> Reported:
    return Reported(result)


def arms(ran: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every arm of a finished run with its one repeat; nothing was left of it."""
    document = ran["document"]
    assert ran["code"] == 0
    assert document["run"]["status"] == "finished"
    assert document["environment"]["cgroup"] == "v2"
    assert document["environment"]["extra"]["hierarchy"] == "unified"
    assert ran["left"] == []
    for arm in document["arms"]:
        (repeat,) = arm["repeats"]
        assert repeat["state"] == "done"
        yield arm, repeat


def group_of(repeat: dict[str, Any], name: str = "") -> dict[str, Any]:
    groups = {group["name"]: group for group in repeat["groups"]}
    found: dict[str, Any] = groups[name] if name else next(iter(groups.values()))
    return found


def level_of(group: dict[str, Any]) -> dict[str, Any]:
    """The group's own level as the kernel had it; the levels begin at the root."""
    found: dict[str, Any] = group["tree"][-1]
    return found


def check_counters(counters: dict[str, Any], quota_us: int, burst_us: int = 0) -> None:
    """What holds between the counters of a limited group on any kernel, however slow."""
    window, usage = counters["window_us"], counters["usage_us"]
    periods, throttled = counters["nr_periods"], counters["nr_throttled"]
    assert 0 < usage <= quota_us * (window // PERIOD_US + 2) + burst_us + OVER_US
    assert 0 < throttled <= periods <= window // PERIOD_US + 2
    assert 0 < counters["throttled_us"] <= window * CPUS - usage + OVER_US


def test_the_machine_has_cgroup_v2_alone(reported: Reported) -> None:
    found = reported["machine"]
    assert found["mounts"] == [["cgroup2", "/sys/fs/cgroup"]]
    assert "cpu" in found["controllers"]
    assert found["cpus"] == CPUS


def test_doctor_tries_it_for_real(reported: Reported) -> None:
    found = reported["doctor"]
    local = found["local"]
    assert found["code"] == 0
    assert local["ready"], local["problems"]
    assert local["facts"]["cgroup"] == "v2"
    assert local["facts"]["extra"]["base"] == "/sys/fs/cgroup"


def test_burst_limits(reported: Reported) -> None:
    names = []
    for arm, repeat in arms(reported["burst_limits"]):
        quota, group = QUOTAS.get(arm["name"]), group_of(repeat)
        names.append(arm["name"])
        level, totals = level_of(group), group["totals"]
        assert (level["quota_us"], level["period_us"]) == (quota, PERIOD_US)
        # The request of 100m is 102 shares; alone in its pod it has the pod's, linear weight.
        assert (level["weight"], level["shares"]) == (4, None)
        assert group["readback"]["found"]["quota_us"] == quota
        assert group["readback"]["effective_quota_us"] == quota
        assert totals["usage_us"] >= 3 * 8 * 20_000
        assert [done["n"] for done in repeat["rounds"]] == [1, 2, 3]
        if quota is None:
            assert (totals["nr_periods"], totals["nr_throttled"], totals["throttled_us"]) == (
                0,
                0,
                0,
            )
        else:
            check_counters(totals, quota)
            check_rounds(repeat["rounds"], totals)
    assert names == ["no-limit", "limit-500m"]


def check_rounds(rounds: list[dict[str, Any]], totals: dict[str, Any]) -> None:
    """Each takes over three times a period's quota; together they are what was seen outside."""
    for done in rounds:
        settled = done["settled"]
        assert done["usage_us"] >= 8 * 20_000
        assert 1 <= settled["nr_throttled"] <= settled["nr_periods"]
        assert settled["usage_us"] >= done["usage_us"]
    for name in ("usage_us", "nr_periods", "nr_throttled", "throttled_us"):
        assert sum(done["settled"][name] for done in rounds) <= totals[name]


def test_a_burst_allowance_is_counted(reported: Reported) -> None:
    ((_, repeat),) = arms(reported["burst_allowance"])
    group = group_of(repeat)
    assert level_of(group)["burst_us"] == 50_000
    check_counters(group["totals"], QUOTAS["allowance"], burst_us=50_000)
    totals = group["totals"]
    assert 1 <= totals["nr_bursts"] <= totals["nr_periods"]
    assert 0 < totals["burst_us"] <= totals["nr_bursts"] * 50_000 + OVER_US


def test_kill_9_leaves_nothing_after_the_next_run(reported: Reported) -> None:
    found = reported["killed"]
    assert found["code"] == -9
    assert found["pids"], "something ran in its groups when it was killed"
    assert found["left"], "a killed process cannot clean up"
    ((_, repeat),) = arms(found["again"])
    check_counters(group_of(repeat)["totals"], QUOTAS["quarter"])
    assert found["state"] == [["interrupted", "worker-gone"]]
    assert found["alive"] == []


def test_a_user_in_a_delegated_group(reported: Reported) -> None:
    found = reported["delegated"]
    check_delegated(found)
    assert found["groups"] == ["throttle-lab-home"]
    assert found["home"]["local"]["ready"], found["home"]


def test_the_next_start_in_a_delegated_group(reported: Reported) -> None:
    """It begins in the group itself, where cpu is on already."""
    found = reported["delegated"]
    check_delegated(found["again"])


def check_delegated(ran: dict[str, Any]) -> None:
    ((_, repeat),) = arms(ran)
    assert ran["document"]["environment"]["extra"]["base"] == "/sys/fs/cgroup/user-lab"
    group = group_of(repeat)
    assert level_of(group)["path"].startswith("/sys/fs/cgroup/user-lab/throttle-lab/")
    check_counters(group["totals"], QUOTAS["quarter"])


@pytest.mark.parametrize(
    ("case", "code", "message", "remedy"),
    [
        ("permission", "permission", "No permission to make a cgroup", "systemd-run --user"),
        ("controller", "controller-missing", "cpu controller is not available", "Delegate='cpu"),
    ],
)
def test_a_user_without_is_told_what_is_missing(
    reported: Reported, case: str, code: str, message: str, remedy: str
) -> None:
    found = reported["not_delegated"][case]
    assert not found["local"]["ready"]
    (problem,) = [each for each in found["local"]["problems"] if each["blocking"]]
    assert problem["code"] == code
    assert message in problem["message"]
    assert remedy in problem["remedy"]


def test_limit_tree_has_the_weights_of_pods_and_containers(reported: Reported) -> None:
    """500m and 100m: containers as newer runtimes write them, the pod of 600m linear."""
    found = {arm["name"]: repeat for arm, repeat in arms(reported["limit_tree"])}
    expected: dict[str, dict[str, tuple[int | None, int]]] = {
        "every-limit": {
            "pod": (250_000, 24),
            "pod.app": (200_000, 59),
            "pod.sidecar": (50_000, 17),
        },
        "one-limit": {"pod": (None, 24), "pod.app": (200_000, 59), "pod.sidecar": (None, 17)},
    }
    for arm, units in expected.items():
        for unit, (quota, weight) in units.items():
            level = level_of(group_of(found[arm], unit))
            assert (level["quota_us"], level["weight"]) == (quota, weight), (arm, unit)


def test_quota_tiers(reported: Reported) -> None:
    usages = {}
    for arm, repeat in arms(reported["quota_tiers"]):
        totals, quota = group_of(repeat)["totals"], QUOTAS[arm["name"]]
        check_counters(totals, quota)
        usages[arm["name"]] = totals["usage_us"] / totals["window_us"]
        # Two busy threads keep the period timer going: it misses no period.
        assert totals["nr_periods"] >= 2_000_000 // PERIOD_US - 1
        if arm["name"] == "limit-500m":
            assert totals["nr_throttled"] >= 0.7 * totals["nr_periods"]
    assert usages["limit-500m"] < usages["limit-1"]


def test_the_local_targets_own_tests(reported: Reported) -> None:
    found = reported["kernel_tests"]
    outcomes = found["outcomes"]
    bad = [f"{name}\n{text}" for name, outcome, text in outcomes if outcome != "passed"]
    assert not bad, "\n\n".join(bad)
    assert found["code"] == 0, found["out"]
    ran = {name.partition("::")[2] for name, *_ in outcomes}
    assert "test_another_user_in_a_delegated_scope" in ran, found["out"]
