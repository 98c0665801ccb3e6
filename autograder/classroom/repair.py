"""The first link of nbgrader's chain for submissions: puts notebooks right, and says so."""

from __future__ import annotations

import logging
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.classroom.normalize import put_in_form
from autograder.classroom.released import given_out
from autograder.classroom.repair_steps import STEPS, Kind, Masters, Repair
from autograder.classroom.sanitize import clean_notebook, in_a_line
from autograder.classroom.seeds import NOTES
from autograder.classroom.source_cells import masters_of

_log = logging.getLogger(__name__)
_UNREADABLE = {"unreadable": True}


class RepairNotebook(NbGraderPreprocessor):
    """Tells what was repaired when a submission was read; see `ForgivingReader`."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Tell it; the notebook stays as it is."""
        ids = resources["nbgrader"]
        for sentence in nb.metadata.get(NOTES, {}).get("repairs", []):
            said = (ids["student"], ids["notebook"], sentence)
            self.log.warning("%s, %s: %s", *map(in_a_line, said))
        return nb, resources


def repair(nb: NotebookNode, masters: Masters) -> list[Repair]:
    """Repair a notebook in place, and note in its metadata what was repaired.

    Returns:
        What was repaired, in order.
    """
    unread = is_unreadable(nb)
    repairs = [_mended("The file could not be read as a notebook.")] if unread else []
    repairs += map(_mended, put_in_form(nb))
    for step in STEPS:
        repairs += step(nb, masters)
    repairs += map(_mended, clean_notebook(nb))
    nb.metadata[NOTES] = {"repairs": [found.sentence for found in repairs]}
    return repairs


def _mended(sentence: str) -> Repair:
    return Repair(Kind.MENDED, sentence)


def read_forgivingly(text: bytes) -> NotebookNode:
    """A notebook from a file's bytes; in place of what is none, an empty one that says so."""
    try:
        return nbformat.reads(text.decode("utf-8-sig"), as_version=4)
    except Exception as error:  # a student's file may hold anything at all
        _log.debug("Not a notebook: %s", repr(error)[:500])
        note = new_markdown_cell("**This file could not be read as a notebook.**")
        return new_notebook(cells=[note], metadata={NOTES: _UNREADABLE})


def is_unreadable(nb: NotebookNode) -> bool:
    """Whether this stands for a file that is no notebook."""
    return nb.metadata.get(NOTES) == _UNREADABLE


class ForgivingReader(NotebookExporter):
    """Reads a submission; in place of one that is no notebook, an empty one that says so.

    It then goes the way of all submissions and scores zero, where nbgrader would leave it
    without scores and end with an error.
    """

    def from_file(
        self, file_stream: Any, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        """Read a notebook and convert it."""
        name = getattr(file_stream, "name", "?")
        try:
            text = file_stream.read().encode("utf-8", "surrogatepass")
        except (OSError, ValueError) as error:
            self.log.error("%s could not be read: %s", name, error)
            text = b""
        if any(isinstance(step, RepairNotebook) for step in self._preprocessors):
            text = self._repaired(text, (resources or {})["nbgrader"])
        nb = read_forgivingly(text)
        return self.from_notebook_node(nb, resources=resources, **kw)

    def _repaired(self, text: bytes, ids: dict[str, Any]) -> bytes:
        """What was handed in, put right in a box: nobody else reads it before that."""
        from autograder.classroom.execute_checks import ExecuteChecks
        from autograder.classroom.fork_servers import boxes_for
        from autograder.classroom.grade_submission import repaired

        notebook, assignment = ids["notebook"], ids["assignment"]
        execute = ExecuteChecks(config=self.config)
        given = given_out(CourseDirectory(config=self.config), assignment, notebook)
        masters = masters_of(ids["db_url"], notebook, assignment, given)
        boxes = boxes_for(
            execute.chapter(assignment, notebook), boxed=execute.sandbox, proof=execute.proof
        )
        mended, _ = repaired(text, masters, boxes)
        return mended
