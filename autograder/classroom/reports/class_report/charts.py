"""The charts of the report: inline SVG in the page's colors.

Each has a title that describes it in words; a table next to it has the figures.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from autograder.classroom.reports.class_report.item_analysis import POOR_DISCRIMINATION, Statistics

_WIDTH, _HEIGHT = 680, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 26, 14, 44
_LOWEST, _HIGHEST = -0.5, 1.0
_ADVANCE = 6.7
"""The greatest width of a character of a label, in units of the chart."""


def _x(solved: float) -> float:
    return _LEFT + solved * (_WIDTH - _LEFT - _RIGHT)


def _y(discrimination: float) -> float:
    part = (_HIGHEST - max(_LOWEST, min(_HIGHEST, discrimination))) / (_HIGHEST - _LOWEST)
    return _TOP + part * (_HEIGHT - _TOP - _BOTTOM)


def overview(statistics: Sequence[Statistics]) -> Markup:
    """Draw each exercise as a dot, by the share of students who solved it and discrimination."""
    dots = [each for each in statistics if each.discrimination is not None and each.tried]
    if not dots:
        return Markup("")
    named = [each for each in dots if each.faults]
    says = (
        f"{len(dots)} exercises by the part of students who solved them and by discrimination. "
        f"{len(named)} are unusual; they are listed in words above."
    )
    parts = [
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(says)}"><title>{escape(says)}</title>',
        *_axes(),
        *(_dot(each) for each in sorted(dots, key=lambda each: bool(each.faults))),
        *_labels(named),
        "</svg>",
    ]
    return Markup("".join(parts))


def _line(look: str, x1: float, y1: float, x2: float, y2: float) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line class="{look}" {ends}/>'


def _text(look: str, x: float, y: float, text: str, anchor: str = "start", turn: str = "") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{look}" {place}{turn}>{escape(text)}</text>'


def _axes() -> list[str]:
    right, floor = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts = []
    for tick in (-0.5, 0.0, 0.5, 1.0):
        y = _y(tick)
        parts.append(_line("grid", _LEFT, y, right, y))
        parts.append(_text("tick", _LEFT - 7, y + 4, f"{tick:.1f}", "end"))
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(_text("tick", _x(tick), floor + 17, f"{tick:.0%}", "middle"))
    parts.append(_line("mark", _LEFT, _y(POOR_DISCRIMINATION), right, _y(POOR_DISCRIMINATION)))
    says = "solved by, of those who tried"
    parts.append(_text("axis", (_LEFT + right) / 2, _HEIGHT - 6, says, "middle"))
    middle = (_TOP + floor) / 2
    turn = f' transform="rotate(-90 14 {middle:.0f})"'
    parts.append(_text("axis", 14, middle, "discrimination", "middle", turn))
    return parts


def _dot(each: Statistics) -> str:
    look = "dot named" if each.faults else "dot"
    x, y = _x(each.solved), _y(each.discrimination or 0.0)
    return f'<circle class="{look}" cx="{x:.1f}" cy="{y:.1f}" r="{5 if each.faults else 4}"/>'


def _labels(named: Sequence[Statistics]) -> list[str]:
    """Write names next to their dots, moved down until none covers another name or a dot."""
    parts = []
    places = [(_x(each.solved), _y(each.discrimination or 0.0)) for each in named]
    taken = [(x - 7, x + 7, y + 4) for x, y in places]
    for each in sorted(named, key=lambda each: -(each.discrimination or 0.0)):
        text = each.exercise if len(each.exercise) <= 28 else f"{each.exercise[:27]}…"
        width = len(text) * _ADVANCE
        x, y = _x(each.solved), _y(each.discrimination or 0.0)
        left = x - 9 - width if x + 9 + width > _WIDTH - _RIGHT else x + 9
        own = y + 4
        while any(
            abs(own - other) < 13 and left < end and begin < left + width
            for begin, end, other in taken
        ):
            own += 2
        if own > _HEIGHT - _BOTTOM - 2:
            continue  # there is no space left; the list above contains the name
        taken.append((left, left + width, own))
        edge = left + width if left < x else left
        if abs(own - y - 4) > 5:
            near = edge + 2 if left < x else edge - 2
            parts.append(_line("grid", x, y, near, own - 4))
        parts.append(_text("label", left, own, text))
    return parts


def by_ability(statistics: Statistics) -> Markup:
    """Draw bars: the mean share of five groups of students, from the weakest to the ablest."""
    groups = statistics.by_ability
    if not groups:
        return Markup("")
    means = ", ".join(f"{mean:.0%}" for mean in groups)
    says = f"Mean share of the points, from the weakest fifth to the ablest: {means}."
    size = f'viewBox="0 0 {len(groups) * 34} 62" width="{len(groups) * 34}" height="62"'
    parts = [f'<svg class="bars" {size} role="img" aria-label="{says}"><title>{says}</title>']
    for place, mean in enumerate(groups):
        height, x = max(1.0, mean * 44), place * 34 + 3
        box = f'x="{x}" y="{48 - height:.1f}" width="28" height="{height:.1f}"'
        parts.append(f'<rect class="bar" {box}/>')
        parts.append(_text("tick", x + 14, 60, f"{mean:.0%}", "middle"))
    return Markup("".join([*parts, "</svg>"]))
