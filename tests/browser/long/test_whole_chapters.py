"""Every chapter runs from its first to its last cell in JupyterLab."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.exercises import EXERCISES
from tests.browser.desk import CHROMIUM, Lab, Notebook, only
from tests.browser.test_browser_chapters import CHAPTERS, DEEP_DIVES, go_through

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_whole_chapter_runs(chapter: str, page: Any, lab: Lab) -> None:
    try:
        notebook = Notebook(page, lab, f"{chapter}.ipynb")
        notebook.run_all()
        for each in EXERCISES.values():
            if each.chapter == chapter:  # chapter 0 shows other outcomes before
                text = notebook.output(notebook.cell(only(f"check({each.name})")))
                assert "Not attempted yet" in text or "passed" in text.lower()
    finally:
        lab.end_kernels()


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("chapter", DEEP_DIVES)
def test_a_learner_goes_through_a_deep_dive(chapter: str, page: Any, lab: Lab) -> None:
    go_through(chapter, page, lab)
