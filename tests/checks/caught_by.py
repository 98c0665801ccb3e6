"""The case that catches each wrong answer, so that tests try this case first.

An exercise's ``caught_by.json`` has these cases, except if the exercise's first case catches the
answer. They do not affect results: if a case is missing or out of date, all cases are tried, which
takes longer.

``python -m tests.checks.caught_by`` writes the files of the named exercises, or of all.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from functools import cache

from tests.exercises import Answer, folders

FILE = "caught_by.json"

KEPT = "kept by"
"""The first words of the styles of answers that store something between two cases."""


@cache
def stored(exercise: str) -> dict[str, str] | None:
    """The names of cases by an answer's style, as stored; ``None`` if there is no file."""
    path = folders()[exercise] / FILE
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def known_case(answer: Answer) -> str:
    """The name of the case that caught an answer when the file was written; or ``""``."""
    return (stored(answer.exercise) or {}).get(answer.style, "")


def find_cases(exercise: str) -> dict[str, str]:
    """The cases that catch the wrong answers to an exercise, by style; the first case is left out.

    A stored case stays as long as it catches its answer: only other answers are tried on all cases.
    An answer that stores something on its class fails only on a second case, whichever that is; so
    no case is stored for it.
    """
    from autograder.exercises import EXERCISES
    from tests.checks.examination import find_catching_case
    from tests.exercises import answers_to

    first = EXERCISES[exercise].cases[0].name
    wrong = [
        answer
        for answer in answers_to(exercise)
        if answer.finding is not None and not answer.style.startswith(KEPT)
    ]
    caught = {answer.style: find_catching_case(answer)[0] for answer in wrong}
    return {style: case for style, case in caught.items() if case not in ("", first)}


def write(names: Iterable[str]) -> None:
    """Find the cases for these exercises, and write their files."""
    for name in names:
        text = json.dumps(dict(sorted(find_cases(name).items())), indent=1, ensure_ascii=False)
        (folders()[name] / FILE).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1:] or folders())
