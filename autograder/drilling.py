"""`drill`: compare one value of the learner with the value that a right line gives."""

from __future__ import annotations

import difflib
import sys
from typing import Any

from autograder import learners_record
from autograder.authors_lines import run_on_copy
from autograder.cards.drill import DrillCard
from autograder.core.same_value import first_difference
from autograder.lessons import Drill, drills


class CannotDrill(ValueError):
    """There is no such drill, or the cells above it were not run."""

    def _render_traceback_(self) -> list[str]:
        # IPython shows this instead of a traceback through the course's own code.
        return [f"CannotDrill: {self}"]


def drill(name: str, value: Any) -> None:
    """Compare your value with the expected one, and show the first difference.

    The expected value is computed here, from the values that your notebook has now.

    Args:
        name: the drill, such as ``"03.2a"``.
        value: your value; ``...`` is not attempted yet.

    Raises:
        CannotDrill: there is no such drill, or it needs a cell that was not run.
    """
    asked = _called(name)
    if learners_record.is_grading():
        return
    if value is ...:
        print(f"Drill {name}: not attempted yet. Write code instead of `...`, and run this cell.")
        return
    names = sys._getframe(1).f_globals
    difference = first_difference(value, _value(asked, asked.solution, names))
    if not difference:
        learners_record.note_drill(asked.mark)
    says = asked.says if difference and _is_likely_mistake(asked, value, names) else ""
    from autograder.cards.display import show

    show(DrillCard(name, difference, says))


def drilled() -> dict[str, tuple[int, int]]:
    """For each chapter: how many drills it has, and how many the learner has passed."""
    passed = learners_record.passed_drills()
    return {
        chapter: (len(asked), sum(one.mark in passed for one in asked.values()))
        for chapter, asked in drills().items()
    }


def _is_likely_mistake(asked: Drill, value: Any, names: dict[str, Any]) -> bool:
    return not first_difference(value, _value(asked, asked.mistake, names))


def _value(asked: Drill, code: str, names: dict[str, Any]) -> Any:
    """The value of the drill's variable after these lines, which change no name of the notebook."""
    try:
        return run_on_copy(code, names, f"drill {asked.name}")[asked.variable]
    except Exception as error:
        raise CannotDrill(
            f"Drill {asked.name} needs the cells above it: {type(error).__name__}: {error}. "
            "Run all cells above, then this one."
        ) from None


def _called(name: str) -> Drill:
    known = {one: asked for chapter in drills().values() for one, asked in chapter.items()}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(str(name), known, n=1)
    guess = f' Did you mean "{near[0]}"?' if near else ""
    raise CannotDrill(f"There is no drill {name!r}.{guess}")
