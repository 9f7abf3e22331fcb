"""The tables. Runs are the truth; everything live is derived from them."""

from experiments_app.models.access import AuditEntry, Role, SignInUse, role_of
from experiments_app.models.experiment import OwnExperiment, OwnVersion
from experiments_app.models.rows import Event, EventKind, Round, SampleBlock, SampleFrame
from experiments_app.models.run import (
    END_STATES,
    Repeat,
    RepeatState,
    Run,
    RunStatus,
)

__all__ = [
    "END_STATES",
    "AuditEntry",
    "Event",
    "EventKind",
    "OwnExperiment",
    "OwnVersion",
    "Repeat",
    "RepeatState",
    "Role",
    "Round",
    "Run",
    "RunStatus",
    "SampleBlock",
    "SampleFrame",
    "SignInUse",
    "role_of",
]
