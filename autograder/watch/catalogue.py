"""All exercises of a workspace or an assignment, and the states of their files."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from autograder.lessons.record_status import is_passed
from autograder.watch.files import ExerciseFile, exercises_of, give_out, is_begun
from autograder.workspace import update
from autograder.workspace.update import CannotUpdate

State = Literal["passed", "not passed", "not begun"]


@dataclass
class Catalogue:
    """The exercises.

    Attributes:
        source: the workspace or the assignment.
        home: the folder with the files.
    """

    source: Path
    home: Path
    _chapters: dict[str, list[ExerciseFile]] = field(default_factory=dict)

    def chapter(self, name: str) -> list[ExerciseFile]:
        """The exercises of a chapter.

        Args:
            name: the chapter's stem.

        Raises:
            CannotUpdate: it has no exercises, or cannot be read.
        """
        if name not in self._chapters:
            notebook = update.as_released(self.source, name)
            self._chapters[name] = exercises_of(self.home, name, notebook)
        return self._chapters[name]

    def every(self) -> list[ExerciseFile]:
        """The exercises of all chapters that can be read, in their order."""
        found = []
        for name in update.chapter_names(self.source):
            with contextlib.suppress(CannotUpdate):
                found += self.chapter(name)
        return found

    def open(self, chapter: Sequence[ExerciseFile]) -> list[str]:
        """Write the files of a chapter.

        Returns:
            A sentence for each changed file whose task has changed too.

        Raises:
            CannotUpdate: the folder cannot be written to.
        """
        return give_out(self.home, chapter)

    def begun(self) -> list[ExerciseFile]:
        """The exercises whose files the learner has changed."""
        return [one for one in self.every() if is_begun(self.home, one)]

    def states(self, verdicts: Mapping[str, str]) -> dict[str, State]:
        """The state of each exercise.

        Args:
            verdicts: the learner's record of progress.
        """
        return {one.name: self._state(one, verdicts.get(one.name)) for one in self.every()}

    def _state(self, one: ExerciseFile, verdict: str | None) -> State:
        if is_passed(verdict):
            return "passed"
        return "not passed" if verdict or is_begun(self.home, one) else "not begun"
