"""What an answer is told: the objects of its case, and nothing that says what must come of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx, nn

from autograder import runner as run_room
from autograder.core.exercise import Case, Exercise
from autograder.core.outcome import Outcome
from autograder.exercises import EXERCISES
from autograder.judge import judge
from autograder.judge.answer_key import key_of
from autograder.runner import run_trial

ROOM = str(Path(run_room.__file__).parent)


def test_no_frame_tells_which_case_is_tried() -> None:
    exercise = EXERCISES["inputs_of"]
    (case, *_) = (case for case in exercise.cases if case.hidden)
    seen: list[Any] = []

    def looks(node: fx.Node) -> list[fx.Node]:
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename.startswith(ROOM):
                seen.extend(frame.f_locals.values())
            frame = frame.f_back
        return []

    outcome = run_trial(exercise.procedure, looks, case.make, "case 17")
    assert outcome.case == "case 17"
    assert any(isinstance(value, Outcome) for value in seen)
    assert not any(isinstance(value, Case | Exercise) or value is case.make for value in seen)
    assert case.name not in [value for value in seen if isinstance(value, str)]


def texts_in(value: Any, seen: set[int]) -> Iterator[str]:
    """The texts that an answer finds in what it is given: attributes, `meta`, docstrings."""
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


def what_is_said(case: Case) -> set[str]:
    """Texts that say something of what must come out."""
    found = set(texts_in({k: v for k, v in vars(case.expect).items() if not callable(v)}, set()))
    return {text for text in {case.name, *found} if " " in text}


@pytest.mark.parametrize("name", EXERCISES)
def test_objects_of_a_case_do_not_tell(name: str) -> None:
    exercise = EXERCISES[name]
    cases = exercise.cases[:: max(1, len(exercise.cases) // 8)]
    for case in (*cases, *(exercise.random.cases(3, 20)[:8] if exercise.random else ())):
        trial = case.make(0)
        told = set(texts_in((trial.args, trial.kwargs, trial.model, trial.inputs), set()))
        assert not told & what_is_said(case), case.name


def test_random_models_of_wellformed_do_not_carry_their_faults() -> None:
    exercise = EXERCISES["wellformed"]
    codes: list[Any] = []
    for case in exercise.random.cases(5):
        trial = case.make(0)
        assert trial.args[0].meta == {}
        codes.append(key_of(exercise).reference(exercise, case).value["list"])
        assert case.expect.made or not codes[-1]
    assert any(codes)
    assert any(not each for each in codes)


def test_what_is_printed_on_hidden_cases_is_not_shown() -> None:
    exercise = EXERCISES["node_names"]
    hidden = next(case for case in exercise.cases if case.hidden)
    seen = exercise.visible_cases()[0]

    def printed(*outcomes: Outcome) -> str:
        cases = tuple(c for c in exercise.cases if c.name in {o.case for o in outcomes})
        return judge(exercise, list(outcomes), cases).printed

    assert printed(Outcome(hidden.name, value=None, printed="the hidden model")) == ""
    assert printed(Outcome(seen.name, value=None, printed="my own")) == "my own"
    right = {"list": ["x"]}
    both = [Outcome(c.name, value=right, printed=f"on {c.name}") for c in (hidden, seen)]
    assert hidden.name not in printed(*both)
