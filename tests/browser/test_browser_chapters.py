"""Every chapter from a learner's view: wrong, crashed, right, a hint, the debrief.

Only each chapter's imports and one exercise run, in a kernel that ends before the next one starts.
`make test-long` does the same for deep dives, and also runs every chapter completely.
"""

from __future__ import annotations

import re
from typing import Any

import nbformat
import pytest

from autograder.builder.outputs.references import solve_sources
from autograder.builder.paths import COURSE
from autograder.exercises import EXERCISES
from tests.browser.desk import CHROMIUM, Lab, Notebook, only

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]

CHAPTERS = [path.stem for path in sorted(COURSE.glob("*.ipynb"))]
NOT_THE_FIRST = {
    "06_interpreter": "record_shapes",
    "08_limits": "dropout_that_listens",
    "12c_normalize": "fuse_rms_norm",
}
"""Exercises to use if an exception in the chapter's first exercise counts as a wrong answer."""

DEEP_DIVES = [name for name in CHAPTERS if name.partition("_")[0][2:]]
"""Deep dives, which `make test-long` goes through."""

DUELS = "09b_duels"
"""In this chapter an answer is a model, and an exception in it is a wrong answer."""

HIGHEST = 520
"""Maximum height of a card in CSS pixels, so that its evidence is visible without scrolling."""

FIRST = "00_start"
"""In this chapter the stub counts as a wrong attempt."""

STUBS = (
    "raise NotImplementedError  # Write your code here, in place of this line.",
    "return [node.op for node in gm.graph.nodes]",
)


class Desk:
    """One exercise of a chapter that is open in JupyterLab."""

    def __init__(self, page: Any, lab: Lab, chapter: str) -> None:
        first = next(each.name for each in EXERCISES.values() if each.chapter == chapter)
        self.name = NOT_THE_FIRST.get(chapter, first)
        self.notebook = Notebook(page, lab, f"{chapter}.ipynb")
        self.check = self.notebook.cell(only(f"check({self.name})"))
        self.solve = self.notebook.before(self.check)
        self.hint = self.notebook.cell(only(f'hint("{self.name}")'))
        self.debrief = self.notebook.cell(only(f'debrief("{self.name}")'))

    def try_(self, source: str) -> str:
        """Write an answer and run its cell; return the text of the card."""
        self.notebook.write(self.solve, source)
        return self.notebook.run(self.solve)

    def height(self) -> float:
        """The height of the last card before any fold is opened."""
        box = self.solve.locator(".jp-OutputArea-output").last.bounding_box()
        return float(box["height"])


@pytest.mark.parametrize("chapter", [name for name in CHAPTERS if name not in DEEP_DIVES])
def test_a_learner_goes_through_a_chapter(chapter: str, page: Any, lab: Lab) -> None:
    go_through(chapter, page, lab)


def go_through(chapter: str, page: Any, lab: Lab) -> None:
    """Answer an exercise wrongly, with an error, and right; check hints and debrief."""
    try:
        desk = Desk(page, lab, chapter)
        stub = solve_stub(chapter, desk.name)
        desk.notebook.run(desk.notebook.first, shows=False)
        desk.notebook.run(desk.solve, shows=False)
        untouched = "Not right yet" if chapter == FIRST else "Not attempted yet"
        assert untouched in desk.notebook.run(desk.check)
        assert "opens after you have passed it" in desk.notebook.run(desk.debrief)
        assert re.search(r"Hint 1 of \d", desk.notebook.run(desk.hint))
        wrong = desk.try_(stub.format("return None"))
        assert "Not right yet" in wrong and f'hint("{desk.name}")' in wrong
        assert desk.height() <= HIGHEST
        crashed = desk.try_(stub.format('raise ValueError("mine")'))
        assert ("Not right yet" if chapter == DUELS else "Crashed") in crashed
        assert "mine" in crashed
        assert desk.height() <= HIGHEST
        right = desk.try_(solve_sources(chapter)[desk.name])
        assert "Passed" in right and "Compare with other right answers" in right
        assert desk.notebook.run(desk.check).strip() == "Checked above: passed."
        assert "A trap." in desk.notebook.run(desk.debrief)
        desk.notebook.shot(f"chapter_{chapter}", desk.solve)
    finally:
        lab.end_kernels()


def solve_stub(chapter: str, name: str) -> str:
    """The answer cell, with ``{0}`` instead of the stub's line."""
    cells = nbformat.read(COURSE / f"{chapter}.ipynb", as_version=4).cells
    cell = next(str(cell.source) for cell in cells if cell.get("id") == name)
    (stub,) = (line for line in STUBS if line in cell)
    return cell.replace("{", "{{").replace("}", "}}").replace(stub, "{0}")
