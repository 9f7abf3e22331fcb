"""Experiments in and out: TOML text, mappings, settings given at launch.

Everything that is wrong comes out as `SpecErrors`; no text of a library reaches a person.
"""

from __future__ import annotations

from experiments_app.core.spec_dump import dump_arm, dump_spec, dump_toml, file_to_start_from
from experiments_app.core.spec_errors import SpecErrors
from experiments_app.core.spec_load import load_spec, parse_spec
from experiments_app.core.spec_model import (
    TARGET_KINDS,
    Arm,
    Build,
    Container,
    Group,
    Needs,
    Role,
    Spec,
    Step,
    TargetKind,
)
from experiments_app.core.spec_settings import apply_settings, select_arms
from experiments_app.core.workloads import (
    Burst,
    Info,
    Load,
    Parallel,
    Requests,
    Serve,
    Spin,
    Tasks,
    Workload,
)

__all__ = [
    "TARGET_KINDS",
    "Arm",
    "Build",
    "Burst",
    "Container",
    "Group",
    "Info",
    "Load",
    "Needs",
    "Parallel",
    "Requests",
    "Role",
    "Serve",
    "Spec",
    "SpecErrors",
    "Spin",
    "Step",
    "TargetKind",
    "Tasks",
    "Workload",
    "apply_settings",
    "dump_arm",
    "dump_spec",
    "dump_toml",
    "file_to_start_from",
    "load_spec",
    "parse_spec",
    "select_arms",
]
