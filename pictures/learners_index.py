"""Screenshots of the index notebook in JupyterLab after a learner has passed three chapters."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from playwright.sync_api import Browser

from autograder.exercises import of_chapter
from autograder.workspace import index, progress_file, update
from autograder.workspace.given import INDEX
from autograder.workspace.location import ENV
from pictures.browser import chromium, new_page, save
from pictures.gallery import THEMES
from tests.browser.desk import Lab, running_lab

PASSED = ("00_start", "01_tracing", "02_nodes")
"""The chapters whose exercises the pictured learner has passed."""

WIDTH, HEIGHT = 1000, 720
THEME_NAMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
SETTINGS = {
    "adaptive-theme": True,
    **{f"preferred-{theme}-theme": name for theme, name in THEME_NAMES.items()},
}
IS_RENDERED = """() => [...document.querySelectorAll('.jp-MarkdownCell')].every(
    cell => cell.querySelector('.jp-RenderedMarkdown')?.offsetHeight > 20)"""
"""Whether JupyterLab has rendered the prose, which happens after the notebook is open."""


def take() -> None:
    """Make the picture of the index."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        _lab(folder) as lab,
        chromium() as browser,
    ):
        for theme in THEMES:
            save(_screenshot(browser, theme, lab), "index", theme)


@contextmanager
def _lab(folder: str) -> Iterator[Lab]:
    """JupyterLab on a workspace with some passed exercises."""
    home = Path(folder)
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "themes.jupyterlab-settings").write_text(json.dumps(SETTINGS), encoding="utf-8")
    update.open_workspace(home / "my")
    with mock.patch.dict(os.environ, {ENV: str(home / "my")}):
        for exercise in (each for chapter in PASSED for each in of_chapter(chapter)):
            progress_file.record_verdict(exercise.name, "passed")
        index.refresh(home / "my")
    with running_lab(home) as lab:
        yield lab


def _screenshot(browser: Browser, theme: str, lab: Lab) -> bytes:
    page = new_page(browser, theme, WIDTH, HEIGHT)
    page.goto(lab.url(f"{INDEX}.ipynb"))
    page.locator(f"body[data-jp-theme-name='{THEME_NAMES[theme]}']").wait_for(state="attached")
    page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for()
    page.wait_for_function(IS_RENDERED)
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    page.keyboard.press("Control+b")  # closes the file list, which shows the age of each file
    page.locator("#jp-left-stack").wait_for(state="hidden")
    page.wait_for_load_state("networkidle")
    png = page.screenshot()
    page.close()
    return png
