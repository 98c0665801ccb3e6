"""The learner's whole vocabulary: `check`, `grade`, `hint`, `draw` and `progress`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograder.learner import CheckFailed, check, grade, hint, progress

if TYPE_CHECKING:
    from autograder.show.draw import draw

__all__ = ["CheckFailed", "check", "draw", "grade", "hint", "progress"]


def __getattr__(name: str) -> Any:
    # Drawing needs matplotlib; grading does not, and must not wait for it.
    if name == "draw":
        from autograder.show.draw import draw

        return draw
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
