"""What was done to a cell that students may not change: a slip, or a try to gain something."""

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
"""Characters and lines of a cell beyond which nobody asks whether it is Python: parsing it may
take for ever, and nobody splits or merges such a cell by mistake."""

_MAX_MAGIC_SQUARES = 250_000
"""Squares of lines of all cells with magic commands that are looked at: IPython's parser takes
time with the square of a cell's lines, some 40 microseconds for each."""

_BEYOND: ContextVar[frozenset[str]] = ContextVar("cells beyond the budget", default=frozenset())

_OURS = frozenset(("check", "grade"))
"""The names by which answers are checked."""

_CALL = re.compile(r"\bcheck\s*\(")
_TIMED = re.compile(r"%%(time|timeit|capture|prun)\b.*(\n|$)")


_DEFINES = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.M)


def defined(source: str) -> frozenset[str]:
    """The functions and classes that a cell's code defines, sound or not."""
    return frozenset(_DEFINES.findall(source))


@contextmanager
def within_budget(sources: Iterable[str]) -> Iterator[None]:
    """Look at no more of a notebook's cells than a bounded time allows; others count as long."""
    left, beyond = _MAX_MAGIC_SQUARES, set[str]()
    for source in dict.fromkeys(sources):
        if not is_long(source) and _parsed(source) is None:
            left -= (source.count("\n") + 1) ** 2
            if left < 0:
                beyond.add(source)
    token = _BEYOND.set(frozenset(beyond))
    try:
        yield
    finally:
        _BEYOND.reset(token)


def is_long(source: str) -> bool:
    """Whether a cell is too long to be looked at as Python."""
    return (
        len(source) > _MAX_CHARACTERS or source.count("\n") > _MAX_LINES or source in _BEYOND.get()
    )


def tree_of(source: str) -> ast.Module | None:
    """The syntax tree of a cell's code; ``None`` if it is no Python by itself, or too long."""
    if is_long(source):
        return None
    return _parsed(source) or _parsed_by_ipython(source)


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except Exception:  # a student's text may break the parser in any way
        return None


@lru_cache(maxsize=64)
def _parsed_by_ipython(source: str) -> ast.Module | None:
    try:
        return _parsed(TransformerManager().transform_cell(source))
    except Exception:
        return None


def what_changed(source: str, source_cell: SourceCell) -> str:
    """In a few fixed words, how a cell's text differs from what was given out."""
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
    """Whether other code stands in a cell's place, not only something beside or around its own."""
    words = what_changed(source, source_cell)
    return source_cell.cell_type == "code" and words == "its text was another one"


def pretends(source: str, source_cell: SourceCell) -> bool:
    """Whether a cell's code can have no other aim than points: it passes whatever the answer is.

    That is a test that asserts a constant or ends with a number, where the cell's own test is
    gone, and any code that gives `check` or `grade` another meaning.
    """
    tree = tree_of(source)
    if tree is None or not tree.body or source_cell.cell_type != "code":
        return False
    names = {name for node in ast.walk(tree) for name in _bound(node)}
    if source_cell.exercise and names & _OURS:
        return True
    if not is_replaced(source, source_cell):
        return False
    asserts = [node for node in tree.body if isinstance(node, ast.Assert)]
    return any(map(_asserts_nothing, asserts)) or _is_number(tree.body[-1])


def own_code(source: str, source_cell: SourceCell) -> str:
    """What a student wrote into a cell beside what was given out, if that is worth keeping."""
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
    """The lines that were added to what was given out; ``None`` if that is not whole any more."""
    found = (_beside(text.split("\n"), given.split("\n")) for given in source_cell.texts if given)
    return next((added for added in found if added is not None), None)


def _beside(lines: list[str], given: list[str]) -> str | None:
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
    """The names that a piece of code gives a meaning."""
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
    """Whether leaving a statement out could be missed further down."""
    if isinstance(node, ast.Pass | ast.Assert):
        return False
    if not isinstance(node, ast.Expr):
        return True
    called = node.value.func if isinstance(node.value, ast.Call) else node.value
    if isinstance(called, ast.Name):
        return isinstance(node.value, ast.Call) and called.id not in _SAY
    return not (isinstance(called, ast.Constant) or _is_magic(called))


_SAY = frozenset(("check", "grade", "hint", "print", "display", "progress"))


def _is_magic(called: ast.expr) -> bool:
    """Whether that is what IPython makes of a magic, or of a command."""
    return (
        isinstance(called, ast.Attribute)
        and isinstance(called.value, ast.Call)
        and isinstance(called.value.func, ast.Name)
        and called.value.func.id == "get_ipython"
    )
