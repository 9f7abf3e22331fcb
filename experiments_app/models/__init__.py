"""The tables. Runs are the truth; everything live is derived from them."""

from experiments_app.models.access import AuditEntry, Role, SignInUse, role_of
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
