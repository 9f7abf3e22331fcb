"""A draft of an own experiment: read from the form or a file, checked, and its plan shown."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from experiments_app.archive.experiments import catalogue_names, own_entry
from experiments_app.core.errors import LabError, SpecError
from experiments_app.core.short_form import SHORT_KEYS
from experiments_app.core.spec import Spec, SpecErrors, dump_spec, dump_toml, load_spec, parse_spec
from experiments_app.core.spec_load import MAX_TEXT
from experiments_app.core.toml_text import toml_text
from experiments_app.models import OwnExperiment
from experiments_app.runs.experiments import check_own
from experiments_app.web.machines import best_for, statuses
from experiments_app.web.preview import Choice, choice

_NAMED = re.compile(r"([A-Za-z_]+) = ")
DRAFT_NAME = "draft"


class BadDraft(LabError):
    """What was sent is no draft at all: not the form's work."""

    code = "bad-draft"


@dataclass(frozen=True, slots=True)
class Draft:
    """An experiment as somebody is writing it.

    `raw` is it as plain values (None where the file cannot be read at all), `toml` as a file
    (None where the values have no TOML); `spec` only when nothing of the schema is wrong.
    """

    raw: Any
    toml: str | None
    spec: Spec | None
    errors: tuple[SpecError, ...] = ()

    @property
    def sound(self) -> bool:
        return self.spec is not None and not self.errors


def from_file(text: str) -> Draft:
    """A draft from TOML text, which it keeps as it was written, comments too."""
    text = text.replace("\r\n", "\n")
    try:
        spec = load_spec(text)
    except SpecErrors as error:
        try:
            raw = plain(tomllib.loads(text.removeprefix("\ufeff")[:MAX_TEXT]))
        except (ValueError, RecursionError):
            raw = None
        return Draft(raw, text, None, error.errors)
    return Draft(dump_spec(spec), text, spec)


def from_form(raw: object) -> Draft:
    """A draft from the form's values."""
    try:
        spec = parse_spec(raw)
    except SpecErrors as error:
        return Draft(raw, _as_toml(raw), None, error.errors)
    return Draft(dump_spec(spec), dump_toml(spec), spec)


def from_spec(spec: Spec) -> Draft:
    """A draft of a sound spec."""
    return Draft(dump_spec(spec), dump_toml(spec), spec)


def checked(draft: Draft, editing: str) -> Draft:
    """The draft with what only own experiments must keep to; `editing` names the one changed."""
    if draft.spec is None:
        return draft
    try:
        check_own(draft.spec)
    except SpecError as error:
        return replace(draft, errors=(*draft.errors, error))
    there = own_entry(draft.spec.name) if draft.spec.name != editing else None
    if there is None:
        return draft
    taken = SpecError(
        f"There is an own experiment {there.name} already, version {there.newest.n}.",
        field="name",
        remedy="Choose another name, or edit that one.",
        loc=("name",),
    )
    return replace(draft, errors=(*draft.errors, taken))


def placed(error: SpecError) -> dict[str, Any]:
    """An error for the page: the path of the field it is about, and what to say there."""
    return {
        "path": list(_nearest(error)),
        "field": error.field,
        "message": error.message.removeprefix(f"{error.field}: "),
        "remedy": error.remedy,
    }


def _nearest(error: SpecError) -> tuple[int | str, ...]:
    """Where it belongs: a message of a whole arm or work that names a key is about that key."""
    named = _NAMED.search(error.message.removeprefix(f"{error.field}: "))
    if named is None:
        return error.loc
    key = named[1]
    if len(error.loc) == 2 and key in SHORT_KEYS:
        return (*error.loc, key)
    if error.loc[2:] == ("workload",):
        return (*error.loc, key)
    return error.loc


def derived(spec: Spec, *, name: str, repeats: int | None = None) -> Spec:
    """A spec to start one's own from: without what is only true of the catalogue's.

    Aliases and published figures belong to the original's name and arms, and what it shows
    was said of these arms.
    """
    changes: dict[str, Any] = {
        "name": name,
        "aliases": (),
        "reference": None,
        "shows": (),
        "does_not_show": (),
        "order": Spec.model_fields["order"].default,
    }
    if repeats is not None:
        changes["repeats"] = repeats
    return spec.model_copy(update=changes)


def free_name(base: str) -> str:
    """The first of base-2, base-3, ... that neither the catalogue nor anybody uses."""
    stem = base[:50].strip("-")
    used = {known.casefold() for known in catalogue_names()}
    used |= set(OwnExperiment.objects.filter(name__startswith=stem).values_list("name", flat=True))
    number = 2
    while f"{stem}-{number}" in used:
        number += 1
    return f"{stem}-{number}"


def preview(draft: Draft, target: str) -> Choice | None:
    """What a run on the target would do; None where the draft is not sound.

    A missing or taken name is no reason to show nothing: a plan does not depend on it.
    """
    spec = draft.spec or _with_a_name(draft)
    if spec is None:
        return None
    found = statuses()
    status = next((each for each in found if each.name == target), best_for(spec) or found[0])
    return choice(spec, status, repeats=None, checked=True)


def _with_a_name(draft: Draft) -> Spec | None:
    if not isinstance(draft.raw, Mapping) or {error.loc for error in draft.errors} != {("name",)}:
        return None
    try:
        return parse_spec({**draft.raw, "name": DRAFT_NAME})
    except SpecErrors:
        return None


def _as_toml(raw: object) -> str | None:
    if not isinstance(raw, Mapping):
        return None
    try:
        return toml_text(raw)
    except (TypeError, RecursionError):  # a null or a fraction: the form has no such field
        return None


def plain(value: Any) -> Any:
    """TOML's values as JSON has them: dates become text."""
    return json.loads(json.dumps(value, cls=DjangoJSONEncoder))
