"""The first step of nbgrader's chain for submissions: reads notebooks repaired in a sandbox."""

from __future__ import annotations

from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.classroom.grading.chapter_preload import preload_spec
from autograder.classroom.grading.grade_submission import repaired
from autograder.classroom.grading.server_cache import servers_for
from autograder.classroom.grading.settings import GradingSettings
from autograder.classroom.intake.release_history import given_out
from autograder.classroom.records.gradebook_cells import source_cells_of
from autograder.submission.repair import read_forgivingly
from autograder.submission.sanitize import in_a_line
from autograder.submission.seeds import NOTES


class RepairNotebook(NbGraderPreprocessor):
    """Logs the repairs made while reading a submission; see `ForgivingReader`."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Log the repairs; the notebook stays unchanged."""
        ids = resources["nbgrader"]
        for sentence in nb.metadata.get(NOTES, {}).get("repairs", []):
            said = (ids["student"], ids["notebook"], sentence)
            self.log.warning("%s, %s: %s", *map(in_a_line, said))
        return nb, resources


class ForgivingReader(NotebookExporter):
    """Reads a submission; if it is not a notebook, an empty one with a note replaces it.

    The empty notebook is graded like all submissions and scores zero. nbgrader would leave it
    without scores and end with an error.
    """

    def from_file(
        self, file_stream: Any, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Read a notebook and convert it."""
        name = getattr(file_stream, "name", "?")
        try:
            text = file_stream.read().encode("utf-8", "surrogatepass")
        except (OSError, ValueError) as error:
            self.log.error("%s could not be read: %s", name, error)
            text = b""
        if any(isinstance(step, RepairNotebook) for step in self._preprocessors):
            text = self._repaired(text, (resources or {})["nbgrader"])
        nb, _ = read_forgivingly(text)
        done: tuple[Any, dict[str, Any]] = self.from_notebook_node(  # type: ignore[no-untyped-call]
            nb, resources=resources, **kw
        )
        return done

    def _repaired(self, text: bytes, ids: dict[str, Any]) -> bytes:
        """Repair a submission in a sandbox; it is not parsed anywhere else before that."""
        notebook, assignment = ids["notebook"], ids["assignment"]
        settings = GradingSettings.of(self.config)
        released = given_out(settings.course, assignment, notebook)
        source_cells = source_cells_of(ids["db_url"], notebook, assignment, released)
        preload = preload_spec(settings, assignment, notebook)
        servers = servers_for(settings.for_chapter(preload, source_cells))
        mended, _ = repaired(text, source_cells, servers)
        return mended
