"""The right answers as cells of a learner, each with the definitions that it needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from autograder.asking.code import Code, definitions
from autograder.builder.debriefs import as_cell
from tests.exercises import folders


@cache
def right_cells(name: str) -> dict[str, Code]:
    """The right answers to an exercise by their style, as far as each is one definition."""
    return {style: Code(name, definitions(text)) for style, text in _texts(name)}


def _texts(name: str) -> Iterator[tuple[str, str]]:
    text = (folders()[name] / "answers.py").read_text(encoding="utf-8")
    body = ast.parse(text).body
    for part in body:
        if isinstance(part, ast.FunctionDef | ast.ClassDef):
            for style in _styles(part):
                yield style, as_cell(part, body, text, name)


def _styles(part: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    for mark in part.decorator_list:
        if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "right":
            yield str(ast.literal_eval(mark.args[0]))
