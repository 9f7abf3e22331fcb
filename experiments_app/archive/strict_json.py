"""JSON as both databases and every browser take it, or a sentence why not."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn

from experiments_app.archive.errors import DocumentError

_DIGITS = 18
# A NUL, or half of a surrogate pair: PostgreSQL stores neither, UTF-8 knows no half pair.
_SUSPECT = re.compile(r"\\u(0000|[dD][89a-fA-F])")


def parse(data: bytes, where: str) -> Any:
    """Read UTF-8 JSON. Raises DocumentError for anything that is not plain JSON.

    Refused beside bad syntax: a key given twice, NaN and infinity, whole numbers of more
    than 18 digits, text with NUL or half a surrogate pair.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _wrong(where, f"byte {error.start} is not UTF-8 text") from error
    try:
        value = json.loads(
            text,
            object_pairs_hook=lambda pairs: _object(pairs, where),
            parse_constant=lambda name: _refuse(where, f"{name} is no number"),
            parse_float=lambda digits: _float(digits, where),
            parse_int=lambda digits: _int(digits, where),
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _wrong(where, f"{place}: {error.msg[:1].lower()}{error.msg[1:]}") from error
    except RecursionError as error:
        raise _wrong(where, "it is nested too deeply") from error
    if _SUSPECT.search(text):
        _check_text(value, where)
    return value


def _object(pairs: list[tuple[str, Any]], where: str) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        _refuse(where, f'the key "{twice[:60]}" is given twice in one object')
    return found


def _int(digits: str, where: str) -> int:
    if len(digits.lstrip("-")) > _DIGITS:
        _refuse(where, f"{digits[:20]}… has more than {_DIGITS} digits")
    return int(digits)


def _float(digits: str, where: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        _refuse(where, f"{digits[:20]} is too large")
    return value


def _check_text(value: Any, where: str) -> None:
    waiting = [value]
    while waiting:
        at = waiting.pop()
        if isinstance(at, dict):
            waiting += [*at.keys(), *at.values()]
        elif isinstance(at, list):
            waiting += at
        elif isinstance(at, str) and any(c == "\0" or "\ud800" <= c <= "\udfff" for c in at):
            _refuse(where, "a text holds NUL or half a surrogate pair")


def _wrong(where: str, what: str) -> DocumentError:
    return DocumentError(
        f"{where} is not a run document: {what}.",
        remedy="Choose the JSON document or the zip that an export wrote.",
    )


def _refuse(where: str, what: str) -> NoReturn:
    raise _wrong(where, what)
