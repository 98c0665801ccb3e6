"""Registers our classes at nbgrader's extension points, for a class's ``nbgrader_config.py``."""

from __future__ import annotations

import os
import warnings
from typing import Any

from nbgrader.converters.autograde import Autograde
from nbgrader.converters.generate_feedback import GenerateFeedback
from nbgrader.preprocessors import AssignLatePenalties, Execute, GetGrades, SaveAutoGrades
from sqlalchemy.exc import SAWarning

from autograder.builder import release
from autograder.classroom.nbgrader_plugins import literal_folders, release_feedback
from autograder.classroom.room.scripts_path import find_scripts

_PLUGINS = "autograder.classroom.nbgrader_plugins"
EXECUTE = f"{_PLUGINS}.execute_checks.ExecuteChecks"
SAVE = f"{_PLUGINS}.save_verdicts.SaveVerdicts"
POINTS = f"{_PLUGINS}.class_points.PointsOfClass"
SOLUTIONS = f"{_PLUGINS}.class_solutions.SolutionsOfClass"
LATE = f"{_PLUGINS}.lateness.AssignLateness"
REPAIR = f"{_PLUGINS}.repairing_reader.RepairNotebook"
RELEASED = "autograder.classroom.intake.release_history.KeepReleased"
READER = f"{_PLUGINS}.repairing_reader.ForgivingReader"
FEEDBACK = f"{_PLUGINS}.feedback.ForStudents"
PAGE = f"{_PLUGINS}.feedback_page.exporter.FeedbackPage"
EXPORT = f"{_PLUGINS}.export.SafeCsvExport"


def configure(config: Any) -> None:
    """Make nbgrader release, grade, give feedback and export as this course does.

    Args:
        config: the result of ``get_config()`` in an ``nbgrader_config.py``. Settings after this
            call override ours.
    """
    find_scripts()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # equal results and times on any machine
    # nbgrader's own use of its database causes this warning many times for each student.
    warnings.filterwarnings("ignore", "Object of type <Submitted", SAWarning)
    release.configure(config)
    config.GenerateAssignment.preprocessors[:0] = [POINTS, SOLUTIONS]
    config.GenerateAssignment.preprocessors.append(RELEASED)
    config.Autograde.exporter_class = READER
    config.Autograde.sanitize_preprocessors = [
        REPAIR,
        *map(_name, Autograde.sanitize_preprocessors.default()),
    ]
    ours = {Execute: EXECUTE, SaveAutoGrades: SAVE, AssignLatePenalties: LATE}
    config.Autograde.autograde_preprocessors = [
        ours.get(link) or _name(link) for link in Autograde.autograde_preprocessors.default()
    ]
    config.GenerateFeedback.preprocessors = [
        name
        for link in GenerateFeedback.preprocessors.default()
        for name in ([_name(link), FEEDBACK] if link is GetGrades else [_name(link)])
    ]
    config.GenerateFeedback.exporter_class = PAGE
    config.ExportApp.plugin_class = EXPORT
    literal_folders.use()
    release_feedback.use()


def _name(link: type) -> str:
    return f"{link.__module__}.{link.__qualname__}"
