"""Makes an nbgrader course directory with chapters of this course."""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook, SubmittedAssignment
from sqlalchemy.exc import SQLAlchemyError

from autograder.builder import as_text, chapters, source_notebook
from autograder.builder.problems import BuildRefused
from autograder.classroom.lateness import deadlines
from autograder.classroom.records import versions
from autograder.classroom.room.chapter_names import is_called as is_called
from autograder.classroom.room.gradebook_url import (
    shown,
    try_out,
    what_failed,
    with_driver,
    without_password,
)
from autograder.classroom.room.nbgrader_api import api
from autograder.classroom.room.private import private
from autograder.classroom.room.scripts_path import find_scripts
from autograder.environment.errors import ClassroomError
from autograder.lessons.course_map import NoTrack, track_called

CONFIG = '''\
"""How nbgrader grades this class. Settings of your own go below the last line."""

from autograder.classroom.config import configure

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = {course!r}
{database}configure(c)
{solutions}
# The random models that answers are tried on come from this and from the student's name.
c.ExecuteChecks.secret = {secret!r}
'''

README = """\
# A classroom for the course about torch.fx

Run these commands in this folder, in the environment in which the course is installed.

1. Give your students `release/{chapter}/{chapter}.ipynb`, or what `fxcourse classroom pack .` made.
2. `fxcourse classroom collect . FILE` takes in the zip of Moodle or Canvas, or a folder; by hand,
   work belongs into `submitted/STUDENT/{chapter}/{chapter}.ipynb`.
3. `fxcourse grade .`: the grades, in {gradebook}; `nbgrader autograde {chapter}` gives the same.
   Then open `report/index.html`: how each submission ended, and which exercises need a look.
4. `nbgrader generate_feedback {chapter}`: pages for the students, in `feedback/`.
5. `nbgrader export`: all grades, in `grades.csv`; `fxcourse classroom export .` for the platforms.
6. `fxcourse classroom replay . STUDENT EXERCISE`: how an answer was judged, case by case.
7. `fxcourse classroom report . --anonymous`: the report without names, to pass on.
8. `fxcourse classroom lateness .`: late students, and what it costs, by `deadlines.toml`.

Chapters here: {all}. Formgrader in JupyterLab works too: run `jupyter lab` here.
Test cells that you add yourself are run in the student's Python: a student can deceive them.
"""


def choose(wanted: str | None = None, track: str | None = None) -> dict[str, NotebookNode]:
    """Select chapters: notebooks in source form by their names, in course order.

    Args:
        wanted: numbers or names, separated by commas, such as ``01,03``; all for ``None``.
        track: the name of a track that selects the chapters instead, such as ``core``.

    Raises:
        ClassroomError: there is no such chapter or track, a chapter breaks a rule of the
            builder, or the arguments name both chapters and a track.
    """
    try:
        known = chapters()
    except FileNotFoundError as error:
        raise ClassroomError(str(error)) from None
    if track is not None:
        words = _chapters_of(track, wanted)
    elif wanted is not None:
        words = wanted.split(",")
    else:
        words = [path.stem for path in known]
    chosen = set()
    for word in filter(None, map(str.strip, words)):
        found = [path for path in known if is_called(path.stem, word)]
        if not found:
            names = ", ".join(path.stem for path in known)
            raise ClassroomError(f"There is no chapter '{word}'. Chapters: {names}.")
        chosen.update(found)
    try:
        return {path.stem: source_notebook(path) for path in sorted(chosen)}
    except BuildRefused as refused:
        raise ClassroomError(str(refused)) from None


def _chapters_of(track: str, wanted: str | None) -> list[str]:
    """The chapters of a track, which cannot be combined with a choice of chapters."""
    if wanted is not None:
        raise ClassroomError("Name chapters or a track, and not both.")
    try:
        return list(track_called(track).chapters)
    except NoTrack as error:
        raise ClassroomError(str(error)) from None


