"""CPU quantities, durations and limits: exact in and out, never through a float.

Every parser raises `SpecError` with the text it was given, what is allowed and the remedy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from experiments_app.core.errors import SpecError

NONE = "none"
DEFAULT_PERIOD_US = 100_000
MIN_PERIOD_US = 1_000
MAX_PERIOD_US = 1_000_000
MIN_QUOTA_US = 1_000
# Kubernetes keeps a quantity in 64 bits; nothing larger can be meant.
MAX_MILLI = 2**63 - 1
MAX_TEXT = 64

_QUANTITY = re.compile(
    r"(?P<sign>[+-]?)(?P<number>\d+\.?\d*|\.\d+)"
    r"(?:(?P<suffix>[numkMGTPE]|[KMGTPE]i)|[eE](?P<exponent>[+-]?\d{1,3}))?",
    re.ASCII,
)
_SUFFIXES: dict[str, Fraction] = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "": Fraction(1),
    **{letter: Fraction(1000 ** (i + 1)) for i, letter in enumerate("kMGTPE")},
    **{f"{letter}i": Fraction(1024 ** (i + 1)) for i, letter in enumerate("KMGTPE")},
}
_DURATION_PART = re.compile(r"(\d+\.?\d*|\.\d+)(h|ms|m|s|us|\u00b5s|\u03bcs|ns)", re.ASCII)
_UNITS_US: dict[str, Fraction] = {
    "h": Fraction(3_600_000_000),
    "m": Fraction(60_000_000),
    "s": Fraction(1_000_000),
    "ms": Fraction(1_000),
    "us": Fraction(1),
    "\u00b5s": Fraction(1),
    "\u03bcs": Fraction(1),
    "ns": Fraction(1, 1000),
}
_CPU_HELP = 'Write whole CPUs ("2"), a decimal ("1.5"), thousandths of a CPU ("500m") or "none".'
_DURATION_HELP = 'Write a number with its unit: "250us", "20ms", "1.5s" or "1m30s".'


def parse_quantity(text: str) -> Fraction | None:
    """A Kubernetes quantity as an exact number; None for what is none, or cannot be meant."""
    found = _QUANTITY.fullmatch(text) if len(text) <= MAX_TEXT else None
    if found is None:
        return None
    exponent = int(found["exponent"] or 0)
    if abs(exponent) > 30:
        return None
    value = Fraction(_plain(found["number"])) * _SUFFIXES[found["suffix"] or ""]
    value *= Fraction(10) ** exponent
    return -value if found["sign"] == "-" else value


def parse_cpu(text: str) -> int | None:
    """Read a CPU quantity as Kubernetes writes it.

    Returns thousandths of a CPU (millicpu); None for "none". All suffixes of a Kubernetes
    quantity are accepted (n, u, m, k, M, ..., Ki, Mi, ..., exponents). Raises SpecError for
    what is no quantity, is negative, or is finer than 1m, which Kubernetes refuses for CPU.
    """
    if text == NONE:
        return None
    value = parse_quantity(text)
    if value is None:
        raise SpecError(f"{shown(text)} is not a CPU quantity.", remedy=_CPU_HELP)
    if value < 0:
        raise SpecError(f"{shown(text)} is negative.", remedy=_CPU_HELP)
    milli = value * 1000
    if milli.denominator != 1:
        raise SpecError(
            f"{shown(text)} is finer than 1m: Kubernetes does not allow CPU quantities with a "
            "precision finer than 1m (0.001 CPU).",
            remedy="Round it to whole thousandths of a CPU.",
        )
    if milli > MAX_MILLI:
        raise SpecError(f"{shown(text)} is larger than a quantity can be.", remedy=_CPU_HELP)
    return int(milli)


def format_cpu(millicpu: int | None) -> str:
    """Write millicpu the shortest way: "none", "2", "1500m"; `parse_cpu` reads it back."""
    if millicpu is None:
        return NONE
    if millicpu < 0:
        raise ValueError(f"millicpu is negative: {millicpu}")
    return str(millicpu // 1000) if millicpu % 1000 == 0 else f"{millicpu}m"


def parse_duration(text: str) -> int:
    """Read a duration ("20ms", "1m30s", "1.037s") as whole microseconds, exactly.

    Raises SpecError for what is no duration, has no unit, or is not a whole microsecond.
    """
    if text == "0":
        return 0
    if len(text) > MAX_TEXT:
        raise SpecError(f"{shown(text)} is not a duration.", remedy=_DURATION_HELP)
    total, at = Fraction(0), 0
    for part in _DURATION_PART.finditer(text):
        if part.start() != at:
            break
        total += Fraction(_plain(part[1])) * _UNITS_US[part[2]]
        at = part.end()
    if at == 0 or at != len(text):
        why = "has no unit" if _is_number(text) else "is not a duration"
        raise SpecError(f"{shown(text)} {why}.", remedy=_DURATION_HELP)
    if total.denominator != 1:
        raise SpecError(
            f"{shown(text)} is finer than a microsecond.",
            remedy="Round it to whole microseconds.",
        )
    return int(total)


def format_duration(us: int) -> str:
    """Write microseconds as a person would ("20ms", "1.037s", "1m30s"), exactly."""
    if us < 0:
        raise ValueError(f"duration is negative: {us}")
    if us == 0:
        return "0s"
    if us < 1_000:
        return f"{us}us"
    if us < 1_000_000:
        return _decimal(us, 1_000) + "ms"
    hours, rest = divmod(us, 3_600_000_000)
    minutes, rest = divmod(rest, 60_000_000)
    seconds = _decimal(rest, 1_000_000) + "s" if rest else ""
    return (f"{hours}h" if hours else "") + (f"{minutes}m" if minutes else "") + seconds


def say_duration(us: int) -> str:
    """The same for a sentence: "160 ms", "1 min 30 s"."""
    parts = re.findall(r"([\d.]+)([a-z]+)", format_duration(us))
    return " ".join(f"{number} {'min' if unit == 'm' else unit}" for number, unit in parts)


@dataclass(frozen=True, slots=True)
class CpuMax:
    """A limit in the kernel's terms (microseconds); quota None is no limit."""

    quota_us: int | None
    period_us: int = DEFAULT_PERIOD_US

    @property
    def millicpu(self) -> Fraction | None:
        """The limit in thousandths of a CPU, exact; None for no limit."""
        return None if self.quota_us is None else Fraction(self.quota_us * 1000, self.period_us)


