"""Comments on groups of answers in the gradebook, next to the comments that people wrote.

A comment on a group follows a person's own comment on the same answer, after the line `HEAD`. Each
text that was written is kept in a file, so that later only this part is replaced.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Gradebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import select

from autograder.submission.check_result import CheckResult
from autograder.submission.result import Result

FILE = ".fxcourse/comments.jsonl"
HEAD = "— about your group's answers —"
"""The line between a person's comment and ours."""

_GAP = "\n\n"

Key = tuple[str, str]
"""A student and an exercise."""


class CommentChange(StrEnum):
    """The ways in which a comment changes."""

    NEW = "new"
    REPLACED = "replaced"
    TAKEN_BACK = "taken back"
    BY_HAND = "not changed, because a person has edited this part"
    NO_CELL = "not written, because the gradebook has no answer cell of this exercise"


@dataclass(frozen=True)
class GroupComment:
    """The comments on the groups to which an answer belongs.

    Attributes:
        student: the student's id.
        chapter: the chapter.
        exercise: the exercise, which is also the name of its answer cell.
        parts: the comments by the ids of their groups; none if they were taken back.
        work: a digest of how the answer failed; see `digest_of_failure`.
    """

    student: str
    chapter: str
    exercise: str
    parts: Mapping[str, str] = field(default_factory=dict)
    work: str = ""

    @property
    def key(self) -> Key:
        """The student and the exercise."""
        return self.student, self.exercise

    @property
    def block(self) -> str:
        """The text in the gradebook, with its head; empty without parts."""
        texts = dict.fromkeys(self.parts.values())
        return _GAP.join((HEAD, *texts)) if texts else ""


def digest_of_failure(check: CheckResult | None) -> str:
    """A digest of the cases that an answer fails, and of its first finding."""
    if check is None:
        return ""
    code = check.findings[0].code if check.findings else ""
    text = json.dumps([check.status, code, sorted(check.fails or ())])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def with_block(text: str, ours: Iterable[str], block: str) -> str | None:
    """Replace our block in a comment; a person's text stays as it is.

    Args:
        text: the comment in the gradebook.
        ours: the blocks that were ever written there.
        block: the new block; may be empty.

    Returns:
        The new comment; ``None`` if a person has edited our block.
    """
    for old in sorted(ours, key=len, reverse=True):  # one may begin like another
        if (at := _find(text, old)) is not None:
            before, after = text[:at], text[at + len(old) :]
            if block or not before:
                return before + block + (after if block else after.lstrip("\n"))
            return before.removesuffix(_GAP) + after
    if HEAD in text:
        return None
    return text + (_GAP if text and block else "") + block


def _find(text: str, block: str) -> int | None:
    """The place of a block; ``None`` if it is not there, or is the beginning of a longer one."""
    at = text.find(block) if block else -1
    whole = at >= 0 and text[at + len(block) : at + len(block) + 1] in ("", "\n")
    return at if whole and (at == 0 or text[at - 1] == "\n") else None


class GroupComments:
    """The comments on the groups of one chapter.

    Args:
        room: the classroom.
        gradebook: its gradebook.
        chapter: the chapter.
        begin: called before the first change, to save the state of the classroom.
    """

    def __init__(
        self, room: Path, gradebook: Gradebook, chapter: str, begin: Callable[[], None]
    ) -> None:
        self._path, self._book, self._chapter, self._begin = room / FILE, gradebook, chapter, begin
        self._blocks: dict[Key, list[str]] = {}
        self.current: dict[Key, GroupComment] = {}
        """The comments that are in the gradebook now, unless a person has edited them."""
        for one in _read(self._path):
            if one.chapter == chapter:
                self._apply(one)

    def _apply(self, one: GroupComment) -> None:
        if one.block:
            self._blocks.setdefault(one.key, []).insert(0, one.block)
            self.current[one.key] = one
        else:
            self.current.pop(one.key, None)

    def write(
        self, comments: Iterable[GroupComment], *, dry_run: bool = False
    ) -> list[tuple[GroupComment, CommentChange]]:
        """Write comments, and return those that change anything or could not be written.

        Args:
            comments: the comments; one without parts takes back an earlier one.
            dry_run: change nothing.
        """
        rows = self._rows()
        changes: list[tuple[GroupComment, CommentChange]] = []
        applied: list[tuple[GroupComment, Comment, str]] = []
        for one in comments:
            row, old = rows.get(one.key), self.current.get(one.key)
            if not one.block and old is None:
                continue
            text = (row.manual_comment or "") if row is not None else ""
            new = with_block(text, self._blocks.get(one.key, ()), one.block)
            if row is None or new is None:
                why = CommentChange.NO_CELL if row is None else CommentChange.BY_HAND
                changes.append((one, why))
                continue
            if new != text:
                changes.append((one, _kind(old, one)))
            if new != text or one != old:
                applied.append((one, row, new))
        if applied and not dry_run:
            self._write(applied)
        return changes

    def _write(self, applied: list[tuple[GroupComment, Comment, str]]) -> None:
        """Write the file before the gradebook, so that no text of ours counts as a person's."""
        self._begin()
        self._path.parent.mkdir(exist_ok=True)
        # A line that was cut off when the machine stopped must not spoil the next one.
        with self._path.open("a", encoding="utf-8") as file:
            file.writelines("\n" + json.dumps(asdict(one)) for one, _, _ in applied)
        for one, row, text in applied:
            row.manual_comment = text or None
            self._apply(one)
        self._book.db.commit()

    def drop_outdated(self, result: Result) -> None:
        """Take back the comments on a student's answers that do not fail as they did before."""
        checks = {check.exercise: check for check in result.checks}
        outdated = [
            replace(one, parts={}, work="")
            for (student, exercise), one in self.current.items()
            if student == result.student and one.work != digest_of_failure(checks.get(exercise))
        ]
        if outdated:
            self.write(outdated)

    def _rows(self) -> dict[Key, Comment]:
        """The gradebook's comments on the answers of the chapter."""
        query = (
            select(SubmittedAssignment.student_id, BaseCell.name, Comment)
            .join(SubmittedNotebook, SubmittedNotebook.id == Comment.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(BaseCell, BaseCell.id == Comment.cell_id)
            .where(Assignment.name == self._chapter)
        )
        return {(student, name): row for student, name, row in self._book.db.execute(query)}


def _kind(old: GroupComment | None, new: GroupComment) -> CommentChange:
    if not new.block:
        return CommentChange.TAKEN_BACK
    return CommentChange.REPLACED if old is not None else CommentChange.NEW


def _read(path: Path) -> Iterator[GroupComment]:
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            yield GroupComment(**json.loads(line))
        except (ValueError, TypeError):
            continue  # the line was cut off when the machine stopped
