"""Graph pictures as SVG files, one for each theme, because a file cannot follow a theme."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

INK, PAPER = "--jp-content-font-color1", "--jp-layout-color1"
COLORS = {
    "light": {INK: "#1f2328", PAPER: "#ffffff"},
    "dark": {INK: "#f0f6fc", PAPER: "#0d1117"},
}
"""Foreground and background of GitHub's pages, by theme."""

_SVG = re.compile(r"<svg\b.*?</svg>", re.S)
_HEAD = re.compile(
    r'<svg role="img" aria-label="(?P<alt>[^"]*)" viewBox="(?P<box>[^"]*)" '
    r'width="(?P<width>\d+)" height="(?P<height>\d+)"[^>]*>'
)
_TAG = re.compile(r'<(?P<inner>[^<>]*?) ?style="(?P<style>[^"]*)"(?P<end>/?)>')
_VARIABLE = re.compile(r"var\((--jp-[\w-]+),#\w{6}\)")
_MIX = re.compile(r"color-mix\(in srgb,(#\w{6}) (\d+)%,(#\w{6})\)")


@dataclass(frozen=True)
class GraphPicture:
    """A graph picture from the output of a cell.

    Attributes:
        alt: the picture in a few words.
        width: the width on a page, in CSS pixels.
        files: the text of the SVG file for each theme.
    """

    alt: str
    width: int
    files: dict[str, str]


def graph_pictures(html: str) -> list[GraphPicture]:
    """The pictures in the output of `draw`; none if the graph was too large to draw."""
    return [_picture(svg) for svg in _SVG.findall(html)]


def _picture(svg: str) -> GraphPicture:
    head = _HEAD.match(svg)
    if head is None:
        raise ValueError(f"This is not how `draw` begins an SVG: {svg[:200]}")
    files = {theme: _file(svg, head, colors) for theme, colors in COLORS.items()}
    alt = unescape(head["alt"]).split("\n")[0].strip()
    return GraphPicture(alt, int(head["width"]), files)


def _file(svg: str, head: re.Match[str], colors: dict[str, str]) -> str:
    body = _VARIABLE.sub(lambda name: colors[name[1]], svg[head.end() :])
    body = _TAG.sub(_paint, _MIX.sub(_mix, body))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{head["box"]}" '
        f'width="{head["width"]}" height="{head["height"]}">\n'
        f'<rect width="100%" height="100%" fill="{colors[PAPER]}"/>\n'
        f"{body.replace('><', '>' + chr(10) + '<')}\n"
    )


def _mix(mix: re.Match[str]) -> str:
    """Mix two colors as CSS does: each channel is a weighted mean."""
    share = int(mix[2]) / 100
    pairs = zip(_channels(mix[1]), _channels(mix[3]), strict=True)
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def _channels(color: str) -> list[int]:
    return [int(color[at : at + 2], 16) for at in (1, 3, 5)]


def _paint(tag: re.Match[str]) -> str:
    """A tag with its colors as attributes, because some viewers drop styles."""
    inner = tag["inner"]
    for declaration in tag["style"].split(";"):
        name, _, value = declaration.partition(":")
        inner = re.sub(rf'\b{name}="[^"]*"', f'{name}="{value}"', inner)
    return f"<{inner.rstrip()}{tag['end']}>"
