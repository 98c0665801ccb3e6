"""Where a learner goes from a card: to a hint, to the next exercise, to other right answers."""

from __future__ import annotations

from autograder import learners_record, workspace_root
from autograder.cards.links import Link
from autograder.core.exercise import Exercise
from autograder.core.verdict import Verdict
from autograder.exercises import EXERCISES
from autograder.lessons import debriefs
from autograder.lessons.course_map import is_deep_dive


def links_from(verdict: Verdict, exercise: Exercise) -> list[Link]:
    """The links of a card."""
    if not _is_linked():
        return []
    name, chapter = exercise.name, exercise.chapter
    if not verdict.passed:
        links = [Link("The task", chapter, f"card-{name}")]
        return [Link("Hint 1", chapter, f"hint-{name}"), *links] if exercise.hints else links
    links = next_links(exercise)
    if name in debriefs():
        links.append(Link("Compare solutions", chapter, f"debrief-{name}"))
    return links


def next_links(exercise: Exercise) -> list[Link]:
    """The next exercise in the course that is not passed; none of another deep dive."""
    if not _is_linked():
        return []
    done = learners_record.verdicts()
    every = list(EXERCISES.values())
    place = [each.name for each in every].index(exercise.name)
    for each in every[place + 1 :] + every[:place]:
        if done.get(each.name) == "passed":
            continue
        if each.chapter == exercise.chapter or not is_deep_dive(each.chapter):
            return [Link(f"Next exercise: {each.name}", each.chapter, f"card-{each.name}")]
    return []


def _is_linked() -> bool:
    """Whether the chapters lie beside the notebook; outside of a workspace nobody knows."""
    return workspace_root.current() is not None and not learners_record.is_grading()
