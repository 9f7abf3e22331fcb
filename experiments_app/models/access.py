"""Who may do what: roles, one-time sign-in links, the audit log."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group, User
from django.db import models
from django.utils import timezone


class Role(models.TextChoices):
    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


_RANK = {Role.VIEWER: 0, Role.OPERATOR: 1, Role.ADMIN: 2}


def role_of(user: AbstractBaseUser | AnonymousUser) -> Role | None:
    """The highest role of a user; None for nobody. Roles are Django groups of that name."""
    if not isinstance(user, User) or not user.is_active:
        return None
    if user.is_superuser:
        return Role.ADMIN
    names = set(user.groups.values_list("name", flat=True))
    held = [role for role in Role if role.value in names]
    return max(held, key=_RANK.__getitem__) if held else Role.VIEWER


def has_role(user: AbstractBaseUser | AnonymousUser, needed: Role) -> bool:
    held = role_of(user)
    return held is not None and _RANK[held] >= _RANK[needed]


def grant(user: User, role: Role) -> None:
    """Give a user exactly this role."""
    group, _ = Group.objects.get_or_create(name=role.value)
    user.groups.remove(*Group.objects.filter(name__in=[r.value for r in Role]))
    user.groups.add(group)


class SignInUse(models.Model):
    """A one-time sign-in link that was used; the digest of the link, not the link."""

    digest = models.CharField(max_length=64, unique=True)
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"sign-in link used {self.at:%Y-%m-%d %H:%M}"


class AuditEntry(models.Model):
    """Who launched, cancelled, imported or signed in, and when."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    who = models.CharField(max_length=150)
    action = models.CharField(max_length=40)
    subject = models.CharField(max_length=200)

    class Meta:
        ordering = ("-at",)

    def __str__(self) -> str:
        return f"{self.who} {self.action} {self.subject}"
