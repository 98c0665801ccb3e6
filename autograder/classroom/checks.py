"""Execution of a submission: check cells are not run but answered by a verdict.

Where a check cell stands, the answer is tried in the student's kernel on all cases of its
exercise. What comes of that is judged here, outside the kernel. The verdict's card becomes
the cell's output; its score goes to `scores` through the resources, where no cell can reach it.
"""

from __future__ import annotations

import importlib
import logging
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_output
from traitlets import Float, Integer, Unicode

from autograder.classroom import trial
from autograder.classroom.judging import is_missing, untried, verdict_on
from autograder.classroom.masters import checked_exercise
from autograder.classroom.seeds import note_seed, seed_of
from autograder.classroom.sturdy import SturdyExecute
from autograder.exercise import Exercise
from autograder.verdict import Verdict

_log = logging.getLogger(__name__)

SCORES = "fxcourse_scores"
"""The key of the resources under which scores from 0 to 1 stand, by grade id."""


class ExecuteChecks(SturdyExecute):
    """Runs a notebook's cells, and has the answers at its check cells tried and judged."""

    syllabus = Unicode("autograder.syllabus", help="The module whose EXERCISES are graded.").tag(
        config=True
    )
    secret = Unicode("", help="What the seeds of the students' random models come from.").tag(
        config=True
    )
    seed = Integer(None, allow_none=True, help="The seed; without one, that of the student.")
    only = Unicode("", help="The one exercise that is tried; without one, all are.")
    case_cpu = Float(10.0, help="Processor seconds for an answer on one case.").tag(config=True)
    case_wall = Float(60.0, help="Seconds for an answer on one case.").tag(config=True)
    trial_patience = Float(
        240.0, help="Seconds for an answer on all cases; it is killed then, and earns nothing."
    ).tag(config=True)

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any], km: Any = None
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run a notebook in place, and put the scores of its checks into the resources."""
        self._exercises: Mapping[str, Exercise] = importlib.import_module(self.syllabus).EXERCISES
        self._verdicts: dict[int, Verdict] = {}
        own = seed_of(self.secret, resources["nbgrader"]["student"])
        self._seed = own if self.seed is None else self.seed
        nb, resources = super().preprocess(nb, resources, km)
        note_seed(nb, self._seed)
        resources[SCORES] = {
            nb.cells[index].metadata.nbgrader["grade_id"]: verdict.score
            for index, verdict in self._verdicts.items()
        }
        return nb, resources

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdicts by exercise, once the notebook has been run."""
        return {verdict.exercise: verdict for verdict in self._verdicts.values()}

    def prepare(self) -> None:
        """Load what trying answers needs, so that it takes no student's time."""
        super().prepare()
        self.ask(f"__import__({trial.__name__!r})")

    def visit(self, cell: NotebookNode, index: int) -> None:
        """Run a cell, or try the answer that it checks."""
        exercise = self._checked(cell)
        if exercise is None:
            self.run(cell, index)
        elif self.only in ("", exercise.name):
            self._record(index, exercise, self._try(exercise, index))

    def finish(self) -> None:
        """Try answers once more that were not there at the place of their check."""
        last = len(self.nb.cells) - 1
        for index, verdict in list(self._verdicts.items()):
            if is_missing(verdict) and self.has_kernel():
                exercise = self._exercises[verdict.exercise]
                again = self._try(exercise, last)
                if not is_missing(again):
                    self._record(index, exercise, again)

    def is_replayed(self, cell: NotebookNode) -> bool:
        """Check cells are not: their answers have been judged."""
        return self._checked(cell) is None

    def _checked(self, cell: NotebookNode) -> Exercise | None:
        return self._exercises.get(checked_exercise(cell) or "")

    def _record(self, index: int, exercise: Exercise, verdict: Verdict) -> None:
        self._verdicts[index] = verdict
        cell = self.nb.cells[index]
        cell.outputs, cell.execution_count = [_card(verdict, exercise)], None

    def _try(self, exercise: Exercise, index: int) -> Verdict:
        if not self.has_kernel():
            return untried(exercise)
        with tempfile.TemporaryDirectory(prefix="fxcourse-") as name:
            folder = Path(name)
            lost = self._try_in(folder, exercise, index)
            verdict = verdict_on(exercise, folder, self._seed, interrupted=self.out_of_time)
        if lost:
            self.restart(index)
        return verdict

    def _try_in(self, folder: Path, exercise: Exercise, index: int) -> bool:
        """Let the kernel try an answer; whether that cost the kernel."""
        limits = self.case_cpu, self.case_wall
        code = trial.as_source(exercise.name, folder, self.syllabus, *limits, self._seed)
        try:
            # The trial ends itself. The limit is for answers that cannot be ended from within.
            self.aside(code, index, timeout=self.trial_patience)
        except Exception as error:
            self.warn(f"trying {exercise.name} ended or blocked Python")
            self.log.debug("%r", error)
            return True
        return False


def _card(verdict: Verdict, exercise: Exercise) -> NotebookNode:
    """The output of a check cell."""
    from autograder.show.card import card_html, card_text

    try:
        shown = {
            "text/html": card_html(verdict, exercise),
            "text/plain": card_text(verdict, exercise),
        }
    except Exception:  # a picture that cannot be drawn must not cost the submission
        _log.exception("The card of %s could not be drawn", exercise.name)
        first = verdict.findings[0].message if verdict.findings else ""
        shown = {"text/plain": f"{exercise.name}: {verdict.status}. {first}"}
    return new_output("display_data", data=shown)
