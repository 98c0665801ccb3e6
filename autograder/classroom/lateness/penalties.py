"""Penalties for late work, worked out anew from the gradebook, the timestamps and the policy.

Nothing is graded for it. A penalty that no longer holds is taken away.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, SubmittedAssignment
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config

from autograder.classroom.lateness.deadlines import (
    FILE,
    HandIn,
    Lateness,
    NoTime,
    Policy,
    in_utc,
    read_policy,
    work_out,
)
from autograder.environment.errors import ClassroomError

MOST_READ = 200
"""Bytes of a timestamp's file that are looked at."""


@dataclass(frozen=True)
class LateRow:
    """What being late does to one submission.

    Attributes:
        student: whose it is.
        chapter: the chapter.
        lateness: how late it was.
        score: what it earned, before any penalty.
        penalty: what is taken off.
        before: what the gradebook had taken off until now.
        sentence: how late it was and what that costs, in words; empty where it was in time.
        excuse: how late it was and why that costs nothing; empty where it costs something.
    """

    student: str
    chapter: str
    lateness: Lateness
    score: float
    penalty: float
    before: float
    sentence: str
    excuse: str = ""

    @property
    def changes(self) -> bool:
        """Whether the gradebook has another penalty than it should have."""
        return not math.isclose(self.penalty, self.before, abs_tol=1e-9)


@dataclass(frozen=True)
class Stamp:
    """What a submission's ``timestamp.txt`` says.

    Attributes:
        text: the text, if it says a time.
        at: the time, in UTC.
        note: what is wrong with it, in a sentence.
    """

    text: str = ""
    at: datetime | None = None
    note: str = ""


def read_stamp(folder: Path, policy: Policy) -> Stamp | None:
    """The timestamp that lies beside a submission; ``None`` where there is none."""
    path = folder / "timestamp.txt"
    if folder.is_symlink() or path.is_symlink() or not path.exists():
        return None
    if not path.is_file():
        return Stamp(note=_NOT_LATE.format("is not a file"))
    try:
        with path.open("rb") as file:
            text = file.read(MOST_READ).decode("utf-8-sig", errors="replace")
    except OSError:
        return None
    if not text.strip():
        return Stamp(note=_NOT_LATE.format("is empty"))
    try:
        return Stamp(text, in_utc(text, policy.zone))
    except NoTime as error:
        return Stamp(note=_NOT_LATE.format(error))


_NOT_LATE = (
    "timestamp.txt {}; it counts as not late. Formgrader cannot list submissions before you have "
    "removed this file."
)


class PluginFailed(Exception):
    """The class's own plugin raised an error for one submission; the message names it."""


