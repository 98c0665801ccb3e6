"""The ``feedback.json`` of a custom grader on Coursera.

Source: https://github.com/coursera/programming-assignments-demo/tree/master/custom-graders
"""

from __future__ import annotations

import json

from autograder.formats.feedback import Feedback


def text(feedback: Feedback) -> str:
    """A fraction of the points, and one text for the learner."""
    result = feedback.result
    parts = [f"{feedback.total}.", feedback.summary]
    for row in feedback.rows:
        parts.append("\n".join(filter(None, (f"{row.name}: {row.word}, {row.worth}.", row.text))))
    fraction = result.points / result.max_points if result.max_points else 0.0
    data = {"fractionalScore": fraction, "feedback": "\n\n".join(filter(None, parts))}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
