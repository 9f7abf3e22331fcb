"""Own experiments kept in the browser: versions, names, files, hiding, runs of them."""

from __future__ import annotations

import html
import json

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from experiments_app.archive import experiments as archive
from experiments_app.catalogue import find
from experiments_app.core.spec import dump_spec, dump_toml, load_spec, parse_spec
from experiments_app.models import AuditEntry, OwnVersion, Run
from experiments_app.runs.experiments import hide, keep
from tests.runs.scripted import queued_run
from tests.runs.test_experiments import own
from tests.web.conftest import Lab
from tests.web.drafts import check, data, file, form

pytestmark = pytest.mark.django_db

SAVE = "/own/save/"


def test_saving_makes_versions_and_leads_to_the_page(operating: Client, operator: User) -> None:
    answer = operating.post(SAVE, form(own()))
    assert answer["Location"] == "/experiments/mine/"
    page = operating.get("/own/mine/edit/")
    assert data(page)["editing"] == "mine"
    assert parse_spec(data(page)["spec"]) == own()
    changed = form(own(rounds=9), editing="mine", based_on=1)
    assert operating.post(SAVE, changed)["Location"] == "/experiments/mine/"
    newest, oldest = archive.versions("mine")
    assert (newest.n, newest.spec, newest.saved_who) == (2, own(rounds=9), "olga")
    assert oldest.spec == own()
    assert set(OwnVersion.objects.values_list("saved_by", flat=True)) == {operator.pk}
    older = data(operating.get("/own/mine/edit/?version=1"))
    assert parse_spec(older["spec"]) == own()


def test_keep_and_run_queues_all_of_it_at_once(operating: Client, lab: Lab) -> None:
    answer = operating.post(SAVE, form(own(repeats=2), then="run", target="local"))
    run = Run.objects.get()
    assert answer["Location"] == f"/runs/{run.number}/"
    assert (run.experiment, run.own_version, run.repeats_asked) == ("mine", 1, 2)
    assert (run.launched_who, run.status) == ("olga", "queued")
    assert run.repeats.count() == 2 * len(own().arms)
    assert lab.rung == [run.machine]


@pytest.mark.parametrize(
    ("target", "words"), [("docker", "Docker is not there."), ("moon", "no target named")]
)
def test_what_cannot_be_queued_is_kept_and_says_why(
    operating: Client, target: str, words: str
) -> None:
    answer = operating.post(SAVE, form(own(), then="run", target=target), follow=True)
    assert answer.redirect_chain[-1][0] == "/experiments/mine/"
    page = html.unescape(answer.content.decode())
    assert "It is kept, and was not queued:" in page
    assert words in page
    assert archive.find_spec("mine") == own()
    assert not Run.objects.exists()


def test_a_draft_with_mistakes_is_neither_kept_nor_run(operating: Client) -> None:
    raw = dump_spec(own())
    raw["arms"][0]["limit"] = "half"
    assert operating.post(SAVE, form(raw, then="run", target="local")).status_code == 400
    assert not OwnVersion.objects.exists()
    assert not Run.objects.exists()


def test_saving_a_file_works_without_the_form(operating: Client) -> None:
    text = dump_toml(own()).replace("\n", "\r\n")
    assert operating.post(SAVE, file(text))["Location"] == "/experiments/mine/"
    assert archive.find_spec("mine") == own()


def test_a_file_with_mistakes_comes_back_as_it_was_written(operating: Client) -> None:
    text = '# mine\nname = "mine"\n\n[[arms]]\nname = "a" "b"\n'
    answer = operating.post(SAVE, file(text))
    assert answer.status_code == 400
    page = html.unescape(answer.content.decode())
    assert "line 5, column" in page
    assert text in page
    assert not OwnVersion.objects.exists()


def test_a_form_with_mistakes_comes_back_filled(operating: Client) -> None:
    raw = {**dump_spec(own()), "title": "<b>x</b>", "repeats": "many"}
    answer = operating.post(SAVE, form(raw))
    assert answer.status_code == 400
    assert data(answer)["spec"] == raw
    assert data(answer)["tab"] == "form"
    assert "is not a whole number" in answer.content.decode()
    assert "<b>x</b>" not in answer.content.decode()


