"""nbgrader's step that executes a notebook: in the box, with verdicts in place of check cells.

The verdict's card becomes the check cell's output; its score goes to `scores` through the
resources, where no cell can reach it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute, GetGrades, NbGraderPreprocessor
from traitlets import Bool, Float, Integer, Unicode

from autograder.classroom.grading.grade_submission import Untrue, ask, notes_in, shares_in
from autograder.classroom.grading.server_cache import boxes_for, hidden_by_name, imports_of, text_of
from autograder.classroom.intake.attached_files import files_beside, keep_as_text
from autograder.classroom.intake.release_history import given_out
from autograder.classroom.nbgrader_plugins.save_verdicts import SCORES
from autograder.classroom.records.gradebook_cells import source_cells_of
from autograder.classroom.records.pools import Pools
from autograder.classroom.room.honoured_settings import NOT_PYTHON, foreign_kernel
from autograder.core import own_exercises
from autograder.sandbox.client import ProcessLost
from autograder.sandbox.resource_limits import MIB, Bounds
from autograder.submission.contract import GradingConfig, PreloadSpec, Submission, Timeouts
from autograder.submission.sanitize import in_a_line
from autograder.submission.seeds import key_of
from autograder.submission.source_cells import checked_exercise

CASES = "fxcourse_cases"
"""The key of nbgrader's resources for what a judge says of each case of the one exercise."""


NOT_RUN = (
    "--no-execute: nothing was run. Each check of the course waits for you; your own tests are "
    "graded by what the student's file shows, as nbgrader does it."
)


class CannotJudge(Exception):
    """A notebook has no grade; nbgrader leaves the submission out and goes on."""


