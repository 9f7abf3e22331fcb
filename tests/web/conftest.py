"""A lab with one ready target that plays a script, and people of every role."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from django.contrib.auth.models import User
from django.test import Client

from experiments_app.runs.wiring import registry
from experiments_app.targets.base import Problem, Target, TargetFacts, TargetStatus
from experiments_app.targets.registry import UnknownTarget
from experiments_app.web import experiment, machines, own_run, run
from tests.runs.scripted import ScriptedTarget


@dataclass
class ReadyTarget(ScriptedTarget):
    """Ready, or not for the reason given."""

    problems: tuple[Problem, ...] = ()

    def status(self) -> TargetStatus:
        facts = TargetFacts(kernel="6.18.0", cgroup="v1", cpus=2)
        return TargetStatus(self.name, self.kind, self.machine, self.problems, facts)


@dataclass
class Lab:
    """The targets that the pages see, and the bells that were rung."""

    targets: dict[str, ReadyTarget]
    rung: list[str] = field(default_factory=list)

    def __iter__(self) -> object:
        return iter(self.targets.values())

    def get(self, name: str) -> Target:
        if name not in self.targets:
            raise UnknownTarget(f"There is no target named {name!r}.", remedy="Configured: local.")
        return self.targets[name]

    def ring(self, machine: str) -> str:
        self.rung.append(machine)
        return ""


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Lab:
    away = Problem("not-available", "Docker is not there.", "Use the target local instead.")
    found = Lab({"local": ReadyTarget(), "docker": ReadyTarget(name="docker", kind="docker")})
    found.targets["docker"].problems = (away,)
    machines.forget()
    registry.cache_clear()
    for module in (machines, experiment, run, own_run):
        monkeypatch.setattr(module, "registry", lambda: found)
    for asker in (experiment, run, own_run):
        monkeypatch.setattr(asker, "ring", found.ring)
    return found


@pytest.fixture(autouse=True)
def _plain_static(settings: object) -> None:
    """Static files by their own names: tests need no collected manifest."""
    storages = dict(settings.STORAGES)  # type: ignore[attr-defined]
    plain = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.STORAGES = {**storages, "staticfiles": {"BACKEND": plain}}  # type: ignore[attr-defined]


@pytest.fixture
def looking(viewer: User, lab: Lab) -> Client:
    client = Client()
    client.force_login(viewer)
    return client


@pytest.fixture
def operating(operator: User, lab: Lab) -> Client:
    client = Client()
    client.force_login(operator)
    return client
