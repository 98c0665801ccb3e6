"""Computes the digests of answers in submitted notebooks, each in a sandbox."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from nbgrader.api import Gradebook, MissingEntry
from traitlets.config import Config

from autograder.classroom.grading.chapter_preload import preload_spec
from autograder.classroom.grading.grade_submission import InvalidJudgement, work_in
from autograder.classroom.grading.server_cache import servers_for
from autograder.classroom.grading.settings import GradingSettings
from autograder.classroom.intake.release_history import given_out
from autograder.classroom.records.gradebook_cells import source_cells_in
from autograder.sandbox.client import ProcessLost
from autograder.sandbox.walls import NoBox
from autograder.submission.contract import GradingConfig


class WorkDigests:
    """Computes digests of answers; see `work_of`.

    Args:
        config: nbgrader's configuration of the classroom.
        book: its gradebook.

    Attributes:
        problem: the reason why nothing can be compared here; usually empty.
    """

    def __init__(self, config: Config, book: Gradebook) -> None:
        self._settings, self._book = GradingSettings.of(config), book
        self._configs: dict[str, GradingConfig | None] = {}
        self._known: dict[tuple[str, str], str] = {}
        self.problem = ""

    def __call__(self, assignment: str, data: bytes) -> str:
        """The digest of a file's answers; empty if they cannot be compared."""
        key = assignment, hashlib.sha256(data).hexdigest()
        if key not in self._known:
            self._known[key] = self._compute(assignment, data)
        return self._known[key]

    def _compute(self, assignment: str, data: bytes) -> str:
        if assignment not in self._configs:
            self._configs[assignment] = self._config(assignment)
        config = self._configs[assignment]
        if config is None or self.problem:
            return ""
        try:
            return work_in(data, config.source_cells, servers_for(config))
        except NoBox as error:
            self.problem = str(error)
        except (ProcessLost, InvalidJudgement):
            pass  # the file breaks the judge, so its answers are unknown
        return ""

    def _config(self, assignment: str) -> GradingConfig | None:
        """The configuration of grading a chapter of the course; `None` for other assignments."""
        released = given_out(self._settings.course, assignment, assignment)
        try:
            cells = source_cells_in(self._book, assignment, assignment, released)
        except MissingEntry:
            return None
        if not any(cell.exercise for cell in cells.values()):
            return None
        preload = preload_spec(self._settings, assignment, assignment)
        return replace(self._settings.for_chapter(preload, cells), proof=False)