def create(
    folder: Path,
    notebooks: Mapping[str, NotebookNode],
    say: Callable[[str], None] = lambda text: None,
    db_url: str | None = None,
    solutions: bool = True,
) -> None:
    """Make a classroom, completely or not at all.

    Args:
        folder: a new folder, or an empty one.
        notebooks: chapters in source form, by their names.
        say: called with a line about each step.
        db_url: the gradebook; by default, a file in the classroom.
        solutions: whether students who are stuck are offered solutions.

    Raises:
        ClassroomError: the folder is not empty, or the classroom could not be made.
    """
    folder = folder.expanduser().resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ClassroomError(f"{folder} is there already, and is not an empty folder.")
    if not notebooks:
        raise ClassroomError("There are no chapters to make a classroom of.")
    db_url = _empty_gradebook(db_url, folder.name) if db_url else None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise ClassroomError(f"{folder} cannot be made: {error.strerror}.") from None
    try:
        with private():
            _fill(building, folder.name, notebooks, say, db_url, solutions)
        if folder.exists():
            folder.rmdir()
        building.rename(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _fill(
    folder: Path,
    course: str,
    notebooks: Mapping[str, NotebookNode],
    say: Callable[[str], None],
    db_url: str | None,
    solutions: bool,
) -> None:
    without = "" if solutions else "c.SolutionsOfClass.offered = False\n"
    database = f"c.CourseDirectory.db_url = {db_url!r}\n" if db_url else ""
    first, secret = next(iter(notebooks)), secrets.token_hex(16)
    book = "the gradebook that nbgrader_config.py names" if db_url else "`gradebook.db`"
    texts = {
        "nbgrader_config.py": CONFIG.format(
            course=course, secret=secret, database=database, solutions=without
        ),
        "README.md": README.format(chapter=first, all=", ".join(notebooks), gradebook=book),
    }
    texts[deadlines.FILE] = deadlines.TEMPLATE
    versions.pin(folder)
    for name, notebook in notebooks.items():
        (folder / "source" / name).mkdir(parents=True)
        texts[f"source/{name}/{name}.ipynb"] = as_text(notebook)
        remember(folder, name, as_text(notebook))
    for path, text in texts.items():
        (folder / path).write_text(text, encoding="utf-8", newline="\n")
    nbgrader = api(folder)
    for name in notebooks:
        say(f"{name}: making what students get ...")
        result = nbgrader.generate_assignment(name)
        if not result["success"]:
            log = without_password(result["log"], db_url) if db_url else result["log"]
            raise ClassroomError(f"nbgrader could not release {name}:\n{log}")


SOURCES = ".fxcourse/sources.json"
"""The file in a classroom with the digests of the sources that the course has written."""


def remember(room: Path, name: str, text: str) -> None:
    """Record the digest of a chapter's source, to detect an instructor's own edits."""
    path = room / SOURCES
    path.parent.mkdir(exist_ok=True)
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    known[name] = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def is_as_made(room: Path, name: str) -> bool:
    """Whether a chapter's source is the text that the course has written."""
    path, source = room / SOURCES, room / "source" / name / f"{name}.ipynb"
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return bool(hashlib.sha256(source.read_bytes()).hexdigest() == known.get(name))


def _empty_gradebook(db_url: str, course: str) -> str:
    """The address of a gradebook; no other class may use it, because names would collide."""
    address = with_driver(db_url)
    try_out(address)
    find_scripts()
    try:
        with Gradebook(address, course) as book:
            others = [kept for kept in book.assignments if kept.course_id != course]
            used = bool(others) or book.db.query(SubmittedAssignment).count() > 0
    except SQLAlchemyError as error:
        why = what_failed(error, address)
        raise ClassroomError(f"The gradebook cannot be used: {why}") from None
    if used:
        raise ClassroomError(
            f"The gradebook {shown(address)} is that of another class. Make a database for this "
            "one, with: createdb NAME"
        )
    return address
