"""A pass whose graph may hold copies that the learner's own code makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from autograder.core.codec import Encoder, Plain
from autograder.core.exercise import Trial
from autograder.core.graph_record import nodes_of
from autograder.core.outcome import Outcome
from autograder.core.own_code import own_calls
from autograder.runner.call import Answer
from autograder.runner.functions import transform


def extraction(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A pass; its own code is called on a tensor that wants a gradient, which the judge cannot."""
    gm = transform(answer, trial, outcome, encoder)
    if gm is not None:
        outcome.value["cuts"] = list(_cuts(gm, outcome.value["graph_module"]))


def _cuts(gm: fx.GraphModule, description: Plain) -> Iterator[str]:
    """Names of the nodes whose own code gives back a value without its gradient."""
    nodes = nodes_of(gm.graph)
    for i, _ in own_calls(description):
        call = nodes[i].target
        if isinstance(call, str):
            with suppress(AttributeError):
                call = gm.get_submodule(call)
        if callable(call) and _loses_gradient(call):
            yield str(nodes[i].name)


def _loses_gradient(call: Callable[..., Any]) -> bool:
    """Whether what a function gives for a tensor that wants a gradient wants none."""
    given = torch.ones(2, 2, requires_grad=True) * 2.0
    with torch.enable_grad(), suppress(Exception):  # whatever it raises, a run has told of it
        found = [leaf for leaf in pytree.tree_leaves(call(given)) if torch.is_tensor(leaf)]
        return not all(leaf.requires_grad for leaf in found)
    return False
