"""A digest of the answers in a notebook: it tells new answers from the same ones in a new file."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import re
from collections.abc import Iterator
from symtable import SymbolTable, symtable

from nbformat.notebooknode import NotebookNode
from nbgrader import utils

from autograder.submission.source_cells import grade_id
from autograder.submission.tampering import tree_of, within_budget

_NAME = re.compile(r"[^\W\d]\w*")


def work_of(nb: NotebookNode) -> str:
    """A digest of the answers in a repaired notebook.

    It covers answer cells, cells that people grade, and other code cells that set a name which
    these use. Line ends, trailing blanks, outputs, ids, metadata and all other cells do not count.
    """
    answers = _answers(nb)
    return _digest(nb, answers | _helpers(nb, answers))


def answers_of(nb: NotebookNode) -> str:
    """The same without other cells. It takes no time, but does not notice a changed helper."""
    return _digest(nb, _answers(nb))


def _digest(nb: NotebookNode, counted: set[int]) -> str:
    found = hashlib.sha256()
    for cell in (nb.cells[i] for i in sorted(counted)):
        for text in (grade_id(cell) or "", cell.cell_type, _trimmed(cell.source)):
            data = text.encode("utf-8", "replace")
            found.update(len(data).to_bytes(8, "big") + data)
    return found.hexdigest()


def _answers(nb: NotebookNode) -> set[int]:
    """The numbers of the cells with answers."""
    if any(map(utils.is_task, nb.cells)):
        return set(range(len(nb.cells)))  # students answer a task in cells of their own
    return {i for i, cell in enumerate(nb.cells) if utils.is_solution(cell)}


def _helpers(nb: NotebookNode, answers: set[int]) -> set[int]:
    """The numbers of other code cells on which answers depend."""
    with within_budget(cell.source for cell in nb.cells if cell.cell_type == "code"):
        others = {
            i: _names_set(cell.source)
            for i, cell in enumerate(nb.cells)
            if cell.cell_type == "code" and grade_id(cell) is None
        }
        found, new, wanted = set[int](), answers, {"*"}  # `import *` may set any name
        while new:
            wanted |= {name for i in new for name in _names_used(nb.cells[i])}
            new = {i for i, names in others.items() if i not in found and names & wanted}
            found |= new
    return found


def _trimmed(source: str) -> str:
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _names_used(cell: NotebookNode) -> set[str]:
    """The names that a cell has in common with other cells: those that it uses or sets."""
    if cell.cell_type != "code":
        return set()
    tree = tree_of(cell.source)
    if tree is not None:
        with contextlib.suppress(Exception):  # it is Python, but cannot be compiled
            return set(_shared(symtable(ast.unparse(tree), "cell", "exec")))
    return set(_NAME.findall(cell.source))


def _shared(table: SymbolTable) -> Iterator[str]:
    """The names of a cell that are not local to one of its functions."""
    is_top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if is_top or symbol.is_global():
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _shared(inner)


def _names_set(source: str) -> set[str]:
    """The names that a cell binds, or whose attributes or items it sets."""
    tree = tree_of(source)
    if tree is None:
        return set(_NAME.findall(source))
    return {name for node in ast.walk(tree) for name in _set_by(node)}


def _set_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        if not isinstance(node.ctx, ast.Load):
            yield from _root(node)


def _root(node: ast.AST) -> Iterator[str]:
    """The name that an expression such as ``torch.fx.Graph.lint`` begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id
