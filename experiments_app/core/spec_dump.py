"""Write an experiment back, so that reading it again gives the same one."""

from __future__ import annotations

from typing import Any

from experiments_app.core.spec_model import Arm, Spec
from experiments_app.core.toml_text import toml_text


def dump_spec(spec: Spec, *, full: bool = False) -> dict[str, Any]:
    """The spec as plain values (JSON-able); `parse_spec` of it equals the spec.

    An arm is written short where the short form says it all. Defaults are left out, as a
    person would; `full` writes them, for what is kept and must not change with a default.
    """
    data = spec.model_dump(mode="json", exclude_defaults=not full, exclude={"arms"})
    if data.get("reference", "") is None:
        del data["reference"]
    if "needs" in data:
        data["needs"] = {key: value for key, value in data["needs"].items() if value is not None}
    return data | {"arms": [dump_arm(arm, full=full) for arm in spec.arms]}


def dump_arm(arm: Arm, *, full: bool = False) -> dict[str, Any]:
    """One arm as plain values, as in `dump_spec`; `Arm.model_validate` of it equals the arm."""
    data = arm.model_dump(mode="json", exclude_defaults=not full)
    data["steps"] = [step.model_dump(mode="json", exclude_none=True) for step in arm.steps]
    for group, kept in zip(data["groups"], arm.groups, strict=True):
        for container, source in zip(group["containers"], kept.containers, strict=True):
            # Leaving defaults out drops the kind, without which a workload cannot be told.
            container["workload"] = {"kind": source.workload.kind, **container["workload"]}
    if not arm.is_short:
        return data
    (container,) = data.pop("groups")[0]["containers"]
    del data["steps"]
    return data | {key: value for key, value in container.items() if key != "name"}


def file_to_start_from(spec: Spec) -> str:
    """The spec as TOML text for a person to change and keep.

    Without what ties it to its place in the catalogue: second names, published figures, order.
    """
    own = {"aliases": (), "reference": None, "order": Spec.model_fields["order"].default}
    return dump_toml(spec.model_copy(update=own))


def dump_toml(spec: Spec) -> str:
    """The spec as TOML text; `load_spec` of it equals the spec."""
    return toml_text(dump_spec(spec))
