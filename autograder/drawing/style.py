"""Colours, fonts and sizes of the pictures, chosen to be told apart by everybody.

The hues are those of Okabe and Ito. A kind of node is said four times: by shape, by
opcode, by label and by colour; a mark by sign, dash, width and colour.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # matplotlib is imported only where something is drawn
    from matplotlib.font_manager import FontProperties
    from matplotlib.ft2font import FT2Font

PAPER = "#FFFFFF"
INK = "#1D2430"
QUIET = "#5F6B7A"
RULE = "#D5DAE1"
WIRE = "#5A6675"
ALARM = "#B3360B"

SANS, SANS_BOLD = "DejaVuSans.ttf", "DejaVuSans-Bold.ttf"
MONO, MONO_BOLD = "DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf"


@dataclass(frozen=True)
class Look:
    """How a kind of node looks."""

    shape: str
    fill: str
    edge: str


@dataclass(frozen=True)
class MarkLook:
    """How a mark looks: its colour and its dash pattern."""

    colour: str
    dash: tuple[float, ...] | None


LOOKS = {
    "placeholder": Look("stadium", "#DDEFFA", "#1F78AE"),
    "get_attr": Look("cylinder", "#FFF1CC", "#A87400"),
    "call_function": Look("round", "#EDF0F4", "#4B5868"),
    "call_method": Look("slanted", "#F5E6F0", "#9C4F80"),
    "call_module": Look("barred", "#DDF1EA", "#00775A"),
    "output": Look("pentagon", "#DDEFFA", "#1F78AE"),
    "foreign": Look("cut", "#FDEBE3", ALARM),
    "missing": Look("cut", "#FDEBE3", ALARM),
    "reference": Look("stadium", PAPER, QUIET),
}
FOLDED = Look("stacked", "#F7F8FA", "#4B5868")
UNKNOWN = Look("cut", "#EDF0F4", INK)

MARKS = {
    "added": MarkLook("#00654C", None),
    "removed": MarkLook("#C04A00", (3.2, 1.6)),
    "changed": MarkLook("#6B2FA0", (5.5, 1.5, 1.2, 1.5)),
}


def look_of(op: str) -> Look:
    """How nodes of an opcode look; an opcode that FX does not know has a look too."""
    return LOOKS.get(op, UNKNOWN)


@lru_cache(maxsize=8)
def font(name: str) -> FontProperties:
    """The `FontProperties` of one of matplotlib's own fonts, the same on every machine."""
    import matplotlib
    from matplotlib.font_manager import FontProperties

    return FontProperties(fname=str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name))


UNIT = 100.0
"""Points: texts are measured at this size, and scaled."""

UNKNOWN_LETTER = 1.1475
"""How wide a letter is that the font does not have, as a part of the size: as wide as matplotlib
lays it out."""


@lru_cache(maxsize=8192)
def text_width(text: str, size: float, name: str = SANS) -> float:
    """How wide a text is, in points.

    It is the sum of what its characters and each two neighbours take, as in
    `matplotlib.textpath.TextToPath.get_text_width_height_descent`, which lays each text out anew;
    here a character and a pair are measured once.
    """
    if name in (MONO, MONO_BOLD) and text.isascii():
        return len(text) * size * 0.602
    pairs = zip(text, text[1:], strict=False)
    wide = sum(_advance(name, c) for c in text) + sum(_kerning(name, *pair) for pair in pairs)
    return wide * size / UNIT


def measure_letters() -> None:
    """Measure now what most texts are made of, for all processes that are forked from this one."""
    for name in (SANS, SANS_BOLD):
        for letter in string.printable:
            _advance(name, letter)
        for left, right in product(f"{string.ascii_lowercase}{string.digits}_. ", repeat=2):
            _kerning(name, left, right)


@lru_cache(maxsize=4096)
def _advance(name: str, letter: str) -> float:
    from matplotlib.ft2font import LoadFlags

    face = _face(name)
    if not (index := face.get_char_index(ord(letter))):
        return UNKNOWN_LETTER * UNIT
    glyph = face.load_glyph(index, flags=LoadFlags.NO_HINTING)
    return float(glyph.linearHoriAdvance) / (1 << 16)


@lru_cache(maxsize=32_768)
def _kerning(name: str, left: str, right: str) -> float:
    from matplotlib.ft2font import Kerning

    face = _face(name)
    first, second = (face.get_char_index(ord(letter)) for letter in (left, right))
    return face.get_kerning(first, second, Kerning.UNFITTED) / (1 << 6)


def _face(name: str) -> FT2Font:
    """A font at `UNIT`; whoever else uses it sets a size of their own."""
    from matplotlib.font_manager import get_font

    face = get_font(str(font(name).get_file()))
    face.set_size(UNIT, 72.0)
    return face