def test_an_uploaded_file_is_shown_before_it_is_kept(operating: Client) -> None:
    upload = SimpleUploadedFile("mine.toml", dump_toml(own()).encode())
    answer = operating.post(SAVE, file("", upload=upload))
    assert answer.status_code == 200
    assert parse_spec(data(answer)["spec"]) == own()
    assert not OwnVersion.objects.exists()
    picture = SimpleUploadedFile("mine.toml", b"\x89PNG\xff\xfe")
    answer = operating.post(SAVE, file("", upload=picture))
    assert answer.status_code == 400
    assert "not UTF-8 text" in answer.content.decode()


@pytest.mark.parametrize(
    "where",
    [
        "/own/new/?experiment=%00",
        "/own/%00/edit/",
        "/own/%00/file.toml",
        "/own/new/?from=%00",
        "/own/new/?from=99999999999999999999999",
        "/own/burst-limits/file.toml?version=99999999999999999",
        "/own/new/?experiment=" + "x" * 5000,
    ],
)
def test_strange_addresses_are_not_found(where: str, operating: Client) -> None:
    assert operating.get(where).status_code == 404


@pytest.mark.parametrize("name", ["burst-limits", "e2a"])
def test_a_name_of_the_catalogue_is_refused_at_the_name(name: str, operating: Client) -> None:
    answer = operating.post(SAVE, form(own(name)))
    assert answer.status_code == 400
    assert "is a name of the catalogue" in answer.content.decode()
    (error,) = check(operating, spec=dump_spec(own(name)))["errors"]
    assert error["path"] == ["name"]


def test_a_new_experiment_does_not_take_over_a_name(operating: Client) -> None:
    keep(own(), user=None, who="ulf")
    answer = operating.post(SAVE, form(own(rounds=8)))
    assert answer.status_code == 400
    assert "already, version 1" in answer.content.decode()
    renamed = operating.post(SAVE, form(own("other"), editing="mine", based_on=1))
    assert renamed["Location"] == "/experiments/other/"
    assert [entry.name for entry in archive.own_entries()] == ["mine", "other"]
    assert len(archive.versions("mine")) == 1


def test_a_save_over_somebody_elses_asks_first(operating: Client) -> None:
    keep(own(rounds=3), user=None, who="olga")
    keep(own(rounds=4), user=None, who="ulf")
    answer = operating.post(SAVE, form(own(rounds=5), editing="mine", based_on=1))
    assert answer.status_code == 409
    page = answer.content.decode()
    assert "ulf saved version 2" in page
    assert 'name="based_on" value="2"' in page
    assert operating.post(SAVE, form(own(rounds=5), editing="mine", based_on=2)).status_code == 302
    assert archive.find_experiment("mine").version == 3


def test_run_again_with_changes_begins_as_the_run_was(operating: Client) -> None:
    run = queued_run()
    page = operating.get(f"/own/new/?from={run.number}")
    spec = data(page)["spec"]
    assert spec["name"] == f"{run.experiment}-2"
    assert parse_spec(spec).arms == parse_spec(run.spec).arms
    assert spec.get("repeats", 1) == run.repeats_asked
    keep(own(f"{run.experiment}-2"), user=None, who="olga")
    hide(f"{run.experiment}-2", who="olga")
    again = data(operating.get(f"/own/new/?from={run.number}"))["spec"]["name"]
    assert again == f"{run.experiment}-3"
    assert operating.get("/own/new/?from=999999").status_code == 404
    assert operating.get("/own/new/?from=x").status_code == 404


def test_make_it_your_own_leaves_behind_what_is_the_originals(operating: Client) -> None:
    spec = parse_spec(data(operating.get("/own/new/?experiment=E2a"))["spec"])
    original = find("burst-limits")
    assert (spec.name, spec.arms) == ("burst-limits-2", original.arms)
    assert (spec.aliases, spec.reference, spec.shows) == ((), None, ())
    assert operating.post(SAVE, form(spec)).status_code == 302
    assert (
        operating.get("/own/burst-limits/edit/")["Location"] == "/own/new/?experiment=burst-limits"
    )
    assert operating.get("/own/nothing/edit/").status_code == 404


def test_hiding_and_putting_back(operating: Client) -> None:
    keep(own(), user=None, who="ulf")
    assert operating.post("/own/mine/hide/")["Location"] == "/experiments/mine/"
    assert archive.own_names() == []
    operating.post("/own/mine/restore/")
    assert archive.own_names() == ["mine"]
    assert operating.post("/own/burst-limits/hide/").status_code == 404
    acts = AuditEntry.objects.filter(who="olga").values_list("action", flat=True)
    assert sorted(acts) == ["hide", "restore"]


