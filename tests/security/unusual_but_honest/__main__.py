"""Grades the honest submissions and lists those that lost something: part of `make attacks`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from autograder.classroom.setup.create import choose, create
from tests.security.unusual_but_honest import Honest, all_honest
from tests.support.submissions import room as rooms

JOBS = 2


def main() -> int:
    """Grade all of them; return 1 if any lost a point or was marked as tampered."""
    everyone = all_honest()
    lost = honest_who_lost(everyone)
    for who, text in lost.items():
        print(f"{who}: {text}")
    print(f"honest submissions: {len(everyone) - len(lost)} of {len(everyone)} lost nothing")
    return int(bool(lost))


def honest_who_lost(everyone: Sequence[Honest] | None = None, jobs: int = JOBS) -> dict[str, str]:
    """Grade all of them; return a description of the loss, by student."""
    everyone = all_honest() if everyone is None else everyone
    does = {one.student: one.does for one in everyone}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        room = Path(folder) / "a classroom"
        make_room(room, everyone)
        said = grade(room, jobs)
        lost = dict(losses(room, everyone, said))
    return {who: f"({does[who]}) {text}" for who, text in lost.items()}


def make_room(room: Path, submissions: Sequence[Honest]) -> None:
    """Make a classroom and submit everything."""
    create(room, choose(",".join(sorted({one.chapter for one in submissions}))))
    for one in submissions:
        text = one.text(rooms.released(room, one.chapter))
        path = rooms.hand_in(room, one.student, one.chapter, "")
        path.write_bytes(text.encode())  # keeps the line ends
        for name, content in one.extra_files.items():
            (path.parent / name).write_text(content, encoding="utf-8")


class Said(NamedTuple):
    """The status and the notes of one graded submission."""

    status: str
    notes: tuple[str, ...]


def grade(room: Path, jobs: int = JOBS) -> dict[tuple[str, str], Said]:
    """Grade a classroom; return status and notes by student and chapter."""
    from autograder.classroom.grading.grade_class import GradingOptions, grade_class

    summary = grade_class(room, GradingOptions(jobs=jobs))
    return {(row.student, row.chapter): Said(row.status, row.notes) for row in summary.results}


def losses(
    room: Path, submissions: Sequence[Honest], said: Mapping[tuple[str, str], Said]
) -> Iterator[tuple[str, str]]:
    """Students with missing points or a wrong state, with a description of the loss."""
    chapters = {one.chapter for one in submissions}
    points = {chapter: rooms.points(room, chapter) for chapter in chapters}
    for one in submissions:
        found = points[one.chapter].get(one.student, {})
        missing = [
            f"{exercise} has {found.get(exercise)} of {due:g}"
            for exercise, due in one.points().items()
            if (found.get(exercise) or 0) < due - 1e-6 or exercise not in found
        ]
        state = said.get((one.student, one.chapter), Said("not graded", ()))
        if state.status not in one.states:
            missing.append(f"its state is {state.status!r}")
        if missing:
            yield one.student, f"{', '.join(missing)}. {' '.join(state.notes)[:500]}"


if __name__ == "__main__":
    sys.exit(main())
