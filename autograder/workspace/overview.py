"""The overview of the index, from a learner's record. It is loaded without torch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from autograder.cards.overview import Overview
from autograder.lessons.course_map import CourseMap, course_map
from autograder.lessons.standing import Standing
from autograder.workspace import location, progress_file
from autograder.workspace.class_wheel import this_class


def overview() -> None:
    """Show the section to continue with, your tracks, and all chapters."""
    from autograder.cards.display import show

    show(replace(overview_so_far(), live=True))


def overview_so_far(workspace: Path | None = None) -> Overview:
    """The content of `overview`.

    Args:
        workspace: the workspace with the record; by default the current one.
    """
    return Overview(standing_so_far(workspace))


def standing_so_far(workspace: Path | None = None) -> Standing:
    """The learner's progress in the chapters of a workspace.

    Args:
        workspace: the workspace with the record; by default the current one.
    """
    return Standing(
        course_here(workspace),
        progress_file.verdicts(workspace),
        progress_file.first_picks(workspace),
        progress_file.passed_drills(workspace),
    )


def course_here(workspace: Path | None = None) -> CourseMap:
    """The map of the chapters in a workspace, or of the class: it may have only some of them.

    Args:
        workspace: by default the current one. If it has no chapter, this is the whole course.
    """
    folder = workspace or location.current()
    names = location.chapters_in(folder) if folder else {*this_class().chapters}
    if names and not folder:
        names |= location.chapters_in(Path.cwd())  # newer than this installation
    here = course_map().limited_to(names)
    return here if here.chapters else course_map()
