"""Lowering to a device.

A function that cuts parts out of a graph and gives them to a compiler.

**Input.** A graph module, sets of names of nodes, and a compiler.

**Result.** A graph module that calls the compiled parts.

* The compiler records each piece that it gets: a graph module, with example inputs.
* A piece must contain exactly the nodes of its set. The result must contain and call what the
  compiler returned.
* The check runs the result, and compares it with the model.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import fx, nn

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.graph_record import describe
from autograder.core.outcome import Outcome, PieceRecord
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer, call_watched, encode_result, run_result
from autograder.runner.canary import Small, small_inputs

RIGHT = """\
def NAME(gm, parts, compile):
    inside, outer = fx.Graph(), fx.Graph()
    inside.output((inside.call_function(torch.relu, (inside.placeholder("y"),)),))
    root = fx.GraphModule(gm, copy.deepcopy(gm.graph))
    root.compiled = compile(fx.GraphModule(gm, inside), (None,))
    y = outer.call_module("layer", (outer.placeholder("x"),))
    z = outer.call_function(operator.getitem, (outer.call_module("compiled", (y,)), 0))
    outer.output(outer.call_function(operator.add, (z, 1)))
    return fx.GraphModule(root, outer)
"""
SPOILT = ("(z, 1)", "(z, 2)")


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a function of a graph module, sets of names and a compiler that returns a graph module.

    The compiler is the case's last argument. Its arguments are described in each call, because an
    answer may edit them later: ``pieces`` has, for each call, the graph module and the examples, or
    the class of an object that is not a graph module. ``compiled`` has, by path in the result, the
    number of the call that returned the module there. ``new`` says whether the result has a graph
    of its own.
    """
    gm, parts, compiler = trial.args
    graph = gm.graph
    pieces: list[PieceRecord] = []
    made: list[Any] = []  # kept alive, so that no two objects get the same `id`

    def compile_noted(sub: Any, examples: Any) -> Any:
        pieces.append(_piece(sub, examples, trial, encoder))
        made.append(compiler(sub, examples))
        return made[-1]

    result = call_watched(answer, trial, outcome, gm, parts, compile_noted)
    outcome.value = encode_result(result, trial, encoder)
    if isinstance(result, fx.GraphModule):
        numbers = {id(module): i for i, module in enumerate(made)}
        outcome.value |= {
            "new": result is not gm and result.graph is not graph,
            "pieces": pieces,
            "compiled": {
                path: numbers[id(module)]
                for path, module in result.named_modules(remove_duplicate=False)
                if id(module) in numbers
            },
        }
        run_result(result, trial, outcome, encoder)


def _piece(sub: Any, examples: Any, trial: Trial, encoder: Encoder) -> PieceRecord:
    """Describe the arguments of one call of the compiler."""
    given = encoder.encode(examples)
    if not isinstance(sub, fx.GraphModule):
        return {"kind": type(sub).__name__, "examples": given}
    return {"graph_module": describe(sub, encoder, trial.model), "examples": given}


class Compiled(nn.Module):
    """The result of a compiler that compiles nothing."""

    def __init__(self, sub: fx.GraphModule) -> None:
        super().__init__()
        self.sub = sub

    def forward(self, *values: torch.Tensor) -> Any:
        """Run the module that was passed to the compiler."""
        return self.sub(*values)


def _compiler(sub: fx.GraphModule, examples: tuple[Any, ...]) -> Compiled:
    return Compiled(sub)


def canary_trial(seed: int) -> Trial:
    """The trace of the small model, with its ReLU as the part that is compiled."""
    gm = fx.symbolic_trace(Small())
    return Trial(args=(gm, [{"relu"}], _compiler), model=gm, inputs=small_inputs())


KIND = AnswerKind(run, canary_trial=canary_trial, has_film=True)
