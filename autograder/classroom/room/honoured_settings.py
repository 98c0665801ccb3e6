"""What else an ``nbgrader_config.py`` may ask of nbgrader's autograde, done as nbgrader does it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

from nbgrader.converters.autograde import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute
from traitlets.config import Config

NOT_KNOWN = (
    "The gradebook does not know this student, and c.Autograde.create_student is off. Add them "
    "with 'nbgrader db student add', or rename the folder."
)
NOT_PYTHON = (
    "The notebook {notebook} asks for the kernel {kernel}; only Python is graded here. Grade it in "
    "a course directory without this course's configuration."
)


@dataclass(frozen=True)
class NbgraderOptions:
    """Settings of nbgrader's own that grading here honours.

    Attributes:
        only: a pattern of the students that are graded.
        excluded: students that are not.
        creates_students: whether a student may be new to the gradebook.
        kept_files: by chapter, files of the course that do not replace a student's.
        ignored: patterns of files that are not taken along.
    """

    only: str
    excluded: tuple[str, ...]
    creates_students: bool
    kept_files: Mapping[str, Sequence[str]]
    ignored: Sequence[str] = ()

    @classmethod
    def of(cls, config: Config) -> NbgraderOptions:
        """What a configuration asks for."""
        course, autograde = CourseDirectory(config=config), Autograde(config=config)
        excluded = tuple(filter(None, course.student_id_exclude.split(",")))
        return cls(
            course.student_id, excluded, autograde.create_student, autograde.exclude_overwriting,
            tuple(course.ignore),
        )  # fmt: skip

    def for_whom(self, students: Sequence[str]) -> list[str]:
        """The students that are graded."""
        return [name for name in students if fnmatch(name, self.only) and name not in self.excluded]

    def without_excluded(self, chapter: str, given: Mapping[str, bytes]) -> dict[str, bytes]:
        """The files of the course that go beside a student's notebook."""
        kept = set(self.kept_files.get(chapter, ()))
        return {name: content for name, content in given.items() if name not in kept}

    def not_ignored(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The files beside a notebook that are taken along."""
        return {
            name: content
            for name, content in files.items()
            if not any(fnmatch(part, one) for part in name.split("/") for one in self.ignored)
        }


PLACES = {
    "submitted_directory": "submitted",
    "autograded_directory": "autograded",
    "directory_structure": "{nbgrader_step}/{student_id}/{assignment_id}",
}
"""Where notebooks must lie, by the names that nbgrader has for it."""


def refused(config: Config) -> str:
    """What a configuration asks for that is not done here, in a sentence."""
    course = CourseDirectory(config=config)
    if not Execute(config=config).enabled:
        return (
            "c.Execute.enabled is off in nbgrader_config.py, and here every notebook is run. Take "
            "the line out; nbgrader autograde --no-execute leaves all checks to you."
        )
    for name, usual in PLACES.items():
        found = str(getattr(course, name)).replace(os.sep, "/")
        if found != usual:
            return (
                f"c.CourseDirectory.{name} is {found!r} in nbgrader_config.py; only {usual!r} is "
                "read here. Take the line out, or grade with nbgrader autograde."
            )
    return ""


def foreign_kernel(kernelspec: str | None) -> str:
    """The name of a kernel that is not Python's; nothing where it is, or where none is named.

    Args:
        kernelspec: what a notebook's metadata say, as JSON.
    """
    try:
        found = json.loads(kernelspec or "{}")
    except ValueError:
        return ""
    if not isinstance(found, dict) or not found.get("name"):
        return ""
    name, language = str(found["name"]), str(found.get("language") or "")
    is_python = language.lower() == "python" if language else "python" in name.lower()
    return "" if is_python else name
