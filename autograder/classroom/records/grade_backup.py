"""Saves the gradebook's data about an assignment's submissions in a file, and restores it.

nbgrader cannot drop an assignment, or cells of it, without dropping all its grades. So the grades
are saved before and restored afterwards, by the names of students and cells.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry, SubmittedNotebook

_GRADE_KEYS = ("auto_score", "manual_score", "extra_credit", "needs_manual_grade")
_COMMENT_KEYS = ("auto_comment", "manual_comment")
_NOTEBOOK_KEYS = ("late_submission_penalty", "flagged")


def grades_of(gradebook: Gradebook, assignment: str) -> dict[str, Any]:
    """The gradebook's data about an assignment's submissions, as JSON."""
    found = gradebook.find_assignment(assignment)
    return {
        "assignment": assignment,
        "duedate": found.duedate.isoformat() if found.duedate else None,
        "submissions": [
            {
                "student": one.student_id,
                "timestamp": one.timestamp.isoformat() if one.timestamp else None,
                "extension": one.extension.total_seconds() if one.extension else None,
                "notebooks": [_notebook(notebook) for notebook in one.notebooks],
            }
            for one in found.submissions
        ],
    }


def _notebook(notebook: SubmittedNotebook) -> dict[str, Any]:
    return {
        "name": notebook.name,
        **{key: getattr(notebook, key) for key in _NOTEBOOK_KEYS},
        "grades": {
            one.name: {key: getattr(one, key) for key in _GRADE_KEYS} for one in notebook.grades
        },
        "comments": {
            one.name: {key: getattr(one, key) for key in _COMMENT_KEYS} for one in notebook.comments
        },
    }


def write_down(kept: dict[str, Any], path: Path) -> None:
    """Write the result of `grades_of` to a file; call it before dropping anything."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def put_back(gradebook: Gradebook, kept: dict[str, Any]) -> list[str]:
    """Restore grades into a gradebook.

    Returns:
        The cells that had points or comments and no longer exist.
    """
    assignment, gone = kept["assignment"], set()
    if kept["duedate"]:
        gradebook.update_or_create_assignment(assignment, duedate=_moment(kept["duedate"]))
    for one in kept["submissions"]:
        more = {"timestamp": _moment(one["timestamp"])} if one["timestamp"] else {}
        submission = gradebook.update_or_create_submission(assignment, one["student"], **more)
        if one["extension"] is not None:
            submission.extension = timedelta(seconds=one["extension"])
        for old in one["notebooks"]:
            try:
                new = gradebook.find_submission_notebook(old["name"], assignment, one["student"])
            except MissingEntry:
                gone |= set(old["grades"])
                continue
            for key in _NOTEBOOK_KEYS:
                setattr(new, key, old[key])
            gone |= _fill(new.grades, old["grades"]) | _fill(new.comments, old["comments"])
        gradebook.db.commit()
    return sorted(gone)


def _fill(rows: Any, kept: dict[str, dict[str, Any]]) -> set[str]:
    """Set the fields of rows by their names, and return the names whose data is lost."""
    by_name = {row.name: row for row in rows}
    for name in kept.keys() & by_name.keys():
        for key, value in kept[name].items():
            setattr(by_name[name], key, value)
    return {
        name
        for name, fields in kept.items()
        if name not in by_name and any(value not in (None, False) for value in fields.values())
    }


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
