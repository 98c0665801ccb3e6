"""Estimated minutes of a chapter: text to read, code to run, exercises to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder import builder
from autograder.builder.cell_ids import id_of_text
from autograder.builder.minutes import Effort, effort, minutes_of
from autograder.builder.sections import opening, sections
from autograder.builder.source import Chapter, read
from autograder.cli import main
from tests.support import build_fixture
from tests.support.build_fixture import CARDS


def chapter_of(folder: Path, text: str) -> Chapter:
    return read(build_fixture.write(folder, text))[0]


@pytest.mark.parametrize(
    ("text", "words", "lines"),
    [
        ("# %% [markdown]\n# # Two words", 2, 0),
        ("# %% [markdown]\n# `x = 1` is *three* words more.", 6, 0),
        ("# %% [markdown]\n# | a | b |\n# |---|---|\n# | c | 3 |", 4, 0),
        ("# %% [markdown]\n# [a page](https://example.org/a/b) and <code>f(x)</code>", 4, 0),
        ("# %% [markdown]\n# if a < b, and c > d", 6, 0),
        ("# %% [markdown]\n# See:\n#\n# ```python\n# x = 1\n#\n# y = 2\n# ```\n# Then.", 2, 2),
        ("# %%\nx = 1\n\n\ny = 2  # a comment", 0, 2),
        ('# %% raises="ZeroDivisionError"\n1 / 0', 0, 1),
        ('# %% uses="after"\nprint(after(1))', 0, 1),
    ],
)
def test_prose_and_code_are_read(tmp_path: Path, text: str, words: int, lines: int) -> None:
    assert effort(chapter_of(tmp_path, text), CARDS) == Effort(words, lines, 0)


def test_an_exercise_takes_its_own_minutes_and_is_not_read(tmp_path: Path) -> None:
    chapter = chapter_of(tmp_path, build_fixture.CHAPTER)
    whole = effort(chapter, CARDS)
    assert whole.exercises == sum(card.minutes for card in CARDS)
    plain = [cell for cell in chapter.cells if cell.tag in ("", "raises")]
    assert effort(replace(chapter, cells=tuple(plain)), CARDS) == replace(whole, exercises=0)
    some = [cell for cell in chapter.cells if cell.value == "after"]
    assert effort(replace(chapter, cells=tuple(some)), CARDS) == Effort(0, 0, CARDS[0].minutes)


def test_a_begun_minute_is_counted(tmp_path: Path) -> None:
    assert Effort(300, 24, 5).minutes == 2 + 2 + 5
    assert Effort(301, 24, 5).minutes == 2 + 2 + 5 + 1
    assert Effort(75, 6, 0).minutes == 1
    chapter = chapter_of(tmp_path, build_fixture.CHAPTER)
    assert minutes_of(chapter, CARDS) == effort(chapter, CARDS).minutes


SECTIONS = """\
# %% [markdown]
# # Title
#
# Some words to begin with.

# %% [markdown]
# ## 7.1 One
#
# Words.

# %%
x = 1

# %% [markdown] card="after"
# **Given** a number.

# %% [markdown]
# ## 7.2 Two
#
# More words.

# %% [markdown]
# ## Recap
#
# The end.
"""


def test_a_section_takes_what_its_cells_take(tmp_path: Path) -> None:
    chapter = chapter_of(tmp_path, SECTIONS)
    one, two = sections(chapter, CARDS)
    assert (one.number, one.title, one.minutes) == ("7.1", "One", 1 + CARDS[0].minutes)
    assert (two.number, two.title, two.minutes) == ("7.2", "Two", 1)
    assert [len(each.part.cells) for each in (one, two)] == [3, 1]
    assert len(opening(chapter).cells) == 1


def test_the_heading_of_a_section_says_its_minutes(tmp_path: Path) -> None:
    text = build_fixture.CHAPTER.replace(
        '# %% [markdown] card="again"',
        '# %% [markdown]\n# ## 7.1 One\n\n# %% [markdown] card="again"',
    )
    notebook = builder.build(build_fixture.write(tmp_path, text), CARDS)
    (cell,) = (cell for cell in notebook.cells if cell.source.startswith("## "))
    assert cell.source == "## 7.1 One (2 minutes)"
    assert cell.id == id_of_text("markdown", "## 7.1 One")


def test_a_chapter_says_its_minutes_rounded_up() -> None:
    assert [Effort(150 * n, 0, 0).about for n in (1, 5, 6)] == [5, 5, 10]


def test_the_build_prints_a_table() -> None:
    result = CliRunner().invoke(main.app, ["build", "--check", "07b_cutting"])
    (row,) = (line.split() for line in result.output.splitlines() if line.startswith("07b_cutting"))
    words, lines, exercises, doing, total = map(int, row[1:])
    assert total == Effort(words, lines, exercises, doing - exercises).minutes
    assert exercises == 40
