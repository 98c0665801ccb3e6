"""A book of two short chapters; their cells run only if a test needs outputs."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from autograder.book import making
from autograder.builder.notebook_forms import as_text, source_notebook
from autograder.builder.outputs.execute import solved
from autograder.builder.outputs.solved_chapter import SOLVED, is_current, write_solved
from autograder.builder.paths import SOLUTIONS

CHAPTERS = ("02b_lint", "14b_sharing")
RAISED = {74: [("ModuleNotFoundError", "No module named 'torch.ao'\nmore lines")]}


def notebooks(folder: Path, executed: Collection[str] = ()) -> list[Path]:
    """Write the chapters in solved form, as `fxcourse solutions` does.

    Args:
        folder: the folder for the notebooks.
        executed: the chapters whose cells must run, unless they ran before.
    """
    folder.mkdir(parents=True, exist_ok=True)
    return [_notebook(SOLUTIONS / f"{name}.py", folder, name in executed) for name in CHAPTERS]


def make(home: Path, executed: Collection[str] = ()) -> Path:
    """Make the book; return the folder of its pages."""
    return making.make(notebooks(home / "notebooks", executed), RAISED, home).parent


def _notebook(chapter: Path, folder: Path, run: bool) -> Path:
    if run and is_current(chapter):
        return SOLVED / f"{chapter.stem}.ipynb"
    if run:
        return write_solved(chapter)
    path = folder / f"{chapter.stem}.ipynb"
    path.write_text(as_text(solved(source_notebook(chapter, solved=True))), encoding="utf-8")
    return path
