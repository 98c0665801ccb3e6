"""The case that an answer failed last, as an object to work with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from autograder.core.exercise import Case, Exercise, Trial
from autograder.core.verdict import Example


@dataclass(frozen=True)
class FailedCase:
    """A case that an answer failed.

    Attributes:
        name: the case's name.
        answer: the answer, as it was when it was checked.
        expected: what should have come back, as text; ``""`` where that is no value.
        obtained: what came back, as text.
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
        """The model of the case, or what the answer is about; fresh objects each time."""
        trial = self._trial()
        return trial.model if trial.model is not None else next(iter(trial.args), None)

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments with which the answer is called; fresh objects each time."""
        return self._trial().args

    @property
    def kwargs(self) -> dict[str, Any]:
        """The keyword arguments with which the answer is called."""
        return self._trial().kwargs

    @property
    def inputs(self) -> tuple[tuple[Any, ...], ...]:
        """The arguments with which the result is called, once for each tuple."""
        return self._trial().inputs

    def _calls(self, trial: Trial) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        if self._exercise.procedure == "traced function":
            return [(inputs, {}) for inputs in trial.inputs]
        if self._exercise.procedure == "each node":
            return [((node,), {}) for node in trial.args[0].graph.nodes]
        return [(trial.args, trial.kwargs)]

    def run(self) -> Any:
        """Call the answer as the check does; what it raises is raised here.

        Returns:
            What the answer returned; a list where it is called several times, as for each node.
        """
        trial = self._trial()
        results = [self.answer(*args, **kwargs) for args, kwargs in self._calls(trial)]
        if trial.then is not None:
            results = [self.answer(trial.then(result)) for result in results]
        return results[0] if len(results) == 1 else results

    def debug(self) -> Any:
        """Call the answer under `pdb`, which stops at its first line.

        Returns:
            As `run`.
        """
        import pdb

        results = []
        for args, kwargs in self._calls(self._trial()):
            results.append(pdb.Pdb().runcall(self.answer, *args, **kwargs))
        return results[0] if len(results) == 1 else results


def failed_case(
    exercise: Exercise, answer: Any, example: Example, cases: list[Case]
) -> FailedCase | None:
    """The case of an example as an object, or ``None`` if it is not among these cases."""
    case = next((each for each in cases if each.name == example.case and not each.hidden), None)
    if case is None:
        return None
    return FailedCase(case.name, answer, example.expected, example.obtained, exercise, case)