def parse_cpu_max(text: str) -> CpuMax:
    """Read a cgroup v2 cpu.max: "max 100000", "50000 100000", or a quota alone.

    A quota alone means the kernel's default period. Raises SpecError for anything else.
    """
    words = text.split()
    help_text = 'It is "QUOTA PERIOD" in microseconds, or "max PERIOD" for no limit.'
    if not 1 <= len(words) <= 2 or not all(_is_count(w) for w in words[1:]):
        raise SpecError(f"{shown(text)} is not a cpu.max.", remedy=help_text)
    if words[0] != "max" and not _is_count(words[0]):
        raise SpecError(f"{shown(text)} is not a cpu.max.", remedy=help_text)
    period_us = int(words[1]) if len(words) == 2 else DEFAULT_PERIOD_US
    if period_us == 0:
        raise SpecError(f"{shown(text)} has a period of 0.", remedy=help_text)
    return CpuMax(None if words[0] == "max" else int(words[0]), period_us)


def format_cpu_max(limit: CpuMax) -> str:
    """Write a limit as cgroup v2's cpu.max takes it."""
    quota = "max" if limit.quota_us is None else str(limit.quota_us)
    return f"{quota} {limit.period_us}"


@dataclass(frozen=True, slots=True)
class QuotaPlan:
    """A limit turned into quota and period, with what the kernel's minimum does to it."""

    limit: CpuMax
    note: str = ""


def limit_to_quota(millicpu: int | None, period_us: int = DEFAULT_PERIOD_US) -> QuotaPlan:
    """Turn a limit in millicpu into a quota at a period (us), as the kubelet does.

    quota = millicpu * period / 1000, rounded down, at least 1000 us (the kernel's minimum:
    at a period of 100 ms a limit below 10m acts as 10m; the note says so). Raises SpecError
    for a period outside 1000 to 1000000 us or a limit of 0.
    """
    check_period(period_us)
    if millicpu is None:
        return QuotaPlan(CpuMax(None, period_us))
    if millicpu <= 0:
        raise SpecError("A limit of 0 lets nothing run.", remedy='Write "none" for no limit.')
    quota_us = millicpu * period_us // 1000
    if quota_us >= MIN_QUOTA_US:
        return QuotaPlan(CpuMax(quota_us, period_us))
    acts_as = -(-MIN_QUOTA_US * 1000 // period_us)
    return QuotaPlan(
        CpuMax(MIN_QUOTA_US, period_us),
        f"A limit of {format_cpu(millicpu)} acts as {format_cpu(acts_as)}: the kernel's smallest "
        f"quota is {say_duration(MIN_QUOTA_US)} a period, and the period here is "
        f"{say_duration(period_us)}.",
    )


def check_period(period_us: int) -> None:
    """Raise SpecError unless the kernel takes this period (1 ms to 1 s)."""
    if not MIN_PERIOD_US <= period_us <= MAX_PERIOD_US:
        raise SpecError(
            f"A period of {format_duration(max(period_us, 0))} is outside what the kernel takes.",
            remedy="Choose a period from 1ms to 1s; 100ms is the default.",
        )


def shown(text: str) -> str:
    """The text as a message quotes it: shortened, control characters visible."""
    cut = text if len(text) <= 60 else text[:57] + "..."
    return '"' + "".join(c if c.isprintable() else repr(c)[1:-1] for c in cut) + '"'


def decimal_to_fraction(text: str) -> Fraction | None:
    """A plain decimal number ("1.5", ".5", "2.") exactly; None for anything else."""
    return Fraction(_plain(text)) if len(text) <= MAX_TEXT and _is_number(text) else None


def _plain(number: str) -> str:
    """ "2." and ".5" as Fraction reads them."""
    return "0" + (number + "0" if number.endswith(".") else number)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 19


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d+\.?\d*|\.\d+", text, re.ASCII) is not None


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    return f"{whole}.{str(rest).zfill(len(str(unit)) - 1).rstrip('0')}" if rest else str(whole)
