"""The overview of the index, for the learner whose record this is. It is loaded without torch."""

from __future__ import annotations

from pathlib import Path

from autograder import learners_record
from autograder.cards.overview import Overview
from autograder.lessons.course_map import course_map
from autograder.lessons.standing import Standing


def overview() -> None:
    """Show where to go on, your tracks, and all chapters."""
    from autograder.cards.display import show

    show(overview_so_far())


def overview_so_far(workspace: Path | None = None) -> Overview:
    """The content of `overview`.

    Args:
        workspace: whose record is read; by default that of the current one.
    """
    verdicts = learners_record.verdicts(workspace)
    return Overview(Standing(course_map(), verdicts, learners_record.first_picks(workspace)))
