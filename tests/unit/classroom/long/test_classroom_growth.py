"""Reading a submission takes time linear in its length, whatever its text."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from autograder.classroom.records.gradebook_cells import source_cells_of
from autograder.submission.repair import repair
from autograder.submission.sanitize import clean_cell
from autograder.submission.sanitize.outputs import clean_text
from autograder.submission.sanitize.rewrite import clean_html, clean_svg
from autograder.submission.source_cells import SourceCell
from tests.support.numbers import numbers_room as numbers
from tests.support.submissions import room as rooms

SHORT = 25_000
LONG = 4 * SHORT

PARTS = (
    "< <a|<a b=|<a b='|<b>|</b>|<!--|<![CDATA[|<?|&|&#|[|[a](|![|](|[x]: \n|*|**a|_a |`|``a |~~a"
    "|>|> \n|- a\n|1. a\n|# a\n|a:b\n-:-\n|\\|\\\\[|\\begin{a}|\\href{|\\href   |\n| |\t|abc |a|on"
    "| onx= |javascript: |'|\"|```\n|[^1]: a\n|\x1b[0|\x1b]|\r|\u202e|--|a\n=\n|    a\n|<svg>"
    "|<script|</script |<p>|<li>|<td>|<a-b-c>|@|$|$$|url( |<p onclick=x>|<img src=//a>|![a](//b)"
).split("|")

WHOLE: dict[str, Callable[[int], str]] = {
    "opened, then closed": lambda n: "<b>" * (n // 7) + "</b>" * (n // 7),
    "opened, then others closed": lambda n: "<b>" * (n // 7) + "</i>" * (n // 7),
    "opened, others, closed": lambda n: "".join(t * (n // 10) for t in ("<b>", "<i>", "</b>")),
    "attributes": lambda n: "<a " + " ".join(f"a{i}" for i in range(n // 7)) + ">",
    "different tags that act": lambda n: " ".join(f"<x{i} onclick=a>" for i in range(n // 20)),
    "different links that act": lambda n: " ".join(f"[a](javascript:{i})" for i in range(n // 22)),
    "different pictures": lambda n: " ".join(f"<img src=//a/{i}>" for i in range(n // 20)),
    "a tag after blanks": lambda n: "<" + " " * n + "b",
    "an address after blanks": lambda n: f'<svg><path fill="url({" " * n}#x)"/></svg>',
    "a style in a style": lambda n: f'<p style="color:{"rgb(" * (n // 4)}">x</p>',
    "deeper quotes": lambda n: "".join(">" * i + "a\n" for i in range(1, int((2 * n) ** 0.5))),
    "deeper lists": lambda n: "".join("  " * i + "- a\n" for i in range(int(n**0.5))),
    "a heading with blanks": lambda n: "# a" + " " * n + "b",
    "a name after blanks": lambda n: "def" + " " * n + "(",
    "lines of definitions": lambda n: "def a\n" * (n // 6),
}  # fmt: skip

READERS: dict[str, Callable[[str], object]] = {
    "a raw cell": lambda text: clean_cell(new_raw_cell(text)),
    "a markdown cell": lambda text: clean_cell(new_markdown_cell(text)),
    "HTML": clean_html,
    "a drawing": clean_svg,
    "printed text": clean_text,
}


def seconds(act: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    act(text)
    return time.process_time() - start


def grows_too_fast(act: Callable[[str], object], make: Callable[[int], str]) -> str:
    """Return the times for a short and a long text if the long one takes too much; else ``""``.

    With quadratic work, a text of four times the length takes 16 times as long.
    """
    short = seconds(act, make(SHORT))
    if short > 8:
        return f"{short:.1f} s for {SHORT} characters"
    if short < 0.02:
        return ""  # too short to matter, even 16 times
    long = seconds(act, make(LONG))
    return f"{short:.2f} s, {long:.2f} s" if long > 8 * short + 0.3 else ""


@pytest.mark.parametrize("reader", READERS)
def test_text_is_read_in_linear_time(reader: str) -> None:
    shapes = {part: (lambda n, part=part: (part * (n // len(part) + 1))[:n]) for part in PARTS}
    found = {
        name: said
        for name, make in (shapes | WHOLE).items()
        if (said := grows_too_fast(READERS[reader], make))
    }
    assert found == {}


# ------------------------------------------------------------------ repairs


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return numbers.room(tmp_path_factory.mktemp("growth"))


def source_cells(room: Path) -> dict[str, SourceCell]:
    """The source cells of a notebook with many exercises."""
    known = source_cells_of(f"sqlite:///{room}/gradebook.db", numbers.CHAPTER, numbers.CHAPTER)
    return known | {
        f"{name}{i}": SourceCell(f"{name}{i}", *vars_of(source_cell))
        for i in range(30)
        for name, source_cell in known.items()
    }


def vars_of(source_cell: SourceCell) -> tuple[object, ...]:
    return tuple(value for key, value in vars(source_cell).items() if key != "name")


def copies(room: Path, source: str) -> Callable[[int], NotebookNode]:
    released = rooms.released(room, numbers.CHAPTER)
    data = {cell.metadata["nbgrader"]["grade_id"]: cell.metadata for cell in released.cells
            if "nbgrader" in cell.metadata}  # fmt: skip

    def make(count: int) -> NotebookNode:
        nb = new_notebook()
        for i in range(count):
            cell = new_code_cell(source.format(i))
            cell.metadata = NotebookNode(data["after" if i % 3 else "check-half"] if i % 2 else {})
            nb.cells.append(cell)
        return nb

    return make


@pytest.mark.parametrize("source", ["x = {}", "def f{}(", "(", "%%time\ncheck(half)", ""])
def test_many_cells_are_repaired_in_linear_time(room: Path, source: str) -> None:
    known, make = source_cells(room), copies(room, source)
    took = []
    for count in (500, 2000):
        nb = make(count)
        start = time.process_time()
        repair(nb, known)
        took.append(time.process_time() - start)
    assert took[1] < 8 * took[0] + 0.3


@pytest.mark.parametrize("part", ["def after(\n", "check(half)\n", "'", "(", "\\", "%", "!", "x;"])
def test_long_cells_are_repaired_in_linear_time(room: Path, part: str) -> None:
    known = source_cells(room)

    def act(text: str) -> None:
        nb = copies(room, "{0}")(3)
        for cell in nb.cells:
            cell.source = text
        repair(nb, known)

    assert grows_too_fast(act, lambda n: (part * n)[:n]) == ""
