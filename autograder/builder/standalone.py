"""Exercises that can be done on another day: after the chapter's first cell of code alone."""

from __future__ import annotations

import builtins
import symtable
from collections.abc import Iterator

from autograder.builder.problems import Problem
from autograder.builder.source import Cell, Chapter

_AT_HAND = {*dir(builtins), "__name__", "check"}
"""Names that need no cell; of `check`, another rule says where it comes from."""


def findings(chapter: Chapter) -> Iterator[Problem]:
    """Cells of exercises that need a cell of the chapter other than its first of code."""
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
    """The exercises' names, each with its cells of code from the card to the check."""
    name, cells = "", list[Cell]()
    for cell in chapter.cells:
        if cell.tag == "card":
            name, cells = cell.value, []
        elif cell.kind == "code":
            cells.append(cell)
        if cell.tag == "check" and cell.value == name:
            yield name, cells.copy()


def names_missing(sources: list[str]) -> set[str]:
    """The names that these cells read and that none of them defines.

    Functions are looked into. Lines with magic commands count as empty.
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
    return _read_globally(table) - defined - _AT_HAND


def python_lines(source: str) -> Iterator[str]:
    """The lines of a cell; for one with a magic command, a line that does nothing."""
    for line in source.splitlines():
        is_magic = line.lstrip().startswith(("%", "!"))
        yield line[: len(line) - len(line.lstrip())] + "pass" if is_magic else line


def _read_globally(table: symtable.SymbolTable) -> set[str]:
    """The names that a block or a block within it takes from the module or from Python."""
    outermost = table.get_type() == "module"
    found = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (outermost or symbol.is_global())
    }
    return found.union(*(_read_globally(child) for child in table.get_children()))
