"""Finds comparisons of a real network's results for which `assert_close` is too tolerant.

With torchvision's random weights, such a network gives nearly the same result for each image. So
`assert_close` would accept almost any other network. `assert_same_results` measures an error in
units of the change that other inputs make.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.builder.problems import Problem
from autograder.builder.source import Chapter

TOO_KIND = frozenset({"assert_allclose", "assert_close", "allclose", "isclose"})

_TOOLS = "torchvision.models.feature_extraction"
"""A module next to the networks; its functions take any model."""


def findings(chapter: Chapter) -> Iterator[Problem]:
    """Lines that compare a torchvision network's results with an absolute tolerance."""
    reader = _Reader()
    for cell in chapter.cells:
        if cell.kind != "code":
            continue
        reader.lines.clear()
        try:
            reader.visit(ast.parse(cell.source))
        except SyntaxError:  # a cell with a magic command
            continue
        for line in reader.lines:
            yield Problem(
                cell.line + line,
                "This comparison of a torchvision network may be unable to fail.",
                "Draw the weights with `make_alive`, and compare with `assert_same_results`.",
            )


class _Reader(ast.NodeVisitor):
    """Tracks the names whose values come from a network, from the first cell to the last.

    Attributes:
        names: names of networks and of values computed with one.
        lines: lines of the current cell that compare such values.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.lines: list[int] = []

    def visit_Import(self, node: ast.Import) -> None:
        self.names |= {"torchvision"} & {alias.name for alias in node.names}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if module.startswith("torchvision.models") and module != _TOOLS:
            self.names |= {alias.asname or alias.name for alias in node.names}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._define(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._define(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            self._bind(target, node.value)

    def visit_For(self, node: ast.For) -> None:
        self._bind(node.target, node.iter)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        called = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if called in TOO_KIND and any(self._is_from_network(value) for value in node.args):
            self.lines.append(node.lineno)

    def _define(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        outside = set(self.names)
        self.names -= {
            part.id
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        }
        found = self._is_from_network(node)
        self.generic_visit(node)
        self.names = outside
        self._name(node.name, found)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        found = self._is_from_network(value)
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                self._name(part.id, found)

    def _name(self, name: str, from_network: bool) -> None:
        if from_network:
            self.names.add(name)
        else:
            self.names.discard(name)

    def _is_from_network(self, node: ast.AST) -> bool:
        parts = list(ast.walk(node))
        names = self.names - {part.arg for part in parts if isinstance(part, ast.arg)}
        return any(isinstance(part, ast.Name) and part.id in names for part in parts)
