"""Metadata of notebooks, and nbgrader's (schema version 3) for the cells of an exercise."""

from __future__ import annotations

from typing import Any

SCHEMA = 3

NOTEBOOK = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}
"""The complete metadata of a notebook. A jupytext pairing in it could restore the answers."""


def solve_metadata(name: str) -> dict[str, Any]:
    """Return nbgrader's metadata of the cell in which a learner writes the answer."""
    return {
        "schema_version": SCHEMA,
        "grade": False,
        "grade_id": name,
        "locked": False,
        "solution": True,
        "task": False,
    }


def check_metadata(name: str, points: int) -> dict[str, Any]:
    """Return nbgrader's metadata of the locked cell that checks the answer and has its points."""
    return {
        "schema_version": SCHEMA,
        "grade": True,
        "grade_id": f"check-{name}",
        "locked": True,
        "points": points,
        "solution": False,
        "task": False,
    }
