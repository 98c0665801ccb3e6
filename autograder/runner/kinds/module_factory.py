"""Modules of any kind.

A function whose result is an `nn.Module`, a graph module or not.

**Input.** A model.

**Result.** A module that computes what the task describes.

* The check runs the module, and also the graph modules inside it.
* It runs the module once more while the graph module inside gives other values. This shows that the
  results come from there.
"""

from __future__ import annotations

import operator
from typing import Any

from torch import fx, nn

from autograder.core import allowlist
from autograder.core.codec import Encoder
from autograder.core.execution import CallResult
from autograder.core.exercise import Trial
from autograder.core.limits import bounded_output
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer, call_watched, encode_result, run_recorded

RIGHT = """\
def NAME(model):
    return with_function(fx.symbolic_trace(model), torch.sigmoid)
"""

MAX_INSIDE = 4
"""Number of graph modules inside a module to run, at most."""


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a function whose result is an `nn.Module`, which is run unchanged.

    A module that is not a graph module cannot be described. Its class is recorded instead, and the
    graph modules inside it are run as well. The module also runs while a graph module returns other
    values, which shows whether the results come from there. No copy is run: PyTorch's modules of
    this kind do not survive `copy.deepcopy`.
    """
    result = call_watched(answer, trial, outcome)
    traced = isinstance(result, fx.GraphModule)
    if traced or not isinstance(result, nn.Module):
        outcome.value = encode_result(result, trial, encoder)
    else:
        outcome.value = {"module": allowlist.class_name(type(result)).rpartition(".")[2]}
    if not isinstance(result, nn.Module):
        return

    def run(call: Answer, inputs: tuple[Any, ...]) -> CallResult:
        return run_recorded(call, result, inputs, trial, encoder)

    with bounded_output(0):  # FX prints whole tracebacks when a graph's code fails
        outcome.runs += [{"forward": run(result, inputs)} for inputs in trial.inputs]
        if isinstance(result, fx.GraphModule):
            for record, inputs in zip(outcome.runs, trial.inputs, strict=True):
                record["interpreter"] = run(fx.Interpreter(result).run, inputs)
            outcome.value["generated"] = is_generated(result)  # regenerates its code: after runs
        for record, inputs in zip(outcome.runs, trial.inputs, strict=True):
            if isinstance(result, fx.GraphModule):
                record["altered"] = run(altered(result, result), inputs)
            else:
                record["inside"] = [
                    {"given": run(part, inputs), "altered": run(altered(result, part), inputs)}
                    for part in inside(result)
                ]


def is_generated(gm: fx.GraphModule) -> bool:
    """Whether the `forward` of a graph module's class is what FX generates from its graph."""
    try:
        before = type(gm).forward.__code__
        gm.recompile()
        return before == type(gm).forward.__code__
    except Exception:
        return False


def altered(module: nn.Module, part: fx.GraphModule) -> Answer:
    """Make a call of a module during which each result of one part of it is increased by one."""

    def call(*args: Any) -> Any:
        output = next(node for node in part.graph.nodes if node.op == "output")
        kept, added = output.args, []

        def plus_one(node: fx.Node) -> fx.Node:
            added.append(part.graph.call_function(operator.add, (node, 1)))
            return added[-1]

        try:
            with part.graph.inserting_before(output):
                output.args = fx.node.map_arg(kept, plus_one)
            part.recompile()
            return module(*args)
        finally:
            output.args = kept
            for node in reversed(added):
                part.graph.erase_node(node)
            part.recompile()

    return call


def inside(module: nn.Module) -> list[fx.GraphModule]:
    """The first few graph modules in a module, without those inside another graph module."""
    found: dict[str, fx.GraphModule] = {}
    for path, part in module.named_modules():
        within = any(path.startswith(f"{outer}.") for outer in found)
        if isinstance(part, fx.GraphModule) and not within and len(found) < MAX_INSIDE:
            found[path] = part
    return list(found.values())


KIND = AnswerKind(run, has_film=True)
