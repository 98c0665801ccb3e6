"""Makes the groups of a chapter, and writes the comments on them into the gradebook."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from autograder.classroom.groups.answers import WrongAnswer, wrong_answers
from autograder.classroom.groups.course_cases import CourseCases
from autograder.classroom.groups.group_file import (
    FileRow,
    path_of,
    read_groups,
    write_groups,
)
from autograder.classroom.groups.grouping import Group, group
from autograder.classroom.groups.page import page
from autograder.classroom.records.group_comments import (
    CommentChange,
    GroupComment,
    GroupComments,
    Key,
    digest_of_failure,
)
from autograder.classroom.records.roster import students
from autograder.classroom.records.undo_log import LastRun
from autograder.classroom.room.chapter_names import is_called
from autograder.classroom.room.gradebook_url import with_driver
from autograder.classroom.room.lock import HOME
from autograder.classroom.room.open_classroom import OpenClassroom
from autograder.classroom.room.private import write_private
from autograder.environment.errors import ClassroomError


@dataclass(frozen=True)
class Grouped:
    """The groups of a chapter.

    Attributes:
        chapter: the chapter's name.
        groups: the groups by exercise, large ones first.
        wrong: the number of wrong answers by exercise.
        ungrouped: the answers that were graded by a version that kept no failing cases.
        page: the path of the page; ``None`` if it was not written.
    """

    chapter: str
    groups: dict[str, list[Group]]
    wrong: dict[str, int]
    ungrouped: tuple[WrongAnswer, ...]
    page: Path | None = None


def make_groups(
    classroom: OpenClassroom,
    word: str,
    cases: CourseCases,
    *,
    exercise: str | None = None,
    anonymous: bool = False,
    now: datetime | None = None,
) -> Grouped:
    """Group the wrong answers of a chapter, and write the page and the file for comments.

    Args:
        classroom: the open classroom.
        word: the chapter's name, number or topic.
        cases: the cases of the course.
        exercise: the only exercise to show on the page.
        anonymous: whether to write a page without names instead, and no file.
        now: the time to print on the page.

    Raises:
        ClassroomError: there is no such chapter, no such exercise in it, or the file with the
            comments cannot be read.
    """
    found = _find_groups(classroom, word, cases)
    if exercise is not None and exercise not in found.wrong:
        known = ", ".join(found.wrong) or "none"
        raise ClassroomError(
            f"{found.chapter} has no wrong answers to an exercise called '{exercise}'. Exercises "
            f"with wrong answers: {known}."
        )
    file = path_of(classroom.room, found.chapter)
    file.parent.mkdir(mode=0o700, exist_ok=True)
    if not anonymous:
        write_groups(file, found.chapter, _rows(found, read_groups(file)))
    shown = found if exercise is None else replace(
        found, groups={exercise: found.groups.get(exercise, [])},
        wrong={exercise: found.wrong[exercise]},
    )  # fmt: skip
    names = {one.id: f"{one.first} {one.last}".strip() for one in students(classroom.gradebook)}
    path = file.with_name(f"{found.chapter}{'-without-names' if anonymous else ''}.html")
    text = page(
        classroom.room, shown.chapter, shown.groups, cases, wrong=shown.wrong,
        names=None if anonymous else names, ungrouped=len(found.ungrouped),
        made=now or datetime.now(),
    )  # fmt: skip
    write_private(path, text)
    return replace(shown, page=path)


def write_comments(
    classroom: OpenClassroom, word: str, cases: CourseCases, *, dry_run: bool = False
) -> list[tuple[GroupComment, CommentChange]]:
    """Write the comments of the file into the gradebook, for all who are in the groups now.

    Returns:
        The comments that changed something, or could not be written.

    Raises:
        ClassroomError: there is no such chapter, or no comment for it.
    """
    chapter = _chapter(classroom, word)
    file = path_of(classroom.room, chapter)
    texts = {row.id: row.comment for row in read_groups(file) if row.comment}
    comments, last_run = _comments(classroom, chapter)
    if not texts and not comments.current:
        raise ClassroomError(
            f"There is no comment in {file}. Run fxcourse classroom groups, and write one there."
            if file.exists()
            else f"{file} is not there. It is made by: fxcourse classroom groups DIR {chapter}"
        )
    wanted = _wanted(_find_groups(classroom, chapter, cases), chapter, texts)
    gone = [
        GroupComment(student, chapter, exercise)
        for student, exercise in comments.current
        if (student, exercise) not in wanted
    ]
    changes = comments.write([*wanted.values(), *gone], dry_run=dry_run)
    last_run.end()
    return changes


def take_back_comments(
    classroom: OpenClassroom, word: str, *, dry_run: bool = False
) -> list[tuple[GroupComment, CommentChange]]:
    """Remove the comments on the groups of a chapter from the gradebook.

    Raises:
        ClassroomError: there is no such chapter.
    """
    chapter = _chapter(classroom, word)
    comments, last_run = _comments(classroom, chapter)
    gone = [GroupComment(student, chapter, exercise) for student, exercise in comments.current]
    changes = comments.write(gone, dry_run=dry_run)
    last_run.end()
    return changes


def _chapter(classroom: OpenClassroom, word: str) -> str:
    known = sorted(one.name for one in classroom.gradebook.assignments)
    found = [name for name in known if is_called(name, word)]
    if len(found) != 1:
        raise ClassroomError(f"There is no chapter '{word}'. Chapters: {', '.join(known)}.")
    return str(found[0])


def _find_groups(classroom: OpenClassroom, word: str, cases: CourseCases) -> Grouped:
    chapter = _chapter(classroom, word)
    answers: dict[str, list[WrongAnswer]] = defaultdict(list)
    for answer in wrong_answers(classroom.room, classroom.gradebook, chapter):
        answers[answer.check.exercise].append(answer)
    groups = {
        exercise: group(exercise, those, cases.count(exercise))
        for exercise, those in sorted(answers.items())
    }
    ungrouped = (one for those in answers.values() for one in those if one.check.fails is None)
    wrong = {exercise: len(answers[exercise]) for exercise in groups}
    return Grouped(chapter, groups, wrong, tuple(ungrouped))


def _rows(found: Grouped, before: Iterable[FileRow]) -> Iterator[FileRow]:
    """The rows of the file: the groups, then earlier groups whose comments must not be lost."""
    old = {row.id: row for row in before}
    for one in (each for groups in found.groups.values() for each in groups):
        comment = old.pop(one.id).comment if one.id in old else ""
        yield FileRow(one.id, one.exercise, one.says, one.students, comment)
    yield from (replace(row, students=()) for row in old.values() if row.comment)


def _wanted(found: Grouped, chapter: str, texts: dict[str, str]) -> dict[Key, GroupComment]:
    """The comments on the answers that are in a group with a comment."""
    wanted: dict[Key, GroupComment] = {}
    for one in (each for groups in found.groups.values() for each in groups):
        for answer in one.answers if one.id in texts else ():
            key = answer.student, one.exercise
            work = digest_of_failure(answer.check)
            before = wanted.get(key, GroupComment(answer.student, chapter, one.exercise, {}, work))
            wanted[key] = replace(before, parts={**before.parts, one.id: texts[one.id]})
    return wanted


def _comments(classroom: OpenClassroom, chapter: str) -> tuple[GroupComments, LastRun]:
    course = CourseDirectory(config=classroom.nbgrader.config)
    last_run = LastRun(classroom.room, classroom.room / HOME, with_driver(course.db_url))
    begin = last_run.begin
    return GroupComments(classroom.room, classroom.gradebook, chapter, begin), last_run
