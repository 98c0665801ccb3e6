"""Shortens a case's source for a card to the few lines that a reader needs.

The card also contains the whole source, to be copied. The short form lacks imports, blank lines,
docstrings and `super().__init__()`, and a long model lacks lines in its middle.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from autograder.drawing.html import bounded

MOST_LINES = 25
"""Maximum number of lines in the result."""

MOST_READ = 2_000
"""Maximum number of lines of a source that are read."""

MOST_CHARACTERS = 100_000

VISIBLE_LINES = 10
"""Maximum number of lines of the first class or function: they are visible without scrolling."""

WIDTH = 60
"""Approximate number of characters in a line that is not wrapped."""

LEFT_OUT = "…"
_FREED = re.compile(r";\s+(?:\w+ = )+None(?=\s*(?:#.*)?$)")
_SUPER = re.compile(r"super\(\).__init__\(\)")

Definition = ast.ClassDef | ast.FunctionDef


def shown_source(source: str, most: int = MOST_LINES) -> str:
    """The lines of a source that a card shows.

    Args:
        source: complete statements; comments are kept.
        most: maximum number of lines. Those with the first `return` are among them.
    """
    source = bounded(source[:MOST_CHARACTERS], MOST_READ)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return "\n".join(_cut(_full_lines(source.splitlines()), most))
    lines = source.splitlines()
    dropped = set(_dropped(tree))
    starts = sorted({i for each in tree.body for i in (_first_line(each), each.end_lineno or 0)})
    blocks = [
        _full_lines(_FREED.sub("", lines[i]) for i in range(start, end) if i not in dropped)
        for start, end in zip([0, *starts], [*starts, len(lines)], strict=True)
    ]
    blocks = [block for block in blocks if block]
    return "\n".join(_fitting(blocks, most))


def _full_lines(lines: Iterator[str] | list[str]) -> list[str]:
    return [line.rstrip() for line in lines if line.strip()]


def _first_line(statement: ast.stmt) -> int:
    """The first line of a statement, counted from 0, including its decorators."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)]) - 1


def _lines_of(node: ast.stmt) -> range:
    return range(_first_line(node), node.end_lineno or node.lineno)


def _dropped(tree: ast.Module) -> Iterator[int]:
    """The lines that a reader does not need."""
    for statement in tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from _lines_of(statement)
    for node in ast.walk(tree):
        if not isinstance(node, Definition):
            continue
        needless = [each for each in node.body if _is_needless(each)]
        if len(needless) == len(node.body) and node.name == "__init__":
            needless = [node]
        elif len(needless) == len(node.body):
            needless.pop()  # a docstring may be the whole body
        for each in needless:
            yield from _lines_of(each)


def _is_needless(statement: ast.stmt) -> bool:
    """Whether this is a docstring or a call of `super().__init__()`."""
    if not isinstance(statement, ast.Expr):
        return False
    text = isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)
    return text or _SUPER.fullmatch(ast.unparse(statement)) is not None


def _height(lines: list[str]) -> int:
    """Number of lines after long ones are wrapped."""
    return sum(1 + (len(line) - 1) // WIDTH for line in lines)


def _fitting(blocks: list[list[str]], most: int) -> list[str]:
    """Shorten the blocks to `most` lines in all; the first definition is never collapsed."""
    first = next((i for i, block in enumerate(blocks) if _is_definition(block)), 0)
    if blocks:
        blocks[first] = _cut(blocks[first], min(VISIBLE_LINES, most))
    for i in reversed(range(len(blocks))):
        if sum(map(_height, blocks)) > most and i != first and _is_definition(blocks[i]):
            blocks[i] = [f"{_header(blocks[i])} {LEFT_OUT}"]
    for i in sorted(range(len(blocks)), key=lambda i: -len(blocks[i])):
        over = sum(map(_height, blocks)) - most
        if over > 0:
            blocks[i] = _cut(blocks[i], max(3, _height(blocks[i]) - over))
    lines = [line for block in blocks for line in block]
    return lines if _height(lines) <= most else _cut(lines, most)


def _is_definition(block: list[str]) -> bool:
    return any(re.match(r"(?:class|def) ", line) for line in block)


def _header(block: list[str]) -> str:
    """The first line of a definition, closed early if the header has several lines."""
    line = next(line for line in block if re.match(r"(?:class|def) ", line))
    return line if line.endswith(":") else f"{line.rstrip()}{LEFT_OUT}):"


def _cut(lines: list[str], most: int) -> list[str]:
    """Remove lines from the middle: assignments to `self` first, `return` only if necessary."""
    if _height(lines) <= most:
        return lines
    own: Callable[[str], bool] = lambda line: line.startswith("        self.")  # noqa: E731
    for may_go in (own, lambda line: not re.match(r"\s*(?:return|class|def)\b", line)):
        places = [i for i, line in enumerate(lines) if may_go(line) and line.strip() != LEFT_OUT]
        gone: set[int] = set()
        height = _height(lines)
        for i in places[1:][::-1] if may_go is own else _from_the_middle(places):
            if height < most:
                break
            gone.add(i)
            height -= _height([lines[i]])
        lines = _without(lines, gone)
    while _height(lines) > most and len(lines) > 2:
        middle = len(lines) // 2
        lines = _without(lines, {middle, middle - 1})
        if len(lines) <= 3:
            break
    return lines


def _from_the_middle(places: list[int]) -> list[int]:
    middle = len(places) / 2
    ranked = sorted(range(1, len(places)), key=lambda rank: abs(rank - middle))
    return [places[rank] for rank in ranked]


def _without(lines: list[str], gone: set[int]) -> list[str]:
    """The remaining lines, with one `LEFT_OUT` for each gap."""
    kept: list[str] = []
    for i, line in enumerate(lines):
        if i not in gone:
            kept.append(line)
        elif not (kept and kept[-1].strip() == LEFT_OUT):
            kept.append(f"{line[: len(line) - len(line.lstrip())]}{LEFT_OUT}")
    return [
        line for i, line in enumerate(kept)
        if not (line.strip() == LEFT_OUT and i and kept[i - 1].strip() == LEFT_OUT)
    ]  # fmt: skip
