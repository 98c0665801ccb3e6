"""Grades a class: selects the submissions, grades them in parallel, and records the results."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from autograder.classroom.grading.options import GradingOptions, Listener
from autograder.classroom.grading.plan import make_plan
from autograder.classroom.grading.record import Summary, open_record
from autograder.classroom.grading.run import grade_plan
from autograder.classroom.room.location import classroom_at
from autograder.classroom.room.lock import about_files, only_one
from autograder.environment.errors import ClassroomError
from autograder.sandbox.walls import NoBox
from autograder.submission.result import Result

_ALL = GradingOptions()
_SILENT = Listener()


def grade_class(
    room: Path, options: GradingOptions = _ALL, listener: Listener = _SILENT
) -> Summary:
    """Grade the submissions of a class.

    Unchanged submissions are not graded again. A run that is killed at any moment can be
    repeated: it continues, and ends with the same gradebook.

    Args:
        room: the classroom.
        options: the options of this run.
        listener: the functions that it calls.

    Raises:
        ClassroomError: nothing was graded, or not everything.
    """
    start = time.perf_counter()
    try:
        summary = _grade_class(classroom_at(room), options, listener)
    except OSError as error:
        raise ClassroomError(about_files(error)) from None
    return replace(summary, seconds=time.perf_counter() - start)


def _grade_class(room: Path, options: GradingOptions, listener: Listener) -> Summary:
    with (
        only_one(room),
        open_record(room, options.config(room), dry_run=options.dry_run) as record,
    ):
        plan = make_plan(record.writer, options, listener.warn)
        listener.expect(plan.count)
        results: list[Result] = []
        for result in grade_plan(plan, record):
            results.append(result)
            listener.say(result, len(results), plan.count)
        return record.finish(plan, results)


__all__ = ["GradingOptions", "Listener", "NoBox", "Summary", "grade_class"]
