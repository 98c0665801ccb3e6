"""Outlines of the shapes, as matplotlib paths around the origin (``y`` downward)."""

from __future__ import annotations

from matplotlib.path import Path

M, L, C, Z = Path.MOVETO, Path.LINETO, Path.CURVE4, Path.CLOSEPOLY
_K = 0.5523  # distance of the control points of a quarter circle with radius 1

SLANT = 7.0
LID = 4.0  # half the height of a cylinder's lid
TIP = 7.0  # of a pentagon
BAR = 4.5  # of a barred box
STACK = 3.0


def outline(shape: str, width: float, height: float) -> Path:
    """The closed outline of a shape that fills ``width`` by ``height``."""
    w, h = width / 2, height / 2
    if shape == "stadium":
        return rounded(w, h, h)
    if shape == "round":
        return rounded(w, h, 4.0)
    if shape == "slanted":
        slant = min(SLANT, w / 2)
        return _polygon([(-w + slant, -h), (w, -h), (w - slant, h), (-w, h)])
    if shape == "pentagon":
        return _polygon([(-w, -h), (w, -h), (w, h - TIP), (0, h), (-w, h - TIP)])
    if shape == "cut":
        c = 6.0
        return _polygon([(-w + c, -h), (w - c, -h), (w, -h + c), (w, h - c), (w - c, h),
                         (-w + c, h), (-w, h - c), (-w, -h + c)])  # fmt: skip
    if shape == "cylinder":
        return _cylinder(w, h)
    return _polygon([(-w, -h), (w, -h), (w, h), (-w, h)])


def details(shape: str, width: float, height: float) -> list[Path]:
    """Lines inside an outline that belong to a shape."""
    w, h = width / 2, height / 2
    if shape == "barred":
        return [_line([(x, -h), (x, h)]) for x in (-w + BAR, w - BAR)]
    if shape == "cylinder":
        lid = [(-w, -h + LID), *_arc(w, -h + LID, LID)]
        return [Path(lid, [M] + [C] * 6)]
    return []


def backdrop(shape: str, width: float, height: float) -> list[Path]:
    """The lower sheets of a stack, drawn before its outline."""
    if shape != "stacked":
        return []
    w, h, s = width / 2, height / 2, STACK
    corners = [(-w, -h), (w, -h), (w, h), (-w, h)]
    return [_polygon([(x + s * i, y + s * i) for x, y in corners]) for i in (2, 1)]


def wire(points: tuple[tuple[float, float], ...], short: float) -> Path:
    """The path of a layout's wire, straight and curved in turn, `short` points short of its end."""
    vertices, codes = [points[0]], [M]
    for i, (x, y) in enumerate(points[1:], 1):
        x0, y0 = points[i - 1]
        if i % 2:
            end = y - short if i == len(points) - 1 else y
            vertices.append((x, end))
            codes.append(L)
        else:
            end = y - short if i == len(points) - 2 else y
            bend = (end - y0) * 0.5
            vertices += [(x0, y0 + bend), (x, end - bend), (x, end)]
            codes += [C, C, C]
    return Path(vertices, codes)


def head(x: float, y: float, size: float) -> Path:
    """An arrow head with its tip at a point, directed downward."""
    return _polygon([(x, y), (x - size * 0.55, y - size), (x + size * 0.55, y - size)])


def rounded(w: float, h: float, r: float) -> Path:
    """A rectangle of half width `w` and half height `h` with round corners."""
    r = min(r, w, h)
    k = r * (1 - _K)
    vertices = [
        (-w + r, -h), (w - r, -h), (w - k, -h), (w, -h + k), (w, -h + r),
        (w, h - r), (w, h - k), (w - k, h), (w - r, h),
        (-w + r, h), (-w + k, h), (-w, h - k), (-w, h - r),
        (-w, -h + r), (-w, -h + k), (-w + k, -h), (-w + r, -h), (-w + r, -h),
    ]  # fmt: skip
    return Path(vertices, [M] + [L, C, C, C] * 4 + [Z])


def _cylinder(w: float, h: float) -> Path:
    lid = [(-w, -h + LID), (-w, -h + LID - LID * _K), (-w * _K, -h), (0, -h),
           (w * _K, -h), (w, -h + LID - LID * _K), (w, -h + LID)]  # fmt: skip
    base = [(w, h - LID), (w, h - LID + LID * _K), (w * _K, h), (0, h),
            (-w * _K, h), (-w, h - LID + LID * _K), (-w, h - LID)]  # fmt: skip
    codes = [M] + [C] * 6 + [L] + [C] * 6 + [Z]
    return Path([*lid, *base, lid[0]], codes)


def _arc(w: float, y: float, ry: float) -> list[tuple[float, float]]:
    """The lower half of an ellipse, from left to right."""
    return [(-w, y + ry * _K), (-w * _K, y + ry), (0, y + ry),
            (w * _K, y + ry), (w, y + ry * _K), (w, y)]  # fmt: skip


def _polygon(points: list[tuple[float, float]]) -> Path:
    return Path([*points, points[0]], [M] + [L] * (len(points) - 1) + [Z])


def _line(points: list[tuple[float, float]]) -> Path:
    return Path(points, [M] + [L] * (len(points) - 1))
