"""Adds notes to feedback pages, in notebooks of any kind, and removes hidden tests from them."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor

from autograder.classroom.grading.settings import GradingSettings
from autograder.submission.seeds import NOTES
from autograder.submission.source_cells import checked_exercise, without_hidden

HEADS = {
    "happened": "What happened to your notebook:",
    "repairs": "Before your notebook was graded, it was repaired:",
}
"""By key of the notes in a graded notebook, the heading above them on the page."""


class ForStudents(NbGraderPreprocessor):
    """Removes hidden tests from a feedback page, and adds notes about grading the notebook."""

    display_data_priority = GetGrades.display_data_priority
    """As in nbgrader's own step: the page exporter sets it, and warns if it is missing."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Change a notebook in place, and retire the pools whose models the page shows."""
        ids, settings = resources["nbgrader"], GradingSettings.of(self.config)
        settings.pools.page_made(ids["student"], ids["notebook"])
        for cell in nb.cells:
            if checked_exercise(cell) is not None:
                cell.source = without_hidden(cell.source).rstrip()
        if told := what_happened(nb.metadata.get(NOTES, {})):
            lines = [
                line
                for head, sentences in told.items()
                for line in (f"**{head}**", "", *(f"- {html.escape(s)}" for s in sentences), "")
            ]
            nb.cells.insert(0, new_markdown_cell("\n".join(lines).rstrip()))
        return nb, resources


def what_happened(notes: Mapping[str, Any]) -> dict[str, list[str]]:
    """Sentences for a student about their notebook, by heading; only headings with sentences."""
    return {head: list(notes[key]) for key, head in HEADS.items() if notes.get(key)}
