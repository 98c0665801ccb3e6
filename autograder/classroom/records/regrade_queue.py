"""Answers that were graded by hand and then submitted again.

Points given by hand stay until a person has looked at the new answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook, MissingEntry, SubmittedNotebook

from autograder.classroom.intake.attached_files import files_beside
from autograder.submission.result import GradedNotebook
from autograder.submission.source_cells import CHECK, grade_id

FILE = ".fxcourse/second_looks.jsonl"


@dataclass(frozen=True)
class SecondLook:
    """An answer that was graded by hand and submitted again.

    Attributes:
        student: the student's id.
        chapter: the chapter.
        cell: the grade id of the graded cell.
        by_hand: the points that a person gave.
        now: the points of the new answer; ``None`` if only a person can decide.
        most: full marks.
        old: the answer that the person graded.
        new: the current answer.
    """

    student: str
    chapter: str
    cell: str
    by_hand: float
    now: float | None
    most: float
    old: str
    new: str

    def line(self) -> str:
        """The old points and the new verdict, in a sentence."""
        now = "the new answer waits for you" if self.now is None else (
            f"the new answer earns {self.now:.4g}"
        )  # fmt: skip
        same = " The answer is unchanged." if self.old == self.new else ""
        name = self.cell.removeprefix(CHECK)
        return (
            f"{self.student}, {self.chapter}, {name}: {self.by_hand:.4g} of {self.most:.4g} by "
            f"hand stay; {now}.{same}"
        )


def look_again(
    room: Path,
    notebook: SubmittedNotebook,
    graded: GradedNotebook,
    files: Mapping[str, bytes] = MappingProxyType({}),
) -> list[SecondLook]:
    """List the answers that a person must look at again, before a new grade is written.

    If neither the work nor its points have changed, the person has already seen everything.

    Args:
        room: the classroom, which still contains the notebook that was graded before.
        notebook: the gradebook's record of the submission.
        graded: the newly graded notebook.
        files: the files that are now next to the notebook.
    """
    by_hand = [grade for grade in notebook.grades if grade.manual_score is not None]
    if not by_hand:
        return []
    student, chapter = graded.result.student, graded.result.chapter
    folder = room / "autograded" / student / chapter
    old, new = _read(folder / f"{chapter}.ipynb"), _parsed(graded.text)
    same_work = _sources(old) == _sources(new) and files_beside(folder)[0] == files
    found = []
    for grade in by_hand:
        score = graded.scores.get(grade.name)
        now = score.points if score else 0.0
        if same_work and old and now == grade.auto_score:
            continue
        texts = _answer(old, grade.name), _answer(new, grade.name)
        found.append(
            SecondLook(
                student, chapter, grade.name, grade.manual_score, now, grade.max_score, *texts
            )
        )
    return found


def keep(room: Path, looks: list[SecondLook]) -> None:
    """Add answers to the list of those that a person must look at again."""
    path = room / FILE
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(one)) + "\n" for one in looks)


def still_waiting(room: Path, book: Gradebook) -> list[SecondLook]:
    """The latest entry for each answer that a person has not looked at yet."""
    last = {(one.student, one.chapter, one.cell): one for one in _read_queue(room / FILE)}
    return [one for _, one in sorted(last.items()) if _waits(book, one)]


def _waits(book: Gradebook, one: SecondLook) -> bool:
    try:
        grade = book.find_grade(one.cell, one.chapter, one.chapter, one.student)
    except MissingEntry:
        return False
    return bool(grade.needs_manual_grade)


def _read_queue(path: Path) -> Iterator[SecondLook]:
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            yield SecondLook(**json.loads(line))
        except (ValueError, TypeError):
            continue  # the line was cut off when the machine stopped


def _read(path: Path) -> NotebookNode | None:
    try:
        return _parsed(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None


def _parsed(text: str) -> NotebookNode | None:
    """Parse a graded notebook, which a judge wrote."""
    try:
        found: NotebookNode = nbformat.reads(text, as_version=4)
    except Exception:  # it may have been damaged since
        return None
    return found


def _sources(nb: NotebookNode | None) -> list[str]:
    return [cell.source for cell in nb.cells] if nb else []


def _answer(nb: NotebookNode | None, name: str) -> str:
    """The answer to which a graded cell belongs: the cell itself, or the one that it checks."""
    cells = {grade_id(cell): cell.source for cell in nb.cells} if nb else {}
    return str(cells.get(name.removeprefix(CHECK), cells.get(name, "")))
