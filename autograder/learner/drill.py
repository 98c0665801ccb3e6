"""`drill`: compares one value of the learner with the value from a right line."""

from __future__ import annotations

import difflib
import sys
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from torch import fx

from autograder.cards.drill import DrillCard
from autograder.core.codec import Encoder
from autograder.judge.compare import difference
from autograder.learner.author_lines import run_on_copy
from autograder.lessons import Drill, drills
from autograder.workspace import progress_file


class CannotDrill(ValueError):
    """The drill does not exist, or the cells above it were not run."""

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
    if progress_file.is_grading():
        return
    if value is ...:
        print(f"Drill {name}: not attempted yet. Write code instead of `...`, and run this cell.")
        return
    names = sys._getframe(1).f_globals
    difference = first_difference(value, _value(asked, asked.solution, names))
    if not difference:
        progress_file.note_drill(asked.mark)
    says = asked.says if difference and _is_likely_mistake(asked, value, names) else ""
    from autograder.cards.display import show

    show(DrillCard(name, difference, says))


def drilled() -> dict[str, tuple[int, int]]:
    """For each chapter, the number of its drills, and of those that the learner has passed."""
    passed = progress_file.passed_drills()
    return {
        chapter: (len(asked), sum(one.mark in passed for one in asked.values()))
        for chapter, asked in drills().items()
    }


def first_difference(value: Any, expected: Any) -> str:
    """The first difference between a value and the expected one, as a sentence; ``""`` if equal.

    A tuple, a view of a dictionary or an iterator counts as a list; if a set is expected, a list
    counts as a set.

    Args:
        value: the learner's value.
        expected: the value of a right answer.
    """
    if isinstance(expected, set | frozenset) and isinstance(value, list | tuple):
        value = set(value)
    mine, wanted = Encoder(), Encoder()
    data = mine.encode(_with_lists(value)), mine.tensors
    found = difference(*data, wanted.encode(_with_lists(expected)), wanted.tensors, "your value")
    return f"{found.text[0].upper()}{found.text[1:]}." if found else ""


def _with_lists(value: Any) -> Any:
    """Convert all ordered collections in a value to lists, and sets to sorted lists."""
    if isinstance(value, Mapping):
        return {key: _with_lists(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    collections = (list, tuple, KeysView, ValuesView, ItemsView, Iterator, type(fx.Graph().nodes))
    return [_with_lists(item) for item in value] if isinstance(value, collections) else value


def _is_likely_mistake(asked: Drill, value: Any, names: dict[str, Any]) -> bool:
    return not first_difference(value, _value(asked, asked.mistake, names))


def _value(asked: Drill, code: str, names: dict[str, Any]) -> Any:
    """The value of the drill's variable after these lines, which change no name in the notebook."""
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
