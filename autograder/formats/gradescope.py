"""Gradescope's ``results.json``, and its data about a submission.

Sources: https://gradescope-autograders.readthedocs.io/en/latest/specs/ and
https://gradescope-autograders.readthedocs.io/en/latest/submission_metadata/
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from autograder.formats.feedback import Feedback, Row

_NOT_GRADED = "not graded"
"""The mark in ``extra_data`` of a result that repeats an earlier one."""


def text(feedback: Feedback) -> str:
    """The result, with a visible test for each exercise."""
    result = feedback.result
    data = {
        "score": result.points,
        "execution_time": round(result.seconds, 1),
        "output": feedback.summary,
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [_test(row) for row in feedback.rows],
        "extra_data": {"status": result.status, "wall": result.wall},
    }
    return _json(data)


def _test(row: Row) -> dict[str, Any]:
    test: dict[str, Any] = {"name": row.name, "max_score": row.max_points}
    if row.points is not None:
        test |= {"score": row.points, "status": "passed" if row.is_right else "failed"}
    # As text: a student's words in a message must not become Markdown or HTML.
    output = "\n\n".join(filter(None, (f"{row.word}.", row.text)))
    return test | {"output": output, "output_format": "text", "visibility": "visible"}


def student_of(metadata: Mapping[str, Any]) -> str:
    """The id of a submission's student; for a group, the ids of all.

    Raises:
        KeyError, TypeError: this is not Gradescope's data.
    """
    return "+".join(sorted(str(user["id"]) for user in metadata["users"]))


def last_result(metadata: Mapping[str, Any], limit: int) -> str | None:
    """The last result again, if a student has used up the attempts of 24 hours.

    Args:
        metadata: Gradescope's data about this submission.
        limit: the number of attempts.

    Raises:
        KeyError, TypeError, ValueError: this is not Gradescope's data.
    """
    graded = [one for one in metadata["previous_submissions"] if _was_graded(one["results"])]
    begin = datetime.fromisoformat(metadata["created_at"]) - timedelta(days=1)
    if sum(_time(one) > begin for one in graded) < limit:
        return None
    last = max(graded, key=_time)["results"]
    output = f"This was not graded: {limit} attempts in 24 hours count. The last result stays."
    return _json(last | {"output": output, "extra_data": {_NOT_GRADED: True}})


def _was_graded(results: Any) -> bool:
    """Whether an attempt has a result, and one of its own."""
    return bool(results) and not (results.get("extra_data") or {}).get(_NOT_GRADED)


def _time(submission: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(submission["submission_time"])


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
