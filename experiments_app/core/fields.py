"""The kinds of value that a spec is made of, each with its own message and remedy.

Values stay as the text that was written; `core.quantity` turns them into numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from experiments_app.core.errors import SpecError
from experiments_app.core.quantity import parse_cpu, parse_duration, shown
from experiments_app.core.sizes import parse_size

LAB_ERROR = "lab"
MAX_MILLICPU = 1_024_000
MAX_DURATION_US = 3_600_000_000
MAX_SLUG = 60
MAX_PROSE = 4_000


def refuse(message: str, remedy: str = "") -> PydanticCustomError:
    """An error of ours on its way through pydantic; `core.spec_errors` takes it out again."""
    # The texts travel in the context: pydantic would format braces in the template.
    return PydanticCustomError(LAB_ERROR, "refused", {"message": message, "remedy": remedy})


def _checked(check: Callable[[str], object], value: str) -> None:
    try:
        check(value)
    except SpecError as error:
        raise refuse(error.message, error.remedy) from error


def cpu_text(value: object) -> str:
    """A CPU quantity as text; TOML numbers (limit = 2) are taken as they are written."""
    text = _as_text(value, 'Write it as text: "500m", "2" or "none".')
    _checked(parse_cpu, text)
    if (parse_cpu(text) or 0) > MAX_MILLICPU:
        most = MAX_MILLICPU // 1000
        raise refuse(f"{shown(text)} is more than {most} CPUs.", f"Give at most {most}.")
    return text


def limit_text(value: object) -> str:
    """A CPU limit: a quantity above 0, or "none"."""
    text = cpu_text(value)
    if parse_cpu(text) == 0:
        raise refuse("A limit of 0 lets nothing run.", 'Write "none" for no limit.')
    return text


def duration_text(value: object) -> str:
    """A duration with its unit, at most an hour."""
    if not isinstance(value, str):
        raise refuse(f"{brief(value)} has no unit.", 'Write it as text: "20ms", "1s" or "250us".')
    _checked(parse_duration, value)
    if parse_duration(value) > MAX_DURATION_US:
        raise refuse(f"{shown(value)} is longer than an hour.", "Give at most 1h.")
    return value


def size_text(value: object) -> str:
    """A size in bytes; a whole number is taken as it is written."""
    text = _as_text(value, 'Write it as text: "64MiB" or "1Mi".')
    _checked(parse_size, text)
    return text


def within(low: int, high: int) -> BeforeValidator:
    """Takes a whole number from `low` to `high`, also as the digits that a form sends."""

    def check(value: object) -> int:
        number = _whole_number(value)
        if not low <= number <= high:
            raise refuse(f"{number} is out of range.", f"Give a whole number, {low} to {high}.")
        return number

    return BeforeValidator(check)


def _whole_number(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,18}", value, re.ASCII):
        return int(value)
    raise refuse(f"{brief(value)} is not a whole number.", "Write digits only, such as 8.")


def slug_text(value: object) -> str:
    """A name in kebab case."""
    if not isinstance(value, str):
        raise refuse(f"{brief(value)} is not text.", _SLUG_HELP)
    if not value:
        raise refuse("The name is missing.", _SLUG_HELP)
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", value) or len(value) > MAX_SLUG:
        hint = suggest_slug(value)
        raise refuse(
            f"{shown(value)} is not a name.",
            _SLUG_HELP + (f" {shown(hint)} would do." if hint else ""),
        )
    return value


def alias_text(value: object) -> str:
    """A second name of an experiment, such as "E2a"."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}", value):
        raise refuse(
            f"{brief(value)} is not an alias.",
            "Use letters, digits, - and _, at most 60.",
        )
    return value


def prose_text(value: object) -> str:
    """Text for people; bounded, since it is stored with every run."""
    if not isinstance(value, str):
        raise refuse(f"{brief(value)} is not text.", "Write it in quotes.")
    if len(value) > MAX_PROSE:
        raise refuse(f"The text has {len(value)} characters.", f"Use at most {MAX_PROSE}.")
    text = value.replace("\r\n", "\n")  # as a form's text area sends it
    if any(unicodedata.category(c) in {"Cc", "Cs"} and c not in "\n\t" for c in text):
        raise refuse("The text holds control characters.", "Leave them out.")
    return text


_SLUG_HELP = f"Use small letters, digits and single hyphens, at most {MAX_SLUG}."


def suggest_slug(text: str) -> str:
    """The name that a person may have meant; empty when nothing is left of the text."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:MAX_SLUG].strip("-")


def brief(value: object) -> str:
    """A value as a message shows it: short, never a dump."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, (list, tuple)):
        return "a list"
    return "nothing" if value is None else shown(str(value)).strip('"')


def _as_text(value: object, help_text: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise refuse(f"{brief(value)} is no quantity.", help_text)


CpuText = Annotated[str, BeforeValidator(cpu_text)]
LimitText = Annotated[str, BeforeValidator(limit_text)]
DurationText = Annotated[str, BeforeValidator(duration_text)]
SizeText = Annotated[str, BeforeValidator(size_text)]
Slug = Annotated[str, BeforeValidator(slug_text)]
Alias = Annotated[str, BeforeValidator(alias_text)]
Prose = Annotated[str, BeforeValidator(prose_text)]


def refuse_twice(what: str, names: list[str]) -> None:
    """Refuse a name that is given twice among its siblings."""
    for name in names:
        if names.count(name) > 1:
            raise refuse(f"There are two {what}s named {name}.", "Give each its own name.")
