"""Imports a class's submissions from a learning platform's zip, or from a folder.

A notebook is identified by its grade ids, and a student by the platform's names of the files. The
latest of several versions goes into ``submitted`` (`submitted_folder`); the others are kept.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

from autograder.classroom.intake.attached_files import MAX_BYTES, MAX_FILES, STAMP, Names
from autograder.classroom.intake.identify import Known, known_notebooks, recognise
from autograder.classroom.intake.untrusted_files import LeftOut, Taken, Taker
from autograder.classroom.lms.path_layouts import (
    Layout,
    Origin,
    Undecided,
    copy_number,
    origins,
)
from autograder.classroom.lms.people import People, Unknown
from autograder.classroom.lms.submitted_folder import (
    HandIn,
    Keeper,
    What,
    WorkOf,
    compare_nothing,
    time_of,
)
from autograder.classroom.lms.unusable import note
from autograder.classroom.room.lock import is_of_the_disk
from autograder.environment.errors import ClassroomError


@dataclass(frozen=True)
class Placed:
    """An imported submission.

    Attributes:
        student: the student's id.
        assignment: the assignment.
        what: the effect of importing it.
        when: the time of submission; ``None`` if unknown.
        late: whether the platform marks it as late.
        others: the number of earlier versions in the same zip, which are kept.
    """

    student: str
    assignment: str
    what: What
    when: datetime | None
    late: bool
    others: int


@dataclass
class Collected:
    """The outcome of importing a zip or a folder.

    Attributes:
        placed: the imported submissions.
        left_out: the files that were not imported, with reasons.
        dated: a sentence about times; ``""`` if the files' dates count as times of submission.
        unusable: by student, the reason why none of their files were imported.
    """

    placed: list[Placed] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    dated: str = ""
    unusable: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _File:
    taken: Taken
    origin: Origin
    notebook: Known | None
    when: datetime | None

    @property
    def rank(self) -> tuple[float, int, int, tuple[str, ...]]:
        """A sort key by age; later files have larger keys."""
        at = self.when.timestamp() if self.when else 0.0
        return at, self.origin.serial, copy_number(self.taken.path[-1]), self.taken.path

    @property
    def is_notebook(self) -> bool:
        """Whether it has the name of a notebook."""
        return self.taken.path[-1].lower().endswith(".ipynb")

    def left_out(self, why: str) -> LeftOut:
        """This file with the reason for leaving it out."""
        return LeftOut("/".join(self.taken.path), why)


def collect(
    room: Path,
    source: Path,
    people: People,
    zone: tzinfo | None = None,
    *,
    dates: bool = True,
    layout: Layout | None = None,
    work_of: WorkOf = compare_nothing,
) -> Collected:
    """Import the submissions in a zip or a folder.

    Args:
        room: the classroom, which no other process writes to.
        source: the zip, or the folder.
        people: identifies students by the platform's names.
        zone: the time zone of dates in a zip; by default, the zone of this machine.
        dates: whether the dates of files are times of submission.
        layout: the origin of the names at the top; by default, guessed from these names.
        work_of: computes digests of answers; by default, all answers differ.

    Raises:
        ClassroomError: the zip or the folder cannot be read, or its layout is ambiguous.
    """
    done = Collected()
    home = room / ".fxcourse"
    home.mkdir(mode=0o700, exist_ok=True)
    store = Path(tempfile.mkdtemp(prefix="collecting-", dir=home))
    try:
        taken: list[Taken] = []
        for one in Taker(store, zone).take(source):
            if isinstance(one, Taken):
                taken.append(one)
            else:
                done.left_out.append(one)
        packed = max((one.when for one in taken if one.when), default=None)
        keeper = Keeper(room, source.name, packed, work_of)
        known = known_notebooks(room)
        whence = _origins(known, source, taken, layout)
        for student, files in _by_student(known, whence, people, done, dates).items():
            try:
                _place(keeper, student, files, done)
            except OSError as error:
                if is_of_the_disk(error):
                    raise
                why = f"It could not be written: {error.strerror or type(error).__name__}."
                done.left_out += [one.left_out(why) for one in files]
    finally:
        shutil.rmtree(store, ignore_errors=True)
    chapters = {one.assignment for one in done.placed}
    if len(chapters) == 1:  # otherwise their chapter is unknown
        note(room, chapters.pop(), done.unusable)
    done.placed.sort(key=lambda one: (one.assignment, one.student))
    return done


_Origins = list[tuple[Taken, Origin | str]]
"""Files with their origins, or with the reason why a path does not reveal it."""


def _origins(
    known: Mapping[Known, frozenset[str]],
    source: Path,
    taken: Sequence[Taken],
    layout: Layout | None,
) -> _Origins:
    assignments = {key.assignment for key in known}
    files = [(one.path, one.outer) for one in taken]
    try:
        return list(zip(taken, origins(files, assignments, source.stem, layout), strict=True))
    except Undecided as error:
        raise ClassroomError(str(error)) from None


def _by_student(
    known: Mapping[Known, frozenset[str]],
    whence: _Origins,
    people: People,
    done: Collected,
    dates: bool,
) -> dict[str, list[_File]]:
    """The files of each student."""
    are_dates, done.dated = _dated(whence, dates)
    stamps = _stamps(whence)
    groups: dict[tuple[str, str], list[_File]] = {}
    for one, origin in whence:
        if one.path[-1] == STAMP:
            continue
        if isinstance(origin, str):
            done.left_out.append(LeftOut("/".join(one.path), origin))
            continue
        when = people.handed_in(origin) or stamps.get(one.path[:-1])
        when = when or (one.when if are_dates else None)
        called_so = one.path[-1].lower().endswith((".ipynb", ".json"))
        name = (origin.file or one.path)[-1]  # without the prefix that the platform adds
        notebook = recognise(one.copy.read_bytes(), name, known) if called_so else None
        groups.setdefault(origin.owner, []).append(_File(one, origin, notebook, when))
    people.meet([files[0].origin for files in groups.values()])
    return _group_by_student(list(groups.values()), people, done)


def _group_by_student(
    groups: list[list[_File]], people: People, done: Collected
) -> dict[str, list[_File]]:
    """The groups by student, without unknown students and students with two names at the top."""
    of: dict[str, list[list[_File]]] = {}
    for files in groups:
        try:
            of.setdefault(people.student(files[0].origin), []).append(files)
        except Unknown as error:
            done.left_out += [one.left_out(str(error)) for one in files]
    for student, several in of.items():
        if len(several) > 1:
            names = ", ".join(sorted(repr(files[0].origin.entry[:80]) for files in several))
            why = f"{len(several)} names at the top mean {student}: {names}. Leave one of them."
            done.left_out += [one.left_out(why) for files in several for one in files]
            done.unusable[student] = why
    return {student: several[0] for student, several in of.items() if len(several) == 1}


_NO_NOTEBOOK = "It is none of this class's notebooks, by its grade ids and by its name."
_ALONE = "It is not a notebook, and no notebook of this class is next to it."


def _place(keeper: Keeper, student: str, files: Sequence[_File], done: Collected) -> None:
    """Import the submissions of one student."""
    beside = [one for one in files if one.notebook is None]
    assignments = sorted({one.notebook.assignment for one in files if one.notebook})
    for assignment in assignments:
        own = [one for one in files if one.notebook and one.notebook.assignment == assignment]
        own.sort(key=lambda one: one.rank)
        latest = {one.notebook.notebook: one for one in own if one.notebook}
        newest, older = own[-1], [one for one in own if one not in latest.values()]
        hand_in = HandIn(
            student, assignment, newest.origin, newest.when,
            {name: one.taken.copy for name, one in latest.items()},
            _files_beside(newest, beside, done), "/".join(newest.taken.path),
        )  # fmt: skip
        what = keeper.put(hand_in, [(one.when, one.taken.copy.read_bytes()) for one in older])
        for one in older:
            keeper.keep(hand_in, one.taken.path[-1], one.taken.copy.read_bytes(), one.when)
        if _put_first_with_these_answers(keeper, hand_in, older) and what is not What.NEW:
            what = What.SAME_WORK
        late, when = newest.origin.late, newest.when or keeper.time_there(hand_in)
        if what is What.SAME_WORK:
            late, when = False, keeper.time_there(hand_in)
        done.placed.append(Placed(student, assignment, what, when, late, len(older)))
    if not assignments:
        names = ", ".join(one.taken.path[-1] for one in beside)[:200]
        done.unusable[student] = f"Handed in, without a notebook of this class: {names}."
    for one in beside:
        if one.is_notebook:
            done.left_out.append(one.left_out(_NO_NOTEBOOK))
        elif not assignments:
            done.left_out.append(one.left_out(_ALONE))


def _put_first_with_these_answers(keeper: Keeper, hand_in: HandIn, older: Sequence[_File]) -> bool:
    """Put the first of several versions with the same answers; return whether there was one."""
    found = False
    for one in reversed(older):
        is_dated = one.when and hand_in.when and one.when < hand_in.when
        if not is_dated or not one.notebook or set(hand_in.notebooks) != {one.notebook.notebook}:
            break
        copies = {one.notebook.notebook: one.taken.copy}
        if keeper.put(replace(hand_in, when=one.when, notebooks=copies)) is not What.SAME_WORK:
            break
        found = True
    return found


def _files_beside(newest: _File, beside: Sequence[_File], done: Collected) -> dict[str, Path]:
    """The other files that a student submitted, by their path from the notebook; within limits."""
    found: dict[str, Path] = {}
    names, home, left = Names(), newest.origin.file[:-1], MAX_BYTES
    for one in beside:
        if one.is_notebook:
            continue
        parts = one.origin.file or one.taken.path[-1:]
        if home and parts[: len(home)] == home:
            parts = parts[len(home) :]
        size = one.taken.copy.stat().st_size
        if size > left or len(found) >= MAX_FILES:
            done.left_out.append(one.left_out("There are too many files next to a notebook."))
        elif why_not := names.why_not(parts):
            done.left_out.append(one.left_out(why_not))
        else:
            left -= size
            found["/".join(parts)] = one.taken.copy
    return found


def _dated(whence: _Origins, dates: bool) -> tuple[bool, str]:
    """Whether the files' dates are times of submission, and a sentence about it."""
    if not dates:
        return False, "Dates of files were not looked at, as you said."
    if any(isinstance(of, Origin) and of.platform is Layout.CANVAS for _, of in whence):
        return False, "Canvas dates files when it packs them: the dates say nothing, LATE does."
    found = [one.when for one, _ in whence if one.when and one.path[-1] != STAMP]
    if not found:
        return False, "No file has a date."
    span = max(found) - min(found)
    rising = len(found) >= 5 and all(a <= b for a, b in zip(found, found[1:], strict=False))
    if span <= timedelta(minutes=2) or (rising and span <= timedelta(hours=1)):
        return False, (
            "The files' dates look like those of the packing, and were not taken for times of "
            "handing in. Moodle's grading worksheet has these times: --worksheet FILE."
        )
    return True, ""


def _stamps(whence: _Origins) -> dict[tuple[str, ...], datetime]:
    """The times in timestamp.txt files, by folder; files that students packed do not count."""
    found = {}
    for one, origin in whence:
        is_plain = isinstance(origin, Origin) and origin.platform is Layout.FOLDERS
        if one.path[-1] == STAMP and is_plain and not one.packed:
            when = time_of(one.copy.read_bytes()[:200].decode("utf-8", "replace"))
            if when:
                found[one.path[:-1]] = when
    return found
