"""The unit of grading: one submission in, plain data out. It needs no shared file system.

A grader on another machine does the same with the same unit; what comes back goes to the one
writer of the gradebook.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader import utils
from nbgrader.preprocessors import LimitOutput

from autograder.classroom import watchdog
from autograder.classroom.cards import show_verdicts
from autograder.classroom.masters import Master
from autograder.classroom.repair import is_unreadable, read_forgivingly, repair
from autograder.classroom.repairs import Kind, Repair
from autograder.classroom.scores import auto_score
from autograder.classroom.seeds import note_seed
from autograder.classroom.sitting import Patience, Sitting
from autograder.classroom.warmth import source_for
from autograder.sandbox.worker import Chapter


@dataclass(frozen=True)
class Terms:
    """How all submissions of a chapter are graded.

    Attributes:
        chapter: the chapter, which is the assignment and the notebook.
        masters: its cells as they were given out, by grade id.
        ready: what the processes for its notebooks are made ready for.
        patience: how long the parts of a notebook may take.
        boxed: whether notebooks run in a box.
    """

    chapter: str
    masters: Mapping[str, Master]
    ready: Chapter
    patience: Patience = Patience()
    boxed: bool = True


@dataclass(frozen=True)
class Unit:
    """One submission.

    Attributes:
        student: whose it is.
        text: the notebook's file; ``None`` where it was refused.
        files: what lies beside it.
        seed: picks the random models.
        notes: what was noticed before, a sentence each.
    """

    student: str
    text: bytes | None
    files: Mapping[str, bytes] = field(default_factory=dict)
    seed: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Score:
    """What one graded cell earns: points, or ``None`` where a person must look at it."""

    points: float | None
    most: float


@dataclass(frozen=True)
class Graded:
    """What became of a submission.

    Attributes:
        student: whose it is.
        chapter: the chapter.
        status: how it ended; see `STATUSES`.
        text: the graded notebook, as a file's text.
        scores: by grade id.
        unanswered: grade ids of answers that are as they were given out.
        notes: what was repaired or happened, a sentence each.
        seconds: how long it took.
        final: whether that stays until the submission changes; the next run tries again what a
            grader could not get to the end of.
    """

    student: str
    chapter: str
    status: str
    text: str
    scores: dict[str, Score]
    unanswered: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: float
    final: bool = True

    @property
    def points(self) -> float:
        """Points in all."""
        return sum(score.points or 0.0 for score in self.scores.values())


STATUSES = {
    "graded": "",
    "graded after repair": "yellow",
    "restored": "yellow",
    "tampered": "red",
    "timed out": "red",
    "out of memory": "red",
    "crashed": "red",
    "unreadable": "red",
    "refused": "red",
}
"""How a submission can end, from harmless to bad, and the colour that it is shown in."""


def grade_unit(unit: Unit, terms: Terms) -> Graded:
    """Grade one submission; whatever is in it, there is a result.

    Raises:
        NoBox: notebooks cannot be boxed here.
    """
    start = time.perf_counter()
    with watchdog.armed():
        nb = read_forgivingly(unit.text if unit.text is not None else b"")
        unreadable = is_unreadable(nb)
        repairs = repair(nb, terms.masters)
    _clear(nb)
    exercises = importlib.import_module(terms.ready.syllabus).EXERCISES
    notes = list(unit.notes)
    sitting = Sitting(
        nb, exercises, source_for(terms.ready, boxed=terms.boxed), seed=unit.seed,
        files=unit.files, patience=terms.patience, warn=notes.append,
    )  # fmt: skip
    shares = show_verdicts(nb, exercises, sitting.hold())
    note_seed(nb, unit.seed)
    nb, _ = LimitOutput().preprocess(nb, {})
    scores = {
        cell.metadata["nbgrader"]["grade_id"]: Score(auto_score(cell, shares), _most(cell))
        for cell in nb.cells
        if utils.is_grade(cell) or utils.is_task(cell)
    }
    if unit.text is None:
        status, repairs = "refused", []
    elif unreadable:
        status, repairs = "unreadable", repairs[:1]  # that every cell is missing, too, says nothing
    else:
        status = _status(sitting.ends, repairs)
    return Graded(
        unit.student, terms.chapter, status, nbformat.writes(nb), scores, _unanswered(nb),
        (*notes, *(found.sentence for found in repairs)), time.perf_counter() - start,
    )  # fmt: skip


def nothing_from(unit: Unit, terms: Terms, why: str) -> Graded:
    """What is given to a submission that could not be graded: no points so far, and a reason."""
    nb = read_forgivingly(b"")
    repair(nb, terms.masters)
    scores = {
        m.name: Score(0.0, m.points or 0.0) for m in terms.masters.values() if m.grade or m.task
    }
    text = nbformat.writes(nb)
    return Graded(
        unit.student, terms.chapter, "crashed", text, scores, (), (why,), 0.0, final=False
    )


def _clear(nb: NotebookNode) -> None:
    """Take out what the student's own runs have left, and name the kernel that everybody has."""
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    spec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nb.metadata["kernelspec"] = NotebookNode(spec)
    nb.metadata["language_info"] = NotebookNode({"name": "python"})


def _most(cell: NotebookNode) -> float:
    return float(cell.metadata["nbgrader"].get("points") or 0.0)


def _unanswered(nb: NotebookNode) -> tuple[str, ...]:
    cells = [cell for cell in nb.cells if utils.is_solution(cell)]
    same = (c for c in cells if c.metadata["nbgrader"].get("checksum") == utils.compute_checksum(c))
    return tuple(cell.metadata["nbgrader"]["grade_id"] for cell in same)


def _status(ends: list[str], repairs: list[Repair]) -> str:
    kinds = {found.kind for found in repairs}
    if Kind.FORGED in kinds:
        return "tampered"
    if "out of memory" in ends:
        return "out of memory"
    if "out of time" in ends:
        return "timed out"
    if ends:
        return "crashed"
    if Kind.RESTORED in kinds:
        return "restored"
    return "graded after repair" if Kind.MENDED in kinds else "graded"
