"""Reads examples for a group from the graded notebooks: two answers, and a card."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.submission.source_cells import CHECK

MAX_READ = 12
"""The number of answers of a group from which two are chosen."""


class GradedNotebooks:
    """The graded notebooks of a chapter, each read once.

    Args:
        room: the classroom.
        chapter: the chapter.
    """

    def __init__(self, room: Path, chapter: str) -> None:
        self._folder, self._name = room / "autograded", chapter
        self._cells: dict[str, dict[str, dict[str, Any]]] = {}

    def answer(self, student: str, exercise: str) -> str:
        """The text of an answer; empty if there is none."""
        return _text(self._cell(student, exercise).get("source"))

    def card(self, student: str, exercise: str) -> str:
        """The card of an answer as text; empty if there is none."""
        outputs = self._cell(student, f"{CHECK}{exercise}").get("outputs", ())
        cards = (output for output in outputs if output.get("output_type") == "display_data")
        return next((_text(card.get("data", {}).get("text/plain")) for card in cards), "")

    def two_answers(self, students: Sequence[str], exercise: str) -> list[tuple[str, str]]:
        """A short answer, and one that has few lines in common with it, with their students."""
        answers = {name: self.answer(name, exercise) for name in students[:MAX_READ]}
        found = sorted(filter(lambda row: row[1], answers.items()), key=lambda row: len(row[1]))
        if not found:
            return []
        first, *others = found
        known = _lines(first[1])
        different = [row for row in others if _lines(row[1]) != known]
        return [first, *sorted(different, key=lambda row: len(_lines(row[1]) & known))[:1]]

    def _cell(self, student: str, name: str) -> dict[str, Any]:
        if student not in self._cells:
            self._cells[student] = self._read(student)
        return self._cells[student].get(name, {})

    def _read(self, student: str) -> dict[str, dict[str, Any]]:
        path = self._folder / student / self._name / f"{self._name}.ipynb"
        try:
            cells = json.loads(path.read_bytes())["cells"]
            return {
                cell["metadata"].get("nbgrader", {}).get("grade_id", ""): cell for cell in cells
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}  # removed or damaged since it was graded


def _text(value: object) -> str:
    """The text of a notebook's field, which may be a list of lines."""
    return "".join(value) if isinstance(value, list) else str(value or "")


def _lines(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(str.strip, text.splitlines())))
