"""Functions that give a layer.

A function whose result is one of PyTorch's own layers.

**Input.** Layers, such as a convolution and a BatchNorm.

**Result.** A layer that computes the same as the given layers.

* The check describes and runs the layer as the one call of a graph.
* Your function must not change the given layers or their mode.
"""

from __future__ import annotations

from torch import fx, nn

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer, call_watched, encode_result, run_result

RIGHT = """\
def NAME(model):
    return copy.deepcopy(model.layer)
"""
SPOILT = ("model.layer)", "model.layer).double()")

LAYER = "result"
"""The name of the layer in the graph that calls it."""


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a function whose result is a layer: a module of PyTorch that is not a graph module.

    It is described and run as the only call of a graph, so that the judge can run it again.
    """
    result = call_watched(answer, trial, outcome)
    if not isinstance(result, nn.Module):
        outcome.value = encode_result(result, trial, encoder)
        return
    gm = called_once(result)
    outcome.value = encode_result(gm, trial, encoder)
    run_result(gm, trial, outcome, encoder)


def called_once(module: nn.Module) -> fx.GraphModule:
    """A graph module whose only call is a module on its one input."""
    root, graph = nn.Module(), fx.Graph()
    root.add_module(LAYER, module)
    graph.output(graph.call_module(LAYER, (graph.placeholder("x"),)))
    return fx.GraphModule(root, graph)


KIND = AnswerKind(run)
