"""Shows an instructor's changed points from ``source/`` in headings and on cards."""

from __future__ import annotations

import re
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.submission.source_cells import CHECK, grade_id

_HEADING = re.compile(r"^(### Exercise \S+ `(\w+)` · .* · )(\d+(?:\.\d+)?) points?$", re.MULTILINE)


class PointsOfClass(NbGraderPreprocessor):
    """The first preprocessor for nbgrader's releases: writes a class's own points into the text.

    Points are in the heading above an exercise, and in its check, which passes them to the card.
    """

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Change a notebook in place, unless its points are the course's."""
        points = dict(_points_in(nb))
        changed: set[str] = set()
        for cell in nb.cells:
            if cell.cell_type == "markdown" and grade_id(cell) is None:
                cell.source = _HEADING.sub(lambda m: _heading(m, points, changed), cell.source)
        for cell in nb.cells:
            name = (grade_id(cell) or "").removeprefix(CHECK)
            if name in changed:
                cell.source = re.sub(
                    rf"^check\({name}\)$", f"check({name}, points={points[name]:g})", cell.source,
                    count=1, flags=re.MULTILINE,
                )  # fmt: skip
        return nb, resources


def _points_in(nb: NotebookNode) -> Any:
    for cell in nb.cells:
        name = grade_id(cell) or ""
        points = cell.metadata.get("nbgrader", {}).get("points")
        if name.startswith(CHECK) and isinstance(points, int | float):
            yield name.removeprefix(CHECK), points


def _heading(found: re.Match[str], points: dict[str, float], changed: set[str]) -> str:
    name = found[2]
    if name not in points or points[name] == float(found[3]):
        return found[0]
    changed.add(name)
    return f"{found[1]}{points[name]:g} point{'' if points[name] == 1 else 's'}"
