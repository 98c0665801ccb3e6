"""Lets a class withhold solutions until an answer passes, by a line in its notebooks."""

from __future__ import annotations

import re
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool

LINE = "check.offer_solutions(False)"
_IMPORT = re.compile(r"^from autograder import .*\bcheck\b", re.MULTILINE)


class SolutionsOfClass(NbGraderPreprocessor):
    """A preprocessor for nbgrader's releases: adds a line to the cell that imports `check`."""

    offered = Bool(
        True, help="Offer a solution to a student whose answers have failed three times."
    ).tag(config=True)

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Change a notebook in place, unless solutions are offered."""
        for cell in [] if self.offered else nb.cells:
            if cell.cell_type == "code" and _IMPORT.search(cell.source):
                cell.source = f"{cell.source.rstrip()}\n\n{LINE}"
                break
        return nb, resources
