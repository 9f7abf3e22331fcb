"""Fixtures that more than one room uses: a real Valkey, a person, the requirement helper."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import hypothesis
import pytest
import redis
from django.conf import settings
from django.contrib.auth.models import User

from experiments_app.models.access import Role, grant
from labsite.env import valkey_socket
from labsite.supervisor import valkey_program
from tests.waiting import until

# The inner loop tries fewer examples of each property; ./lab test tries them all.
hypothesis.settings.register_profile("fast", max_examples=15, deadline=None)


def require(there: bool, what: str) -> None:
    """Skip with the reason where a part is missing; in CI a missing part is a failure."""
    if there:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must have it: {what}")
    pytest.skip(what)


def _answers() -> bool:
    try:
        return bool(redis.Redis.from_url(settings.ENV.broker_url).ping())
    except redis.RedisError:
        return False


@pytest.fixture(scope="session")
def valkey() -> Iterator[str]:
    """The embedded Valkey at the place where the settings expect it; its URL."""
    program = valkey_program(settings.ENV)
    with subprocess.Popen(
        program.argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            until(_answers, "Valkey answers")
            yield settings.ENV.broker_url
        finally:
            process.terminate()
    valkey_socket(settings.ENV.var).unlink(missing_ok=True)


@pytest.fixture
def operator(db: None) -> User:
    user = User.objects.create_user("olga")
    grant(user, Role.OPERATOR)
    return user


@pytest.fixture
def viewer(db: None) -> User:
    user = User.objects.create_user("viktor")
    grant(user, Role.VIEWER)
    return user
