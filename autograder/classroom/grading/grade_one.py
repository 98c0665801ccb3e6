"""Grades one notebook with a bundle: no classroom and no gradebook are needed."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from autograder.classroom.grading.canary import prove
from autograder.classroom.grading.grade_submission import ChapterServers, grade_submission
from autograder.classroom.intake.discover import find_notebooks
from autograder.classroom.intake.preflight import read_submission
from autograder.environment import memory
from autograder.environment.errors import ClassroomError
from autograder.sandbox.walls import NoBox, ServerLost, Wall, choose
from autograder.submission.bundle import Bundle
from autograder.submission.contract import Submission
from autograder.submission.result import GradedNotebook

_FOLDER = "handed_in"


def grade_one(handed_in: Path, student: str, bundle: Bundle, sandbox: str) -> GradedNotebook:
    """Grade a notebook; there is a result whatever it contains.

    Args:
        handed_in: a notebook, or a folder with one.
        student: the student, from whom the seed of the random models is derived.
        bundle: the chapter's bundle.
        sandbox: the sandbox, one of `walls.SETTINGS`.

    Raises:
        NoBox: this machine cannot grade. The message says why.
    """
    given, times_before = memory.given(), memory.times_used_up()
    if given is not None and given < memory.FOR_GRADING:
        raise NoBox(f"Out of memory: {_numbers(memory.FOR_GRADING)}")
    wall = choose(sandbox)
    config = replace(bundle.config, wall=sandbox, boxed=wall is not Wall.NONE)
    submission = read_hand_in(handed_in, student, bundle)
    # The memory of a sandbox is limited. A machine with this much never kills a process for it.
    enough = round(memory.FOR_GRADING + config.preload.bounds.memory / memory.GB, 1)
    try:
        servers = ChapterServers(config.preload, wall)
        try:
            if config.proof:
                prove(servers, config.preload)
            graded = grade_submission(submission, config, servers)
        finally:
            servers.close()
    except NoBox as error:
        if memory.times_used_up() > times_before:
            raise NoBox(f"Out of memory: {_numbers(enough)}") from None
        if isinstance(error, ServerLost):
            raise NoBox(f"{error} Perhaps out of memory: {_numbers(enough)}") from None
        raise
    if memory.times_used_up() > times_before:  # the result may be the machine's fault
        raise NoBox(f"Out of memory: {_numbers(enough)}")
    return graded


def _numbers(needed: float) -> str:
    given = memory.given()
    here = f"this machine gives {given:g} GB, " if given is not None else ""
    return f"{here}{needed:g} GB are needed."


def read_hand_in(handed_in: Path, student: str, bundle: Bundle) -> Submission:
    """Read a notebook and the files next to it by the same rules as in a class.

    Args:
        handed_in: a notebook, or a folder with one.
        student: the student.
        bundle: the chapter's bundle.
    """
    chapter, ids = bundle.chapter, set(bundle.config.source_cells)
    with tempfile.TemporaryDirectory() as temporary:
        room = Path(temporary)
        place = room / "submitted" / _FOLDER / chapter
        with contextlib.suppress(shutil.Error):  # what cannot be read is left out
            if handed_in.is_dir():
                hidden = shutil.ignore_patterns(".*")
                shutil.copytree(handed_in, place, symlinks=True, ignore=hidden)
            else:
                place.mkdir(parents=True)
                shutil.copy(handed_in, place / f"{chapter}.ipynb", follow_symlinks=False)
        found = find_notebooks(room / "submitted", [chapter], lambda: {chapter: ids})
        notebook = found.places[chapter][_FOLDER]
        if notebook.path:
            notebook = replace(notebook, note="")  # its name does not matter
        raw = read_submission(room, _FOLDER, chapter, notebook, {chapter: ids}, bundle.files)
    notes = tuple(note.replace(f"{_FOLDER}/{chapter}/", "") for note in raw.notes)
    return bundle.submission(student, raw.text, files={**raw.files, **bundle.files}, notes=notes)


def refuse_if_shown(bundle: Path) -> None:
    """Refuse a bundle in a folder that sandboxed notebooks can read.

    Raises:
        ClassroomError: it is in such a folder.
    """
    if sys.platform == "linux":
        from autograder.sandbox.namespaces import is_shown

        if is_shown(str(bundle.resolve())):
            raise ClassroomError(f"Move {bundle} elsewhere: notebooks can read that folder.")