def test_a_version_as_a_file(operating: Client) -> None:
    keep(own(rounds=3), user=None, who="ulf")
    keep(own(rounds=4), user=None, who="ulf")
    newest = operating.get("/own/mine/file.toml")
    assert load_spec(newest.content.decode()) == own(rounds=4)
    first = operating.get("/own/mine/file.toml?version=1")
    assert load_spec(first.content.decode()) == own(rounds=3)
    assert first["Content-Disposition"] == 'attachment; filename="mine-1.toml"'
    catalogued = load_spec(operating.get("/own/E2a/file.toml").content.decode())
    assert catalogued.arms == find("burst-limits").arms
    # What only the catalogue may say is left out: the file can be kept under a new name.
    assert (catalogued.aliases, catalogued.reference) == ((), None)
    for where in (
        "/own/mine/file.toml?version=3",
        "/own/mine/file.toml?version=x",
        "/own/no/file.toml",
    ):
        assert operating.get(where).status_code == 404


def test_a_viewer_may_try_things_and_not_keep_them(looking: Client) -> None:
    page = looking.get(reverse("web:own-new")).content.decode()
    assert "Your role is viewer" in page
    assert "Keep the experiment" not in page
    assert check(looking, spec=dump_spec(own()))["errors"] == []
    assert looking.post(SAVE, form(own())).status_code == 403


def test_checks_and_saves_need_the_csrf_mark(operator: User, lab: Lab) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator)
    body = json.dumps({"spec": dump_spec(own())})
    assert client.post("/own/check/", body, content_type="application/json").status_code == 403
    assert client.post(SAVE, form(own())).status_code == 403
    assert not OwnVersion.objects.exists()


def test_the_page_of_an_own_experiment_shows_its_versions(
    operating: Client, looking: Client
) -> None:
    keep(own(rounds=3), user=None, who="ulf")
    keep(own(rounds=4), user=None, who="olga")
    page = operating.get("/experiments/mine/").content.decode()
    assert "Version <b>2</b>" in page
    for where in (
        "/own/mine/edit/",
        "/own/mine/hide/",
        "/own/mine/file.toml?version=1",
        "/own/mine/edit/?version=1",
    ):
        assert f'"{where}"' in page
    seen = looking.get("/experiments/mine/").content.decode()
    assert "/edit/" not in seen
    assert "/hide/" not in seen
    assert '"/own/mine/file.toml"' in seen
    original = operating.get("/experiments/burst-limits/").content.decode()
    assert "/own/new/?experiment=burst-limits" in original
    assert "/hide/" not in original


def test_the_catalogue_lists_own_ones_and_folds_hidden_ones_away(operating: Client) -> None:
    assert "None yet." in operating.get("/catalogue/").content.decode()
    keep(own(title="<i>Mine</i>"), user=None, who="ulf")
    keep(own("gone"), user=None, who="ulf")
    hide("gone", who="ulf")
    page = operating.get("/catalogue/").content.decode()
    assert "&lt;i&gt;Mine&lt;/i&gt;" in page
    assert "1 hidden" in page
    assert page.count('class="card question" href="/experiments/mine/"') == 1
    assert 'class="card question" href="/experiments/gone/"' not in page


def test_an_own_one_is_launched_and_run_again_with_its_version(operating: Client, lab: Lab) -> None:
    keep(own(rounds=3), user=None, who="ulf")
    sent = {"target": "local", "repeats": "2", "arms": ["half"]}
    first = operating.post("/experiments/mine/launch/", sent)
    run = Run.objects.get()
    assert first["Location"] == f"/runs/{run.number}/"
    assert (run.own_version, run.repeats_asked, lab.rung) == (1, 2, [run.machine])
    keep(own(rounds=4), user=None, who="ulf")
    operating.post(f"/runs/{run.number}/again/")
    assert list(Run.objects.order_by("pk").values_list("own_version", flat=True)) == [1, 1]
    page = operating.get(f"/runs/{run.number}/").content.decode()
    assert "version 1" in page
    assert f"/own/new/?from={run.number}" in page
    draft = parse_spec(data(operating.get(f"/own/new/?from={run.number}"))["spec"])
    assert ([arm.name for arm in draft.arms], draft.repeats) == (["half"], 2)
