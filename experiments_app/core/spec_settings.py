"""Changes given at launch: settings (`--set key=value`) and a choice of arms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from experiments_app.core.environment import ALLOWED
from experiments_app.core.errors import SpecError
from experiments_app.core.quantity import shown
from experiments_app.core.short_form import SHORT_KEYS
from experiments_app.core.spec_dump import dump_spec
from experiments_app.core.spec_errors import did_you_mean
from experiments_app.core.spec_load import parse_spec
from experiments_app.core.spec_model import Arm, Spec

_ENV = "env."
ARM_FIELDS = tuple(key for key in SHORT_KEYS if key not in {"env", "workload"})


def setting_keys(spec: Spec) -> tuple[str, ...]:
    """Every key that `apply_settings` takes for all arms of this spec."""
    fields: dict[str, None] = dict.fromkeys(ARM_FIELDS)
    for arm in spec.arms:
        fields |= dict.fromkeys(_workload_fields(arm))
    return (*fields, *(f"{_ENV}{name}" for name in ALLOWED))


def apply_settings(spec: Spec, settings: Mapping[str, str]) -> Spec:
    """The spec with settings applied to the measured group of its arms.

    A key is a field (`rounds`, `limit`, `env.GOMAXPROCS`) for every arm that has it, or
    `ARM.field` for one arm; the narrower key wins, whatever the order. Raises SpecError for
    a key that is not known (naming those that are), SpecErrors for a value that is not taken.
    """
    data = dump_spec(spec)
    by_name = {arm.name: (arm, out) for arm, out in zip(spec.arms, data["arms"], strict=True)}
    parsed = [(*_split(spec, key, by_name), key, value) for key, value in settings.items()]
    for arm_name, field, key, value in sorted(parsed, key=lambda entry: entry[0] is not None):
        chosen = [by_name[arm_name]] if arm_name is not None else list(by_name.values())
        hits = [_set(arm, out, field, value) for arm, out in chosen]
        if not any(hits):
            raise _unknown(spec, key)
    return parse_spec(data, "settings")


def select_arms(spec: Spec, names: Sequence[str]) -> Spec:
    """The spec with only these arms, in its own order. Raises SpecError for an unknown one."""
    known = [arm.name for arm in spec.arms]
    for name in names:
        if name not in known:
            raise SpecError(
                f"{spec.name} has no arm {shown(name)}.",
                field="arms",
                remedy=did_you_mean(name, known),
            )
    if not names:
        raise SpecError("No arm is chosen.", field="arms", remedy=did_you_mean("", known))
    chosen = tuple(arm for arm in spec.arms if arm.name in names)
    return spec.model_copy(update={"arms": chosen})


def _split(spec: Spec, key: str, arms: Iterable[str]) -> tuple[str | None, str]:
    """`ARM.field` or `field`, the field without a leading `workload.`."""
    head, dot, rest = key.partition(".")
    names = set(arms)
    if dot and head in names:
        return head, rest.removeprefix("workload.")
    if dot and f"{head}." != _ENV and head != "workload":
        raise SpecError(
            f"{spec.name} has no arm {shown(head)} (setting {shown(key)}).",
            field=key,
            remedy=did_you_mean(head, [arm.name for arm in spec.arms]),
        )
    return None, key.removeprefix("workload.")


def _set(arm: Arm, out: dict[str, Any], field: str, value: str) -> bool:
    """Set a field in the dumped arm; False when this arm has no such field."""
    targets = [out]
    if not arm.is_short:
        measured = arm.measured.name
        targets = next(g for g in out["groups"] if g["name"] == measured)["containers"]
    done = False
    for target, container in zip(targets, arm.measured.containers, strict=True):
        if field.startswith(_ENV):
            target["env"] = {**target.get("env", {}), field.removeprefix(_ENV): value}
        elif field in ARM_FIELDS:
            target[field] = value
        elif field != "kind" and field in type(container.workload).model_fields:
            target["workload"][field] = value
        else:
            continue
        done = True
    return done


def _workload_fields(arm: Arm) -> list[str]:
    found: dict[str, None] = {}
    for container in arm.measured.containers:
        found |= dict.fromkeys(type(container.workload).model_fields)
    return [name for name in found if name != "kind"]


def _unknown(spec: Spec, key: str) -> SpecError:
    field = key if _ENV in key else key.rpartition(".")[2]
    if field == "repeats":
        return SpecError(f"{shown(key)} is no setting.", field=key, remedy="Use --repeats.")
    remedy = did_you_mean(field, setting_keys(spec))
    return SpecError(
        f"{shown(key)} is no setting of {spec.name}.",
        field=key,
        remedy=f"{remedy} Put ARM. before one to set it for a single arm.",
    )
