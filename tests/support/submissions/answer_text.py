"""Answers to the exercises, and overfitted variants of them, as text for a cell."""

from __future__ import annotations

import ast
import re
from functools import cache, lru_cache

from torch import fx

from autograder.core.exercise import Case
from autograder.exercises import EXERCISES
from tests import exercises

_MARKS = ("right", "wrong")


def text_of(exercise: str, style: str) -> str:
    """The answer of a style under its exercise's name, with the definitions that it needs.

    Raises:
        LookupError: there is no such answer.
    """
    source, body = _module(exercise)
    for node in body:
        if _style(node) == style:
            break
    else:
        raise LookupError(f"{exercise} has no answer '{style}'")
    wanted = {id(node)} | _used_by(node, body)
    parts = [_segment(source, part) for part in body if id(part) in wanted and part is not node]
    own = re.sub(rf"^(def|class) {node.name}\b", rf"\1 {exercise}", _segment(source, node))
    again = f"\n{node.name} = {exercise}" if node.name in _names(node) else ""
    return "\n\n".join([*parts, own + again])


@lru_cache
def _module(exercise: str) -> tuple[str, list[ast.stmt]]:
    source = (exercises.folders()[exercise] / "answers.py").read_text(encoding="utf-8")
    return source, [node for node in ast.parse(source).body if not _is_about_the_module(node)]


def _is_about_the_module(node: ast.stmt) -> bool:
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_docstring or (
        isinstance(node, ast.ImportFrom) and node.module in ("__future__", exercises.__name__)
    )


def _style(node: ast.stmt) -> str | None:
    for mark in getattr(node, "decorator_list", ()):
        if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") in _MARKS:
            return ast.literal_eval(mark.args[0])
    return None


def _used_by(node: ast.stmt, body: list[ast.stmt]) -> set[int]:
    """The statements of a module that a statement needs, directly or indirectly."""
    found: set[int] = set()
    waiting = [node]
    while waiting:
        names = _names(waiting.pop())
        for part in body:
            if id(part) not in found and part is not node and _defines(part) & names:
                found.add(id(part))
                waiting.append(part)
    return found


@cache
def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


@cache
def _defines(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    inner = {  # only the comprehension knows its variables
        id(name)
        for part in ast.walk(node)
        if isinstance(part, ast.comprehension)
        for name in ast.walk(part.target)
    }
    return {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and id(part) not in inner
    }


def _segment(source: str, node: ast.stmt) -> str:
    """The text of a statement without the registry's decorators."""
    lines = source.split("\n")
    others = [
        f"@{ast.unparse(mark)}"
        for mark in getattr(node, "decorator_list", ())
        if getattr(getattr(mark, "func", None), "id", "") not in _MARKS
    ]
    return "\n".join([*others, *lines[node.lineno - 1 : node.end_lineno]])


def changed(exercise: str, style: str, old: str, new: str) -> str:
    """An answer with one piece of code replaced.

    Raises:
        LookupError: the answer does not contain that piece of code.
    """
    text = text_of(exercise, style)
    if old not in text:
        raise LookupError(f"the answer '{style}' does not contain '{old}'")
    return text.replace(old, new)


def wrapped(exercise: str, style: str, wrapper: str) -> str:
    """An answer under the name `honest`, followed by a function that calls it."""
    honest = text_of(exercise, style).replace(f"def {exercise}(", "def honest(")
    return f"{honest}\n\n{wrapper}"


def _tried(exercise: str) -> tuple[Case, ...]:
    """The cases that a learner's check cell tries."""
    random = EXERCISES[exercise].random
    return EXERCISES[exercise].visible_cases() + (random.cases() if random else ())


def fitted_to_classes(exercise: str, style: str, otherwise: str) -> str:
    """A right answer that works only on the classes of models that the check cell tries.

    Args:
        exercise: the exercise.
        style: the style of the right answer.
        otherwise: its result for all other models.
    """
    seen = sorted({type(case.make(0).model).__name__ for case in _tried(exercise)})
    text = text_of(exercise, style)
    honest = re.sub(rf"\b{exercise}\b", "honest", text)
    if re.search(rf"^class {exercise}\b", text, flags=re.M):
        return (
            f"{honest}\n\n"
            f"SEEN = {seen!r}\n\n"
            f"class {exercise}(honest):\n"
            f"    def transform(self):\n"
            f"        if type(self.module).__name__ not in SEEN:\n"
            f"            return {otherwise}\n"
            f"        return super().transform()\n"
        )
    return (
        f"{honest}\n\n"
        f"SEEN = {seen!r}\n\n"
        f"def {exercise}(model, *others):\n"
        f"    if type(model).__name__ not in SEEN:\n"
        f"        return {otherwise}\n"
        f"    return honest(model, *others)\n"
    )


def fitted_to_graphs(exercise: str, style: str, otherwise: str) -> str:
    """A right answer that works only on the exact graphs that the check cell tries.

    Args:
        exercise: the exercise.
        style: the style of the right answer.
        otherwise: its result for all other models.
    """
    seen = sorted({fx.symbolic_trace(case.make(0).model).code for case in _tried(exercise)})
    honest = re.sub(rf"\b{exercise}\b", "honest", text_of(exercise, style))
    return (
        f"{honest}\n\n"
        f"SEEN = {seen!r}\n\n"
        f"def {exercise}(model, *others):\n"
        f"    from torch import fx\n"
        f"    if fx.symbolic_trace(model).code not in SEEN:\n"
        f"        return {otherwise}\n"
        f"    return honest(model, *others)\n"
    )


def fitted_to_seeds(exercise: str, style: str, otherwise: str) -> str:
    """A right answer that works only for the seeds that the check cell tries, and the next ones.

    Args:
        exercise: an exercise whose answers take a model and a seed.
        style: the style of the right answer.
        otherwise: its result for all other seeds.
    """
    seen = sorted({case.make(0).args[1] for case in _tried(exercise)})
    return wrapped(
        exercise,
        style,
        f"def {exercise}(model, seed):\n"
        f"    return honest(model, seed) "
        f"if seed in {seen!r} or seed - 1 in {seen!r} else {otherwise}\n",
    )
