"""`predict`: the reader picks a letter, then sees every option explained."""

from __future__ import annotations

import difflib
import sys
from typing import Any

import torch

from autograder.cards.prediction import PredictionCard
from autograder.cards.progress import SmallTasks
from autograder.learner.author_lines import run_on_copy
from autograder.learner.drill import drilled
from autograder.lessons import Prediction, predictions
from autograder.workspace import progress_file

OPEN = "?"
"""The placeholder for a letter in a released cell."""


class CannotPredict(ValueError):
    """The prediction does not exist, or it does not have this option."""

    def _render_traceback_(self) -> list[str]:
        # IPython shows this instead of a traceback through the course's own code.
        return [f"CannotPredict: {self}"]


def predict(name: str, letter: str) -> None:
    """Pick an option of a prediction, and see each option explained. The first pick counts.

    Args:
        name: the prediction, such as ``"03.1"``.
        letter: the option that you pick, such as ``"b"``. ``"?"`` picks none.

    Raises:
        CannotPredict: the prediction does not exist, or it does not have this option.
    """
    asked = _called(name)
    pick = str(letter).strip().lower()
    if pick in (OPEN, ""):
        print(f'Pick first: write {asked.letters} in place of "{OPEN}", and run this cell.')
        return
    if pick not in [option.letter for option in asked.options]:
        raise CannotPredict(
            f"Prediction {name} has no option {letter!r}. Write {asked.letters} in quotes, "
            f'such as predict("{name}", "a").'
        )
    from autograder.cards.display import show

    said = _says_of_proof(asked.proof, sys._getframe(1).f_globals) if asked.proof else ""
    show(PredictionCard(asked, pick, progress_file.note_pick(asked.mark, pick), said))


def small_tasks() -> dict[str, SmallTasks]:
    """For each chapter, the number of predictions and drills, and of those that are done."""
    picks = progress_file.first_picks()
    found, drills = {}, drilled()
    for chapter, asked in predictions().items():
        made = [one for one in asked.values() if one.mark in picks]
        right = sum(picks[one.mark] == one.right for one in made)
        found[chapter] = SmallTasks(len(asked), len(made), right, *drills[chapter])
    return found


def _says_of_proof(proof: str, names: dict[str, Any]) -> str:
    """Run a proof on the values that the notebook has now, and describe the result.

    Later cells may have changed these values, so a proof that fails says little about PyTorch.
    """
    try:
        run_on_copy(proof, names, "proof")
    except Exception as error:
        return (
            f"It did not run with the values that your notebook has now ({type(error).__name__}). "
            "Run the cells above in their order, then this one again."
        )
    return f"It was run now, and it holds with your PyTorch {torch.__version__}."


def _called(name: str) -> Prediction:
    known = {one: asked for chapter in predictions().values() for one, asked in chapter.items()}
    if name in known:
        return known[name]
    without_zero = [one for one in known if one.lstrip("0") == str(name).lstrip("0")]
    near = without_zero or difflib.get_close_matches(str(name), known, n=1)
    guess = f' Did you mean "{near[0]}"?' if near else ""
    raise CannotPredict(
        f"There is no prediction {name!r}. Each has the number of its chapter and its own, such as "
        f'"03.1".{guess}'
    )
