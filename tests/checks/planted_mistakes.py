"""Plants one mistake at a time in all right answers to an exercise.

An edit changes the whole module with the answers, helpers included. So each right answer has the
same mistake in its own style, as in a class.
"""

from __future__ import annotations

import ast
import copy
import linecache
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import tests.exercises as registry
from tests.exercises import Answer, folders

Edit = Callable[[ast.Module], None]


def mistakes_in(exercise: str) -> dict[str, Edit]:
    """The mistakes that can be planted, by short descriptions."""
    return dict(_edits(ast.parse(_text_of(exercise))))


def planted(exercise: str, what: str, edit: Edit) -> list[Answer]:
    """The right answers to an exercise, each with a mistake; some may be right in spite of it."""
    tree = ast.parse(_text_of(exercise))
    edit(tree)
    text = ast.unparse(ast.fix_missing_locations(tree))
    file = f"<{exercise} {what}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    before = list(registry._ANSWERS)
    try:
        with suppress(Exception):  # a helper that the module itself calls may need what is gone
            name = registry.answers_module(exercise).__name__
            exec(compile(text, file, "exec"), {"__name__": name})
        made = registry._ANSWERS[len(before) :]
    finally:
        registry._ANSWERS[:] = before
    return [answer for answer in made if answer.finding is None]


def _text_of(exercise: str) -> str:
    return (folders()[exercise] / "answers.py").read_text(encoding="utf-8")


def _edits(tree: ast.Module) -> Iterator[tuple[str, Edit]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.Set | ast.List) and len(node.elts) > 1:
            for each in node.elts:
                if isinstance(each, ast.Constant | ast.Attribute):
                    yield f"forgets {ast.unparse(each)}", _forget(ast.unparse(each))
        elif isinstance(node, ast.Compare) and isinstance(node.comparators[0], ast.Constant):
            text = ast.unparse(node.comparators[0])
            yield f"forgets {text}", _forget(text)
        elif isinstance(node, ast.Expr) and _called(node):
            yield f"does not call {_called(node)}", _drop_call(_called(node))
        elif isinstance(node, ast.BoolOp):
            for each in node.values:
                text = ast.unparse(each)
                yield f"without the condition {text}", _drop_condition(text)
        elif isinstance(node, ast.If) and isinstance(node.body[-1], ast.Return | ast.Continue):
            text = ast.unparse(node.test)
            yield f"without the branch {text}", _drop_branch(text)


def _called(node: ast.AST) -> str:
    """The name of the method that a statement calls; empty for another statement."""
    call = node.value if isinstance(node, ast.Expr) else None
    called = call.func if isinstance(call, ast.Call) else None
    return called.attr if isinstance(called, ast.Attribute) else ""


def _with(change: Callable[[Any], ast.AST | None]) -> Edit:
    class Transformer(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            return change(super().generic_visit(node))

    def edit(tree: ast.Module) -> None:
        Transformer().visit(tree)

    return edit


def _forget(text: str) -> Edit:
    """Remove a value from collections, and make comparisons with it false."""

    def change(node: Any) -> Any:
        if isinstance(node, ast.Tuple | ast.Set | ast.List) and len(node.elts) > 1:
            node.elts = [each for each in node.elts if ast.unparse(each) != text] or node.elts[:1]
        elif isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) == text:
            if isinstance(node.ops[0], ast.Eq | ast.Is):
                return ast.copy_location(ast.Constant(False), node)
        return node

    return _with(change)


def _drop_call(name: str) -> Edit:
    return _with(
        lambda node: ast.copy_location(ast.Pass(), node) if _called(node) == name else node
    )


def _drop_condition(text: str) -> Edit:
    def change(node: Any) -> Any:
        if isinstance(node, ast.BoolOp):
            left = [each for each in node.values if ast.unparse(each) != text]
            if len(left) == 1:
                return copy.copy(left[0])
            node.values = left or node.values
        return node

    return _with(change)


def _drop_branch(text: str) -> Edit:
    def change(node: Any) -> Any:
        if isinstance(node, ast.If) and ast.unparse(node.test) == text:
            return node.orelse or ast.copy_location(ast.Pass(), node)
        return node

    return _with(change)
