"""The text of an exercise's module as students may have it: no hidden cases, nothing told later."""

from __future__ import annotations

import ast
import re

_TOLD_LATER = ("TRAP",)


class NotRemovable(Exception):
    """A hidden case is written in a way that cannot be taken out; the message names it."""


def without_hidden_cases(source: str, name: str) -> str:
    """A module's text without the cases that are marked ``hidden=True``.

    Args:
        source: the text.
        name: what the module is called in messages.

    Raises:
        NotRemovable: one of them is no element of a tuple or a list.
    """
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    doomed: set[ast.AST] = set()
    makers = _makers(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_hidden(node, makers):
            if _function_of(node, parents) is None:
                doomed.add(_element(node, parents, name))
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id in _TOLD_LATER for target in targets):
            doomed.add(statement)
    data = source.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in sorted(doomed, key=lambda node: -_place(node, starts)[0]):
        first, last = _place(node, starts)
        after = re.match(rb"\s*,", data[last:])
        last += after.end() if after else 0
        data = data[:first] + data[last:]
    return data.decode()


REDRAW = "redraw:"
"""What the names of hidden cases begin with."""


def _is_hidden(call: ast.Call, makers: frozenset[str] = frozenset()) -> bool:
    """Whether a call makes a hidden case: it says so, or its name does, or who is called does."""
    if isinstance(call.func, ast.Name) and call.func.id in makers:
        return True
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Constant) and str(first.value).startswith(REDRAW):
        return True
    return any(
        keyword.arg == "hidden"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is True
        for keyword in call.keywords
    )


def _makers(tree: ast.Module) -> frozenset[str]:
    """The functions of a module that make hidden cases, and no others."""
    return frozenset(
        function.name
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        and any(isinstance(node, ast.Call) and _is_hidden(node) for node in ast.walk(function))
    )


def _function_of(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> ast.AST | None:
    """The function in which a node lies."""
    while node in parents and not isinstance(node, ast.FunctionDef):
        node = parents[node]
    return node if isinstance(node, ast.FunctionDef) else None


def _element(node: ast.AST, parents: dict[ast.AST, ast.AST], name: str) -> ast.AST:
    """What of a tuple or a list a call is, or is a part of."""
    while True:
        parent = parents.get(node)
        if parent is None or isinstance(parent, ast.stmt):
            line = getattr(node, "lineno", 0)
            raise NotRemovable(f"{name}, line {line}: a hidden case that is in no tuple or list.")
        if isinstance(parent, ast.Tuple | ast.List) and node in parent.elts:
            return node
        node = parent


def _place(node: ast.AST, starts: list[int]) -> tuple[int, int]:
    """Where a node begins and ends, in bytes."""
    assert isinstance(node, ast.expr | ast.stmt)
    assert node.end_lineno is not None and node.end_col_offset is not None
    return (
        starts[node.lineno - 1] + node.col_offset,
        starts[node.end_lineno - 1] + node.end_col_offset,
    )