class ExecuteChecks(NbGraderPreprocessor):
    """Runs a notebook's cells, and has the answers at its check cells tried and judged."""

    display_data_priority = GetGrades.display_data_priority
    """As in `ForStudents`, which makes one of these where a page is made."""

    syllabus = Unicode("autograder.exercises", help="The module whose `EXERCISES` are graded.").tag(
        config=True
    )
    secret = Unicode("", help="The seeds of all random models come from it. Keep it secret.").tag(
        config=True
    )
    sandbox = Bool(
        True,
        help="Run notebooks in a sandbox. If it is off, a student's cell can read the class's "
        "secret and the gradebook, and write with your permissions.",
    ).tag(config=True)
    proof = Bool(
        True, help="Grade a notebook with known marks first, and stop if one of them differs."
    ).tag(config=True)
    seed = Integer(None, allow_none=True, help="The seed; without one, that of the student.")
    only = Unicode("", help="The one exercise that is tried; without one, all are.")
    cell_cpu = Float(30.0, help="Processor seconds of a cell.").tag(config=True)
    cell_wall = Float(60.0, help="Seconds of waiting for a cell.").tag(config=True)
    case_cpu = Float(10.0, help="Processor seconds of an answer on one case.").tag(config=True)
    case_wall = Float(60.0, help="Seconds of waiting for an answer on one case.").tag(config=True)
    trial = Float(
        240.0,
        help="Seconds of waiting for an answer on all cases. After that it earns nothing.",
    ).tag(config=True)
    notebook = Float(
        1800.0, help="Seconds of waiting for a notebook. Cells after that do not run."
    ).tag(config=True)
    restarts = Integer(10, help="Processes that one notebook may use up.").tag(config=True)
    memory = Integer(2048, help="MiB of memory that one notebook may use.").tag(config=True)

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run a notebook, and put the scores of its checks into the resources.

        With nbgrader's ``--no-execute`` nothing is run, and each check waits for a person.

        Raises:
            NoBox: notebooks cannot be boxed here.
            CannotJudge: the judge of this notebook was lost, twice.
        """
        ids = resources["nbgrader"]
        if not Execute(config=self.config).enabled:
            self._warn(ids["student"], ids["notebook"], NOT_RUN)
            resources[SCORES] = dict.fromkeys(_checks_in(nb))
            return nb, resources
        if kernel := foreign_kernel(json.dumps(nb.metadata.get("kernelspec"))):
            raise CannotJudge(NOT_PYTHON.format(notebook=ids["notebook"], kernel=kernel))
        ready = self.chapter(ids["assignment"], ids["notebook"])
        given = given_out(CourseDirectory(config=self.config), ids["assignment"], ids["notebook"])
        source_cells = source_cells_of(ids["db_url"], ids["notebook"], ids["assignment"], given)
        terms = GradingConfig(
            ids["notebook"], source_cells, ready, self.patience(), self.sandbox, only=self.only
        )
        pools, whose = self.pools(), (ids["student"], ids["notebook"])
        graded = Path(resources["metadata"]["path"])
        files, _ = files_beside(graded)
        keep_as_text(graded)
        submission = Submission(
            ids["student"], None, files,
            key_of(self.secret, ids["student"]), self.seed, ready.pool, pools.used(*whose),
        )  # fmt: skip
        said, text, code = self._asked(nb, submission, terms)
        if code:
            pools.note(*whose, code, submission.pool_for(code))
        for note in notes_in(said):
            self._warn(ids["student"], ids["notebook"], note)
        resources[SCORES] = shares_in(said, terms)
        if self.only:
            resources[CASES] = said.get("cases")
        return nbformat.reads(text.decode("utf-8", "replace"), as_version=4), resources

    def _asked(
        self, nb: NotebookNode, submission: Submission, terms: GradingConfig
    ) -> tuple[Any, bytes, str]:
        boxes = boxes_for(terms.ready, boxed=self.sandbox, proof=self.proof)
        written = nbformat.writes(nb).encode("utf-8", "replace")
        why: Exception | None = None
        for _ in range(2):
            try:
                said, text, code = ask("run", submission, terms, boxes, written)
                shares_in(said, terms)
                return said, text, code
            except (ProcessLost, Untrue) as error:
                why = error
        raise CannotJudge(
            f"Judging the notebook of {submission.student} ended the judge, twice ({why}). "
            "fxcourse grade gives it no points, and says so."
        )

    def _warn(self, student: str, chapter: str, text: str) -> None:
        self.log.warning("%s, %s: %s", in_a_line(student), chapter, in_a_line(text))

    def chapter(self, assignment: str, chapter: str) -> PreloadSpec:
        """What the processes for a chapter's notebooks are made ready for."""
        course = CourseDirectory(config=self.config)
        source = course.format_path(course.source_directory, ".", assignment)
        given = text_of(Path(source) / f"{chapter}.ipynb")
        return PreloadSpec(
            chapter,
            syllabus=self.syllabus,
            imports=imports_of(given),
            covered=hidden_by_name(Path(course.root)),
            bounds=Bounds(memory=self.memory * MIB, wall=self.notebook),
            pool=self.pools().now(chapter),
            own=tuple(own_exercises.texts_in(Path(course.root) / own_exercises.FOLDER).items()),
            given=given,
        )

    def pools(self) -> Pools:
        """From which pools the class's random models come."""
        return Pools(Path(CourseDirectory(config=self.config).root), self.secret)

    def patience(self) -> Timeouts:
        """How long the parts of a notebook may take; ``c.Execute.timeout`` of nbgrader's counts."""
        cell_cpu, cell_wall = self.cell_cpu, self.cell_wall
        timeout = Execute(config=self.config).timeout or 0.0
        if "timeout" in self.config.Execute and timeout > 0.0:  # nbgrader's -1 is no limit
            ours = self.config.ExecuteChecks
            cell_cpu = cell_cpu if "cell_cpu" in ours else timeout
            cell_wall = cell_wall if "cell_wall" in ours else timeout
        return Timeouts(
            cell_cpu, cell_wall, self.case_cpu, self.case_wall, self.trial,
            self.notebook, self.restarts,
        )  # fmt: skip


def _checks_in(nb: NotebookNode) -> list[str]:
    """The grade ids of the course's checks in a notebook."""
    return [
        str(cell.metadata["nbgrader"]["grade_id"])
        for cell in nb.cells
        if checked_exercise(cell) is not None
    ]
