"""Signing in by a one-time link, and out."""

from __future__ import annotations

from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from experiments_app.models import AuditEntry
from experiments_app.web.sign_in import use_link

BACKEND = "django.contrib.auth.backends.ModelBackend"


@login_not_required
@never_cache
@require_safe
def sign_in(request: HttpRequest) -> HttpResponseBase:
    """Says where a link comes from; there is nothing to type in."""
    if request.user.is_authenticated:
        return redirect("web:bench")
    return render(request, "account/sign_in.html")


@login_not_required
@never_cache
@require_safe
def use(request: HttpRequest, token: str) -> HttpResponseBase:
    """Use a link once. Who is signed in already keeps the session, and the link its use."""
    if request.user.is_authenticated:
        return redirect("web:bench")
    if request.method == "HEAD":
        return HttpResponse()  # a preview by a mail or chat program must not use the link up
    user = use_link(token)
    if user is None:
        return render(request, "account/sign_in.html", {"spent": True}, status=403)
    login(request, user, backend=BACKEND)
    AuditEntry.objects.create(who=user.get_username(), action="sign-in", subject="by link")
    return redirect("web:bench")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponseBase:
    logout(request)
    return redirect("web:sign-in")
