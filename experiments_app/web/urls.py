"""The pages' addresses."""

from __future__ import annotations

from django.urls import path

from experiments_app.web import (
    account,
    archive,
    bench,
    catalogue,
    experiment,
    exports,
    own,
    run,
    targets,
)

app_name = "web"

urlpatterns = [
    path("", bench.page, name="bench"),
    path("now/", bench.now, name="bench-now"),
    path("catalogue/", catalogue.page, name="catalogue"),
    path("experiments/<name>/", experiment.page, name="experiment"),
    path("experiments/<name>/launch/", experiment.launch_run, name="launch"),
    path("own/new/", own.new, name="own-new"),
    path("own/check/", own.check, name="own-check"),
    path("own/save/", own.save, name="own-save"),
    path("own/<name>/edit/", own.edit, name="own-edit"),
    path("own/<name>/hide/", own.hide, name="own-hide"),
    path("own/<name>/restore/", own.restore, name="own-restore"),
    path("own/<name>/file.toml", own.as_file, name="own-file"),
    path("runs/<int:number>/", run.page, name="run"),
    path("runs/<int:number>/cancel/", run.cancel_run, name="cancel"),
    path("runs/<int:number>/again/", run.again, name="again"),
    path("runs/<int:number>/export.json", exports.as_json, name="export-json"),
    path("runs/<int:number>/export.zip", exports.as_zip, name="export-zip"),
    path("runs/<int:number>/repeats.csv", exports.repeats, name="repeats-csv"),
    path("runs/<int:number>/rounds.csv", exports.rounds, name="rounds-csv"),
    path("archive/", archive.page, name="archive"),
    path("archive/import/", archive.import_file, name="import"),
    path("targets/", targets.page, name="targets"),
    path("sign-in/", account.sign_in, name="sign-in"),
    path("sign-in/<str:token>/", account.use, name="use-link"),
    path("sign-out/", account.sign_out, name="sign-out"),
]
