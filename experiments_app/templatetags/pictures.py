"""Small pictures as SVG paths."""

from __future__ import annotations

from collections.abc import Sequence

from django import template

register = template.Library()

WIDTH, HEIGHT = 120, 20


@register.simple_tag
def spark_path(walls: Sequence[int | None]) -> str:
    """Dots of the walls from 0 to their largest, left to right: a path of round strokes."""
    known = [wall for wall in walls if wall is not None]
    if not known:
        return ""
    top = max(known) or 1
    step = (WIDTH - 6) / max(1, len(walls) - 1)
    return "".join(
        f"M{3 + i * step:.1f} {HEIGHT - 3 - wall / top * (HEIGHT - 6):.1f}h0"
        for i, wall in enumerate(walls)
        if wall is not None
    )
