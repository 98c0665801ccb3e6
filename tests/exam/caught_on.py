"""On which case each wrong answer of the exam is caught, so that this one can be tried first.

`caught_on.json` holds it, for those that an exercise's first case does not catch. It decides
nothing: where it says nothing, or what is no longer so, all cases are tried, which takes longer.

``python -m tests.exam.caught_on`` writes it anew, for the exercises that are named, or for all.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.exam.answers import Answer

FILE = Path(__file__).with_suffix(".json")

KEPT = "kept by"
"""How the styles of answers begin that remember something between two cases."""

Table = dict[str, dict[str, str]]
"""Names of cases by exercise, and by an answer's style."""


@cache
def stored() -> Table:
    """What the file holds."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def known(answer: Answer) -> str:
    """The name of the case that caught an answer when the file was written; or ``""``."""
    return stored().get(answer.exercise, {}).get(answer.style, "")


def found(exercise: str) -> dict[str, str]:
    """The cases that catch the wrong answers to an exercise, by style; the first case is left out.

    What is stored stays as long as it is so: only other answers are tried on all cases. What is
    kept by a class shows only on a later case, whatever this one is; so no case is stored of it.

    Args:
        exercise: the exercise's name.
    """
    from autograder.exercises import EXERCISES
    from tests.exam.answers import answers_to, caught_by

    first = EXERCISES[exercise].cases[0].name
    wrong = [
        answer
        for answer in answers_to(exercise)
        if answer.finding is not None and not answer.style.startswith(KEPT)
    ]
    caught = {answer.style: caught_by(answer)[0] for answer in wrong}
    return {style: case for style, case in caught.items() if case not in ("", first)}


def write(names: Iterable[str]) -> None:
    """Work out the cases of these exercises anew, and write the file."""
    from autograder.exercises import EXERCISES

    table = {**stored(), **{name: found(name) for name in names}}
    kept = {name: dict(sorted(table[name].items())) for name in sorted(table) if name in EXERCISES}
    text = json.dumps(kept, indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    from autograder.exercises import EXERCISES

    write(sys.argv[1:] or EXERCISES)
