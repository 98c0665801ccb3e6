"""Turns a solved line with a likely mistake into a cell in which the learner writes the line.

In a chapter's source, a drill is a code cell with the tag ``drill=true``::

    reads = [node.name for node in gm.graph.nodes if node.op == "get_attr"]
    drill("02.1a", reads)
    # Mistake: A parameter of `forward` is a placeholder.
    # reads = [node.name for node in gm.graph.nodes if node.op == "placeholder"]
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.builder.problems import Problem
from autograder.builder.source import Cell, Chapter
from autograder.lessons import Drill

MOST_LINES = 5
"""Maximum number of lines in a solution, without blank ones."""

_CALL = re.compile(r'^drill\("(?P<name>\d\d[a-z]?\.\d+[a-z])", (?P<variable>[a-z]\w*)\)$', re.M)
_MISTAKE = "# Mistake: "
_FORM = (
    'Write the solution, then drill("03.2a", variable), then "# Mistake: " and a sentence that '
    "ends with a full stop, then the wrong lines as comments."
)


@dataclass(frozen=True)
class Parts:
    """The parts of a drill's cell.

    Attributes:
        name: the drill, such as ``03.2a``.
        variable: the name that the solution sets and passes to `drill`.
        solution: the right lines.
        mistake: lines with a likely mistake.
        says: a sentence for a learner who makes the mistake.
    """

    name: str
    variable: str
    solution: str
    mistake: str
    says: str


def parts_of(cell: Cell) -> Parts | None:
    """The parts of a drill's cell, or ``None`` if it does not have the form."""
    found = _CALL.search(cell.source)
    if found is None or not cell.source[found.end() :].lstrip("\n").startswith(_MISTAKE):
        return None
    comments = cell.source[found.end() :].strip("\n").removeprefix(_MISTAKE).split("\n")
    lines = [line.removeprefix("# ").removeprefix("#") for line in comments]
    ends = [at for at, line in enumerate(lines) if line.endswith(".")]
    if not ends:
        return None
    return Parts(
        found["name"],
        found["variable"],
        solution=cell.source[: found.start()].strip("\n"),
        mistake="\n".join(lines[ends[0] + 1 :]),
        says=" ".join(lines[: ends[0] + 1]),
    )


def drill_of(cell: Cell) -> Drill:
    """The drill of a valid cell; see `findings`."""
    parts = parts_of(cell)
    assert parts is not None
    mark = hashlib.sha256(parts.solution.encode()).hexdigest()[:10]
    return Drill(parts.name, parts.variable, parts.solution, parts.mistake, parts.says, mark)


def given(cell: Cell, *, solved: bool) -> str:
    """The cell as released, or with its solution."""
    parts = parts_of(cell)
    assert parts is not None
    lines = parts.solution if solved else f"{parts.variable} = ..."
    return f'{lines}\ndrill("{parts.name}", {parts.variable})'


def findings(chapter: Chapter) -> Iterator[Problem]:
    """Drills that do not have the form, or whose names are not in order."""
    names: list[str] = []
    for above, cell in zip(chapter.cells, chapter.cells[1:], strict=False):
        if cell.tag != "drill":
            continue
        parts = parts_of(cell)
        if parts is None:
            yield Problem(cell.line, "This drill does not have the form of a drill.", _FORM)
            continue
        yield from _one(chapter, cell, parts)
        if f"**Drill {parts.name}.**" not in above.source:
            told = f"Begin a paragraph of the cell above with '**Drill {parts.name}.**'."
            yield Problem(cell.line, f"The text above does not name drill {parts.name}.", told)
        if names and _order(names[-1]) >= _order(parts.name):
            message = f"Drill {parts.name} comes after {names[-1]}."
            yield Problem(cell.line, message, "Name drills in their order: 03.2a, 03.2b, 03.3a.")
        names.append(parts.name)


def _one(chapter: Chapter, cell: Cell, parts: Parts) -> Iterator[Problem]:
    if parts.name.split(".")[0] != chapter.name.split("_")[0]:
        message = f"Drill {parts.name} is in chapter {chapter.name}."
        yield Problem(cell.line, message, f"Begin its name with {chapter.name.split('_')[0]}.")
    for what, code in (("solution", parts.solution), ("mistake", parts.mistake)):
        if parts.variable not in _assigned(code):
            message = f"The {what} of drill {parts.name} does not set '{parts.variable}'."
            yield Problem(cell.line, message, _FORM)
    if sum(bool(line.strip()) for line in parts.solution.split("\n")) > MOST_LINES:
        message = f"The solution of drill {parts.name} has more than {MOST_LINES} lines."
        yield Problem(cell.line, message, "Ask for less, or make it an exercise.")
    for value in sorted(_strings(parts.solution) ^ _strings(parts.mistake)):
        if re.search(rf"(?<![\w.]){re.escape(value)}\b", parts.says):
            message = f"The sentence about the mistake in drill {parts.name} names '{value}'."
            yield Problem(cell.line, message, "Say why it is wrong, without the value.")


def _strings(code: str) -> set[str]:
    """The strings in some lines that are long enough to be recognized in a sentence."""
    try:
        nodes = [*ast.walk(ast.parse(code))]
    except SyntaxError:
        return set()
    values = {node.value for node in nodes if isinstance(node, ast.Constant)}
    return {value for value in values if isinstance(value, str) and len(value) > 2}


def _assigned(code: str) -> set[str]:
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return set()
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}


def _order(name: str) -> tuple[int, str]:
    """The position of a drill in its chapter: ``(12, "b")`` for ``03.12b``."""
    found = re.fullmatch(r".*\.(\d+)([a-z])", name)
    assert found is not None
    return int(found[1]), found[2]
