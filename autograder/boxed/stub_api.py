"""The `autograder` API for cells that run in the sandbox, where it cannot judge.

Grading happens in another process. A learner's call of `check` must not fail, but has no result.
Hints and drawings of graphs work as usual.
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
    """Never raised here; exists for cells that catch it."""


class _NoCase:
    """The result of `failed` in the sandbox: ``None`` for each attribute."""

    model = expected = obtained = None
    args: tuple[Any, ...] = ()
    inputs: tuple[Any, ...] = ()

    def run(self) -> None:
        """Do nothing."""

    debug = replay = run


def install(exercises: Mapping[str, Exercise]) -> None:
    """Replace `autograder.api` in this process.

    Args:
        exercises: by name; may be filled later.
    """
    module = types.ModuleType("autograder.api", __doc__)

    class Check:
        """Says that grading happens in another process."""

        def __call__(self, *args: Any, **kwargs: Any) -> None:
            print(_SAYS.format("check"))

        def on_run(self, on: bool = True) -> None:
            """Do nothing."""

        offer_solutions = on_run

    def grade(name: str, answer: Any) -> Verdict:
        """Say that grading happens in another process; return a verdict without a score."""
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
        """Say that grading happens in another process."""
        print(_SAYS.format("progress"))

    def failed() -> _NoCase:
        """Say that grading happens in another process."""
        print(_SAYS.format("failed"))
        return _NoCase()

    def predict(name: str = "", letter: str = "") -> None:
        """Do nothing, because predictions carry no points."""

    def drill(name: str = "", value: Any = None) -> None:
        """Do nothing, because drills carry no points."""

    def debrief(name: object = "") -> None:
        """Do nothing, because it is for a learner's own notebook."""

    def replay(answer: object = None, *args: object, **kwargs: object) -> None:
        """Do nothing, as `debrief`."""

    def ask_me(name: object = "", *letters: str, turn: int = 1) -> None:
        """Do nothing, as `debrief`."""

    def solution(name: object = "") -> None:
        """Do nothing, as `debrief`."""

    vars(module)["check"] = Check()
    quiet = (ask_me, debrief, drill, predict, replay, solution)
    for thing in (CheckFailed, failed, grade, hint, progress, *quiet):
        setattr(module, thing.__name__, thing)
    sys.modules[module.__name__] = module
    vars(sys.modules["autograder"])["api"] = module
