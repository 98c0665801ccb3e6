"""`debrief`: what there is to learn from other answers, once one's own has passed."""

from __future__ import annotations

from autograder import learners_record
from autograder.core.exercise import Exercise
from autograder.going_on import next_links
from autograder.lessons import debriefs


def has_debrief(exercise: Exercise) -> bool:
    """Whether there is something to tell about an exercise after a pass."""
    return exercise.name in debriefs()


def show_debrief(exercise: Exercise) -> None:
    """Show an exercise's debrief if its check has passed; otherwise say what is missing."""
    from autograder.cards.debrief import DebriefCard
    from autograder.cards.display import show

    name = exercise.name
    if not has_debrief(exercise):
        # What a class packs for its students has none at all.
        print(f"There is no debrief of {name}." if debriefs() else "Your class has no debriefs.")
    elif learners_record.verdicts().get(name) != "passed":
        print(f"The debrief of {name} opens after you have passed it: run check({name}) first.")
    else:
        show(DebriefCard(name, debriefs()[name], next_links(exercise)))
