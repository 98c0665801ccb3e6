"""A classroom whose answers fail the cases that its notebooks name, graded without running them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Comment, Grade
from sqlalchemy import select

from autograder.classroom.groups.course_cases import CaseCode
from autograder.classroom.room.open_classroom import OpenClassroom, open_classroom
from autograder.submission.check_result import CheckResult, KeptFinding
from autograder.submission.contract import GradingConfig, Submission
from autograder.submission.result import GradedNotebook
from tests.support import stub_class as stubs

CHAPTER = stubs.ONE
EXERCISES = ("after", "half")

Fails = tuple[tuple[str, str], ...]


class Cases:
    """The cases of two exercises, ten each; the last two of each are hidden."""

    def count(self, exercise: str) -> int:
        return 10

    def is_hidden(self, exercise: str, case: str) -> bool:
        return case >= "c8"

    def smallest(self, exercise: str, names: Collection[str]) -> CaseCode | None:
        name = min(names, default="")
        code = f"class Model(nn.Module):  # the model of {name}\n    ..."
        return CaseCode(name, code, self.is_hidden(exercise, name)) if name else None


def check(exercise: str, fails: Fails | None, message: str = "") -> CheckResult:
    """The verdict on an answer that fails these cases; none of them is a pass."""
    if fails == ():
        return CheckResult(exercise, "passed", 1.0)
    code = fails[0][1] if fails else "wrong-result"
    found = KeptFinding(code, message or f"`{exercise}` has {code}.")
    return CheckResult(exercise, "failed", 0.0, (found,), fails)


def make(room: Path) -> Path:
    """Make a classroom in which each exercise of the first chapter has an answer cell."""
    stubs.make(room)
    with stubs.gradebook(room) as book:
        for name in EXERCISES:
            kept: dict[str, Any] = {"cell_type": "code", "source": "", "checksum": "0"}
            book.add_source_cell(name, CHAPTER, CHAPTER, **kept)
            book.add_solution_cell(name, CHAPTER, CHAPTER)
    return room


def hand_in(room: Path, student: str, answers: Mapping[str, str] = {}, **fails: Fails) -> None:
    """Submit a notebook whose answers fail these cases; an exercise that is not named passes."""
    cells = []
    for name in EXERCISES:
        card = {"output_type": "display_data", "metadata": {},
                "data": {"text/plain": f"✗ {name}: the card of {student}"}}  # fmt: skip
        text = answers.get(name, f"def {name}(x):\n    return x  # {student}")
        cells += [_cell(name, text, []), _cell(f"check-{name}", f"check({name})", [card])]
    told = {name: fails.get(name, ()) for name in EXERCISES}
    nb = {"cells": cells, "metadata": {"fails": told}, "nbformat": 4, "nbformat_minor": 4}
    path = room / "submitted" / student / CHAPTER / f"{CHAPTER}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(nb), encoding="utf-8")


def _cell(name: str, source: str, outputs: list[Any]) -> dict[str, Any]:
    data = {"grade_id": name, "grade": name.startswith("check-")}
    data["solution"] = not data["grade"]
    return {"cell_type": "code", "source": source, "outputs": outputs, "execution_count": None,
            "metadata": {"nbgrader": data}}  # fmt: skip


def use_stubs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make grading read verdicts from the notebooks, without a sandbox."""
    stubs.use_stubs(monkeypatch)
    monkeypatch.setattr("autograder.classroom.grading.run.grade_in_parallel", _grade_at_once)


def _grade_at_once(
    submissions: Iterable[Submission], config: GradingConfig, jobs: int, **more: Any
) -> Iterator[GradedNotebook]:
    those = list(submissions)
    for one, graded in zip(those, stubs.grade_at_once(those, config, jobs, **more), strict=True):
        told = json.loads(one.text or b"{}").get("metadata", {}).get("fails", {})
        checks = tuple(
            check(name, tuple((case, code) for case, code in fails)) for name, fails in told.items()
        )
        scores = {
            f"check-{each.exercise}": replace(
                graded.scores[f"check-{each.exercise}"],
                points=each.score * graded.scores[f"check-{each.exercise}"].max_points,
            )
            for each in checks
        }
        result = replace(graded.result, checks=checks)
        yield GradedNotebook.of(result, graded.text, {**graded.scores, **scores})


@contextmanager
def opened(room: Path) -> Iterator[OpenClassroom]:
    """Open the classroom, as a command does."""
    with open_classroom(room) as classroom:
        yield classroom


def comments(room: Path, exercise: str = "after") -> dict[str, str | None]:
    """The comments that people see on the answers to an exercise, by student."""
    with stubs.gradebook(room) as book:
        return {
            one.student_id: book.find_comment(exercise, CHAPTER, CHAPTER, one.student_id).comment
            for one in book.assignment_submissions(CHAPTER)
        }


def write_by_hand(room: Path, student: str, text: str, exercise: str = "after") -> None:
    """Write a comment as Formgrader does."""
    with stubs.gradebook(room) as book:
        book.find_comment(exercise, CHAPTER, CHAPTER, student).manual_comment = text
        book.db.commit()


def grades(room: Path) -> bytes:
    """All that the gradebook has about points, as bytes."""
    with stubs.gradebook(room) as book:
        rows = book.db.execute(select(Grade.__table__)).fetchall()
        return repr(sorted(map(tuple, rows))).encode()


def all_comments(room: Path) -> list[str | None]:
    """All comments in the gradebook."""
    with stubs.gradebook(room) as book:
        return sorted(str(one) for one in book.db.scalars(select(Comment.manual_comment)))
