"""What every page's frame needs to know."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from experiments_app.models import Role, Run, RunStatus, role_of
from experiments_app.models.access import has_role


def frame(request: HttpRequest) -> dict[str, Any]:
    """The reader's role and the queue's length; nothing for who is not signed in."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {"may_operate": False}
    return {
        "role": role_of(user),
        "may_operate": has_role(user, Role.OPERATOR),
        "queue_length": Run.objects.filter(status=RunStatus.QUEUED).count(),
        "running_count": Run.objects.filter(status=RunStatus.RUNNING).count(),
    }
