"""The cells of a notebook: their purposes, and their outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from nbformat.notebooknode import NotebookNode, from_dict
from nbformat.v4 import new_output

from autograder.builder.cell_ids import is_as_given
from autograder.builder.solution_regions import STUB
from autograder.core.exercise import Case, Exercise
from autograder.judge.answer_text import Source
from autograder.submission.source_cells import CHECK, checked_exercise, grade_id


class NotebookCells:
    """The cells of a notebook.

    Args:
        nb: the notebook, repaired.
        exercises: the exercises of its chapter, by name.
        only: the one exercise to try; all of them by default.
    """

    def __init__(self, nb: NotebookNode, exercises: Mapping[str, Exercise], only: str = "") -> None:
        self.nb, self.exercises, self.only = nb, exercises, only

    def __getitem__(self, index: int) -> NotebookNode:
        cell: NotebookNode = self.nb.cells[index]
        return cell

    def __len__(self) -> int:
        return len(self.nb.cells)

    def code(self) -> dict[int, NotebookNode]:
        """The code cells, by their numbers."""
        return {i: cell for i, cell in enumerate(self.nb.cells) if cell.cell_type == "code"}

    def checked(self, index: int) -> Exercise | None:
        """The exercise that a cell checks, if it is a check of this chapter."""
        return self.exercises.get(checked_exercise(self[index]) or "")

    def exercise(self, index: int) -> Exercise:
        """The exercise of a check."""
        return self.exercises[checked_exercise(self[index]) or ""]

    def is_asked(self, exercise: Exercise) -> bool:
        """Whether an exercise is tried."""
        return self.only in ("", exercise.name)

    def checks(self) -> list[int]:
        """The numbers of the check cells whose exercises are tried."""
        found = {index: self.checked(index) for index in range(len(self))}
        return [i for i, exercise in found.items() if exercise and self.is_asked(exercise)]

    def end_of_work(self) -> int:
        """The number of cells up to the last one that can matter to a score.

        A chapter ends with cells of the course that no answer can use. If they are unchanged, they
        do not run. Unchanged cells above them run, but their outputs are in the chapter, and are
        not kept.
        """
        code = self.code()
        if not any(map(self.checked, code)):
            return len(self)
        return next((i for i in reversed(code) if matters(code[i])), 0) + 1

    def may_come_late(self, name: str) -> bool:
        """Whether a cell other than its own mentions an answer."""
        own = (name, f"{CHECK}{name}")
        others = (c for c in self.code().values() if matters(c) and grade_id(c) not in own)
        return any(re.search(rf"\b{name}\b", cell.source) for cell in others)

    def has_stub(self, exercise: Exercise) -> bool:
        """Whether the cell of an answer is still a stub."""
        cells = (cell for cell in self.nb.cells if grade_id(cell) == exercise.name)
        return any(STUB in cell.source for cell in cells)

    def source(self, index: int, end: int) -> Source:
        """The text of the code cells above `end`, which the answer at a check may use."""
        texts = (cell.source for number, cell in self.code().items() if number < end)
        return Source(tuple(texts), self.exercise(index).name)

    def first_cases(self) -> Iterator[tuple[Exercise, Case]]:
        """The cases on which answers are tried first, for exercises that have an answer."""
        texts = {grade_id(cell): cell.source for cell in self.nb.cells}
        for exercise in map(self.exercise, self.checks()):
            if STUB not in texts.get(exercise.name, STUB):
                yield from ((exercise, case) for case in exercise.visible_cases())


def matters(cell: NotebookNode) -> bool:
    """Whether a cell is graded, or a student may have written or changed it."""
    return "nbgrader" in cell.metadata or not is_as_given(cell)


def as_outputs(claimed: Any, count: int) -> list[NotebookNode]:
    """Convert outputs that a student's process claims to the form of a notebook."""
    rows = claimed if isinstance(claimed, list) else []
    return [output for row in rows[:1000] if (output := _as_output(row, count)) is not None]


def _as_output(row: Any, count: int) -> NotebookNode | None:
    output: NotebookNode | None = None
    try:
        match row["output_type"]:
            case "stream":
                name = "stderr" if row["name"] == "stderr" else "stdout"
                output = new_output("stream", name=name, text=_text(row["text"]))
            case "error":
                lines = [_text(line) for line in row["traceback"]]
                name, value = _text(row["ename"]), _text(row["evalue"])
                output = new_output("error", ename=name, evalue=value, traceback=lines)
            case "display_data" | "execute_result" as kind:
                more = {"execution_count": count} if kind == "execute_result" else {}
                data, metadata = from_dict(dict(row["data"])), from_dict(dict(row["metadata"]))
                output = new_output(kind, data=data, metadata=metadata, **more)
    except (KeyError, TypeError, ValueError):
        return None
    return output


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value.encode("utf-8", "replace").decode()


def is_failed(cell: NotebookNode) -> bool:
    """Whether a cell has an error output; nbgrader's plain tests earn their points without one."""
    return any(output.output_type == "error" for output in cell.outputs)


def note(cell: NotebookNode, name: str, text: str) -> None:
    """Add a remark on a cell to its outputs."""
    cell.outputs.append(new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"]))
