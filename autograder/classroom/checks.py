"""nbgrader's step that executes a notebook: in the box, with verdicts in place of check cells.

The verdict's card becomes the check cell's output; its score goes to `scores` through the
resources, where no cell can reach it.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Float, Integer, Unicode

from autograder.classroom.beside import files_beside
from autograder.classroom.cards import SCORES, show_verdicts
from autograder.classroom.clean import in_a_line
from autograder.classroom.seeds import note_seed, seed_of
from autograder.classroom.sitting import Patience, Sitting
from autograder.classroom.warmth import hidden_by_name, imports_of, source_for
from autograder.sandbox.bounds import MIB, Bounds
from autograder.sandbox.worker import Chapter
from autograder.verdict import Verdict


class ExecuteChecks(NbGraderPreprocessor):
    """Runs a notebook's cells, and has the answers at its check cells tried and judged."""

    syllabus = Unicode("autograder.syllabus", help="The module whose EXERCISES are graded.").tag(
        config=True
    )
    secret = Unicode("", help="What the seeds of the students' random models come from.").tag(
        config=True
    )
    sandbox = Bool(
        True, help="Whether notebooks run in a box. Without, they can do what you can do."
    ).tag(config=True)
    seed = Integer(None, allow_none=True, help="The seed; without one, that of the student.")
    only = Unicode("", help="The one exercise that is tried; without one, all are.")
    cell_cpu = Float(30.0, help="Processor seconds for a cell.").tag(config=True)
    cell_wall = Float(120.0, help="Seconds for a cell.").tag(config=True)
    case_cpu = Float(10.0, help="Processor seconds for an answer on one case.").tag(config=True)
    case_wall = Float(60.0, help="Seconds for an answer on one case.").tag(config=True)
    trial = Float(
        240.0, help="Seconds for an answer on all cases; it is ended then, and earns nothing."
    ).tag(config=True)
    notebook = Float(
        1800.0, help="Seconds that one notebook may take; cells after that are not run."
    ).tag(config=True)
    restarts = Integer(10, help="Processes that one notebook may use up.").tag(config=True)
    memory = Integer(2048, help="MiB that one notebook may use.").tag(config=True)

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run a notebook in place, and put the scores of its checks into the resources.

        Raises:
            NoBox: notebooks cannot be boxed here.
        """
        ids = resources["nbgrader"]
        own = seed_of(self.secret, ids["student"]) if self.seed is None else self.seed
        self.sitting = self.sitting_of(nb, ids, resources["metadata"]["path"], own)
        verdicts = self.sitting.hold()
        note_seed(nb, own)
        resources[SCORES] = show_verdicts(nb, self.sitting.exercises, verdicts)
        return nb, resources

    def sitting_of(self, nb: NotebookNode, ids: dict[str, str], folder: str, seed: int) -> Sitting:
        """What is to be done with a notebook."""
        chapter = ids["notebook"]
        exercises = importlib.import_module(self.syllabus).EXERCISES
        return Sitting(
            nb,
            exercises,
            source_for(self.chapter(ids["assignment"], chapter), boxed=self.sandbox),
            seed=seed,
            files=files_beside(Path(folder)),
            patience=self.patience(),
            only=self.only,
            warn=lambda text: self._warn(ids["student"], chapter, text),
        )

    def _warn(self, student: str, chapter: str, text: str) -> None:
        self.log.warning("%s, %s: %s", in_a_line(student), chapter, in_a_line(text))

    def chapter(self, assignment: str, chapter: str) -> Chapter:
        """What the processes for a chapter's notebooks are made ready for."""
        course = CourseDirectory(config=self.config)
        given = course.format_path(course.source_directory, ".", assignment)
        return Chapter(
            chapter,
            syllabus=self.syllabus,
            imports=imports_of(Path(given) / f"{chapter}.ipynb"),
            covered=hidden_by_name(Path(course.root)),
            bounds=Bounds(memory=self.memory * MIB, wall=self.notebook),
        )

    def patience(self) -> Patience:
        """How long the parts of a notebook may take."""
        return Patience(
            self.cell_cpu, self.cell_wall, self.case_cpu, self.case_wall, self.trial,
            self.notebook, self.restarts,
        )  # fmt: skip

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdicts by exercise, once the notebook has been run."""
        return {verdict.exercise: verdict for verdict in self.sitting.verdicts.values()}
