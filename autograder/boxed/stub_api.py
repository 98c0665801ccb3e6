"""What `autograder` is for cells that are run in the box: it cannot judge.

Grading happens outside. A learner's own call of `check` must not fail there, and has nothing to
say; hints can be read, and graphs drawn, as ever.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from typing import Any

from autograder.core.exercise import Exercise
from autograder.core.verdict import Verdict

_SAYS = "While a notebook is graded, `{}` says nothing: see the card of the check cell."


class CheckFailed(AssertionError):
    """Never raised here; there for cells that catch it."""


class _NoCase:
    """What `failed` gives in the box: nothing under each name."""

    model = expected = obtained = None
    args: tuple[Any, ...] = ()
    inputs: tuple[Any, ...] = ()

    def run(self) -> None:
        """Nothing."""

    debug = run


def install(exercises: Mapping[str, Exercise]) -> None:
    """Take the place of `autograder.api` in this process.

    Args:
        exercises: by name; they may come later.
    """
    module = types.ModuleType("autograder.api", __doc__)

    class Check:
        """Says that grading happens elsewhere."""

        def __call__(self, *args: Any, **kwargs: Any) -> None:
            print(_SAYS.format("check"))

        def on_run(self, on: bool = True) -> None:
            """Nothing."""

        offer_solutions = on_run

    def grade(name: str, answer: Any) -> Verdict:
        """Say that grading happens elsewhere; a verdict without a score."""
        print(_SAYS.format("grade"))
        return Verdict(str(name), "not attempted", 0.0)

    def hint(name: Any = None, number: int | None = None) -> None:
        """Show an exercise's hints."""
        from autograder.cards.display import show
        from autograder.cards.hints import Hints

        name = getattr(name, "__name__", name)
        if name in exercises:
            show(Hints(exercises[name], number))

    def progress(about: object = None) -> None:
        """Say that grading happens elsewhere."""
        print(_SAYS.format("progress"))

    def failed() -> _NoCase:
        """Say that grading happens elsewhere."""
        print(_SAYS.format("failed"))
        return _NoCase()

    def predict(name: str = "", letter: str = "") -> None:
        """Nothing: what a learner picks carries no points."""

    def drill(name: str = "", value: Any = None) -> None:
        """Nothing: drills carry no points."""

    def debrief(name: object = "") -> None:
        """Nothing: it is for a learner's own notebook."""

    def solution(name: object = "") -> None:
        """Nothing: as `debrief`."""

    vars(module)["check"] = Check()
    for thing in (CheckFailed, debrief, drill, failed, grade, hint, predict, progress, solution):
        setattr(module, thing.__name__, thing)
    sys.modules[module.__name__] = module
    vars(sys.modules["autograder"])["api"] = module
