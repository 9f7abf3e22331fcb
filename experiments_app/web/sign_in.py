"""One-time sign-in links, used: who comes first is signed in, once."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from experiments_app.models.access import Role, SignInUse, grant
from labsite.links import check_token

OPERATOR = "operator"


def use_link(token: str) -> User | None:
    """The user to sign in, once; None where the link is forged, used or too old.

    Whoever can run ./lab here can do everything anyway, so links are for the machine's own
    operator (role admin). The unique row that a use leaves decides, so that two visitors at
    once cannot both get in.
    """
    digest = check_token(settings.SECRET_KEY, token)
    if digest is None:
        return None
    try:
        with transaction.atomic():
            SignInUse.objects.create(digest=digest)
    except IntegrityError:
        return None
    user, made = User.objects.get_or_create(username=OPERATOR)
    if made:
        user.set_unusable_password()
        user.save()
        grant(user, Role.ADMIN)
    return user if user.is_active else None
