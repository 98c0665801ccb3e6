"""`replay(my_pass, model)`: shows each line of a pass that changes a graph, step by step."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from torch import fx

from autograder.cards.display import show
from autograder.cards.film import Film
from autograder.core.exercise import Trial
from autograder.core.limits import Limits
from autograder.drawing.graph_steps import GraphFilm
from autograder.learner.state_leak import closing_figures, restoring_functions
from autograder.runner.graph_recorder import record_graphs


def replay(answer: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Run a pass on copies of its arguments, and show each line that changes a graph.

    Args:
        answer: your pass: a function, or a subclass of `fx.Transformer`.
        args: the arguments of the pass, such as the model.
        kwargs: its keyword arguments.

    Raises:
        TypeError: if the pass cannot be called or has no arguments, or if one cannot be copied.
    """
    if not callable(answer) or not (args or kwargs):
        raise TypeError("`replay` takes your pass and its arguments: replay(my_pass, model).")
    try:
        given, named = copy.deepcopy((args, kwargs))
    except Exception as error:
        raise TypeError(
            "`replay` runs your pass on copies of its arguments, and one of them cannot be copied. "
            f"{type(error).__name__}: {error}"
        ) from error
    is_transformer = isinstance(answer, type) and issubclass(answer, fx.Transformer)
    kind = "transformer" if is_transformer else "analysis"
    show(Film(film_of(kind, answer, lambda seed: Trial(given, named), Limits())))


def film_of(kind: str, answer: Any, make: Callable[[int], Trial], limits: Limits) -> GraphFilm:
    """The steps of an answer on a case, which runs under the conditions of a check.

    Args:
        kind: the answer kind.
        answer: the learner's function or class.
        make: builds the case's objects.
        limits: time and output allowed.
    """
    with closing_figures(), restoring_functions():
        return record_graphs(kind, answer, make, limits)
