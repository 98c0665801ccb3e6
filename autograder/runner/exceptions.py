"""Exceptions of a learner's code, as records."""

from __future__ import annotations

import traceback
from pathlib import Path

import torch

from autograder.core.codec import Plain
from autograder.core.execution import error_record

MAX_TEXT = 2_000
_OWN_FOLDER = str(Path(__file__).parents[1])
_TORCH_FOLDER = str(Path(torch.__file__).parent)


def record_of(error: BaseException) -> Plain:
    """The exception, and the learner's own line that led to it."""
    record = error_record(error) | {"line": 0, "text": "", "says": _whole_text(error)}
    for frame in traceback.extract_tb(error.__traceback__):
        if _is_learners(frame.filename):
            record["line"], record["text"] = frame.lineno or 0, (frame.line or "").strip()[:200]
    return record


def _whole_text(error: BaseException) -> str:
    try:
        return str(error)[:MAX_TEXT]
    except Exception:
        return ""


def _is_learners(filename: str) -> bool:
    return not filename.startswith((_OWN_FOLDER, _TORCH_FOLDER, "<eval_with_key>", "<frozen"))


def is_stub(error: BaseException) -> bool:
    """Whether this is the ``raise NotImplementedError()`` of an untouched stub."""
    if type(error) is not NotImplementedError or str(error):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and _is_learners(frames[-1].filename)
