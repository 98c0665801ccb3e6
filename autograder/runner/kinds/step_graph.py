"""Graphs of training steps.

A function that captures a training step as a graph, or changes such a graph.

**Input.** A model, a loss and a batch; or a graph module of ATen calls, and names of calls.

**Result.** A graph module, or the changed one and a report.

* The check describes each node: the shape and dtype of its value, which values share memory, and
  the entries of `meta["custom"]`.
* It calls the graph as you would, and compares the results, the gradients and the buffers.
* If you are given a model, its values, its gradients and its modes must stay as they were.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import fx, nn

from autograder.core.codec import Encoded, Encoder
from autograder.core.exercise import Trial
from autograder.core.fake_values import memory_numbers, mode_of, val_text
from autograder.core.graph_record import describe, nodes_of
from autograder.core.outcome import Change, Outcome, Part
from autograder.core.torch_private import argument_trees
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer, call_watched, encode_result, run_result
from autograder.runner.canary import of_trace

RIGHT = """\
def NAME(gm):
    with_function(gm, torch.sigmoid)
"""


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a function that returns a graph module, or that changes the one in its first argument.

    The graph module is described and run. The ``meta`` of each node has the text of its ``val``,
    the numbers of its ``memory``, its ``custom`` entries, and its ``stack_trace``. The return value
    is recorded under ``returned``, and nested arguments under ``trees``.
    """
    gradients = _gradients(trial.model)
    try:
        returned = call_watched(answer, trial, outcome)
    finally:
        outcome.changed += _changed_gradients(gradients, _gradients(trial.model))
    given = trial.args[0]
    gm = given if isinstance(given, fx.GraphModule) else returned
    if not isinstance(gm, fx.GraphModule):
        outcome.value = encode_result(returned, trial, encoder)
        return
    described = describe(gm, encoder, trial.model)
    described["meta"] = _notes(gm.graph, encoder)
    text = "the graph module"
    outcome.value = {
        "graph_module": described,
        "returned": text if returned is gm else encode_result(returned, trial, encoder),
    }
    if (trees := argument_trees(gm.graph)) is not None:
        outcome.value["trees"] = encoder.encode(trees)
    run_result(gm, trial, outcome, encoder)


def _notes(graph: fx.Graph, encoder: Encoder) -> list[dict[str, Encoded]]:
    """For each node, the parts of its `meta` that a task may ask for."""
    mode, nodes = mode_of(graph), nodes_of(graph)
    found = []
    for node, memory in zip(nodes, memory_numbers(nodes), strict=True):
        notes: dict[str, Encoded] = {"memory": encoder.encode(memory)}
        if "val" in node.meta:
            notes["val"] = val_text(node.meta["val"], mode)
        if "custom" in node.meta:
            notes["custom"] = encoder.encode(node.meta["custom"])
        if isinstance(trace := node.meta.get("stack_trace"), str):
            notes["stack_trace"] = trace
        found.append(notes)
    return found


Gradients = dict[str, tuple[torch.Tensor | None, int]]
"""The gradient of each parameter by its name, with the number of changes in place."""


def _gradients(model: nn.Module | None) -> Gradients:
    named: Any = model.named_parameters() if model is not None else ()
    found = {name: parameter.grad for name, parameter in named}
    return {name: (grad, 0 if grad is None else grad._version) for name, grad in found.items()}


def _changed_gradients(before: Gradients, after: Gradients) -> list[Change]:
    return [
        Change(Part.MODULE, f"the gradient of parameter `{name}` was changed")
        for name, (grad, version) in before.items()
        if name in after and (after[name][0] is not grad or after[name][1] != version)
    ]


KIND = AnswerKind(run, canary_trial=of_trace)
