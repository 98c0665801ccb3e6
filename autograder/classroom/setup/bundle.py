"""Makes the bundle of a chapter, and packs it with what a platform needs to grade with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import metadata

from nbgrader.coursedir import CourseDirectory

from autograder.builder.outputs import lock
from autograder.classroom.grading.chapter_preload import preload_spec
from autograder.classroom.grading.settings import GradingSettings
from autograder.classroom.intake.attached_files import files_beside
from autograder.classroom.intake.release_history import given_out
from autograder.classroom.intake.selection import which_chapters
from autograder.classroom.records.gradebook_cells import source_cells_in
from autograder.classroom.records.versions import numbers
from autograder.classroom.room.honoured_settings import NbgraderOptions, refused
from autograder.classroom.room.open_classroom import OpenClassroom
from autograder.classroom.setup import platform_files
from autograder.classroom.setup.wheel import NAME, course_files, make_wheel, zipped
from autograder.environment.errors import ClassroomError
from autograder.submission.bundle import Bundle
from autograder.submission.seeds import bundle_key

_FILES: Mapping[str, Callable[[str], dict[str, str]]] = {
    "gradescope": platform_files.gradescope,
    "github": platform_files.github,
    "coursera": platform_files.coursera,
}
"""The text files for each platform; a function of the wheel's name."""

PLATFORMS = ("plain", *_FILES)
_FOLDER = {"github": ".fxcourse/"}
"""The folder of a platform's files in the zip, if they are not at its top."""


def make_bundle(classroom: OpenClassroom, word: str) -> Bundle:
    """Make the bundle of a chapter, as it was released.

    Args:
        classroom: the class.
        word: the chapter, such as ``03``.

    Raises:
        ClassroomError: the word does not name one chapter, or the chapter cannot be graded.
    """
    config, gradebook = classroom.nbgrader.config, classroom.gradebook
    found = which_chapters([word], sorted(one.name for one in gradebook.assignments))
    if len(found) > 1:
        raise ClassroomError(f"Name one chapter: {', '.join(found)}.")
    (chapter,) = found
    course, released = CourseDirectory(config=config), classroom.room / "release" / chapter
    path = released / f"{chapter}.ipynb"
    notebooks = [one.name for one in gradebook.find_assignment(chapter).notebooks]
    if notebooks != [chapter] or not path.is_file():
        raise ClassroomError(
            f"{chapter} was not released as one notebook of that name. Run: nbgrader "
            f"generate_assignment {chapter}"
        )
    if why_not := refused(config):
        raise ClassroomError(why_not)
    settings = GradingSettings.of(config)
    text = path.read_text(encoding="utf-8")
    preload = replace(
        preload_spec(settings, chapter, chapter), pool=0, covered=(), released_text=text
    )
    cells = source_cells_in(gradebook, chapter, chapter, given_out(course, chapter, chapter))
    files, _ = files_beside(settings.source(chapter))
    bundle = Bundle(
        settings.for_chapter(preload, cells),
        bundle_key(settings.secret, chapter),
        NbgraderOptions.of(config).without_excluded(chapter, files),
        numbers(),
    )
    if settings.secret and settings.secret in bundle.to_json():
        raise ClassroomError(f"The notebook of {chapter}, or a file, holds the class's secret.")
    return bundle


def packed(bundle: Bundle, platform: str) -> bytes:
    """The file for a platform: a zip, or the bundle itself for ``plain``.

    Args:
        bundle: the bundle.
        platform: one of `PLATFORMS`.

    Raises:
        ClassroomError: the course is not installed.
    """
    if platform == "plain":
        return bundle.to_json().encode()
    # Students can read what is in a repository of their own.
    is_public = platform == "github"
    wheel, data = make_wheel(course_files(("hunt", "new_exercise"), hidden=not is_public), {})
    try:
        pins = lock.requirements("teach")
    except metadata.PackageNotFoundError:
        raise ClassroomError(f"The course is not installed in this Python as {NAME}.") from None
    own = bundle.for_students() if is_public else bundle
    files = {"bundle.json": own.to_json().encode(), "requirements.txt": pins.encode(), wheel: data}
    files = {f"{_FOLDER.get(platform, '')}{name}": text for name, text in files.items()}
    texts = _FILES[platform](wheel)
    return zipped(files | {name: text.encode() for name, text in texts.items()})
