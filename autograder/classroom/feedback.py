"""What students see on their feedback pages beside the cards, in notebooks of any kind."""

from __future__ import annotations

from typing import Any

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor

from autograder.submission.seeds import NOTES
from autograder.submission.source_cells import checked_exercise, without_hidden


class ForStudents(NbGraderPreprocessor):
    """Leaves hidden tests out of a feedback page, and says what was repaired in the notebook."""

    display_data_priority = GetGrades.display_data_priority
    """As in nbgrader's own link: an exporter of pages sets it, and complains where it is not."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Change a notebook in place."""
        for cell in nb.cells:
            if checked_exercise(cell) is not None:
                cell.source = without_hidden(cell.source).rstrip()
        repairs = nb.metadata.get(NOTES, {}).get("repairs", [])
        if repairs:
            lines = ["**Before your notebook was graded, it was repaired:**", ""]
            lines += [f"- {sentence}" for sentence in repairs]
            nb.cells.insert(0, new_markdown_cell("\n".join(lines)))
        return nb, resources
