"""Penalties for late work, computed from the gradebook, the timestamps and the policy.

Computing them needs no grading. Penalties that no longer apply are removed.
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
from autograder.classroom.lateness.reveals import AFTER, first_times
from autograder.environment.errors import ClassroomError

MOST_READ = 200
"""The number of bytes to read from a timestamp's file."""


@dataclass(frozen=True)
class LateRow:
    """The effect of lateness on one submission.

    Attributes:
        student: the student's id.
        chapter: the chapter.
        lateness: the lateness.
        score: the points that it earned, before any penalty.
        penalty: the points to take off.
        before: the points that the gradebook has taken off so far.
        sentence: the lateness and its cost, in words; empty if it was in time.
        excuse: the lateness and why it costs nothing, in words; empty if it costs something.
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
        """Whether the gradebook's penalty differs from the correct one."""
        return not math.isclose(self.penalty, self.before, abs_tol=1e-9)


@dataclass(frozen=True)
class Stamp:
    """The content of a submission's ``timestamp.txt``.

    Attributes:
        text: the text, if it is a time.
        at: the time, in UTC.
        note: the problem with it, in a sentence.
    """

    text: str = ""
    at: datetime | None = None
    note: str = ""


def read_stamp(folder: Path, policy: Policy) -> Stamp | None:
    """Read the timestamp next to a submission; ``None`` if there is none."""
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
    """Computes penalties, and writes them to the gradebook.

    Args:
        room: the classroom.
        config: its nbgrader configuration, which may name a plugin for late work.
        chapters: the chapters of the class.

    Raises:
        ClassroomError: `deadlines.toml` cannot be used.
    """

    def __init__(self, room: Path, config: Config, chapters: Sequence[str]) -> None:
        self.policy = read_policy(room, chapters)
        self._shown = first_times(room)
        self._link = AssignLatePenalties(config=config)
        self._link.init_plugin()
        if self.policy.percent_a_day and self._has_plugin():
            raise ClassroomError(
                f"{room / FILE}, percent_a_day: nbgrader_config.py names a plugin for late work, "
                f"too ({type(self._link.plugin_inst).__name__}). Write percent_a_day = 0, or take "
                "the plugin out; the other keys of the file go with both."
            )

    def _has_plugin(self) -> bool:
        """Whether a plugin of nbgrader for penalties is active."""
        plugin = self._link.plugin_inst
        return type(plugin) is not LateSubmissionPlugin or plugin.penalty_method != "none"

    def rows(
        self,
        book: Gradebook,
        stamps: Callable[[str, str], Stamp | None] = lambda student, chapter: None,
        students: Iterable[str] | None = None,
    ) -> list[LateRow]:
        """The effect of lateness on each submission in a gradebook, without writing it.

        Args:
            book: the gradebook.
            stamps: returns a timestamp that overrides the gradebook's, or `None`.
            students: the students; all by default.
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
            excuse, score = self._marked(late, late.excuse(self.policy.zone)), submission.score
            return LateRow(student, submission.name, late, score, 0.0, before, "", excuse)
        score = sum(notebook.score for notebook in submission.notebooks)
        sentence = self._marked(late, late.sentence(self.policy.zone))
        try:
            penalty = sum(self._cost(notebook, student, late) for notebook in submission.notebooks)
        except PluginFailed as error:
            sentence += f". {error} The penalty stays as it was"
            return LateRow(student, submission.name, late, score, before, before, sentence)
        if penalty and not late.percent:
            sentence += f", {penalty:.4g} points off by the class's own plugin"
        return LateRow(student, submission.name, late, score, penalty, before, sentence)

    def _marked(self, late: Lateness, text: str) -> str:
        """A text about lateness, with a mark if the student could see cases before."""
        shown = self._shown.get(late.chapter)
        if shown is None or late.at is None or late.at <= shown:
            return text
        return f"{text}, {AFTER}" if text else f"handed in {AFTER}"

    def _cost(self, notebook: Any, student: str, late: Lateness) -> float:
        """The penalty of one notebook: between nothing and all that it earned."""
        if not late.charged:
            return 0.0
        if self._has_plugin():
            said = self._ask_plugin(notebook, student, late)
        else:
            said = notebook.score * late.percent / 100
        penalty = 0.0 if said is None or math.isnan(said) else float(said)
        return round(min(max(0.0, penalty), max(0.0, float(notebook.score))), 9)

    def _ask_plugin(self, notebook: Any, student: str, late: Lateness) -> float | None:
        plugin = self._link.plugin_inst
        try:
            said = plugin.late_submission_penalty(student, notebook.score, late.charged)
            return None if said is None else float(said)
        except Exception as error:  # the plugin is the class's own code
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
        """Update a gradebook's penalties, and return the current ones.

        Args:
            book: the gradebook.
            students: the students; all by default.
            begin: called before anything is written.
        """
        rows = self.rows(book, students=students)
        for row in rows:
            if row.changes:
                begin()
                submission = book.find_submission(row.chapter, row.student)
                for notebook in submission.notebooks:
                    notebook.late_submission_penalty = (
                        self._cost(notebook, row.student, row.lateness) or None
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
    """Store the time of a submission in a gradebook.

    Args:
        book: the gradebook, which has the submission.
        chapter: the chapter.
        student: the student's id.
        stamp: the content of its ``timestamp.txt``; if there is none, a time that a person entered
            in the gradebook stays.
        copy: the copy of that file next to the graded notebook, which is updated.
        begin: called before anything is written.
        keep_copy: whether to write that copy as well.
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
    elif not text and copy.is_file() and copy.stat().st_size:  # an empty file contains no time
        copy.unlink()


__all__ = ["ClassroomError", "LateRow", "Penalties", "Stamp", "keep_time", "read_stamp"]
