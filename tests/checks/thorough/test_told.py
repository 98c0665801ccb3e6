"""The objects of a case do not reveal the expected results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import fx, nn

from autograder.core.exercise import Case
from autograder.exercises import EXERCISES


def texts_in(value: Any, seen: set[int]) -> Iterator[str]:
    """The texts that an answer can read in its arguments: attributes, `meta`, docstrings."""
    if isinstance(value, str):
        yield value
    if isinstance(value, str | torch.Tensor | type(None)) or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, dict):
        parts: list[Any] = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        parts = list(value)
    elif isinstance(value, fx.Node):
        parts = [value.meta, value.name, value.args, value.kwargs]
    elif isinstance(value, fx.Graph):
        parts = list(value.nodes)
    else:
        kind = type(value)
        own = isinstance(value, nn.Module) or kind.__module__.startswith("autograder.")
        parts = [getattr(value, "__dict__", {}), kind.__doc__] if own else []
        if isinstance(value, fx.GraphModule):
            parts += [value.graph, value.meta]
        elif own and kind.__module__.startswith("autograder."):
            parts.append(dict(vars(kind)))
        elif callable(value):
            parts = [
                value.__doc__,
                getattr(value, "__dict__", {}),
                getattr(value, "__defaults__", ()),
            ]
    for part in parts:
        yield from texts_in(part, seen)


def texts_about_results(case: Case) -> set[str]:
    """Texts of a case that describe the expected results."""
    found = set(texts_in({k: v for k, v in vars(case.expect).items() if not callable(v)}, set()))
    return {text for text in {case.name, *found} if " " in text}


@pytest.mark.parametrize("name", EXERCISES)
def test_objects_of_a_case_do_not_tell(name: str) -> None:
    exercise = EXERCISES[name]
    cases = exercise.cases[:: max(1, len(exercise.cases) // 8)]
    for case in (*cases, *(exercise.random.cases(3, 20)[:8] if exercise.random else ())):
        trial = case.make(0)
        told = set(texts_in((trial.args, trial.kwargs, trial.model, trial.inputs), set()))
        assert not told & texts_about_results(case), case.name
