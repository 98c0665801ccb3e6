"""Exceptions of a learner's code, as records."""

from __future__ import annotations

import ast
import linecache
import os
import sysconfig
import traceback
from pathlib import Path

import torch

from autograder.core.execution import ErrorRecord, FrameRecord, error_record
from autograder.runner.near_names import line_with, near_names

MAX_TEXT = 2_000
MAX_FRAMES = 6
_GENERATED = "<eval_with_key>"
_OWN_FOLDER = str(Path(__file__).parents[1])
_PATHS = sysconfig.get_paths()
_LIBRARIES = tuple({
    _OWN_FOLDER, str(Path(torch.__file__).parent), str(Path(os.__file__).parent),
    *(_PATHS[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")),
})  # fmt: skip


def record_of(error: BaseException) -> ErrorRecord:
    """Record an exception, and the learner's lines that led to it.

    Returns:
        As `error_record`, and ``line`` and ``text``, the learner's last line; ``frames``, all of
        the learner's lines with their functions; ``generated``, the line of a graph's code that
        could not be parsed or run; ``near``: see `near_names`.
    """
    outer, error = error, first_cause(error)
    near = near_names(error)
    frames: list[FrameRecord] = [
        {
            "line": frame.lineno or 0,
            "text": (frame.line or "").strip()[:200],
            "function": frame.name,
        }
        for frame in traceback.extract_tb(error.__traceback__)
        if is_learners(frame.filename)
    ]
    last = frames[-1] if frames else FrameRecord(line=0, text="", function="")
    if near and not frames:  # it was raised as the graph ran: find the line with that name
        last["line"], last["text"] = line_with(near[1], near[0])
    record = error_record(error)
    if error is not outer:
        record["types"] += [name for name in error_record(outer)["types"]
                            if name not in record["types"]]  # fmt: skip
    record.update(
        {
            "line": last["line"],
            "text": last["text"],
            "frames": frames[-MAX_FRAMES:],
            "generated": _generated_line(error),
            "says": _whole_text(error),
            "near": near,
        }
    )
    return record


def first_cause(error: BaseException) -> BaseException:
    """The exception of the learner's code from which FX or PyTorch raised another one.

    If a handler raises a `KeyError`, FX raises a `RuntimeError` that lacks the handler's line.
    """
    while error.__cause__ is not None and not _ends_in_learners(error):
        if not any(map(is_learners, _files(error.__cause__))):
            break
        error = error.__cause__
    return error


def _ends_in_learners(error: BaseException) -> bool:
    return any(map(is_learners, _files(error)[-1:]))


def _files(error: BaseException) -> list[str]:
    walked = traceback.walk_tb(error.__traceback__)
    return [frame.f_code.co_filename for frame, _ in walked]


def _generated_line(error: BaseException) -> str:
    """The line of a graph's generated code that raised the exception, or ``""``."""
    if isinstance(error, SyntaxError):
        generated = str(error.filename or "").startswith(_GENERATED)
        return str(error.text or "").strip()[:200] if generated else ""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.line for frame in frames if frame.filename.startswith(_GENERATED)]
    return (lines[-1] or "").strip()[:200] if lines else ""


def _whole_text(error: BaseException) -> str:
    try:
        return str(error)[:MAX_TEXT]
    except Exception:
        return ""


def is_learners(filename: str) -> bool:
    """Whether a file is a notebook's cell or a learner's file, not a library's."""
    if filename.startswith((_GENERATED, "<frozen", "<__array_function__")):
        return False
    return not any(filename.startswith(folder + os.sep) for folder in _LIBRARIES)


def is_stub(error: BaseException) -> bool:
    """Whether this is the ``raise NotImplementedError`` of an untouched stub.

    That is a statement directly in a function's body. Inside a branch, it is the answer's way to
    reject input that it does not support.
    """
    if type(error) is not NotImplementedError or str(error):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or not is_learners(frames[-1].filename):
        return False
    return not _is_in_a_branch(frames[-1].filename, frames[-1].lineno or 0)


def _is_in_a_branch(filename: str, line: int) -> bool:
    """Whether a `raise` is nested inside a statement of a function; false without its text."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):  # no text, or not Python
        return False
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    direct = {id(statement) for function in functions for statement in function.body}
    raising = (each for each in ast.walk(tree) if isinstance(each, ast.Raise))
    return any(
        each.lineno <= line <= (each.end_lineno or each.lineno) and id(each) not in direct
        for each in raising
    )
