"""Selects the chapters and the students to grade, from an instructor's options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from autograder.classroom.room.chapter_names import is_called
from autograder.classroom.room.honoured_settings import NbgraderOptions
from autograder.environment.errors import ClassroomError
from autograder.submission.sanitize import in_a_line


def which_chapters(words: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Find the chapters of a class that the words name.

    Args:
        words: names, numbers or topics of chapters; all by default.
        known: the chapters of the class.

    Raises:
        ClassroomError: the class has no chapters, or none with this name.
    """
    if not known:
        raise ClassroomError(
            "The gradebook has no chapters. Is this the right gradebook? To begin a new one "
            "for this class, name it in nbgrader_config.py as c.CourseDirectory.db_url, and "
            "run 'nbgrader generate_assignment CHAPTER --force' for each chapter."
        )
    chosen = []
    for word in words or known:
        found = [name for name in known if is_called(name, word)]
        if not found:
            raise ClassroomError(f"There is no chapter '{word}'. Chapters: {', '.join(known)}.")
        chosen += found
    return list(dict.fromkeys(chosen))


def whose_work(
    handed_in: Mapping[str, Sequence[str]],
    options: NbgraderOptions,
    only: AbstractSet[str] | None,
    room: Path,
    warn: Callable[[str], None],
) -> dict[str, list[str]]:
    """The students to grade, by chapter.

    Args:
        handed_in: by chapter, the students with a submission.
        options: nbgrader's own options, which leave some students out.
        only: some students; all by default.
        room: the classroom.
        warn: called with a sentence about the students that nbgrader's options leave out.

    Raises:
        ClassroomError: one of `only` has no submission.
    """
    found = {chapter: list(options.for_whom(names)) for chapter, names in handed_in.items()}
    left_out = set().union(*handed_in.values()).difference(*found.values())
    if left_out:
        names = ", ".join(sorted(map(in_a_line, left_out)))
        warn(f"Left out, by student_id_exclude or student_id in nbgrader_config.py: {names}.")
    if only is None:
        return found
    if missing := only - {name for names in found.values() for name in names}:
        raise ClassroomError(
            f"{', '.join(sorted(missing))} has handed in nothing of {', '.join(found)} that is "
            f"graded: there is no such folder in {room / 'submitted'}, or it is left out."
        )
    return {chapter: [name for name in names if name in only] for chapter, names in found.items()}
