"""JSON for programs of the instructor."""

from __future__ import annotations

import json

from autograder.formats.feedback import Feedback


def text(feedback: Feedback) -> str:
    """The result with the points and findings of each exercise, as JSON."""
    result = feedback.result
    data = {
        "student": result.student,
        "chapter": result.chapter,
        "status": result.status,
        "points": result.points,
        "max_points": result.max_points,
        "notes": list(result.notes),
        "seconds": round(result.seconds, 3),
        "wall": result.wall,
        "exercises": [
            {
                "name": row.name,
                "result": row.word,
                "points": row.points,
                "max_points": row.max_points,
                "findings": [
                    {"code": one.code, "message": one.message, "model": one.model}
                    for one in row.findings
                ],
            }
            for row in feedback.rows
        ],
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
