"""How answers are exercised that give modules of any kind, or that must not remember."""

from __future__ import annotations

from typing import Any

from torch import fx, nn

from autograder import targets
from autograder.execution import error_record
from autograder.exercise import Trial
from autograder.limits import bounded_output
from autograder.outcome import Outcome
from autograder.plain import Encoder, Plain
from autograder.run.calls import Answer, call_watched, encode_result, run_recorded
from autograder.run.errors import is_stub

MAX_INSIDE = 4
"""How many graph modules inside a module are run."""


def any_module(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function whose result is an `nn.Module`, a graph module or not; it is run as it came.

    What is no graph module cannot be described; its class stands for it, and the graph modules
    inside it are run beside it. No copy is run: where this procedure is used, PyTorch's own
    modules do not survive `copy.deepcopy`.
    """
    result = call_watched(answer, trial, outcome)
    traced = isinstance(result, fx.GraphModule)
    if traced or not isinstance(result, nn.Module):
        outcome.value = encode_result(result, trial, encoder)
    else:
        outcome.value = {"module": targets.class_name(type(result)).rpartition(".")[2]}
    if not isinstance(result, nn.Module):
        return
    with bounded_output(0):  # FX prints whole tracebacks when a graph's code fails
        for inputs in trial.inputs:
            record = {"forward": run_recorded(result, result, inputs, trial, encoder)}
            if traced:
                call = fx.Interpreter(result).run
                record["interpreter"] = run_recorded(call, result, inputs, trial, encoder)
            else:
                record["inside"] = [
                    run_recorded(part, part, inputs, trial, encoder) for part in inside(result)
                ]
            outcome.runs.append(record)


def inside(module: nn.Module) -> list[fx.GraphModule]:
    """The graph modules in a module, the first few of them, without those in one another."""
    found: dict[str, fx.GraphModule] = {}
    for path, part in module.named_modules():
        within = any(path.startswith(f"{outer}.") for outer in found)
        if isinstance(part, fx.GraphModule) and not within and len(found) < MAX_INSIDE:
            found[path] = part
    return list(found.values())


def after_others(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function of a model whose result is data, called on the models of `trial.watch` first.

    Each earlier call is a run with a value or an error. A value is written down at once, as
    ``then``, and again at the end: a later call must not change what an earlier one gave.
    """
    earlier: list[tuple[bool, Any, Plain]] = []
    for model in trial.watch:
        try:
            value = call_watched(answer, trial, outcome, model)
            earlier.append((True, value, encoder.encode(value)))
        except Exception as error:
            if is_stub(error):
                raise
            earlier.append((False, error_record(error), None))
    last = call_watched(answer, trial, outcome)
    for worked, value, then in earlier:
        record = {"value": encoder.encode(value), "then": then} if worked else {"error": value}
        outcome.runs.append({"forward": record})
    outcome.value = encode_result(last, trial, encoder)
