"""A pass whose graph may hold copies that the learner's own code makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import torch
from torch import fx

from autograder.core.codec import Encoder, Plain
from autograder.core.exercise import Trial
from autograder.core.graph_record import nodes_of
from autograder.core.outcome import Outcome
from autograder.core.user_code import own_calls
from autograder.runner.call import Answer
from autograder.runner.functions import transformed


def extraction(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A pass; its own code is called on a tensor that wants a gradient, which the judge cannot."""
    gm = transformed(answer, trial, outcome, encoder)
    if gm is not None:
        outcome.value["cuts"] = dict(_cuts(gm, outcome.value["graph_module"]))


def _cuts(gm: fx.GraphModule, description: Plain) -> Iterator[tuple[str, str]]:
    """Nodes whose own code does nothing for who wants a gradient: their names, and how it is so."""
    nodes = nodes_of(gm.graph)
    for i, _ in own_calls(description):
        call = nodes[i].target
        if isinstance(call, str):
            with suppress(AttributeError):
                call = gm.get_submodule(call)
        how = _how_it_cuts(call) if callable(call) else ""
        if how:
            yield str(nodes[i].name), how


def _how_it_cuts(call: Callable[..., Any]) -> str:
    """``raises`` or ``loses`` the gradient: what a function does to a tensor that wants one."""
    start = torch.ones(2, 2, requires_grad=True)
    with torch.enable_grad():
        try:
            copies = list(_tensors(call(start * 2)))
        except Exception:  # if it raises in any case, a run has told of it
            return "raises" if _can_be_called(call, start.detach() * 2) else ""
        slopes = [
            torch.autograd.grad(one.sum(), start, retain_graph=True, allow_unused=True)[0]
            for one in copies
            if one.requires_grad
        ]
    is_whole = len(slopes) == len(copies) and all(slope is not None for slope in slopes)
    return "" if is_whole else "loses"


def _can_be_called(call: Callable[..., Any], value: torch.Tensor) -> bool:
    try:
        call(value)
    except Exception:
        return False
    return True


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in nested tuples, lists and dictionaries."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _tensors(item)
