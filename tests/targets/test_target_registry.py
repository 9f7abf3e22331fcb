"""Configured targets by name, and those that are not there yet."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from experiments_app.core.errors import LabError, TargetError
from experiments_app.targets.base import Target
from experiments_app.targets.local import LocalTarget, machine_name
from experiments_app.targets.registry import DEFAULTS, Registry, TargetConfig, UnknownTarget


def test_the_default_targets() -> None:
    registry = Registry(builds={})
    assert registry.names == ("local", "docker", "kind", "kind-old", "simulated")
    assert isinstance(registry.get("local"), LocalTarget)
    kinds = [target.kind for target in registry]
    assert kinds == ["local", "docker", "kubernetes", "kubernetes", "simulated"]
    assert {t.machine for t in registry if t.name != "simulated"} == {machine_name()}
    assert registry.get("simulated").machine != machine_name()
    assert registry.config("kind-old").context == "kind-throttle-lab-old"


@pytest.mark.parametrize("name", ["docker", "kind", "kind-old", "simulated"])
def test_what_is_not_there_yet_says_so_and_what_to_use(name: str) -> None:
    target: Target = Registry(builds={}).get(name)
    status = target.status()
    assert not status.ready
    (problem,) = status.problems
    assert problem.blocking
    assert "not available in this version" in problem.message
    assert "local" in problem.remedy
    with pytest.raises(TargetError, match="not available"):
        target.open(cast(Any, SimpleNamespace()))
    assert target.cleanup(lab="lab", run="run") == ()
    assert target.leftovers(lab="lab") == ()


def test_unknown_names() -> None:
    registry = Registry(builds={})
    with pytest.raises(UnknownTarget) as caught:
        registry.get("Locl")
    assert "Did you mean local?" in caught.value.remedy
    assert "kind-old" in caught.value.remedy
    with pytest.raises(UnknownTarget) as caught:
        registry.get("zzz")
    assert "Did you mean" not in caught.value.remedy


def test_own_configuration() -> None:
    configs = [*DEFAULTS, TargetConfig("big", "local", machine="big-box")]
    registry = Registry(configs, builds={"go1.25": Path("/x")})
    assert (registry.get("big").name, registry.get("big").machine) == ("big", "big-box")
    with pytest.raises(LabError, match="Two targets"):
        Registry([DEFAULTS[0], DEFAULTS[0]], builds={})
