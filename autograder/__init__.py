"""The functions that a learner calls, such as `check`, `hint`, `draw`, `drill` and `progress`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.api import (
        CheckFailed,
        ask_me,
        check,
        debrief,
        drill,
        failed,
        grade,
        hint,
        predict,
        progress,
        replay,
        solution,
    )
    from autograder.cards.failing import fails
    from autograder.drawing.draw import draw
    from autograder.workspace.overview import overview

__all__ = [
    "CheckFailed",
    "ask_me",
    "check",
    "debrief",
    "draw",
    "drill",
    "failed",
    "fails",
    "grade",
    "hint",
    "overview",
    "predict",
    "progress",
    "replay",
    "solution",
]

_HOME = dict.fromkeys(__all__, "autograder.api") | {
    "draw": "autograder.drawing.draw",
    "fails": "autograder.cards.failing",
    "overview": "autograder.workspace.overview",
}


def __getattr__(name: str) -> Any:
    # Imported on first use: so the command `fxcourse` starts without torch, and can report a broken
    # installation of it; and grading does not wait for matplotlib.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(_HOME[name])
    if name == "check" and getattr(home, "__file__", None):  # the stub used in grading has no file
        from autograder.environment.tried_versions import remark_on_versions

        remark_on_versions()
        home.check.begin()
    return getattr(home, name)
