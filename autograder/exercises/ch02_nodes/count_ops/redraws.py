"""Hidden cases of `count_ops`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torch import nn

from autograder.authoring.question import Case, model_case
from autograder.exercises.ch02_nodes import models as shared
from autograder.exercises.ch02_nodes.count_ops import models


def looked_at_later(name: str, aspect: str, make: Callable[[], nn.Module]) -> Case:
    """A case that calls the answer on another model before the judge reads the dictionary."""
    case = model_case(name, aspect, make)
    return replace(case, make=models.LookedAtLater(case.make))


REDRAWS = (
    model_case("an optional input", "graphs", models.OptionalScale),
    model_case("plain tensors", "task", models.PlainTensors),
    looked_at_later("one after the other", "graphs", shared.AllSix),
)
