"""Read an experiment from TOML text or from a mapping."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

from pydantic import ValidationError

from experiments_app.core.errors import SpecError
from experiments_app.core.fields import brief
from experiments_app.core.spec_errors import SpecErrors, explain
from experiments_app.core.spec_model import Spec

MAX_TEXT = 1_000_000
_POSITION = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")


def load_spec(text: str, source: str = "") -> Spec:
    """Read a spec from TOML text; `source` names the file in messages.

    Raises SpecErrors: for TOML's syntax with line and column, else for every wrong field.
    """
    if len(text) > MAX_TEXT:
        raise _alone(
            f"The text has {len(text)} characters.", "A spec has at most a million.", source
        )
    try:
        data = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise _syntax(str(error), text, source) from error
    except RecursionError as error:
        raise _alone("The text is nested too deeply.", "Write it flatter.", source) from error
    return parse_spec(data, source)


def parse_spec(data: object, source: str = "") -> Spec:
    """Read a spec from a mapping (a form, the API, parsed TOML).

    Raises SpecErrors with one error for every field that is wrong.
    """
    if not isinstance(data, Mapping):
        raise _alone(f"{brief(data)} is no experiment.", "Give a table with name and arms.", source)
    try:
        return Spec.model_validate(data)
    except ValidationError as error:
        raise explain(error, data, source) from error


def _syntax(message: str, text: str, source: str) -> SpecErrors:
    """TOML's own words, with where they apply put first."""
    found = _POSITION.search(message)
    if found and found[1]:
        where = f"line {found[1]}, column {found[2]}"
    else:
        where = f"line {text.count(chr(10)) + 1}, column {len(text) - text.rfind(chr(10))}"
    what = _POSITION.sub("", message)
    return _alone(
        f"{where}: this is not TOML: {what[:1].lower()}{what[1:]}.",
        'Check quotes, brackets and one "key = value" a line.',
        source,
    )


def _alone(message: str, remedy: str, source: str) -> SpecErrors:
    text = f"{source}: {message}" if source else message
    return SpecErrors([SpecError(text, remedy=remedy)])
