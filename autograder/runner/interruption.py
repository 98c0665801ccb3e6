"""The place at which an answer was stopped: its line, the loop around it, and its variables."""

from __future__ import annotations

import ast
import linecache
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch
from torch import fx

from autograder.core.execution import ErrorRecord
from autograder.runner.exceptions import is_learners, record_of

MAX_VALUES = 4
MAX_VALUE = 80


def interruption_record(error: BaseException) -> ErrorRecord:
    """As `record_of`, with ``values``: the innermost loop's line, and its variables as text."""
    record = record_of(error)
    loop = next((found for frame, line in _own_frames(error) if (found := _loop(frame, line))), [])
    return record | {"values": loop}


def _own_frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """The learner's frames, innermost first, each with its current line."""
    walk = list(traceback.walk_tb(error.__traceback__))
    for frame, line in reversed(walk):
        if is_learners(frame.f_code.co_filename):
            yield frame, line


def _loop(frame: FrameType, line: int) -> list[list[str]]:
    """The loop around a line: first ``["", its first line]``, then names and values."""
    text = "".join(linecache.getlines(frame.f_code.co_filename))
    try:
        loops = [
            node
            for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.For, ast.While))
            and node.lineno <= line <= (node.end_lineno or 0)
            and node.lineno >= frame.f_code.co_firstlineno
        ]
    except SyntaxError:
        return []
    if not loops:
        return []
    loop = max(loops, key=lambda node: node.lineno)
    names = _names(loop.test if isinstance(loop, ast.While) else loop.target)
    if isinstance(loop, ast.For):
        names += _names(loop.iter)
    header = text.splitlines()[loop.lineno - 1].strip()[:200]
    known = {name: frame.f_locals[name] for name in names if name in frame.f_locals}
    shown = [(name, _text(value)) for name, value in known.items()]
    return [["", header], *([name, text] for name, text in shown if text)][: MAX_VALUES + 1]


def _names(expression: ast.AST) -> list[str]:
    nodes = (node for node in ast.walk(expression) if isinstance(node, ast.Name))
    return list(dict.fromkeys(node.id for node in nodes))


def _text(value: Any) -> str:
    """A value in a few words; ``""`` if a few words cannot describe it."""
    if isinstance(value, fx.Node):
        return f"the node {value.name}"
    if type(value) in (list, tuple, dict, set):
        items = "1 item" if len(value) == 1 else f"{len(value):,} items"
        return f"a {type(value).__name__} of {items}"
    if type(value) is int and value.bit_length() > 200:
        return f"a number of {value.bit_length():,} bits"
    if type(value) in (type(None), bool, int, float):
        return repr(value)
    if type(value) is torch.Tensor and value.numel() == 1:
        return f"a tensor with {value.item()!r}"
    if type(value) is str:
        return repr(value) if len(value) < MAX_VALUE else f"a str of {len(value):,} characters"
    return ""
