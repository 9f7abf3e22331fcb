"""From pydantic's errors to sentences that name the field, the value and the way out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from experiments_app.core import spec_model, workloads
from experiments_app.core.errors import SpecError
from experiments_app.core.fields import LAB_ERROR, brief
from experiments_app.core.short_form import SHORT_KEYS

Loc = tuple[int | str, ...]
MAX_ERRORS = 20


class SpecErrors(SpecError):
    """Everything that is wrong with a spec, one `SpecError` each, in `errors`."""

    def __init__(self, errors: Sequence[SpecError], *, left_out: int = 0) -> None:
        first = errors[0]
        if len(errors) == 1 and not left_out:
            super().__init__(first.message, field=first.field, remedy=first.remedy)
        else:
            lines = [str(error) for error in errors]
            more = [f"... and {left_out} more."] if left_out else []
            super().__init__("\n".join(lines + more), field=first.field)
        self.errors = tuple(errors)


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """A remedy for a word that is not known: the closest one, and all that there are."""
    names = list(known)
    folded = {name.lower(): name for name in names}
    close = difflib.get_close_matches(str(word)[:80].lower(), folded, 1, 0.6)
    guess = f"Did you mean {folded[close[0]]}? " if close else ""
    return f"{guess}Known: {', '.join(names)}." if names else guess.strip()


def explain(error: ValidationError, raw: object, source: str = "") -> SpecErrors:
    """Every error of a validation as ours; `raw` is what was given, to name arms by name."""
    # A list counts only its sound entries: with a wrong one in it, it is not short as well.
    details = [
        detail
        for detail in error.errors(include_url=False)
        if not (detail["type"] == "too_short" and detail["input"])
    ]
    # A person mends the first few; explaining thousands would only cost time.
    told = details[:MAX_ERRORS]
    found: dict[str, SpecError] = {}
    for detail in told:
        one = _explain_one(detail, raw, source)
        found.setdefault(str(one), one)
    return SpecErrors(list(found.values()), left_out=len(details) - len(told))


def _explain_one(detail: ErrorDetails, raw: object, source: str) -> SpecError:
    loc = _shorten(detail["loc"], raw)
    message, remedy = _words(detail, loc, raw)
    path = human_path(loc, raw)
    where = ": ".join(part for part in (source, path) if part)
    text = f"{where}: {message}" if where else message
    return SpecError(text, field=path, remedy=remedy, loc=loc)


def human_path(loc: Loc, raw: object) -> str:
    """A location as a person finds it: `arms[2] "limit-1": workload.threads`."""
    path, at = "", raw
    for step in loc:
        at = _inside(at, step)
        if isinstance(step, int):
            name = at.get("name") if isinstance(at, Mapping) else None
            path += f"[{step}]" + (f" {brief(name)}:" if isinstance(name, str) else "")
        else:
            word = step if re.fullmatch(r"[\w-]{1,60}", step) else brief(step)
            path += ("" if not path else " " if path.endswith(":") else ".") + word
    return path.removesuffix(":")


def _inside(value: object, step: int | str) -> object:
    if isinstance(value, Mapping):
        return value.get(step)
    if isinstance(value, Sequence) and isinstance(step, int) and step < len(value):
        return value[step]
    return None


def _shorten(loc: Loc, raw: object) -> Loc:
    """Drop what the person did not write: the tag of a union and the short form's insides."""
    tags = kinds()
    parts = [
        step
        for i, step in enumerate(loc)
        if not (step in tags and i > 0 and loc[i - 1] == "workload")
    ]
    if len(parts) > 2 and parts[0] == "arms" and isinstance(parts[1], int):
        arm = _inside(_inside(raw, "arms"), parts[1])
        inside = ["groups", 0, "containers", 0]
        if isinstance(arm, Mapping) and "groups" not in arm and parts[2:6] == inside:
            del parts[2:6]
    return tuple(parts)


def _words(detail: ErrorDetails, loc: Loc, raw: object) -> tuple[str, str]:
    """Message and remedy for one error; the last lines catch kinds that nobody foresaw."""
    kind, ctx, given = detail["type"], detail.get("ctx", {}), detail["input"]
    key = str(loc[-1]) if loc else ""
    if kind == LAB_ERROR:
        return str(ctx["message"]), str(ctx["remedy"])
    if kind == "missing":
        return "is missing.", _missing_help(key)
    if kind == "extra_forbidden" and key in SHORT_KEYS and len(loc) == 3 and loc[0] == "arms":
        return (
            "stands beside groups, which say it themselves.",
            "Put it into a container of a group, or leave groups out.",
        )
    if kind == "extra_forbidden":
        return "is not known here.", did_you_mean(key, known_keys(loc, raw))
    if kind == "union_tag_not_found":
        return "has no kind.", f"Give kind = one of: {', '.join(kinds())}."
    if kind == "union_tag_invalid":
        return f"{brief(ctx.get('tag'))} is no kind of workload.", did_you_mean(
            ctx.get("tag"), kinds()
        )
    if kind == "literal_error":
        return f"{brief(given)} is not possible.", did_you_mean(given, _choices(ctx))
    if kind == "invalid_key":
        return f"{brief(given)} is no key.", "Keys are text."
    if kind == "too_short":
        return "is empty.", f"Give at least {ctx.get('min_length')}."
    if kind == "too_long":
        return "has too many entries.", f"Give at most {ctx.get('max_length')}."
    if kind in {"tuple_type", "list_type"}:
        return f"{brief(given)} is not a list.", "Write it in square brackets."
    if kind in {"model_type", "model_attributes_type", "dict_type"}:
        return f"{brief(given)} is not a table.", "Write it as key = value pairs."
    return f"{brief(given)} is not accepted.", "See docs/experiments.md for what may stand here."


def _missing_help(key: str) -> str:
    examples = {
        "workload": 'Give workload = { kind = "burst", threads = 8, work = "20ms", '
        'interval = "1s", rounds = 20 }.',
        "arms": "Give at least one [[arms]].",
        "name": "Give it a name in small letters and hyphens.",
    }
    return examples.get(key, f"Give {key}.")


def _choices(ctx: Mapping[str, Any]) -> list[str]:
    expected = str(ctx.get("expected", "")).replace(" or ", ", ")
    return [word.strip(" '") for word in expected.split(",") if word.strip(" '")]


def kinds() -> dict[str, type[BaseModel]]:
    """The kinds of workload by their name in a spec."""
    return {
        str(cls.model_fields["kind"].default): cls
        for cls in workloads.WorkloadBase.__subclasses__()
    }


def known_keys(loc: Loc, raw: object) -> tuple[str, ...]:
    """The keys that may stand beside the one at `loc`."""
    names = [step for step in loc[:-1] if isinstance(step, str)]
    inner = names[-1] if names else ""
    if inner == "workload":
        at: object = raw
        for step in loc[:-1]:
            at = _inside(at, step)
        kind = at.get("kind") if isinstance(at, Mapping) else None
        cls = kinds().get(str(kind))
        return tuple(cls.model_fields) if cls else ("kind",)
    if inner == "arms":
        arm = _inside(_inside(raw, "arms"), loc[1])
        short = isinstance(arm, Mapping) and "groups" not in arm
        keys = tuple(spec_model.Arm.model_fields)
        return keys + SHORT_KEYS if short else keys
    tables: dict[str, type[BaseModel]] = {
        "": spec_model.Spec,
        "needs": spec_model.Needs,
        "groups": spec_model.Group,
        "containers": spec_model.Container,
        "steps": spec_model.Step,
    }
    return tuple(tables[inner].model_fields) if inner in tables else ()
