"""The last case that an answer failed, as an object for the learner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from autograder.cards.display import show
from autograder.cards.film import TITLE, Film, film_html
from autograder.cards.folds import Fold
from autograder.core.exercise import Case, Exercise, Trial
from autograder.core.limits import Limits
from autograder.core.verdict import Example
from autograder.drawing.graph_steps import GraphFilm
from autograder.learner.replay import film_of
from autograder.runner.graph_recorder import IN_USE
from autograder.runner.kinds import KINDS

FOLD_LIMITS = Limits(cpu=0.25, wall=2.0)
"""For the steps in a card: nobody has asked for them, so they must not delay it."""


@dataclass(frozen=True)
class FailedCase:
    """A case that an answer failed.

    Attributes:
        name: the case's name.
        answer: the answer, as it was when it was checked.
        expected: the expected result, as text; ``""`` if it is not a value.
        obtained: the obtained result, as text.
    """

    name: str
    answer: Any
    expected: str
    obtained: str
    _exercise: Exercise = field(repr=False)
    _case: Case = field(repr=False)

    def _trial(self) -> Trial:
        return self._case.make(0)

    @property
    def model(self) -> Any:
        """The case's model, or else its first argument; fresh objects each time."""
        trial = self._trial()
        return trial.model if trial.model is not None else next(iter(trial.args), None)

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments of the call of the answer; fresh objects each time."""
        return self._trial().args

    @property
    def kwargs(self) -> dict[str, Any]:
        """The keyword arguments of the call of the answer."""
        return self._trial().kwargs

    @property
    def inputs(self) -> tuple[tuple[Any, ...], ...]:
        """The arguments of the calls of the result, one tuple for each call."""
        return self._trial().inputs

    def run(self) -> Any:
        """Call the answer as the check does, and pass on its exceptions.

        Returns:
            The answer's result; a list if it is called several times, as for each node.
        """
        trial = self._trial()
        results = [
            self.answer(*args, **kwargs) for args, kwargs in KINDS[self._exercise.kind].calls(trial)
        ]
        if trial.then is not None:
            results = [self.answer(trial.then(result)) for result in results]
        return results[0] if len(results) == 1 else results

    def debug(self) -> Any:
        """Call the answer under `pdb`, which stops at its first line.

        Returns:
            The same as `run`.
        """
        import pdb

        results = []
        for args, kwargs in KINDS[self._exercise.kind].calls(self._trial()):
            results.append(pdb.Pdb().runcall(self.answer, *args, **kwargs))
        return results[0] if len(results) == 1 else results

    def replay(self) -> None:
        """Call the answer as the check does, and show each line that changes a graph."""
        show(Film(self.film(Limits())))

    def film(self, limits: Limits) -> GraphFilm:
        """The steps of the answer on this case.

        Args:
            limits: time and output allowed.
        """
        return film_of(self._exercise.kind, self.answer, self._case.make, limits)

    def folds(self) -> list[Fold]:
        """The fold of a card with the steps; none if there is nothing to step through."""
        if not KINDS[self._exercise.kind].has_film:
            return []
        try:
            film = self.film(FOLD_LIMITS)
            shown = len(film.steps) > 1 or film.note == IN_USE
            return [Fold(TITLE, film_html(film))] if shown else []
        except Exception:  # even with a broken graph, the learner must get the card
            return []


def failed_case(
    exercise: Exercise, answer: Any, example: Example, cases: list[Case]
) -> FailedCase | None:
    """The case of an example as an object, or ``None`` if it is not among the given cases."""
    case = next((each for each in cases if each.name == example.case and not each.hidden), None)
    if case is None:
        return None
    return FailedCase(case.name, answer, example.expected, example.obtained, exercise, case)
