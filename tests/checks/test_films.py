"""The last frame of a right answer's film is the graph that the answer returns or changes.

`thorough/test_films.py` tries all right answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from torch import fx

from autograder.cards.film import MOST_CHARACTERS, film_html
from autograder.core.exercise import Case
from autograder.core.limits import Limits
from autograder.drawing.graph_steps import GraphFilm
from autograder.drawing.sketch import sketch
from autograder.drawing.text import statement
from autograder.exercises import EXERCISES
from autograder.runner import run_trial
from autograder.runner.graph_recorder import record_graphs
from autograder.runner.kinds import KINDS
from tests.checks.test_answers import right_answers
from tests.exercises import Answer

CASES = 3
"""Number of cases of each exercise."""


def result_of(answer: Answer, case: Case) -> list[fx.GraphModule]:
    """The graph modules that an answer makes or changes on a case."""
    kind = EXERCISES[answer.exercise].kind
    results: list[Any] = []
    trial = case.make(0)
    if kind == "transformer":
        return [answer.write(*trial.args).transform()]

    def keeping(*args: Any, **kwargs: Any) -> Any:
        results.append(answer.write(*args, **kwargs))
        return results[-1]

    run_trial(kind, keeping, lambda seed: trial, case.name, 0)
    if kind == "graph_edit":
        return [trial.args[0]]
    last = results[-1] if results else None
    parts = last if isinstance(last, tuple) else (last,)
    return [part for part in parts if isinstance(part, fx.GraphModule)]


def film_of(answer: Answer, case: Case) -> GraphFilm:
    kind = EXERCISES[answer.exercise].kind
    return record_graphs(kind, answer.write, case.make, Limits())


def complaints(answer: Answer, sizes: list[int]) -> list[str]:
    """All complaints about an answer's films; the sizes of the films are added to the list."""
    found = []
    for case in EXERCISES[answer.exercise].visible_cases()[:CASES]:
        film, results = film_of(answer, case), result_of(answer, case)
        where = f"{answer}: {case.name}"
        shown = [row.text for row in film.steps[-1].rows] if film.steps else []
        if len(results) == 1 and film.total == len(film.steps):
            wanted = [statement(box) for box in sketch(results[0])]
            if shown != wanted:
                found.append(f"{where}: the last frame is {shown}, not {wanted}")
        states = [(step.graph, step.rows) for step in film.steps]
        if any(one == other for one, other in zip(states, states[1:], strict=False)):
            found.append(f"{where}: two frames are the same")
        sizes.append(len(film_html(film)))
        if sizes[-1] > MOST_CHARACTERS:
            found.append(f"{where}: {sizes[-1]} characters")
    return found


def films_of(name: str, total: Callable[..., None]) -> None:
    """Try all right answers to an exercise."""
    sizes: list[int] = []
    said = [line for answer in right_answers(name) for line in complaints(answer, sizes)]
    assert not said, "\n".join(said)
    total("films whose last frame is the result", len(sizes))


WITH_FILMS = [name for name, each in EXERCISES.items() if KINDS[each.kind].has_film]
FEW = ["add_to_mul", "relu_after_add"]


@pytest.mark.parametrize("name", FEW)
def test_the_last_frame_is_the_result(name: str, total: Callable[..., None]) -> None:
    assert name in WITH_FILMS
    films_of(name, total)
