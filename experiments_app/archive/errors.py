"""What an import refuses, in words: what is wrong, where it stands, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from experiments_app.core.errors import LabError
from experiments_app.core.fields import LAB_ERROR, brief
from experiments_app.core.spec_errors import human_path

SHOWN = 5
T = TypeVar("T")

_KINDS = {
    "int_type": "a whole number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "datetime_type": "an instant as text, such as 2026-01-31T12:00:00.123Z",
    "none_required": "null: this version of the lab knows nothing else here",
}


class DocumentError(LabError):
    """The file is no run that can be imported; nothing was stored."""

    code = "bad-document"


class AlreadyHere(LabError):
    """The same run is in this archive already; `number` is its number here."""

    code = "already-here"

    def __init__(self, number: int) -> None:
        super().__init__(f"This run is already here as run {number}.", remedy=f"Open run {number}.")
        self.number = number


def read_as(shape: TypeAdapter[T], value: object, where: str) -> T:
    """The value in this shape. Raises DocumentError naming the first few wrong places."""
    try:
        return shape.validate_python(value)
    except ValidationError as error:
        raise _explain(error, value, where) from error


def _explain(error: ValidationError, raw: object, where: str) -> DocumentError:
    lines: dict[str, str] = {}
    for detail in error.errors(include_url=False):
        path = human_path(detail["loc"], raw)
        lines.setdefault(path, ": ".join(part for part in (where, path, _words(detail)) if part))
    shown = list(lines.values())
    if len(shown) > SHOWN:
        shown = [*shown[:SHOWN], f"{len(lines) - SHOWN} more places are wrong."]
    remedy = "Export the run again; if it was edited, put this right."
    return DocumentError("\n".join(shown), remedy=remedy)


def _words(detail: ErrorDetails) -> str:
    kind, given = detail["type"], brief(detail["input"])
    context: Mapping[str, Any] = detail.get("ctx", {})
    if kind == LAB_ERROR:
        return f"{context['message']} {context['remedy']}".strip()
    if kind == "missing":
        return "is missing."
    if kind == "extra_forbidden":
        return "is not known here."
    if kind in _KINDS:
        return f"{given} is not {_KINDS[kind]}."
    if kind == "literal_error":
        return f"{given} is not one of {context['expected']}."
    if kind in {"greater_than_equal", "less_than_equal", "less_than"}:
        return f"{given} is out of range."
    if kind in {"too_long", "string_too_long"}:
        return f"is too long: at most {context['max_length']}."
    if kind == "too_short":
        return "is empty."
    if kind in {"union_tag_invalid", "union_tag_not_found"}:
        return "has no kind that is known here."
    return f"{given} is not accepted."
