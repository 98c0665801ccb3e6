"""nbgrader's metadata (schema version 3) for the cells of an exercise."""

from __future__ import annotations

from typing import Any

SCHEMA = 3


def solve_metadata(name: str) -> dict[str, Any]:
    """For the cell in which a learner writes the answer."""
    return {
        "schema_version": SCHEMA,
        "grade": False,
        "grade_id": name,
        "locked": False,
        "solution": True,
        "task": False,
    }


def check_metadata(name: str, points: int) -> dict[str, Any]:
    """For the locked cell that checks the answer and carries its points."""
    return {
        "schema_version": SCHEMA,
        "grade": True,
        "grade_id": f"check-{name}",
        "locked": True,
        "points": points,
        "solution": False,
        "task": False,
    }
