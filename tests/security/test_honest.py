"""Unusual but honest submissions lose nothing."""

from __future__ import annotations

import re
from functools import cache

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode

from autograder.builder.paths import COURSE
from autograder.exercises import EXERCISES
from tests.security.unusual_but_honest import Honest, all_honest

EVERYONE = all_honest()


@cache
def released(chapter: str) -> NotebookNode:
    path = COURSE / f"{chapter}.ipynb"
    return nbformat.read(path, as_version=4)


def test_there_are_many_and_names_are_unique(total) -> None:
    names = [one.student for one in EVERYONE]
    assert len(set(names)) == len(names) >= 90
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9.-]+", name) for name in names)
    assert len({one.does for one in EVERYONE}) == len(EVERYONE)
    total("honest submissions", len(names))


@pytest.mark.parametrize("one", EVERYONE, ids=lambda one: one.student)
def test_each_can_be_handed_in(one: Honest) -> None:
    nb = released(one.chapter)
    text = one.text(nb)
    read = nbformat.reads(text.removeprefix("\ufeff"), as_version=4)
    due = {name for name, points in one.points().items() if points}
    sources = "\n".join(cell.source for cell in read.cells)
    for name in due:
        assert EXERCISES[name].chapter == one.chapter
        assert sum(EXERCISES[name].points == points for points in [one.points()[name]]) == 1
        assert re.search(rf"\b{name}\b", sources)
    assert due == set(one.answers) | set(one.earns)
    assert nb == released(one.chapter)
