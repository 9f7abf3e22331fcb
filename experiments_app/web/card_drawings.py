"""Drawings for cards that are no bars: lines, boxes and text with their places.

Units are those of the drawing's own view box, `width` x `height`; the page scales it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from experiments_app.web.figure_names import quota_words

WIDTH = 320.0
_STEPS_HEIGHT = 128.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 26.0, 60.0, 10.0, 22.0


@dataclass(frozen=True, slots=True)
class Line:
    """A path; `look` is a class."""

    path: str
    look: str


@dataclass(frozen=True, slots=True)
class Box:
    """A rounded rectangle."""

    x: float
    y: float
    width: float
    height: float
    look: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A circle."""

    x: float
    y: float
    look: str


@dataclass(frozen=True, slots=True)
class Text:
    """Text whose `anchor` (start, middle, end) is at x, its baseline at y."""

    x: float
    y: float
    text: str
    look: str = "small"
    anchor: str = "start"


@dataclass(frozen=True, slots=True)
class Drawing:
    """All of a picture, and `alt`: the same in words."""

    height: float
    alt: str
    boxes: tuple[Box, ...] = ()
    lines: tuple[Line, ...] = ()
    dots: tuple[Dot, ...] = ()
    texts: tuple[Text, ...] = ()
    width: float = WIDTH


def steps(series: Mapping[str, Sequence[tuple[str, float]]]) -> Drawing:
    """Step lines over the same labels, each named at its end. `series`: name -> (label, value)."""
    labels = [label for label, _ in next(iter(series.values()))]
    top = max(value for points in series.values() for _, value in points)
    across = (WIDTH - _LEFT - _RIGHT) / max(1, len(labels) - 1)
    down = _STEPS_HEIGHT - _TOP - _BOTTOM

    def at(place: int, value: float) -> tuple[float, float]:
        return round(_LEFT + place * across, 1), round(_TOP + down * (1 - value / top), 1)

    lines, dots, texts, said = [], [], [], []
    base = _STEPS_HEIGHT - _BOTTOM
    lines.append(Line(f"M{_LEFT - 8} {base}H{WIDTH - _RIGHT + 8}", "axis"))
    for place, label in enumerate(labels):
        words = "no limit" if label == "none" else label
        texts.append(Text(at(place, 0)[0], _STEPS_HEIGHT - 8, words, anchor="middle"))
    # Values on the axis: those that occur.
    for value in sorted({value for points in series.values() for _, value in points}):
        texts.append(Text(_LEFT - 12, at(0, value)[1] + 3, f"{value:g}", anchor="end"))
    for look, (name, points) in zip(("first", "second", "third"), series.items(), strict=False):
        places = [at(place, value) for place, (_, value) in enumerate(points)]
        path = "M" + " ".join(f"{x} {y}" for x, y in places[:1])
        for (_, y0), (x1, y1) in pairwise(places):
            path += f"H{x1}" if y0 == y1 else f"H{round(x1 - across / 2, 1)}V{y1}H{x1}"
        lines.append(Line(path, look))
        dots += [Dot(x, y, look) for x, y in places]
        end_x, _ = places[-1]
        # Two lines may end at one point: the second name stands under the first.
        lower = sum(text.x == end_x + 8 for text in texts) * 11
        texts.append(Text(end_x + 8, places[-1][1] + 3 + lower, name, f"name {look}"))
        each = ", ".join(f"{label} {value:g}" for label, value in points)
        said.append(f"{name}: {each}")
    return Drawing(
        height=_STEPS_HEIGHT,
        alt="; ".join(said),
        lines=tuple(lines),
        dots=tuple(dots),
        texts=tuple(texts),
    )


def tree(pods: Sequence[tuple[str, Mapping[str, Mapping[str, int | float | str]]]]) -> Drawing:
    """Pods side by side: what the whole has, and in it a box for each container.

    `pods`: (name, units); a unit without a dot in its name is the whole.
    """
    gap, pad = 12.0, 6.0
    width = (WIDTH - gap * (len(pods) - 1)) / len(pods)
    most = max(sum("." in unit for unit in units) for _, units in pods)
    row, head = 32.0, 38.0
    height = head + most * (row + 4) + pad
    boxes, texts, said = [], [], []
    for place, (name, units) in enumerate(pods):
        x = round(place * (width + gap), 1)
        whole = next((values for unit, values in units.items() if "." not in unit), {})
        boxes.append(Box(x, 0.5, round(width, 1), height - 1, _look(whole)))
        texts.append(Text(x + 8, 15, name, "name"))
        texts.append(Text(x + 8, 29, f"pod: {_quota(whole)}"))
        parts = [(unit.partition(".")[2], v) for unit, v in units.items() if "." in unit]
        for line, (part, values) in enumerate(parts):
            y = head + line * (row + 4)
            boxes.append(Box(x + pad, y, round(width - 2 * pad, 1), row, f"inner {_look(values)}"))
            texts.append(Text(x + pad + 6, y + 13, part, "name"))
            texts.append(Text(x + pad + 6, y + 26, _quota(values)))
        inside = ", ".join(f"{part} {_quota(values)}" for part, values in parts)
        said.append(f"{name}: pod {_quota(whole)}, in it {inside}")
    return Drawing(height=height, alt="; ".join(said), boxes=tuple(boxes), texts=tuple(texts))


def _quota(values: Mapping[str, int | float | str]) -> str:
    words = quota_words(str(values.get("cpu_max", "")))
    return words.partition(",")[0]


def _look(values: Mapping[str, int | float | str]) -> str:
    return "open" if str(values.get("cpu_max", "max")).startswith("max") else "limited"
