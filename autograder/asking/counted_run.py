"""The second way to watch a run: calls that are inserted into the code, and no tracing."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

from autograder.asking.code import Code
from autograder.asking.plain_value import plain_value

_HOOK = "__at__"


class _Inserter(ast.NodeTransformer):
    """Inserts a call with the line and the local variables before each statement of a function."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.body = _with_hooks(node.body)
        return node


def _with_hooks(body: list[ast.stmt]) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for statement in body:
        found += [_hook(statement.lineno), statement]
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            continue
        for block in (
            statement,
            *getattr(statement, "handlers", ()),
            *getattr(statement, "cases", ()),
        ):
            for field in ("body", "orelse", "finalbody"):
                if inner := getattr(block, field, None):
                    setattr(block, field, _with_hooks(inner))
    return found


def _hook(line: int) -> ast.stmt:
    return ast.parse(f"{_HOOK}({line}, locals())").body[0]


def run_counted(code: Code, use: Callable[[Any], Any], name: str = "") -> list[tuple[int, str]]:
    """Run an answer with inserted calls, and return the line and a variable's value at each.

    Args:
        code: the answer.
        use: calls the answer.
        name: the variable; none by default.
    """
    seen: list[tuple[int, str]] = []

    def note(line: int, names: dict[str, Any]) -> None:
        seen.append((line, plain_value(names[name]) if name in names else ""))

    tree = ast.fix_missing_locations(_Inserter().visit(copy.deepcopy(code.tree)))
    use(code.load(tree, "<your code, counted>", **{_HOOK: note}))
    return seen
