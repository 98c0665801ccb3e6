"""The gradebook's record of the cells of a notebook, as they were released to students."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nbformat.notebooknode import NotebookNode

from autograder.builder.metadata import SCHEMA
from autograder.builder.solution_regions import BEGIN_HIDDEN, END_HIDDEN

CHECK = "check-"
"""The prefix of a check cell's grade id; the exercise's name follows."""


BEGIN_SCHEME, END_SCHEME = "BEGIN MARK SCHEME", "END MARK SCHEME"
"""nbgrader's default marks around text that it removes from cells graded by people."""


@dataclass(frozen=True)
class ReleasedCell:
    """A cell as it was released once, now or in an earlier version.

    Attributes:
        name: its grade id.
        cell_type: ``"code"`` or ``"markdown"``.
        source: its text.
        locked: whether students could not change it.
        grade: whether it had points.
        solution: whether students wrote their answer in it.
        task: whether it was one of nbgrader's task cells.
        points: full points, for a cell with points.
    """

    name: str
    cell_type: str
    source: str
    locked: bool
    grade: bool
    solution: bool
    task: bool
    points: float | None


@dataclass(frozen=True)
class SourceCell:
    """One cell that nbgrader keeps track of.

    Attributes:
        name: its grade id.
        cell_type: ``"code"`` or ``"markdown"``.
        source: its text, with hidden tests and without the solution.
        checksum: nbgrader's checksum of that text.
        locked: whether students may not change it.
        grade: whether it has points.
        solution: whether students write their answer in it.
        task: whether it is one of nbgrader's task cells.
        points: full points, for a cell with points.
        given: all its releases, including those under other names with the same text.
    """

    name: str
    cell_type: str
    source: str
    checksum: str | None
    locked: bool
    grade: bool
    solution: bool
    task: bool
    points: float | None
    given: tuple[ReleasedCell, ...] = ()

    @property
    def released(self) -> str:
        """The text that students receive."""
        return without_hidden(self.source)

    @property
    def texts(self) -> tuple[str, ...]:
        """All released texts of this cell, the current one first."""
        present = [without_hidden(self.source), self.source]
        return tuple(dict.fromkeys(map(normal, [*present, *(one.source for one in self.given)])))

    def is_present(self, source: str) -> bool:
        """Whether a text is the currently released one."""
        return normal(source) in (normal(self.released), normal(self.source))

    def was_given(self, source: str) -> bool:
        """Whether a text was ever released in this cell."""
        return normal(source) in self.texts

    @property
    def exercise(self) -> str | None:
        """For a check cell, the exercise's name."""
        is_check = self.grade and not self.solution and self.name.startswith(CHECK)
        return self.name.removeprefix(CHECK) if is_check else None

    def metadata(self) -> dict[str, Any]:
        """The cell's metadata for nbgrader."""
        found: dict[str, Any] = {
            "schema_version": SCHEMA,
            "grade": self.grade,
            "grade_id": self.name,
            "locked": self.locked,
            "solution": self.solution,
            "task": self.task,
            "cell_type": self.cell_type,
        }
        if self.points is not None:
            found["points"] = self.points
        if self.checksum is not None:
            found["checksum"] = self.checksum
        return found


def normal(source: str) -> str:
    """A cell's text with the line ends and trailing blanks that editors change normalized."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip()


def grade_id(cell: NotebookNode) -> str | None:
    """The grade id that a cell claims to have; ``None`` if its metadata has none."""
    claimed = cell.metadata.get("nbgrader")
    found = claimed.get("grade_id") if isinstance(claimed, dict) else None
    return found if isinstance(found, str) and found else None


def checked_exercise(cell: NotebookNode) -> str | None:
    """The exercise that a cell checks; ``None`` for any other cell.

    Use it only for repaired notebooks: before the repair, metadata may be forged.
    """
    data = cell.metadata.get("nbgrader", {})
    is_check = data.get("grade") and not data.get("solution")
    name = data.get("grade_id", "")
    return name.removeprefix(CHECK) if is_check and name.startswith(CHECK) else None


_HIDDEN = ((BEGIN_HIDDEN, END_HIDDEN), (BEGIN_SCHEME, END_SCHEME))


def without_hidden(source: str) -> str:
    """The source of a cell without its hidden tests, and without its mark scheme."""
    kept, until = [], ""
    for line in source.split("\n"):
        until = until or next((end for begin, end in _HIDDEN if begin in line), "")
        if not until:
            kept.append(line)
        elif until in line:
            until = ""
    return "\n".join(kept)
