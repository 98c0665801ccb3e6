"""The ways in which answers are exercised, by name."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import fx

from autograder.describe import describe, nodes_of
from autograder.execution import RUN_SEED, run_once
from autograder.exercise import Trial
from autograder.forbid import recording_use
from autograder.limits import bounded_output
from autograder.outcome import Outcome
from autograder.plain import Encoder, Plain
from autograder.run.errors import is_stub, record_of
from autograder.run.interpreters import interpreter, timer, transformer
from autograder.run.repeating import counted_transform
from autograder.watch import Snapshot

Answer = Callable[..., Any]


# ------------------------------------------------------------------ procedures


def _call(answer: Answer, trial: Trial, outcome: Outcome, *args: Any) -> Any:
    """Call the answer, noting what it changes and what forbidden things it uses."""
    watched = [Snapshot(value) for value in (trial.model, *trial.watch) if value is not None]
    torch.manual_seed(RUN_SEED)
    with recording_use(trial.forbidden) as used:
        try:
            return answer(*(args or trial.args), **trial.kwargs)
        finally:
            outcome.used += [name for name in used if name not in outcome.used]
            for snapshot in watched:
                outcome.changed += [c for c in snapshot.changes() if c not in outcome.changed]


def _analysis(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function of a model whose result is data."""
    outcome.value = encode_result(_call(answer, trial, outcome), trial, encoder)


def _transform(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A pass: its result is a graph module, which is described and run."""
    result = _call(answer, trial, outcome)
    outcome.value = encode_result(result, trial, encoder)
    if isinstance(result, fx.GraphModule):
        _run_result(result, trial, outcome, encoder)


def _traced_function(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function of tensors that is run as it is, then traced and run again."""
    for inputs in trial.inputs:
        outcome.runs.append({"eager": _run_once(answer, answer, inputs, trial, encoder)})
    try:
        graph_module = fx.symbolic_trace(answer)
    except Exception as error:
        if is_stub(error):
            raise
        outcome.value = {"trace_error": record_of(error)}
        return
    outcome.value = encode_result(graph_module, trial, encoder)
    _run_result(graph_module, trial, outcome, encoder)


def _each_node(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function of a node, called on every node of the case's graph module."""
    (gm,) = trial.args
    nodes = nodes_of(gm.graph)
    index = {id(node): i for i, node in enumerate(nodes)}
    encoder.node = lambda n: {"node": index[id(n)]} if id(n) in index else {"foreign": str(n.name)}
    rows = []
    for node in nodes:
        rows.append(encoder.encode(_call(answer, trial, outcome, node)))
        outcome.value = {"list": rows}


PROCEDURES: dict[str, Callable[[Answer, Trial, Outcome, Encoder], None]] = {
    "analysis": _analysis,
    "transform": _transform,
    "traced function": _traced_function,
    "each node": _each_node,
    "counted transform": counted_transform,
    "interpreter": interpreter,
    "timer": timer,
    "transformer": transformer,
}


def encode_result(value: Any, trial: Trial, encoder: Encoder) -> Plain:
    """The plain form of a result; graph modules become descriptions, in tuples too."""
    if isinstance(value, fx.GraphModule):
        return {"graph_module": describe(value, encoder, trial.model)}
    if type(value) is tuple:
        return {"tuple": [encode_result(item, trial, encoder) for item in value]}
    return encoder.encode(value)


# ------------------------------------------------------------------ running a result


def _run_result(gm: fx.GraphModule, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a graph module on the case's inputs: itself, under an Interpreter, and its copy."""
    with bounded_output(0):  # FX prints whole tracebacks when a graph's code fails
        _run_on_inputs(gm, trial, outcome, encoder)


def _run_on_inputs(gm: fx.GraphModule, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    for i, inputs in enumerate(trial.inputs):
        if len(outcome.runs) <= i:
            outcome.runs.append({})
        record = outcome.runs[i]
        record["forward"] = _run_once(gm, gm, inputs, trial, encoder)
        record["interpreter"] = _run_once(_interpret(gm), gm, inputs, trial, encoder)
        if i == 0:
            record["copy"] = _run_once(_run_copy(gm), gm, inputs, trial, encoder)


def _interpret(gm: fx.GraphModule) -> Answer:
    return lambda *args: fx.Interpreter(gm).run(*args)


def _run_copy(gm: fx.GraphModule) -> Answer:
    return lambda *args: copy.deepcopy(gm)(*args)


def _run_once(
    call: Answer, owner: Any, inputs: tuple[Any, ...], trial: Trial, encoder: Encoder
) -> Plain:
    def on_error(error: Exception) -> Plain:
        if is_stub(error):
            raise error
        return record_of(error)

    return run_once(call, inputs, encoder, owner=owner, log=trial.log, on_error=on_error)
