"""How templates write numbers: three significant digits, a unit, null is "not measured".

The same rules as static/js/format.js; one table of cases tests both.
"""

from __future__ import annotations

import math
import re
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

THIN = "\u2009"
NBSP = "\u00a0"
NOT_MEASURED = "not measured"

Number = int | float | None


def _spaced(whole: str) -> str:
    return re.sub(r"\B(?=(\d{3})+$)", THIN, whole)


def _fixed(size: float, decimals: int) -> str:
    """As JavaScript's toFixed: halves go up."""
    step = Decimal(1).scaleb(-decimals)
    return f"{Decimal(size).quantize(step, rounding=ROUND_HALF_UP):f}"


@register.filter
def number(value: Number) -> str:
    """Three significant digits at least; whole numbers keep all their digits."""
    if value is None:
        return NOT_MEASURED
    size = abs(value)
    decimals = 0
    if 0 < size < 99.95:
        decimals = max(0, 2 - math.floor(math.log10(size)))
        # Rounding may carry into the next digit (9.996 -> 10.0): ask for the digits twice.
        rounded = float(_fixed(size, decimals)) or size
        decimals = min(6, max(0, 2 - math.floor(math.log10(rounded))))
    whole, _, part = _fixed(size, decimals).partition(".")
    sign = "\u2212" if value < 0 else ""
    return f"{sign}{_spaced(whole)}{'.' + part if part else ''}"


@register.filter
def count(value: Number) -> str:
    """A count: no decimals."""
    return NOT_MEASURED if value is None else _spaced(_fixed(value, 0))


@register.filter
def time_us(value: Number) -> str:
    """A time in us: ms, and s from 10 s on."""
    if value is None:
        return NOT_MEASURED
    if value == 0:
        return f"0{NBSP}ms"
    large = abs(value) >= 10_000_000
    return f"{number(value / (1e6 if large else 1e3))}{NBSP}{'s' if large else 'ms'}"


@register.filter
def cpu_us(value: Number) -> str:
    """CPU time in us, summed over CPUs: CPU ms, and CPU s from one second on."""
    if value is None:
        return NOT_MEASURED
    if value == 0:
        return f"0{NBSP}CPU{NBSP}ms"
    large = abs(value) >= 1_000_000
    return f"{number(value / (1e6 if large else 1e3))}{NBSP}CPU{NBSP}{'s' if large else 'ms'}"


@register.filter
def cpus(value: Number) -> str:
    """A number of CPUs."""
    if value is None:
        return NOT_MEASURED
    return f"{'0' if value == 0 else number(value)}{NBSP}CPU"


@register.filter
def duration_us(value: Number) -> str:
    """A plan's duration, for people: "1 min 12 s"."""
    if value is None:
        return "not known"
    seconds = max(0, round(value / 1e6))
    if seconds < 60:
        return f"{seconds}{NBSP}s"
    minutes, rest = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes}{NBSP}min{NBSP}{rest:02d}{NBSP}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}{NBSP}h{NBSP}{minutes:02d}{NBSP}min"


@register.filter
def moment(value: datetime | None) -> SafeString | str:
    """An instant as <time>, written in UTC; the page rewrites it in the reader's zone."""
    if value is None:
        return "not yet"
    return format_html(
        '<time datetime="{}">{} UTC</time>',
        value.isoformat(timespec="milliseconds"),
        value.strftime("%Y-%m-%d %H:%M"),
    )


@register.simple_tag(takes_context=True)
def current(context: dict[str, Any], *names: str) -> SafeString | str:
    """aria-current for the navigation link whose pages have one of these URL names."""
    match = getattr(context.get("request"), "resolver_match", None)
    name = match.url_name if match is not None else None
    return SafeString('aria-current="page"') if name in names else ""


@register.filter
def seconds(value: int | None) -> str:
    """Seconds until something, for people; None where it cannot be said."""
    return "not known" if value is None else duration_us(value * 1_000_000)


@register.filter
def words(name: str) -> str:
    """A name of a fact, for people."""
    return name.replace("_", " ")
