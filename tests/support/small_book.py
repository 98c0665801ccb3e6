"""A book of two short chapters whose cells are not run."""

from __future__ import annotations

from pathlib import Path

from autograder.book import making
from autograder.builder.execute import solved
from autograder.builder.notebook_forms import as_text, source_notebook
from autograder.builder.paths import SOLUTIONS

CHAPTERS = ("02b_lint", "14b_sharing")
RAISED = {74: [("ModuleNotFoundError", "No module named 'torch.ao'\nmore lines")]}


def notebooks(folder: Path, names: tuple[str, ...] = CHAPTERS) -> list[Path]:
    """Chapters in solved form, as `fxcourse solutions` writes them, but without outputs."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in names:
        notebook = solved(source_notebook(SOLUTIONS / f"{name}.py", solved=True))
        written.append(folder / f"{name}.ipynb")
        written[-1].write_text(as_text(notebook), encoding="utf-8")
    return written


def make(home: Path) -> Path:
    """Make the book; returns the folder of its pages."""
    return making.make(notebooks(home / "notebooks"), RAISED, home).parent
