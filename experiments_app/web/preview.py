"""What a target would do with an experiment: its plan, or why it cannot."""

from __future__ import annotations

from dataclasses import dataclass

from experiments_app.core.errors import PlanError
from experiments_app.core.plan import Plan, make_plan
from experiments_app.core.quantity import parse_cpu
from experiments_app.core.spec import Spec
from experiments_app.targets.base import TargetStatus


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that an experiment needs, and whether a target has it (None: nobody knows)."""

    text: str
    met: bool | None
    here: str


@dataclass(frozen=True, slots=True)
class ArmPreview:
    """An arm as it would run: its label with a scaling in it, and notes of its own."""

    label: str
    scale: str | None
    expected_us: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A target in the launch form. `problems` keep it from running, `now` are warnings of it.

    `warnings` are the notes that hold for the whole plan or for every arm.
    """

    status: TargetStatus
    problems: tuple[str, ...]
    now: tuple[str, ...]
    warnings: tuple[str, ...]
    needs: tuple[Need, ...]
    plan: Plan | None
    arms: tuple[ArmPreview, ...]
    checked: bool

    @property
    def ready(self) -> bool:
        return not self.problems

    @property
    def scaled(self) -> bool:
        """Whether any arm runs smaller than it is written."""
        return any(arm.scale is not None for arm in self.arms)


def choice(spec: Spec, status: TargetStatus, *, repeats: int | None, checked: bool) -> Choice:
    """What this target makes of the experiment; it is not asked anything."""
    problems = [f"{p.message} {p.remedy}".strip() for p in status.problems if p.blocking]
    now = tuple(f"{p.message} {p.remedy}".strip() for p in status.problems if not p.blocking)
    plan: Plan | None = None
    if status.kind not in spec.targets:
        problems.append(f"This experiment does not run on a target of kind {status.kind}.")
    elif not problems:
        try:
            plan = make_plan(
                spec,
                kind=status.kind,
                cpus=status.facts.cpus,
                repeats=repeats,
                cgroup=_version(status.facts.cgroup),
            )
        except PlanError as error:
            problems.append(str(error))
    common = _common(plan)
    return Choice(
        status=status,
        problems=tuple(problems),
        now=now,
        warnings=(*(plan.notes if plan else ()), *common),
        needs=tuple(_needs(spec, status)),
        plan=plan,
        arms=tuple(
            ArmPreview(
                arm.label,
                arm.scale,
                arm.expected_us,
                tuple(note for note in arm.notes if note not in common),
            )
            for arm in (plan.arms if plan else ())
        ),
        checked=checked,
    )


def _common(plan: Plan | None) -> tuple[str, ...]:
    """Notes that every arm has: said once."""
    if plan is None:
        return ()
    first = plan.arms[0].notes
    return tuple(note for note in first if all(note in arm.notes for arm in plan.arms))


def _needs(spec: Spec, status: TargetStatus) -> list[Need]:
    """What the experiment says it needs, against what the target says it has."""
    facts, needs = status.facts, spec.needs
    found: list[Need] = []
    if needs.cpus is not None:
        has = None if facts.cpus is None else facts.cpus >= needs.cpus
        here = "" if facts.cpus is None else f"{facts.cpus} here"
        found.append(Need(f"{needs.cpus} CPU{'s' if needs.cpus > 1 else ''}", has, here))
    milli = parse_cpu(needs.request)
    if milli is not None:
        # Only a scheduler hands out CPU by request; elsewhere a request is a weight.
        if status.kind == "kubernetes":
            found.append(Need(f"{needs.request} CPU to request", None, "asked of it at launch"))
        else:
            found.append(Need(f"{needs.request} CPU to request", True, "only a weight here"))
    if needs.cgroup is not None:
        version = _version(facts.cgroup)
        met = None if version is None else version == needs.cgroup
        found.append(Need(f"cgroup v{needs.cgroup}", met, facts.cgroup or ""))
    return found


def _version(text: str | None) -> int | None:
    """The number in "v2"; None where it is not known."""
    digits = (text or "").removeprefix("v")[:1]
    return int(digits) if digits.isdigit() else None
