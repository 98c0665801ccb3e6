"""Draws outlines, lines and words on a matplotlib figure."""

from __future__ import annotations

from typing import Any

from autograder.drawing.style import INK, SANS, font

HEAD = 6.5  # the length of an arrow head


class Pen:
    """Draws paths and text on a figure; coordinates are points from its upper left corner."""

    def __init__(self, figure: Any, height: float) -> None:
        from matplotlib.transforms import Affine2D

        self.figure = figure
        self.scale = Affine2D().scale(1 / 72, -1 / 72).translate(0, height / 72)
        self.layer = 1

    def path(
        self, path: Any, x: float = 0.0, y: float = 0.0, fill: str = "none",
        edge: str = "none", width: float = 1.0, dash: tuple[float, ...] | None = None,
    ) -> None:  # fmt: skip
        from matplotlib.patches import PathPatch
        from matplotlib.transforms import Affine2D

        place = Affine2D().translate(x, y) + self.scale + self.figure.dpi_scale_trans
        self.figure.add_artist(
            PathPatch(
                path, transform=place, facecolor=fill, edgecolor=edge, linewidth=width,
                linestyle=(0, dash) if dash else "solid", zorder=self.layer,
                joinstyle="round", capstyle="butt", clip_on=False,
            )
        )  # fmt: skip

    def line(self, points: list[tuple[float, float]], colour: str, width: float) -> None:
        from matplotlib.path import Path

        self.path(Path(points), edge=colour, width=width)

    def text(
        self, text: str, x: float, y: float, size: float, name: str = SANS,
        colour: str = INK, align: str = "left",
    ) -> None:  # fmt: skip
        self.figure.text(
            x, y, text, transform=self.scale + self.figure.dpi_scale_trans,
            fontproperties=font(name), size=size, color=colour, ha=align,
            va="center_baseline", parse_math=False, zorder=self.layer + 0.5,
        )  # fmt: skip