class Penalties:
    """Works penalties out, and writes them down.

    Args:
        room: the classroom.
        config: nbgrader's configuration of it, which may name a plugin for late work.
        chapters: the chapters of the class.

    Raises:
        ClassroomError: `deadlines.toml` cannot be used.
    """

    def __init__(self, room: Path, config: Config, chapters: Sequence[str]) -> None:
        self.policy = read_policy(room, chapters)
        self._link = AssignLatePenalties(config=config)
        self._link.init_plugin()
        if self.policy.percent_a_day and self._has_plugin():
            raise ClassroomError(
                f"{room / FILE}, percent_a_day: nbgrader_config.py names a plugin for late work, "
                f"too ({type(self._link.plugin_inst).__name__}). Write percent_a_day = 0, or take "
                "the plugin out; the other keys of the file go with both."
            )

    def _has_plugin(self) -> bool:
        """Whether nbgrader's own way of penalties is in use."""
        plugin = self._link.plugin_inst
        return type(plugin) is not LateSubmissionPlugin or plugin.penalty_method != "none"

    def rows(
        self,
        book: Gradebook,
        stamps: Callable[[str, str], Stamp | None] = lambda student, chapter: None,
        students: Iterable[str] | None = None,
    ) -> list[LateRow]:
        """What being late does to each submission in a gradebook; nothing is written.

        Args:
            book: the gradebook.
            stamps: timestamps that hold in place of those in the gradebook.
            students: whose; everybody's by default.
        """
        found = []
        for student, own in _by_student(book, students).items():
            hand_ins = []
            for submission in own:
                stamp = stamps(student, submission.name)
                due = submission.duedate if submission.assignment.duedate else None
                at = stamp.at if stamp else submission.timestamp
                hand_ins.append(HandIn(submission.name, due, at))
            late = work_out(self.policy, student, hand_ins)
            found += [self._row(student, one, late[one.name]) for one in own]
        return found

    def _row(self, student: str, submission: SubmittedAssignment, late: Lateness) -> LateRow:
        before = submission.late_submission_penalty or 0.0
        if not late.seconds:
            excuse, score = late.excuse(self.policy.zone), submission.score
            return LateRow(student, submission.name, late, score, 0.0, before, "", excuse)
        score = sum(notebook.score for notebook in submission.notebooks)
        sentence = late.sentence(self.policy.zone)
        try:
            penalty = sum(self._of(notebook, student, late) for notebook in submission.notebooks)
        except PluginFailed as error:
            sentence += f". {error} The penalty stays as it was"
            return LateRow(student, submission.name, late, score, before, before, sentence)
        if penalty and not late.percent:
            sentence += f", {penalty:.4g} points off by the class's own plugin"
        return LateRow(student, submission.name, late, score, penalty, before, sentence)

    def _of(self, notebook: Any, student: str, late: Lateness) -> float:
        """The penalty of one notebook: between nothing and all that it earned."""
        if not late.charged:
            return 0.0
        if self._has_plugin():
            said = self._said_by_plugin(notebook, student, late)
        else:
            said = notebook.score * late.percent / 100
        penalty = 0.0 if said is None or math.isnan(said) else float(said)
        return round(min(max(0.0, penalty), max(0.0, float(notebook.score))), 9)

    def _said_by_plugin(self, notebook: Any, student: str, late: Lateness) -> float | None:
        plugin = self._link.plugin_inst
        try:
            said = plugin.late_submission_penalty(student, notebook.score, late.charged)
            return None if said is None else float(said)
        except Exception as error:  # it is the class's own code
            raise PluginFailed(
                f"The class's own plugin for late work, {type(plugin).__name__}, failed for "
                f"{student}: {type(error).__name__}: {error}. Fix it, or remove it from "
                "nbgrader_config.py."
            ) from None

    def write(
        self,
        book: Gradebook,
        students: Iterable[str] | None = None,
        begin: Callable[[], None] = lambda: None,
    ) -> list[LateRow]:
        """Bring a gradebook's penalties up to date; returns what holds now.

        Args:
            book: the gradebook.
            students: whose; everybody's by default.
            begin: is called before anything is written.
        """
        rows = self.rows(book, students=students)
        for row in rows:
            if row.changes:
                begin()
                submission = book.find_submission(row.chapter, row.student)
                for notebook in submission.notebooks:
                    notebook.late_submission_penalty = (
                        self._of(notebook, row.student, row.lateness) or None
                    )
        book.db.commit()
        return rows


def _by_student(
    book: Gradebook, students: Iterable[str] | None
) -> dict[str, list[SubmittedAssignment]]:
    found: dict[str, list[SubmittedAssignment]] = {}
    asked = book.db.query(SubmittedAssignment)
    if students is not None:
        asked = asked.filter(SubmittedAssignment.student_id.in_(list(students)))
    for submission in asked:
        found.setdefault(submission.student_id, []).append(submission)
    return {student: found[student] for student in sorted(found)}


def keep_time(
    book: Gradebook,
    chapter: str,
    student: str,
    stamp: Stamp | None,
    copy: Path,
    begin: Callable[[], None] = lambda: None,
    *,
    keep_copy: bool = True,
) -> None:
    """Have a gradebook know when a submission was handed in.

    Args:
        book: the gradebook, which has the submission.
        chapter: the chapter.
        student: whose it is.
        stamp: what its ``timestamp.txt`` says; without one, a time that a person has put into
            the gradebook stays.
        copy: the copy of that file beside the graded notebook, which is kept up to date.
        begin: is called before anything is written.
        keep_copy: whether that copy is written, too.
    """
    submission = book.find_submission(chapter, student)
    if stamp is None and not copy.is_file():
        return
    at = stamp.at if stamp else None
    if submission.timestamp != at:
        begin()
        submission.timestamp = at
        book.db.commit()
    text = stamp.text if stamp else ""
    if not keep_copy or not copy.parent.is_dir():
        return
    if text and (not copy.is_file() or copy.read_text(encoding="utf-8") != text):
        building = copy.with_name(".timestamp.txt")
        building.write_text(text, encoding="utf-8")
        os.replace(building, copy)
    elif not text and copy.is_file() and copy.stat().st_size:  # an empty one says nothing
        copy.unlink()


__all__ = ["ClassroomError", "LateRow", "Penalties", "Stamp", "keep_time", "read_stamp"]
