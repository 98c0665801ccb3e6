"""A check of all exercises that the learner has begun, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.text import Text

from autograder.watch.files import ExerciseFile

KEYS = ("Esc stop", "q quit")


@dataclass
class CheckAll:
    """The exercises to check, and the results so far.

    Attributes:
        exercises: in the order of the course.
        passed: for each checked exercise, whether it passes.
    """

    exercises: Sequence[ExerciseFile]
    passed: list[bool] = field(default_factory=list)

    @property
    def next(self) -> ExerciseFile | None:
        """The exercise to check now; ``None`` at the end."""
        left = self.exercises[len(self.passed) :]
        return left[0] if left else None

    @property
    def failing(self) -> list[ExerciseFile]:
        """The checked exercises that do not pass."""
        results = zip(self.exercises, self.passed, strict=False)
        return [one for one, passed in results if not passed]

    def text(self, room: int) -> Text:
        """The progress, and as many of the last results as there is room for."""
        done, every = len(self.passed), len(self.exercises)
        text = Text(f"Checked {done} of {every} exercises.", style="bold")
        if self.next is not None:
            text.append(f" Now: {self.next.name}")
        results = [*zip(self.exercises, self.passed, strict=False)]
        for one, passed in results[-(room - 2) :]:
            sign, color = ("✓", "green") if passed else ("✗", "red")
            text.append(f"\n{sign} {one.name}", style=color)
        return text

    def summary(self) -> str:
        """The number of exercises that pass, and the names of those that fail."""
        done, every = len(self.passed), len(self.exercises)
        failing = [one.name for one in self.failing]
        count = f"{done - len(failing)} of {done} checked exercises pass."
        stopped = f"Stopped after {done} of {every} exercises. " if done < every else ""
        names = f" Failing: {', '.join(failing)}." if failing else ""
        return f"{stopped}{count}{names}"
