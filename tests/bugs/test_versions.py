"""Bugs and questions name the same versions of PyTorch as the table of statements."""

from __future__ import annotations

from autograder.environment.torch_changes import statements
from hunts.known import BUGS
from tests.questions import questions


def rows_about(kind: str) -> dict[str, tuple[str, str]]:
    """Since and until of the rows about bugs or questions, by name."""
    return {
        place.removeprefix(f"{kind} "): (row.since, row.until)
        for row in statements()
        for place in row.told
        if place.startswith(f"{kind} ")
    }


def test_bugs_and_their_lines_name_the_versions_of_their_rows() -> None:
    dated = {bug.name: (bug.since, bug.until) for bug in BUGS if bug.since or bug.until}
    moved = {bug.name: ("", since) for bug in BUGS for since, _ in bug.later_lines}
    assert rows_about("bug") == dated | moved


def test_questions_name_the_versions_of_their_rows() -> None:
    dated = {str(one.number): ("", one.until) for one in questions() if one.until}
    assert rows_about("question") == dated
