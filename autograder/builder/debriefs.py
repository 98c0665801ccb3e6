"""Debriefs, shown after a pass: the course's solution, another right answer, and a trap.

The other answer is marked ``@right("style", debrief=True)`` in
``tests/exercises/chNN_topic/NAME/answers.py``; the trap is the exercise's ``trap.md``. Both are
read as text, so that building notebooks does not import answer keys.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from autograder.builder.paths import EXERCISES, ROOT
from autograder.builder.solution_regions import without_gaps, without_markers
from autograder.builder.source import Chapter
from autograder.core.exercise_folder import TRAP
from autograder.lessons import Debrief

ANSWERS = ROOT / "tests" / "exercises"


def debrief_of(chapter: Chapter, name: str) -> Debrief | None:
    """The debrief of a chapter's exercise; ``None`` if a part of it is not written."""
    other, trap = other_answer(name), trap_of(name)
    solution = next((c.source for c in chapter.tagged("solve") if c.value == name), "")
    if other is None or not trap or not solution:
        return None
    return Debrief(without_gaps(without_markers(solution)), other[0], other[1], trap)


def lacking(name: str) -> list[str]:
    """The missing parts of an exercise's debrief."""
    marked = [] if other_answer(name) else ["no answer is marked debrief=True"]
    return marked if trap_of(name) else [*marked, f"it has no {TRAP}"]


@lru_cache(maxsize=256)
def other_answer(name: str) -> tuple[str, str] | None:
    """The style and the code of the answer that is marked for a debrief, if there is one.

    Args:
        name: the exercise; the answer's function or class is renamed to it.
    """
    path = next(ANSWERS.glob(f"ch*/{name}/answers.py"), None)
    if path is None:
        return None
    text = path.read_text(encoding="utf-8")
    body = ast.parse(text).body
    for part in body:
        style = _marked(part)
        if style:
            assert isinstance(part, ast.FunctionDef | ast.ClassDef)
            return style, without_gaps(as_cell(part, body, text, name))
    return None


def as_cell(
    part: ast.FunctionDef | ast.ClassDef, body: list[ast.stmt], text: str, name: str
) -> str:
    """An answer of a module as a learner would write it in one cell, with all that it needs.

    Args:
        part: the answer.
        body: the statements of the module.
        text: the text of the module.
        name: the exercise; the answer is renamed to it.
    """
    definitions = [*_needed(part, body), part]
    imports = "".join(_spaced(one, text) for one in _imports(definitions, body))
    code = "".join(_spaced(one, text) for one in definitions)
    # Outside of its definition, `_` is an unused variable and keeps its name.
    own = r"(?<=def )_\b" if part.name == "_" else rf"(?<![.\w]){part.name}\b"
    return re.sub(own, name, f"{imports}\n{code}")


def trap_of(name: str) -> str:
    """The trap of an exercise as markdown, or nothing if there is none."""
    found = (path.read_text(encoding="utf-8") for path in EXERCISES.glob(f"ch*/{name}/{TRAP}"))
    return next(found, "").strip()


def _marked(part: ast.stmt) -> str:
    """The style of an answer that is marked for a debrief, else an empty string."""
    for mark in getattr(part, "decorator_list", ()):
        if not isinstance(mark, ast.Call) or getattr(mark.func, "id", "") != "right":
            continue
        chosen = [word for word in mark.keywords if word.arg == "debrief"]
        if chosen and ast.literal_eval(chosen[0].value):
            return str(ast.literal_eval(mark.args[0]))
    return ""


def _needed(part: ast.stmt, body: list[ast.stmt]) -> list[ast.stmt]:
    """The definitions of a module that a part of it uses, directly or not.

    Definitions with the part's own name are left out: many answers of a module may be called `_`.
    """
    found: list[ast.stmt] = []
    waiting = [part]
    while waiting:
        used = _used(waiting.pop()) - _defined(part)
        new = [one for one in body if _defined(one) & used and one not in (part, *found)]
        found += new
        waiting += new
    return [one for one in body if one in found]


def _imports(parts: list[ast.stmt], body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The imports of a module that these parts use."""
    used = set().union(*map(_used, parts))
    for part in body:
        if isinstance(part, ast.Import | ast.ImportFrom):
            if used & {alias.asname or alias.name.partition(".")[0] for alias in part.names}:
                yield part


def _used(part: ast.AST) -> set[str]:
    """The names that a part uses, except the marks ``right`` and ``wrong``."""
    names = {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}
    return names - {"right", "wrong"}


def _defined(part: ast.stmt) -> set[str]:
    if isinstance(part, ast.FunctionDef | ast.ClassDef):
        return {part.name}
    targets = part.targets if isinstance(part, ast.Assign) else []
    named = [node for target in targets for node in ast.walk(target)]
    return {node.id for node in named if isinstance(node, ast.Name)}


def _spaced(part: ast.stmt, text: str) -> str:
    """The code of a part, with two blank lines above a definition."""
    found = ast.get_source_segment(text, part)
    return f"\n\n{found}\n" if isinstance(part, ast.FunctionDef | ast.ClassDef) else f"{found}\n"
