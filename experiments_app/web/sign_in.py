"""One-time sign-in links: made on the command line, used once in a browser."""

from __future__ import annotations

import hashlib
import secrets

from django.contrib.auth.models import User
from django.utils import timezone

from experiments_app.models.access import Role, SignInLink, grant

OPERATOR = "operator"


def make_link(base: str) -> str:
    """A link that signs its first visitor in as the machine's own operator (role admin).

    Whoever can run ./lab here can do everything anyway. Only a digest of the link's secret
    is stored; it works once, within SignInLink.LIFETIME.
    """
    user, made = User.objects.get_or_create(username=OPERATOR)
    if made:
        user.set_unusable_password()
        user.save()
        grant(user, Role.ADMIN)
    secret = secrets.token_urlsafe(24)
    SignInLink.objects.create(digest=_digest(secret), user=user)
    return f"{base}/sign-in/{secret}/"


def use_link(secret: str) -> User | None:
    """The user to sign in, once; None where the link is unknown, used or too old.

    A conditional update decides, so that two visitors at once cannot both get in.
    """
    now = timezone.now()
    link = SignInLink.objects.filter(digest=_digest(secret)).select_related("user").first()
    if link is None or not link.user.is_active:
        return None
    used = SignInLink.objects.filter(
        pk=link.pk, used_at=None, created_at__gt=now - SignInLink.LIFETIME
    ).update(used_at=now)
    user: User | None = link.user if used else None
    return user


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
