"""Widths of texts, which the layout of pictures needs."""

from __future__ import annotations

import warnings

import pytest
from matplotlib.textpath import text_to_path

from autograder.drawing.style import MONO, MONO_BOLD, SANS, SANS_BOLD, font, measure_letters
from autograder.drawing.style import text_width as width

TEXTS = (
    "", "i", "call_function", "relu_1 = torch.relu(x)", "placeholder · x", "AVATAR, To.",
    "maxpool3: MaxPool2d(kernel_size=3, stride=2)", "é → ×", "图 1",
)  # fmt: skip


@pytest.mark.parametrize("name", [SANS, SANS_BOLD, MONO, MONO_BOLD])
@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_as_wide_as_matplotlib_lays_it_out(text: str, name: str) -> None:
    properties = font(name).copy()
    properties.set_size(11.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about glyphs missing from the font
        wide, _, _ = text_to_path.get_text_width_height_descent(text, properties, False)
    assert width(text, 11.0, name) == pytest.approx(wide, rel=0.01, abs=0.02)


def test_letters_can_be_measured_ahead() -> None:
    measure_letters()
    assert width("To", 10.0) < width("T", 10.0) + width("o", 10.0)  # kerning
