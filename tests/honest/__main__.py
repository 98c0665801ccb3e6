"""Grades the honest submissions and says who lost something: part of `make attacks`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.classroom.create import choose, create
from tests.honest import Honest, all_honest
from tests.submissions import room as rooms

JOBS = 2


def main() -> int:
    """Grade them all; 1 if any lost a point."""
    everyone = all_honest()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        room = Path(folder) / "a classroom"
        make_room(room, everyone)
        notes = grade(room)
        lost = dict(losses(room, everyone))
    for one in everyone:
        if one.student in lost:
            print(f"{one.student} ({one.does}): {lost[one.student]}")
            print(f"    {notes.get((one.student, one.chapter), 'no row for it')}")
    print(
        f"honest submissions: {len(everyone) - len(lost)} of {len(everyone)} kept all their points"
    )
    return int(bool(lost))


def make_room(room: Path, submissions: Sequence[Honest]) -> None:
    """Make a classroom, and hand everything in."""
    create(room, choose(",".join(sorted({one.chapter for one in submissions}))))
    for one in submissions:
        text = one.text(rooms.released(room, one.chapter))
        path = rooms.hand_in(room, one.student, one.chapter, "")
        path.write_bytes(text.encode())  # line ends as they are
        for name, content in one.beside.items():
            (path.parent / name).write_text(content, encoding="utf-8")


def grade(room: Path) -> dict[tuple[str, str], str]:
    """Grade a classroom; what was said about each submission, by student and chapter."""
    from autograder.classroom.grading import grade_class

    summary = grade_class(room, jobs=JOBS)
    return {
        (row.student, row.chapter): f"{row.status}: {row.score} of {row.max_score}. {row.notes}"
        for row in summary.rows
    }


def losses(room: Path, submissions: Sequence[Honest]) -> Iterator[tuple[str, str]]:
    """Who lost something, and what."""
    chapters = {one.chapter for one in submissions}
    points = {chapter: rooms.points(room, chapter) for chapter in chapters}
    for one in submissions:
        found = points[one.chapter].get(one.student, {})
        missing = [
            f"{exercise} has {found.get(exercise)} of {due:g}"
            for exercise, due in one.points().items()
            if (found.get(exercise) or 0) < due - 1e-6 or exercise not in found
        ]
        if missing:
            yield one.student, ", ".join(missing)


if __name__ == "__main__":
    sys.exit(main())
