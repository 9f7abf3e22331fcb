"""The work that a container can do: one model a kind, told apart by `kind`.

A new kind is a class in this package and a member of `Workload`; nothing else lists them.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from experiments_app.core.workloads.base import (
    MAX_ROUNDS,
    MAX_THREADS,
    REPORT_US,
    Result,
    WorkloadBase,
    is_duration,
)
from experiments_app.core.workloads.jobs import Burst, Parallel, Tasks
from experiments_app.core.workloads.service import Load, Serve
from experiments_app.core.workloads.steady import Info, Requests, Spin

Workload = Annotated[
    Burst | Tasks | Parallel | Spin | Requests | Serve | Load | Info, Field(discriminator="kind")
]

__all__ = [
    "MAX_ROUNDS",
    "MAX_THREADS",
    "REPORT_US",
    "Burst",
    "Info",
    "Load",
    "Parallel",
    "Requests",
    "Result",
    "Serve",
    "Spin",
    "Tasks",
    "Workload",
    "WorkloadBase",
    "is_duration",
]
