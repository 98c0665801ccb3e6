"""Checks that some cell runs and asserts the code that a chapter's prose names.

A line of prose that names code, such as ``graph.lint()``, makes a statement that a reader could
test. The names must occur in a cell with an assertion: in this chapter, or in the whole course if
the line refers to another place. Otherwise nothing executes the statement.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from autograder.builder.paths import chapters
from autograder.builder.problems import Problem
from autograder.builder.source import Cell, Chapter, read

NOT_RUN = {
    "synchronize": "it needs a GPU",
    "tlparse": "a tool of its own, which the course does not install",
}
"""Names that no cell can run, with the reason."""

HELD_BY_TESTS = {
    "progress": "tests/unit/cards/test_show_hints.py",
    "hint": "tests/unit/cards/test_show_hints.py",
    "CheckFailed": "tests/checks/test_cards_help.py",
    "case": "tests/checks/test_cards_help.py",
    "Model": "tests/unit/fuzz/test_random.py",
    "NotImplementedError": "tests/unit/builder/test_build_execute.py",
}
"""Names of the course itself, with the tests of the statements about them."""

_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_NAME = re.compile(r"\b[A-Za-z_]\w{2,}")  # not the end of a number such as 3e38
_BEGINNING = re.compile(r"\b([A-Za-z_]\w{2,})…")
_FENCE = re.compile(r"^```.*?^```", re.M | re.S)
_ELSEWHERE = re.compile(r"\b(?:chapters? \d|section \d|deep dive|earlier|later)", re.I)
_NOTEBOOK = re.compile(r"\d\d[a-z]?_\w+$")
_LINK = re.compile(r"\]\(https?:")
_ASSERTS = {"check", "fails", "assert_close", "assert_same_results"}


def findings(chapter: Chapter, course: Path | None = None) -> list[Problem]:
    """Lines of a chapter that name code which no asserting cell runs, in order.

    Args:
        chapter: as read.
        course: the folder of all chapters; by default the chapter's own folder.
    """
    own = asserted(chapter)
    everywhere = _asserted_anywhere(course or chapter.path.parent)
    return [
        Problem(
            line,
            f"Nothing executes the statement about `{span}`.",
            "Assert it in a cell, or say it of what a cell asserts.",
        )
        for cell in chapter.cells[1:]
        if cell.kind == "markdown" and cell.tag != "card"
        for line, text in _lines(cell)
        for span in _not_run(text, own | everywhere if _ELSEWHERE.search(text) else own)
    ]


def asserted(chapter: Chapter) -> frozenset[str]:
    """The names in the cells of a chapter that assert something or are followed by a proof."""
    code = [cell for cell in chapter.cells if cell.kind == "code"]
    proved = [cell for cell, below in pairwise(chapter.cells) if below.tag == "proof"]
    cells = [cell for cell in code if cell in proved or asserts(cell)]
    return frozenset(name for cell in cells for name in _NAME.findall(cell.source))


@lru_cache
def _asserted_anywhere(folder: Path) -> frozenset[str]:
    return frozenset().union(*(asserted(read(path)[0]) for path in chapters(folder)))


def asserts(cell: Cell) -> bool:
    """Whether a cell asserts its result; solutions and drills do, because they are checked."""
    if cell.tag in ("raises", "solve", "drill"):
        return True
    try:
        nodes = list(ast.walk(ast.parse(cell.source)))
    except SyntaxError:  # a cell with a magic command
        return False
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    called = {getattr(call, "id", getattr(call, "attr", "")) for call in calls}
    return bool(called & _ASSERTS) or any(isinstance(node, ast.Assert) for node in nodes)


def _lines(cell: Cell) -> Iterator[tuple[int, str]]:
    """The lines of prose without fenced code and web links, with their numbers in the file."""
    prose = _FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), cell.source)
    for number, text in enumerate(prose.splitlines(), start=1):
        if not _LINK.search(text):
            yield cell.line + number, text


def _not_run(text: str, run: frozenset[str]) -> Iterator[str]:
    for span in dict.fromkeys(_SPAN.findall(text)):
        names = [name for name in _NAME.findall(span) if not keyword.iskeyword(name)]
        known = (run | NOT_RUN.keys() | HELD_BY_TESTS.keys()).intersection(names)
        begun = tuple(_BEGINNING.findall(span))  # "call_…" means all names that begin so
        known |= {name for name in run if begun and name.startswith(begun)}
        if names and not known and not _NOTEBOOK.match(span):
            yield span
