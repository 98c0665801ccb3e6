"""How answers are exercised that give a layer, or that measure what they are given."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import fx, nn

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome, RunRecord
from autograder.runner.call import Answer, call_watched, encode_result, run_recorded, run_result

ON, OFF = "gradients on", "gradients off"
LAYER = "result"
"""The name under which a layer is part of the graph that calls it."""


def layer(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function whose result is a layer: a module of PyTorch's own, which is no graph.

    It is described and run as the one call of a graph, so that the judge can run it again.
    """
    result = call_watched(answer, trial, outcome)
    if not isinstance(result, nn.Module):
        outcome.value = encode_result(result, trial, encoder)
        return
    gm = called_once(result)
    outcome.value = encode_result(gm, trial, encoder)
    run_result(gm, trial, outcome, encoder)


def called_once(module: nn.Module) -> fx.GraphModule:
    """A graph module that calls a module on its one input, and does nothing else."""
    root, graph = nn.Module(), fx.Graph()
    root.add_module(LAYER, module)
    graph.output(graph.call_module(LAYER, (graph.placeholder("x"),)))
    return fx.GraphModule(root, graph)


def latency(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function that measures callables of the case, which note in the trial's log what is done.

    An input of the case is one call: `ON` or `OFF`, for gradients before it, and its keywords. The
    record of a run says, too, whether they are on ``afterwards``.
    """
    for inputs in trial.inputs:
        outcome.runs.append(_measured(answer, trial, outcome, encoder, *inputs))


def _measured(
    answer: Answer,
    trial: Trial,
    outcome: Outcome,
    encoder: Encoder,
    gradients: str,
    keywords: dict[str, Any],
) -> RunRecord:
    afterwards = gradients == ON

    def call(*_: Any) -> Any:
        nonlocal afterwards
        measure = partial(answer, **keywords)
        with torch.set_grad_enabled(gradients == ON):
            try:
                return call_watched(measure, trial, outcome, *trial.args)
            finally:
                afterwards = torch.is_grad_enabled()

    record = run_recorded(call, None, (gradients, keywords), trial, encoder)
    return {"forward": record, "afterwards": afterwards}
