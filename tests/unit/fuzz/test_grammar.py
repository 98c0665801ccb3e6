"""The grammar of random models: its statements about the results of operations are true."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from autograder.core.exercise import Trial
from autograder.core.global_state import preserve_global_state
from autograder.exercises import EXERCISES
from autograder.fuzz.grammar import HOLE, Op, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.fuzz.recipe import OWN

VOCABULARIES = {name: one.random.vocabulary for name, one in EXERCISES.items() if one.random}
FLAGS = ("flag", "flag_1", "k")
"""Parameters that appear in templates."""

Shape = tuple[int, ...]


def shapes_read(op: Op, shape: Shape, words: Vocabulary) -> Iterator[dict[str, Shape]]:
    """All choices of shapes for the values that an operation reads."""
    letters = sorted(set(HOLE.findall(op.text)) - {"n"})
    narrow = [(*shape[:-1], 1)] if shape else []
    if "row" in words.inputs and shape:
        narrow.append(shape[-1:])
    choices = [[shape] if letter in "xy" else [shape, *narrow] for letter in letters]
    for shapes in itertools.product(*choices):
        yield dict(zip(letters, shapes, strict=True))


def result_of(op: Op, shape: Shape, read: dict[str, Shape], words: Vocabulary) -> list[Shape]:
    """Run an operation; return the shapes of its results."""
    device = "meta" if "2_000_000" in op.text else "cpu"  # terabytes on a real device
    scope: dict[str, Any] = {"torch": torch, "nn": nn, "F": F, "operator": operator, "n": 2}
    scope |= {"self": nn.Module(), "x": torch.ones(shape), "mode": None}
    scope |= dict.fromkeys(FLAGS, False)
    scope |= words.names | {k: torch.ones(each, device=device) for k, each in read.items()}
    scope |= {"D": shape[-1] if shape else 1, "C": shape[1] if len(shape) > 1 else 1}
    text = op.text
    for i, layer in enumerate(op.layers):
        scope[f"layer_{i}"] = eval(layer.removeprefix("=").removeprefix("buffer"), scope)
        text = text.replace(f"[{layer}]", f"layer_{i}", 1)
    with preserve_global_state(), torch.no_grad():
        found = eval(HOLE.sub(r"\1", text), scope)
    values = found if op.outs > 1 else [found]
    return [tuple(value.shape) for value in values]


@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch warns about odd models
@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_value_has_the_shape_that_the_grammar_takes_it_for(name: str) -> None:
    """Otherwise the next operation may fail, and the model cannot test an answer."""
    words = VOCABULARIES[name]
    wrong = []
    for shape in words.shapes:
        for op in words.usable(shape):
            for read in shapes_read(op, shape, words) if op.outs else ():
                narrow = shape and op.is_narrow({k: v != shape for k, v in read.items()})
                for found in result_of(op, shape, read, words):
                    if found != shape and not narrow:
                        wrong.append((op.text, read, found))
    assert wrong == []


SHAPELESS = Vocabulary(
    (*ops("{x}.sum(0)", "torch.stack([{x}, {y}]).sum(0)", dims=(2, 4)),), ((2, 3),), parts=False
)
"""A wrong vocabulary: it claims that a sum has the shape of its operand."""


def run_once(trial: Trial, _: int) -> Trial:
    """Run the model once, as an exercise does that needs a record of a run."""
    assert trial.model is not None
    trial.model(*trial.inputs[0])
    return trial


def test_a_model_that_cannot_be_made_is_not_tried() -> None:
    """Otherwise a right answer would lose the share of its points for random models."""
    models = RandomModels(SHAPELESS, run_once, count=30)
    found, of_pool = models.cases(5), models.cases(7 * OWN + 5)
    for cases in (found, of_pool):
        assert 3 <= len(cases) < 30
        for case in cases:
            case.make(0)
    smallest = models.smallest(
        max(found, key=lambda case: len(case.recipe.steps)),
        lambda case: len(case.recipe.steps) >= 2,
    )
    assert len(smallest.recipe.steps) == 2
    smallest.make(0)


def test_a_name_that_misleads_takes_no_part_away() -> None:
    """No attribute of another kind has the name of a part of the model."""
    words = Vocabulary(
        ops("{a} * [nn.Parameter(torch.ones(()))]"), ((2, 3),), namesakes=("part",), inputs=("",)
    )
    cases = RandomModels(words, count=60).cases(3)
    named = [case.make(0).model for case in cases]
    assert sum("part_1" in dict(model.named_parameters()) for model in named) > 3
    for model in named:
        model(torch.ones(2, 3, dtype=torch.float64))
