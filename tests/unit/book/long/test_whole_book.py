"""The book of all chapters, executed."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.book import catalogue, making
from autograder.builder import paths
from autograder.builder.outputs.solved_chapter import SOLVED, is_current, write_solved
from tests.support.pages import built_pages


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Execute all chapters and return their pages."""
    for path in paths.chapters():
        if not is_current(path):
            write_solved(path)
    solved = [SOLVED / f"{path.stem}.ipynb" for path in paths.chapters()]
    home = tmp_path_factory.mktemp("whole")
    return making.make(solved, making.what_questions_raise(), home, jobs=2).parent


def test_the_whole_book(whole: Path) -> None:
    assert len(list((whole / "chapters").glob("*.html"))) == len(paths.chapters())
    assert list(built_pages.from_elsewhere(whole)) == []
    assert list(built_pages.broken(whole)) == []


def test_the_catalogues_of_the_whole_book(whole: Path) -> None:
    assert catalogue.write_all(whole.parent) > 5000
