"""Classifies changes to cells that students must not change: a slip, or an attempt to cheat."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from IPython.core.inputtransformer2 import TransformerManager

from autograder.submission.source_cells import SourceCell, normal

_MAX_CHARACTERS, _MAX_LINES = 20_000, 400
"""Most characters and lines of a cell that is parsed: parsing a longer one may take forever, and
such a cell is not split or merged by mistake."""

_MAX_MAGIC_SQUARES = 250_000
"""Limit for the sum of squared line counts of cells with magic commands: the time of IPython's
parser grows with the square of a cell's lines, some 40 microseconds each."""

_OVER_BUDGET: ContextVar[frozenset[str]] = ContextVar(
    "cells beyond the budget", default=frozenset()
)

_CHECKING = frozenset(("check", "grade"))
"""The names of the functions that check answers."""

_CALL = re.compile(r"\bcheck\s*\(")
_TIMED = re.compile(r"%%(time|timeit|capture|prun)\b.*(\n|$)")


_DEFINES = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.M)


def defined(source: str) -> frozenset[str]:
    """The functions and classes that a cell's code defines, even if it is not valid."""
    return frozenset(_DEFINES.findall(source))


@contextmanager
def within_budget(sources: Iterable[str]) -> Iterator[None]:
    """Limit the time for parsing a notebook's cells; cells beyond the limit count as long."""
    left, beyond = _MAX_MAGIC_SQUARES, set[str]()
    for source in dict.fromkeys(sources):
        if not is_long(source) and _parsed(source) is None:
            left -= (source.count("\n") + 1) ** 2
            if left < 0:
                beyond.add(source)
    token = _OVER_BUDGET.set(frozenset(beyond))
    try:
        yield
    finally:
        _OVER_BUDGET.reset(token)


def is_long(source: str) -> bool:
    """Whether a cell is too long to be parsed as Python."""
    return (
        len(source) > _MAX_CHARACTERS
        or source.count("\n") > _MAX_LINES
        or source in _OVER_BUDGET.get()
    )


def tree_of(source: str) -> ast.Module | None:
    """The syntax tree of a cell's code; ``None`` if it is not Python by itself, or too long."""
    if is_long(source):
        return None
    return _parsed(source) or _parsed_by_ipython(source)


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except Exception:  # a student's text may make the parser fail in any way
        return None


@lru_cache(maxsize=64)
def _parsed_by_ipython(source: str) -> ast.Module | None:
    try:
        return _parsed(TransformerManager().transform_cell(source))
    except Exception:
        return None


def what_changed(source: str, source_cell: SourceCell) -> str:
    """The difference between a cell's text and the released one, in a few fixed words."""
    text = normal(source)
    if not text:
        return "it was empty"
    if _added_to(text, source_cell) is not None:
        return "something was added to it"
    if source_cell.cell_type == "code":
        if _is_comment(text):
            return "it was commented out"
        if _CALL.search(text):
            return "`check` was called in another way"
    return "its text was another one"


def is_replaced(source: str, source_cell: SourceCell) -> bool:
    """Whether other code replaces a cell's own, instead of being added to it."""
    words = what_changed(source, source_cell)
    return source_cell.cell_type == "code" and words == "its text was another one"


def pretends(source: str, source_cell: SourceCell) -> bool:
    """Whether the only purpose of a cell's code is points: it passes with any answer.

    This is a test that asserts a constant or ends with a number and replaces the cell's own test,
    or any code that redefines `check` or `grade`.
    """
    tree = tree_of(source)
    if tree is None or not tree.body or source_cell.cell_type != "code":
        return False
    names = {name for node in ast.walk(tree) for name in _bound(node)}
    if source_cell.exercise and names & _CHECKING:
        return True
    if not is_replaced(source, source_cell):
        return False
    asserts = [node for node in tree.body if isinstance(node, ast.Assert)]
    return any(map(_asserts_nothing, asserts)) or _is_number(tree.body[-1])


def own_code(source: str, source_cell: SourceCell) -> str:
    """The code that a student added to the released text of a cell, if it is worth keeping."""
    text = normal(source)
    added = _added_to(text, source_cell)
    own = text if added is None else added
    if source_cell.cell_type != "code":
        return own
    own = _TIMED.sub("", own, count=1)
    tree = tree_of(own)
    if tree is None:
        return own if is_long(own) or defined(own) else ""
    return own if any(map(_does_something, tree.body)) else ""


def _added_to(text: str, source_cell: SourceCell) -> str | None:
    """The lines added to the released text; ``None`` if parts of that text are missing."""
    found = (
        _added_lines(text.split("\n"), given.split("\n")) for given in source_cell.texts if given
    )
    return next((added for added in found if added is not None), None)


def _added_lines(lines: list[str], given: list[str]) -> str | None:
    added, at = [], 0
    for line in lines:
        wanted = given[at] if at < len(given) else None
        if wanted is None or not line.startswith(wanted):
            added.append(line)
            continue
        rest = line.removeprefix(wanted).lstrip()
        if rest[:1] not in ("", ";", "#"):
            added.append(line)
            continue
        at += 1
        added.append(rest.lstrip(" ;"))
    return normal("\n".join(added)) if at == len(given) else None


def _is_comment(text: str) -> bool:
    return all(not line.strip() or line.lstrip().startswith("#") for line in text.split("\n"))


def _bound(node: ast.AST) -> tuple[str, ...]:
    """The names that a node binds, except imports of the course."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return (node.name,)
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return (node.id,)
    if isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "module", "") not in (
        "autograder",
        "autograder.api",
    ):
        return tuple((alias.asname or alias.name) for alias in node.names)
    return ()


def _asserts_nothing(node: ast.Assert) -> bool:
    return isinstance(node.test, ast.Constant) and bool(node.test.value)


def _is_number(node: ast.stmt) -> bool:
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return False
    return isinstance(node.value.value, int | float)


def _does_something(node: ast.stmt) -> bool:
    """Whether later code could depend on a statement."""
    if isinstance(node, ast.Pass | ast.Assert):
        return False
    if not isinstance(node, ast.Expr):
        return True
    called = node.value.func if isinstance(node.value, ast.Call) else node.value
    if isinstance(called, ast.Name):
        return isinstance(node.value, ast.Call) and called.id not in _DISPLAYING
    return not (isinstance(called, ast.Constant) or _is_magic(called))


_DISPLAYING = frozenset(("check", "grade", "hint", "print", "display", "progress"))


def _is_magic(called: ast.expr) -> bool:
    """Whether an expression is IPython's translation of a magic or a shell command."""
    return (
        isinstance(called, ast.Attribute)
        and isinstance(called.value, ast.Call)
        and isinstance(called.value.func, ast.Name)
        and called.value.func.id == "get_ipython"
    )
