"""The text of an answer, and what it needs from other cells."""

from __future__ import annotations

import ast
import hashlib
import linecache
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from autograder.core.code_objects import codes_of
from autograder.judge.repro_code import Piece, pasteable

FILE, OTHER = "<your code>", "<your other cells>"
"""File names of the code that a child process runs."""

_DEFINITIONS = (
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign,
)  # fmt: skip
_LOOPS = (ast.For, ast.While)
_NO_CODE = (ast.Global, ast.Nonlocal, ast.FunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Place:
    """A statement in a function of a cell that has its line to itself.

    Attributes:
        line: its first line.
        last: its last line; of a statement with a body, the last line before the body.
        text: its first line as text.
        node: the statement.
        function: the innermost function around it; ``None`` in the body of a class.
        loop: the innermost loop around it in this function, if there is one.
    """

    line: int
    last: int
    text: str
    node: ast.stmt
    function: ast.FunctionDef | None
    loop: ast.For | ast.While | None

    @property
    def is_clear(self) -> bool:
        """Whether it is clear how often the line runs: the header of a loop runs again."""
        return not isinstance(self.node, ast.For | ast.While | ast.With | ast.Try | ast.Match)

    @property
    def shown(self) -> str:
        """The line with its text, as a sentence for a question."""
        return f"Line {self.line} is `{self.text}`."


@dataclass(frozen=True)
class Code:
    """An answer as text.

    Attributes:
        name: the name of the answer.
        cell: the definitions in its cell, each in its own line.
        before: definitions from other cells that it needs.
    """

    name: str
    cell: str
    before: str = ""

    @property
    def digest(self) -> str:
        """A digest that does not depend on comments and layout."""
        text = ast.unparse(ast.parse(self.cell))
        return hashlib.sha256(f"{self.name}\n{text}".encode()).hexdigest()

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree of the cell."""
        return ast.parse(self.cell)

    @cached_property
    def places(self) -> dict[int, Place]:
        """The places of the cell, by line."""
        found: list[Place] = []
        lines = self.cell.splitlines()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef):
                found += _places(node, node, None, lines)
        taken = [line for place in found for line in range(place.line, place.last + 1)]
        return {
            place.line: place
            for place in sorted(found, key=lambda place: place.line)
            if all(taken.count(line) == 1 for line in range(place.line, place.last + 1))
            and not isinstance(place.node, _NO_CODE)
        }

    @cached_property
    def class_lines(self) -> list[Place]:
        """The assignments in the bodies of classes that are not in functions."""
        lines = self.cell.splitlines()
        return [
            Place(
                node.lineno, node.end_lineno or 0, lines[node.lineno - 1].strip(), node, None, None
            )
            for part in self.tree.body
            if isinstance(part, ast.ClassDef)
            for node in part.body
            if isinstance(node, ast.Assign)
        ]

    def load(self, tree: str | ast.Module = "", file: str = FILE, **names: Any) -> Any:
        """Run the cells in a new namespace, and return the answer.

        Args:
            tree: runs instead of the cell.
            file: the file name of its code.
            names: further names in the namespace.
        """
        space: dict[str, Any] = {"__name__": "__main__", **names}
        exec(compile(self.before, OTHER, "exec"), space)
        text = tree if isinstance(tree, str) and tree else self.cell
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(tree or self.cell, file, "exec"), space)
        return space[self.name]


def code_of(name: str, answer: Any) -> Code | None:
    """The text of an answer that this process has defined; ``None`` if it is unknown.

    Args:
        name: the exercise's name.
        answer: a function or class.
    """
    first = next(codes_of(answer), None)
    lines = linecache.getlines(first.co_filename) if first is not None else []
    try:
        cell = definitions("".join(lines))
    except (SyntaxError, ValueError):
        return None
    if not cell.strip():
        return None
    function = next((part for part in _functions(answer)), None)
    scope = dict(getattr(function, "__globals__", {}))
    page = pasteable([Piece(cell, scope, answer.__module__)])
    before, _, after = page.partition(cell.strip("\n"))
    return Code(name, cell, f"{before}\n{after}")


def _functions(answer: Any) -> list[Any]:
    parts = list(vars(answer).values()) if isinstance(answer, type) else [answer]
    return [part for part in parts if hasattr(part, "__globals__")]


def definitions(text: str) -> str:
    """The text with all statements blanked out that only do something, such as a call of `check`.

    Raises:
        SyntaxError: if it is not Python.
    """
    lines = text.splitlines()
    for statement in ast.parse(text).body:
        if not (_defines(statement) or _wraps(statement)):
            for at in range(statement.lineno - 1, statement.end_lineno or statement.lineno):
                lines[at] = ""
    return "\n".join(lines) + "\n"


def _defines(statement: ast.stmt) -> bool:
    from_course = isinstance(statement, ast.ImportFrom) and statement.module == "autograder"
    return isinstance(statement, _DEFINITIONS) and not from_course


def _wraps(statement: ast.stmt) -> bool:
    """Whether a statement registers a function, as in ``fx.wrap("slow")``."""
    return ast.unparse(statement).startswith(("fx.wrap(", "torch.fx.wrap("))


def _places(block: Any, function: ast.FunctionDef, around: Any, lines: list[str]) -> list[Place]:
    """The places in the bodies of a statement, without those of functions and classes in it."""
    found: list[Place] = []
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        loop = block if field == "body" and isinstance(block, _LOOPS) else around
        for node in getattr(block, field, ()):
            if not isinstance(node, ast.stmt):  # a handler or a case
                found += _places(node, function, loop, lines)
                continue
            own = getattr(node, "body", None)
            last = own[0].lineno - 1 if own else node.end_lineno or node.lineno
            if not _is_text(node):
                text = lines[node.lineno - 1].strip()
                found.append(Place(node.lineno, max(last, node.lineno), text, node, function, loop))
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                found += _places(node, function, loop, lines)
    return found


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
