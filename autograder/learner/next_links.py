"""Links from a card: to the task, or to the next step of the course."""

from __future__ import annotations

from autograder.cards.links import Link
from autograder.core.exercise import Exercise
from autograder.core.verdict import Verdict
from autograder.lessons.course_map import course_map
from autograder.workspace import location, progress_file


def card_links(verdict: Verdict, exercise: Exercise) -> list[Link]:
    """The links of a card."""
    if verdict.passed:
        return next_links(exercise)
    return [Link("The task", exercise.chapter, f"card-{exercise.name}")] if _chapters() else []


def next_links(exercise: Exercise) -> list[Link]:
    """The next step after an exercise, if there is one."""
    step = course_map().after(exercise.name, _chapters())
    if step is None:
        return []
    return [Link(f"Go on: {step.title}".replace("`", ""), step.chapter, step.cell)]


def _chapters() -> set[str]:
    """The chapters next to the notebook; none outside of a workspace or during grading."""
    workspace = location.current()
    if workspace is None or progress_file.is_grading():
        return set()
    return {path.stem for path in workspace.glob("*.ipynb")}
