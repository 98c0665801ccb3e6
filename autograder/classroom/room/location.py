"""Finds the folder of a classroom."""

from __future__ import annotations

from pathlib import Path

from autograder.environment.errors import ClassroomError


def classroom_at(folder: Path) -> Path:
    """Resolve the folder of a classroom.

    Raises:
        ClassroomError: it is not a classroom.
    """
    room = folder.expanduser().resolve()
    if not (room / "nbgrader_config.py").is_file():
        raise ClassroomError(
            f"{room} is not a classroom: it has no nbgrader_config.py. "
            "Make one with: fxcourse classroom create DIR"
        )
    return room
