"""Chromium for pictures: two themes, common fonts, small files."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from pictures.gallery import MAX_BYTES, PICTURES, path_of
from tests.browser.desk import CHROMIUM

FLAGS = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--font-render-hinting=none"]
SCALE = 2
"""Device pixels for a CSS pixel, so that words are sharp."""

COLORS = 256
FONTS = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<include ignore_missing="yes">/etc/fonts/fonts.conf</include>
<alias binding="strong"><family>system-ui</family><prefer><family>Liberation Sans</family></prefer>
</alias>
<alias binding="strong"><family>sans-serif</family><prefer><family>Liberation Sans</family></prefer>
</alias>
</fontconfig>
"""
"""Linux has no system font. Liberation Sans is as wide as the system fonts of other platforms."""


class CannotPicture(Exception):
    """A picture cannot be made on this machine; the message says why."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser.

    Raises:
        CannotPicture: Chromium is missing.
    """
    if CHROMIUM is None:
        raise CannotPicture("There is no Chromium. On Debian and Ubuntu: apt install chromium")
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as fonts, sync_playwright() as playwright:
        fonts.write(FONTS)
        fonts.flush()
        environment = {**os.environ, "FONTCONFIG_FILE": fonts.name}
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=FLAGS, env=dict(environment)
        )
        yield browser
        browser.close()


def new_page(browser: Browser, theme: str, width: int, height: int = 800) -> Page:
    """A page in a theme, with a size in CSS pixels."""
    page = browser.new_page(
        viewport={"width": width, "height": height},
        device_scale_factor=SCALE,
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
    )
    page.set_default_timeout(60_000)
    return page


@cache
def theme_styles(theme: str) -> str:
    """The colors of JupyterLab's theme, for HTML outside of JupyterLab."""
    folder = Path(sys.prefix) / "share" / "jupyter" / "lab" / "themes" / "@jupyterlab"
    return (folder / f"theme-{theme}-extension" / "index.css").read_text(encoding="utf-8")


def save(png: bytes, name: str, theme: str) -> None:
    """Write a screenshot as a PNG with a palette.

    Raises:
        CannotPicture: it exceeds the size limit for pictures.
    """
    out = io.BytesIO()
    pixels = Image.open(io.BytesIO(png)).convert("RGB")
    # Other methods also change the large areas of one color.
    method, dither = Image.Quantize.MEDIANCUT, Image.Dither.NONE
    pixels.quantize(COLORS, method=method, dither=dither).save(out, "PNG", optimize=True)
    path = path_of(name, theme)
    if out.tell() > MAX_BYTES:
        raise CannotPicture(f"{path.name} has {out.tell()} bytes, more than {MAX_BYTES}.")
    PICTURES.mkdir(parents=True, exist_ok=True)
    path.write_bytes(out.getvalue())
    width, height = pixels.size
    print(f"{path.name}: {width} x {height}, {out.tell() // 1000} KB")
