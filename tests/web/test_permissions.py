"""Every address: who is let in, who is sent to sign in, who may only look."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, reverse

from experiments_app.models import Run, RunStatus
from experiments_app.web.urls import urlpatterns
from tests.runs.scripted import queued_run
from tests.web.conftest import Lab

pytestmark = pytest.mark.django_db

OPEN = {"sign-in", "use-link"}
OPERATORS = {"launch", "cancel", "again", "import", "own-save", "own-hide", "own-restore"}
POSTS = OPERATORS | {"sign-out", "own-check"}


def address(pattern: URLPattern, run: Run) -> str:
    values = {"number": run.number, "name": "burst-limits", "token": "not-a-real-link"}
    wanted = pattern.pattern.converters
    return reverse(f"web:{pattern.name}", kwargs={key: values[key] for key in wanted})


@pytest.fixture
def run(db: None) -> Run:
    return queued_run()


@pytest.mark.parametrize("pattern", urlpatterns, ids=lambda pattern: pattern.name)
def test_nobody_is_sent_to_sign_in(pattern: URLPattern, run: Run, lab: Lab) -> None:
    client = Client()
    for method in (client.get, client.post):
        answer = method(address(pattern, run))
        if pattern.name in OPEN:
            assert answer.status_code in (200, 403, 405)
        else:
            assert answer.status_code == 302
            assert answer["Location"].startswith("/sign-in/?next=")
    run.refresh_from_db()
    assert run.status == RunStatus.QUEUED


@pytest.mark.parametrize("pattern", urlpatterns, ids=lambda pattern: pattern.name)
def test_a_viewer_may_look_and_not_act(pattern: URLPattern, run: Run, looking: Client) -> None:
    where = address(pattern, run)
    if pattern.name in OPERATORS:
        answer = looking.post(where)
        assert answer.status_code == 403
        assert b"operator" in answer.content
        assert Run.objects.count() == 1
    elif pattern.name not in POSTS:
        assert looking.get(where).status_code in (200, 302)


@pytest.mark.parametrize("pattern", urlpatterns, ids=lambda pattern: pattern.name)
def test_the_wrong_method_is_refused(pattern: URLPattern, run: Run, operating: Client) -> None:
    where = address(pattern, run)
    answer = operating.get(where) if pattern.name in POSTS else operating.post(where)
    assert answer.status_code == 405


def test_forms_need_the_csrf_mark(operator: User, lab: Lab, run: Run) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator)
    answer = client.post(reverse("web:cancel", args=[run.number]))
    assert answer.status_code == 403
    assert b"Nothing was changed" in answer.content


def test_a_viewer_sees_no_buttons_for_what_is_not_allowed(looking: Client, run: Run) -> None:
    page = looking.get(reverse("web:run", args=[run.number])).content.decode()
    assert "/cancel/" not in page
    form = looking.get(reverse("web:experiment", args=["burst-limits"])).content.decode()
    assert "Queue the run" not in form
