"""Recognizes work that was handed in again with the same answers, through nbgrader's exchange.

The exchange leaves only the later file, which is graded. So all code cells and all files next to
the notebook must be the same, and no other version may have been handed in between.
"""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.api import MissingEntry
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import Exchange
from traitlets.config import Config

from autograder.classroom.grading.plan import Work
from autograder.classroom.intake.kept_versions import kept_versions
from autograder.classroom.lateness.deadlines import NoTime, in_utc
from autograder.classroom.lateness.penalties import Stamp
from autograder.classroom.lateness.same_work import SameWork, digest_of_submitted, written
from autograder.classroom.records.gradebook_writer import GradebookWriter
from autograder.classroom.records.journal import THE_FILES, THE_NOTEBOOK
from autograder.submission.result import GradedNotebook

ANSWERS = "the answers"
"""The key of the digest of the answers, among the digests that the journal records."""

_SECRET = "submission_secret.txt"
"""A file that nbgrader writes next to each submission, different each time."""


def digest_of_answers(graded: GradedNotebook, work: Work) -> str:
    """A digest of the code, the answers and the files of a submission; empty if it is unknown."""
    if not graded.code or not graded.work:
        return ""
    files = sorted(item for item in work.raw.files.items() if item[0] != _SECRET)
    return hashlib.sha256(repr((graded.code, graded.work, files)).encode()).hexdigest()


def find_same_answers(
    writer: GradebookWriter,
    before: Mapping[str, str],
    graded: GradedNotebook,
    work: Work,
    stamp: Stamp | None,
) -> SameWork | None:
    """The note about a later submission with the same answers; ``None`` if this is not one.

    Args:
        writer: the writer of the gradebook, which has the time of the earlier submission.
        before: what the journal records of the earlier submission; see `ANSWERS`.
        graded: the later submission.
        work: its files.
        stamp: its time.
    """
    is_new_file = any(before.get(part) != work.parts[part] for part in (THE_NOTEBOOK, THE_FILES))
    answers = digest_of_answers(graded, work)
    if not answers or before.get(ANSWERS) != answers or not is_new_file:
        return None
    whose = graded.result.student, graded.result.chapter
    counts, again = _time_in(writer, *whose), stamp.at if stamp else None
    if counts is None or again is None or counts >= again:
        return None
    others = _times_of_others(writer.room, writer.config, *whose)
    if any(when is None or counts < when < again for when in others):
        return None
    digest = digest_of_submitted(writer.room, *whose)
    return SameWork(*whose, digest, written(again), written(counts)) if digest else None


def _time_in(writer: GradebookWriter, student: str, chapter: str) -> datetime | None:
    try:
        found: datetime | None = writer.gradebook.find_submission(chapter, student).timestamp
    except MissingEntry:
        return None
    return found


def _times_of_others(
    room: Path, config: Config, student: str, chapter: str
) -> Iterator[datetime | None]:
    """The times of all versions in the classroom and in nbgrader's exchange, in UTC."""
    for when, _ in kept_versions(room, student, chapter):
        yield when and when.replace(tzinfo=None)
    course = CourseDirectory(config=config).course_id
    inbound = Path(Exchange(config=config).root) / course / "inbound"
    for path in inbound.glob(f"{glob.escape(f'{student}+{chapter}')}+*"):
        try:
            yield in_utc(path.name.removeprefix(f"{student}+{chapter}+").split("+")[0], UTC)
        except NoTime:
            yield None
