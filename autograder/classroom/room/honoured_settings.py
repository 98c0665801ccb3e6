"""The settings of nbgrader's autograde that our grading honors, with nbgrader's behavior."""

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
    """nbgrader's own settings that our grading honors.

    Attributes:
        only: a pattern of the students to grade.
        excluded: students to leave out.
        creates_students: whether a student may be new to the gradebook.
        kept_files: by chapter, files of the course that do not replace a student's.
        ignored: patterns of files to leave out.
    """

    only: str
    excluded: tuple[str, ...]
    creates_students: bool
    kept_files: Mapping[str, Sequence[str]]
    ignored: Sequence[str] = ()

    @classmethod
    def of(cls, config: Config) -> NbgraderOptions:
        """The options in a configuration."""
        course, autograde = CourseDirectory(config=config), Autograde(config=config)
        excluded = tuple(filter(None, course.student_id_exclude.split(",")))
        return cls(
            course.student_id, excluded, autograde.create_student, autograde.exclude_overwriting,
            tuple(course.ignore),
        )  # fmt: skip

    def for_whom(self, students: Sequence[str]) -> list[str]:
        """The students to grade."""
        return [name for name in students if fnmatch(name, self.only) and name not in self.excluded]

    def without_excluded(self, chapter: str, given: Mapping[str, bytes]) -> dict[str, bytes]:
        """The files of the course to put next to a student's notebook."""
        kept = set(self.kept_files.get(chapter, ()))
        return {name: content for name, content in given.items() if name not in kept}

    def not_ignored(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The files next to a notebook that no `ignored` pattern matches."""
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
"""The only folders of notebooks that our grading supports, by nbgrader's names of the settings."""


def refused(config: Config) -> str:
    """A sentence about a setting that our grading does not support; empty if there is none."""
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
    """The name of a kernel other than Python's; empty if it is Python's or not given.

    Args:
        kernelspec: the kernel in a notebook's metadata, as JSON.
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
