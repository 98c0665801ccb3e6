"""Code that a card shows for a case can be pasted into a fresh cell, and runs there."""

from __future__ import annotations

import builtins
import math
import symtable
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import fx, nn

from autograder.cards.shown_source import MOST_LINES, shown_source
from autograder.core.exercise import Case
from autograder.core.torch_private import wrapped_functions
from autograder.exercises import EXERCISES
from autograder.judge.counterexample import (
    builders_in,
    call_text,
    construction,
    source_of,
)
from autograder.judge.repro_code import pasteable, piece_of
from autograder.runner.tensor_text import tensor_text
from tests.exercises import constant


def run_in_a_fresh_cell(source: str) -> dict[str, Any]:
    """Run the source in an empty namespace; return the names that it defines."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with patch.dict(wrapped_functions()):
        exec(compile(source, "<a fresh cell>", "exec"), names)
        fx.symbolic_trace(nn.ReLU())  # every trace fails if a wrapped name does not exist
    return names


def unknown(source: str, names: dict[str, Any]) -> set[str]:
    """The global names that the source reads, but that are not defined."""

    def tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
        yield table
        for child in table.get_children():
            yield from tables(child)

    used = {
        symbol.get_name()
        for table in tables(symtable.symtable(source, "<a fresh cell>", "exec"))
        for symbol in table.get_symbols()
        if symbol.is_global() and symbol.is_referenced()
    }
    return used - names.keys() - set(dir(builtins))


MOST_IMPORTS = 6
"""Maximum number of imports: a card shows only a source's first lines, and these need the model."""


def imports_at_the_top(source: str) -> int:
    """Number of imports before the first line of a model; 0 if there are none."""
    lines = source.splitlines()
    own = (i for i, line in enumerate(lines) if not line.startswith(("import ", "from ")))
    return next(own, 0)


def cases_of(name: str) -> list[Case]:
    exercise = EXERCISES[name]
    random = list(exercise.random.cases(5, 6)) if exercise.random else []
    return [*exercise.visible_cases(), *random]


SAMPLE = [*EXERCISES][::9]
"""Exercises whose cases this test pastes; `checks/thorough` pastes those of all exercises."""


@pytest.mark.parametrize("name", SAMPLE)
def test_what_is_shown_can_be_pasted(name: str, total: Callable[..., None]) -> None:
    total("sources that run in a fresh cell", pasted(name))


def pasted(name: str) -> int:
    """Paste the source shown for each case of an exercise; return the number of cases."""
    for case in cases_of(name):
        source = source_of(case.make(0), case.expect.built_by)
        assert imports_at_the_top(source) <= MOST_IMPORTS, (case.name, source)
        missing = unknown(source, run_in_a_fresh_cell(source))
        assert not missing or constant(name, "NAMES_MAY_BE_MISSING"), (case.name, source)
        shown = shown_source(source).splitlines()
        assert len(shown) <= MOST_LINES, (case.name, shown)
        assert "return" not in source or any("return" in line for line in shown), case.name
    return len(cases_of(name))


def test_a_model_that_was_made_with_arguments_is_made_with_them() -> None:
    lines = 0
    for case in (case for exercise in EXERCISES.values() for case in exercise.visible_cases()):
        if not any(isinstance(value, partial) for value in builders_in(case.make)):
            continue  # making all cases takes minutes
        trial = case.make(0)
        if line := construction(case, trial.model):
            lines += 1
            source = source_of(trial, case.expect.built_by) + line
            made, model = run_in_a_fresh_cell(source)["model"], trial.model
            assert own_settings(made) == own_settings(model), (case.name, source)
            assert repr(made) == repr(model), (case.name, source)
    assert lines >= 10


def own_settings(model: nn.Module) -> dict[str, object]:
    """The plain attributes of a model, except its mode."""
    kinds = (bool, int, float, str)
    own = vars(model).items()
    return {k: v for k, v in own if isinstance(v, kinds) and k != "training"}


def test_what_a_class_needs_comes_with_it() -> None:
    from autograder.exercises.ch06b_measuring.OpTimer import models

    text = pasteable([piece_of(models.OneSlow())])
    assert text.index("class OneSlow") < text.index("def slow") < text.index("SPIN = ")
    names = run_in_a_fresh_cell(text)
    x = torch.rand(3)
    assert torch.equal(names["OneSlow"]()(x), models.OneSlow()(x))


def test_an_operator_that_was_pasted_is_the_one_of_the_course() -> None:
    """A second registration would replace the operator process-wide, and break the first one."""
    from autograder.exercises.ch11_pytorch2.export_ops import models

    names = run_in_a_fresh_cell(pasteable([piece_of(models.Vendors())]))
    assert names["scale"] is models.scale
    assert names["half"] is models.half and names["twice"] is models.twice


def test_layers_one_after_the_other_are_built() -> None:
    layers = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    names = run_in_a_fresh_cell(pasteable([piece_of(layers)]))
    assert repr(names["model"]) == repr(layers)


def test_a_wrapped_function_goes_by_its_own_name() -> None:
    from autograder.exercises.ch06b_measuring.OpTimer import models

    gm = fx.symbolic_trace(models.OneWaits())
    text = pasteable([piece_of(gm)])
    assert "autograder" not in text
    names = run_in_a_fresh_cell(text)
    x = torch.rand(3)
    assert torch.equal(names["forward"](gm, x), models.OneWaits()(x))


@pytest.mark.parametrize(
    "written",
    [
        torch.tensor([1.0, 800.0], dtype=torch.float64),
        torch.tensor([[1, 0], [0, 2]]),
        torch.tensor([0.0, -math.inf, math.nan]),
    ],
)
def test_a_call_shows_values_that_somebody_wrote(written: torch.Tensor) -> None:
    made = eval(tensor_text(written), {"torch": torch, "math": math})
    torch.testing.assert_close(made, written, rtol=0, atol=0, equal_nan=True)


def test_a_call_does_not_show_random_values() -> None:
    assert tensor_text(torch.full((2,), 1 / 3)) == "torch.rand((2,))"
    assert tensor_text(torch.ones(2, 4)) == "torch.rand((2, 4))"
    assert tensor_text(torch.zeros(2, 4)) == "torch.zeros((2, 4))"


def test_a_second_model_is_named_and_shown() -> None:
    """Cards of exercises that compare two models once called both of them `model`."""
    exercise = EXERCISES["graph_diff"]
    case = next(case for case in exercise.cases if case.name == "a text in place of a node")
    trial = case.make(0)
    assert call_text(exercise, trial) == "graph_diff(model, other)"
    assert (
        "# + %getitem = call_function[target=operator.getitem](args = (%cat, scale)"
        in source_of(trial)
    )


def test_a_function_of_the_course_is_imported() -> None:
    from autograder.exercises.ch14_quantization.fold_qdq.cases import EXERCISE

    source = source_of(EXERCISE.cases[0].make(0))
    assert "from autograder.given import" in source and "def quantize" not in source
