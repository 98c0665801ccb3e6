"""On the next day an exercise's cells run in a new kernel, after the chapter's first cell alone."""

from __future__ import annotations

import builtins
import symtable
import warnings
from collections.abc import Iterator

import nbformat
import pytest

from autograder.builder.generate_references import solve_sources
from autograder.builder.paths import COURSE
from autograder.core.global_state import preserve_global_state
from autograder.core.limits import bounded_output
from autograder.exercises import EXERCISES

FIRST = {"fuse_conv_bn": ("fold_bn", "run its cell first")}
"""Exercises whose answer calls that of another one, and the words of the card that say so."""

PATHS = sorted(COURSE.glob("*.ipynb"))


def used_and_made(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell needs from elsewhere or makes itself, and those that it makes."""
    top = symtable.symtable(source, "cell", "exec")
    made = {
        name.get_name()
        for name in top.get_symbols()
        if name.is_assigned() or name.is_imported() or name.is_namespace()
    }
    return set(_used(top, at_top=True)), made


def _used(table: symtable.SymbolTable, *, at_top: bool) -> Iterator[str]:
    for name in table.get_symbols():
        if name.is_referenced() and (at_top or name.is_global()):
            yield name.get_name()
    for child in table.get_children():
        yield from _used(child, at_top=False)


def missing(source: str, given: set[str]) -> set[str]:
    used, made = used_and_made(source)
    return used - made - given - set(dir(builtins))


def cells_of(chapter: str) -> list[nbformat.NotebookNode]:
    return list(nbformat.read(COURSE / f"{chapter}.ipynb", as_version=4).cells)


def first_cell(chapter: str) -> str:
    """A chapter's first code cell."""
    return next(cell.source for cell in cells_of(chapter) if cell.cell_type == "code")


def test_what_is_missing_is_seen() -> None:
    cell = "def f(x: A = b):\n    def g():\n        return h(x, y, print)\n    y = [i for i in x]\n"
    assert missing(cell, {"A"}) == {"b", "h"}


@pytest.mark.parametrize("chapter", [path.stem for path in PATHS])
def test_exercises_need_nothing_but_the_first_cell(chapter: str) -> None:
    given = used_and_made(first_cell(chapter))[1]
    for name, solved in solve_sources(chapter).items():
        other, words = FIRST.get(name, ("", ""))
        cells = {cell.get("id"): cell.source for cell in cells_of(chapter)}
        assert missing(solved, given) == ({other} if other else set()), name
        assert missing(cells[name], given) == set(), name
        for kind in ("check", "hint", "debrief"):
            call = cells[f"{kind}-{name}"]
            assert missing(call, given) <= {name}, call
        assert words in cells[f"card-{name}"]


@pytest.mark.parametrize("chapter", [path.stem for path in PATHS])
def test_the_first_exercise_of_a_chapter_really_runs(chapter: str) -> None:
    """The first cell, the stub, a right answer, and the cell of the check with nothing else."""
    name = next(each.name for each in EXERCISES.values() if each.chapter == chapter)
    cells = {cell.get("id"): cell.source for cell in cells_of(chapter)}
    names: dict[str, object] = {"__name__": "__main__"}
    asked: list[object] = []
    with preserve_global_state(), bounded_output(0), warnings.catch_warnings():
        exec(first_cell(chapter), names)
        for source in (cells[name], solve_sources(chapter)[name]):
            exec(source, names)
        names["check"] = asked.append
        exec(cells[f"check-{name}"], names)
    assert asked == [names[name]]
