"""Proofs: cells that only show that the text is true. Learners' notebooks do not have them.

Other cells must not need a name that a proof or a drill sets.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from nbformat.notebooknode import NotebookNode

from autograder.builder.predictions import is_prediction
from autograder.builder.problems import Problem
from autograder.builder.sections import HEADING
from autograder.builder.source import Cell, Chapter
from autograder.builder.standalone import python_lines
from autograder.builder.statements import asserts

MOST_ASSERTIONS, MOST_LINES = 2, 3
"""Limits outside of proofs: assertions of a section, and lines of an assertion."""


def without_proofs(chapter: Chapter, notebook: NotebookNode) -> tuple[Chapter, NotebookNode]:
    """Remove the proofs from a chapter and its notebook. Changes the notebook."""
    kept = [cell.tag != "proof" for cell in chapter.cells]
    cells = tuple(cell for cell, is_kept in zip(chapter.cells, kept, strict=True) if is_kept)
    notebook.cells = [n for n, is_kept in zip(notebook.cells, kept, strict=True) if is_kept]
    return replace(chapter, cells=cells), notebook


def proofs_of_predictions(chapter: Chapter) -> dict[int, str]:
    """The proofs that directly follow a prediction, by the line of the prediction's cell."""
    return {
        cell.line: proof.source.strip("\n")
        for cell, proof in pairwise(chapter.cells)
        if is_prediction(cell) and proof.tag == "proof"
    }


def findings(chapter: Chapter) -> Iterator[Problem]:
    """Proofs that assert nothing, and cells that read a name last set by a proof or a drill.

    Names that a function reads when it is called are not found here. Therefore the chapters are
    also executed without their proofs.
    """
    setters: dict[str, str] = {}
    for cell in chapter.cells:
        if cell.kind != "code":
            continue
        read, defined = _names(cell)
        if cell.tag == "proof":
            if not asserts(cell):
                yield Problem(cell.line, "This proof asserts nothing.", "Remove its tag.")
        elif cell.tag != "drill":
            for name in sorted((read - defined) & setters.keys()):
                message = f"'{name}' is set by a {setters[name]}, so a learner may not have it."
                advice = f"Set it in another cell, or let the {setters[name]} use another name."
                yield Problem(cell.line, message, advice)
        for name in defined:
            setters.pop(name, None)
            if cell.tag in ("proof", "drill"):
                setters[name] = cell.tag


def visible_assertions(chapter: Chapter) -> Iterator[Problem]:
    """Assertions outside of proofs that are too long, or too many for a section."""
    shown = 0
    for cell in chapter.cells:
        if cell.kind == "markdown" and HEADING.search(cell.source):
            shown = 0
        for first, last in _assertions(cell) if cell.kind == "code" and not cell.tag else ():
            shown += 1
            line, advice = cell.line + first, "Move it to a proof, and show its value instead."
            if shown == MOST_ASSERTIONS + 1:
                message = f"This is more than {MOST_ASSERTIONS} visible assertions in a section."
                yield Problem(line, message, advice)
            if last - first >= MOST_LINES:
                message = f"This visible assertion has more than {MOST_LINES} lines."
                yield Problem(line, message, advice)


def _assertions(cell: Cell) -> Iterator[tuple[int, int]]:
    """The first and the last line of each assertion in a cell."""
    try:
        tree = ast.parse("\n".join(python_lines(cell.source)))
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield node.lineno, node.end_lineno or node.lineno


def _names(cell: Cell) -> tuple[set[str], set[str]]:
    """The global names that a cell's top level reads, and those that it sets."""
    try:
        table = symtable.symtable("\n".join(python_lines(cell.source)), "<cell>", "exec")
    except SyntaxError:
        return set(), set()
    symbols = table.get_symbols()
    return (
        {symbol.get_name() for symbol in symbols if symbol.is_referenced()},
        {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()},
    )
