"""nbgrader's step that executes a notebook: in a sandbox, with verdicts instead of check cells.

The verdict's card becomes the check cell's output. Its score goes to `save_verdicts` through
nbgrader's resources, which no cell can reach.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import Execute, GetGrades, NbGraderPreprocessor
from traitlets import Integer, Unicode

from autograder.classroom.grading import settings
from autograder.classroom.grading.chapter_preload import preload_spec
from autograder.classroom.grading.grade_submission import InvalidJudgement, ask, notes_in, shares_in
from autograder.classroom.grading.server_cache import servers_for
from autograder.classroom.intake.attached_files import files_beside, keep_as_text
from autograder.classroom.intake.release_history import given_out
from autograder.classroom.nbgrader_plugins.save_verdicts import SCORES
from autograder.classroom.records.gradebook_cells import source_cells_of
from autograder.classroom.room.honoured_settings import NOT_PYTHON, foreign_kernel
from autograder.sandbox.client import ProcessLost
from autograder.submission.contract import GradingConfig, Submission
from autograder.submission.sanitize import in_a_line
from autograder.submission.seeds import seed_key
from autograder.submission.source_cells import checked_exercise

CASES = "fxcourse_cases"
"""The key of nbgrader's resources for the judge's result on each case of the only exercise."""


NOT_RUN = (
    "--no-execute: nothing was run. Each check of the course waits for you; your own tests are "
    "graded by what the student's file shows, as nbgrader does it."
)


class CannotJudge(Exception):
    """A notebook cannot be graded; nbgrader skips the submission and continues."""


class ExecuteChecks(settings.ExecuteChecks, NbGraderPreprocessor):
    """Runs a notebook's cells, and has the answers at its check cells judged."""

    display_data_priority = GetGrades.display_data_priority
    """The same as in `ForStudents`, which creates this class when it makes a page."""

    seed = Integer(None, allow_none=True, help="The seed; without one, that of the student.")
    only = Unicode("", help="The one exercise that is tried; without one, all are.")

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run a notebook, and put the scores of its checks into the resources.

        With nbgrader's ``--no-execute`` nothing is run, and each check waits for a person.

        Raises:
            NoBox: this machine cannot sandbox notebooks.
            CannotJudge: the judge of this notebook crashed twice.
        """
        ids = resources["nbgrader"]
        if not Execute(config=self.config).enabled:
            self._warn(ids["student"], ids["notebook"], NOT_RUN)
            resources[SCORES] = dict.fromkeys(_checks_in(nb))
            return nb, resources
        if kernel := foreign_kernel(json.dumps(nb.metadata.get("kernelspec"))):
            raise CannotJudge(NOT_PYTHON.format(notebook=ids["notebook"], kernel=kernel))
        grading = settings.GradingSettings.of(self.config)
        released = given_out(grading.course, ids["assignment"], ids["notebook"])
        source_cells = source_cells_of(ids["db_url"], ids["notebook"], ids["assignment"], released)
        preload = preload_spec(grading, ids["assignment"], ids["notebook"])
        config = grading.for_chapter(preload, source_cells, self.only)
        pools, whose = grading.pools, (ids["student"], ids["notebook"])
        graded = Path(resources["metadata"]["path"])
        files, _ = files_beside(graded)
        keep_as_text(graded)
        submission = Submission(
            ids["student"], None, files,
            seed_key(grading.secret, ids["student"]), self.seed, preload.pool, pools.used(*whose),
        )  # fmt: skip
        said, text, code = self._ask_judge(nb, submission, config)
        if code:
            pools.note(*whose, code, submission.pool_for(code))
        for note in notes_in(said):
            self._warn(ids["student"], ids["notebook"], note)
        resources[SCORES] = shares_in(said, config)
        if self.only:
            resources[CASES] = said.get("cases")
        return nbformat.reads(text.decode("utf-8", "replace"), as_version=4), resources

    def _ask_judge(
        self, nb: NotebookNode, submission: Submission, config: GradingConfig
    ) -> tuple[Any, bytes, str]:
        servers = servers_for(config)
        written = nbformat.writes(nb).encode("utf-8", "replace")
        why: Exception | None = None
        for _ in range(2):
            try:
                said, text, code = ask("run", submission, config, servers, written)
                shares_in(said, config)
                return said, text, code
            except (ProcessLost, InvalidJudgement) as error:
                why = error
        raise CannotJudge(
            f"Judging the notebook of {submission.student} ended the judge, twice ({why}). "
            "fxcourse grade gives it no points, and says so."
        )

    def _warn(self, student: str, chapter: str, text: str) -> None:
        self.log.warning("%s, %s: %s", in_a_line(student), chapter, in_a_line(text))


def _checks_in(nb: NotebookNode) -> list[str]:
    """The grade ids of the course's checks in a notebook."""
    return [
        str(cell.metadata["nbgrader"]["grade_id"])
        for cell in nb.cells
        if checked_exercise(cell) is not None
    ]
