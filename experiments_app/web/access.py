"""Who may do what on a page."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

from experiments_app.models import Role
from experiments_app.models.access import has_role

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def needs(role: Role) -> Callable[[View[P]], View[P]]:
    """A view that only users with at least this role may call; others get a page that says so."""

    def decorate(view: View[P]) -> View[P]:
        @wraps(view)
        def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not has_role(request.user, role):
                raise PermissionDenied(
                    f"This needs the role {role.value}. Ask an admin of this lab to give it to you."
                )
            return view(request, *args, **kwargs)

        return cast(View[P], guarded)

    return decorate


def who(request: HttpRequest) -> str:
    """The name that the audit log keeps."""
    return request.user.get_username()
