"""Write plain values as TOML: the few forms that a spec needs, laid out for reading."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
# These read best on one line; other lists of tables become [[sections]].
_INLINE = frozenset({"steps"})


def toml_text(data: Mapping[str, Any]) -> str:
    """TOML for a mapping of text, integers, booleans, lists and mappings."""
    return "\n".join(_section(data, ())).strip("\n") + "\n"


def _section(data: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    """Plain keys first: TOML gives every key after a [[section]] to that section."""
    lines = [f"{_key(k)} = {_value(v)}" for k, v in data.items() if not _is_section(k, v)]
    for key, value in data.items():
        if _is_section(key, value):
            here = (*path, key)
            header = "[[" + ".".join(_key(part) for part in here) + "]]"
            for entry in value:
                lines += ["", header, *_section(entry, here)]
    return lines


def _is_section(key: str, value: object) -> bool:
    return (
        key not in _INLINE
        and isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) > 0
        and all(isinstance(entry, Mapping) for entry in value)
    )


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(str(k))} = {_value(v)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_value(entry) for entry in value) + "]"
    raise TypeError(f"no TOML for {type(value).__name__}")


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    return '"' + "".join(_escape(c) for c in text) + '"'


def _escape(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    return f"\\u{code:04X}" if code < 0x20 or code == 0x7F else char
