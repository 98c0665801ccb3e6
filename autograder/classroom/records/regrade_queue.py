"""What a person graded by hand, and what was handed in for it afterwards.

The points that were given by hand stay until a person has looked again: here is what to look at.
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
    """An answer that was graded by hand, and was handed in again.

    Attributes:
        student: whose it is.
        chapter: the chapter.
        cell: the grade id of the graded cell.
        by_hand: the points that a person gave.
        now: what the new answer earns; ``None`` where only a person can say.
        most: full marks.
        old: the answer that the person saw.
        new: the answer as it is now.
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
    """What a person has to look at again, before a new grade is written.

    Where the work is the same and the points are, too, the person has seen all of it.

    Args:
        room: the classroom, which still has the notebook that was graded before.
        notebook: the gradebook's record of the submission.
        graded: what became of it now.
        files: what lies beside the notebook now.
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
    """Note what a person has to look at again."""
    path = room / FILE
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(one)) + "\n" for one in looks)


def still_waiting(room: Path, book: Gradebook) -> list[SecondLook]:
    """The last of each, as far as nobody has looked at them yet."""
    last = {(one.student, one.chapter, one.cell): one for one in _noted(room / FILE)}
    return [one for _, one in sorted(last.items()) if _waits(book, one)]


def _waits(book: Gradebook, one: SecondLook) -> bool:
    try:
        grade = book.find_grade(one.cell, one.chapter, one.chapter, one.student)
    except MissingEntry:
        return False
    return bool(grade.needs_manual_grade)


def _noted(path: Path) -> Iterator[SecondLook]:
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            yield SecondLook(**json.loads(line))
        except (ValueError, TypeError):
            continue  # a line that was cut off when the machine stopped


def _read(path: Path) -> NotebookNode | None:
    try:
        return _parsed(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None


def _parsed(text: str) -> NotebookNode | None:
    """A graded notebook, which a judge has written."""
    try:
        found: NotebookNode = nbformat.reads(text, as_version=4)
    except Exception:  # it may be damaged since
        return None
    return found


def _sources(nb: NotebookNode | None) -> list[str]:
    return [cell.source for cell in nb.cells] if nb else []


def _answer(nb: NotebookNode | None, name: str) -> str:
    """The answer to which a graded cell belongs: the cell itself, or the one that it checks."""
    cells = {grade_id(cell): cell.source for cell in nb.cells} if nb else {}
    return str(cells.get(name.removeprefix(CHECK), cells.get(name, "")))
