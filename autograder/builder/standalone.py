"""Checks that an exercise needs no cell of its chapter except the first code cell."""

from __future__ import annotations

import builtins
import symtable
from collections.abc import Iterator

from autograder.builder.problems import Problem
from autograder.builder.source import Cell, Chapter

_PREDEFINED = {*dir(builtins), "__name__", "check"}
"""Names that need no cell. Another rule says where `check` must be imported."""


def findings(chapter: Chapter) -> Iterator[Problem]:
    """Exercises that need a cell of the chapter other than its first code cell."""
    code = [cell for cell in chapter.cells if cell.kind == "code"]
    for name, cells in _exercises(chapter):
        known, card = code[:1], _card(chapter, name)
        for cell in cells:
            known.append(cell)
            found = names_missing([each.source for each in known])
            missing = sorted(one for one in found if not _says_to_run(card, one))
            if missing:
                yield Problem(
                    cell.line,
                    f"Exercise '{name}' needs {', '.join(missing)} of a cell above its card.",
                    "Define it below the card, or import it in the chapter's first cell of code.",
                )
                break


def _card(chapter: Chapter, name: str) -> str:
    return next(cell.source for cell in chapter.tagged("card") if cell.value == name)


def _says_to_run(card: str, name: str) -> bool:
    """Whether a card asks the learner to run the cell of an earlier answer first."""
    return f"`{name}`" in card and "run its cell first" in card


def _exercises(chapter: Chapter) -> Iterator[tuple[str, list[Cell]]]:
    """The names of the exercises, each with its code cells from the card to the check."""
    name, cells = "", list[Cell]()
    for cell in chapter.cells:
        if cell.tag == "card":
            name, cells = cell.value, []
        elif cell.kind == "code":
            cells.append(cell)
        if cell.tag == "check" and cell.value == name:
            yield name, cells.copy()


def names_missing(sources: list[str]) -> set[str]:
    """The names that these cells read but do not define, including those in functions.

    Lines with magic commands count as empty.
    """
    text = "\n".join(line for source in sources for line in python_lines(source))
    try:
        table = symtable.symtable(text, "<cells>", "exec")
    except SyntaxError:
        return set()
    defined = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_assigned() or symbol.is_imported()
    }
    return _read_globally(table) - defined - _PREDEFINED


def python_lines(source: str) -> Iterator[str]:
    """The lines of a cell, with each magic command replaced by a line that does nothing."""
    for line in source.splitlines():
        is_magic = line.lstrip().startswith(("%", "!"))
        yield line[: len(line) - len(line.lstrip())] + "pass" if is_magic else line


def _read_globally(table: symtable.SymbolTable) -> set[str]:
    """The global and built-in names that a block or a nested block reads."""
    outermost = table.get_type() == "module"
    found = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (outermost or symbol.is_global())
    }
    return found.union(*(_read_globally(child) for child in table.get_children()))
