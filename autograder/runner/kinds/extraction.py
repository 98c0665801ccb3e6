"""Passes that may use code of your own.

A pass whose result may call functions and layers that you have written, if all they do is copy a
value.

**Input.** A model, and other arguments that the task names.

**Result.** A `GraphModule` that does what the task describes.

* The check describes and runs the module, as for a pass.
* A call of your own code must return a copy of its one argument. The check compares the numbers
  with those of the model.
* The check also calls your code on a tensor that requires a gradient. The result must require one,
  too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import torch
from torch import fx

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.graph_record import GraphRecord, nodes_of
from autograder.core.outcome import Outcome
from autograder.core.user_code import own_calls
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer
from autograder.runner.kinds.transform import transformed

RIGHT = """\
def NAME(model):
    return with_function(fx.symbolic_trace(model), torch.sigmoid)
"""


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a pass, and check the gradients of its own code, which the judge cannot call."""
    gm = transformed(answer, trial, outcome, encoder)
    if gm is not None:
        outcome.value["cuts"] = dict(_gradient_problems(gm, outcome.value["graph_module"]))


def _gradient_problems(gm: fx.GraphModule, description: GraphRecord) -> Iterator[tuple[str, str]]:
    """The names of nodes whose own code stops a gradient, each with ``raises`` or ``loses``."""
    nodes = nodes_of(gm.graph)
    for i, _ in own_calls(description):
        call = nodes[i].target
        if isinstance(call, str):
            with suppress(AttributeError):
                call = gm.get_submodule(call)
        how = _gradient_problem(call) if callable(call) else ""
        if how:
            yield str(nodes[i].name), how


def _gradient_problem(call: Callable[..., Any]) -> str:
    """``raises`` or ``loses`` if a function does so with a gradient; ``""`` if it passes it on."""
    start = torch.ones(2, 2, requires_grad=True)
    with torch.enable_grad():
        try:
            copies = list(_tensors(call(start * 2)))
        except Exception:  # a function that raises without a gradient, too, has failed in a run
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


KIND = AnswerKind(run, has_film=True)
