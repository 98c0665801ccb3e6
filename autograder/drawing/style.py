"""Colors, fonts and sizes of the pictures, chosen so that all readers can distinguish them.

The hues are those of Okabe and Ito. Each kind of node differs in four ways: shape, opcode, label
and color; each mark in sign, dash, width and color.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # matplotlib is imported only when something is drawn
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
    """Shape and colors of a kind of node."""

    shape: str
    fill: str
    edge: str


@dataclass(frozen=True)
class MarkLook:
    """Color and dash pattern of a mark."""

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
    """The look of nodes with an opcode; opcodes that FX does not know have one too."""
    return LOOKS.get(op, UNKNOWN)


@lru_cache(maxsize=8)
def font(name: str) -> FontProperties:
    """The `FontProperties` of one of matplotlib's own fonts, the same on every machine."""
    import matplotlib
    from matplotlib.font_manager import FontProperties

    return FontProperties(fname=str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name))


UNIT = 100.0
"""Points: texts are measured at this size, and the results are scaled."""

UNKNOWN_LETTER = 1.1475
"""Width of a letter that is not in the font, in units of the size, as in matplotlib's layout."""


@lru_cache(maxsize=8192)
def text_width(text: str, size: float, name: str = SANS) -> float:
    """The width of a text, in points.

    It is the sum of the widths of its characters and of the kerning of each two neighbors, as in
    `matplotlib.textpath.TextToPath.get_text_width_height_descent`, which lays out each text again;
    here each character and each pair is measured only once.
    """
    if name in (MONO, MONO_BOLD) and text.isascii():
        return len(text) * size * 0.602
    pairs = zip(text, text[1:], strict=False)
    wide = sum(_advance(name, c) for c in text) + sum(_kerning(name, *pair) for pair in pairs)
    return wide * size / UNIT


def measure_letters() -> None:
    """Measure the common letters and pairs now, for all processes forked from this one."""
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
    """A font at `UNIT`; set at each call, because other users of the font change its size."""
    from matplotlib.font_manager import get_font

    face = get_font(str(font(name).get_file()))
    face.set_size(UNIT, 72.0)
    return face
