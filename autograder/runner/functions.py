"""How answers are exercised that are functions: analyses, passes, functions of tensors."""

from __future__ import annotations

from typing import Any

from torch import fx

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.graph_record import nodes_of
from autograder.core.limits import bounded_output
from autograder.core.outcome import Outcome, Way
from autograder.runner.call import (
    Answer,
    call_watched,
    encode_result,
    run_recorded,
    run_result,
    watching,
)
from autograder.runner.exceptions import is_stub, record_of


def analysis(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function of a model whose result is data."""
    result = call_watched(answer, trial, outcome)
    if trial.meanwhile is not None:
        trial.meanwhile(answer)
    outcome.value = encode_result(result, trial, encoder)


def transform(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A pass: its result is a graph module, which is described and run."""
    transformed(answer, trial, outcome, encoder)


def transformed(
    answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder
) -> fx.GraphModule | None:
    """What a pass gives, which is described and run; ``None`` if it is no graph module."""
    result = call_watched(answer, trial, outcome)
    if trial.then is not None and isinstance(result, fx.GraphModule):
        result = call_watched(answer, trial, outcome, trial.then(result))
    if trial.meanwhile is not None and isinstance(result, fx.GraphModule):
        trial.meanwhile(answer)
    outcome.value = encode_result(result, trial, encoder)
    if not isinstance(result, fx.GraphModule):
        return None
    run_result(result, trial, outcome, encoder)
    return result


def traced_function(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function of tensors that is run as it is, then traced and run again."""
    for inputs in trial.inputs:
        outcome.runs.append({"eager": run_recorded(answer, answer, inputs, trial, encoder)})
    try:
        graph_module = fx.symbolic_trace(answer)
    except Exception as error:
        if is_stub(error):
            raise
        outcome.value = {"trace_error": record_of(error)}
        return
    outcome.value = encode_result(graph_module, trial, encoder)
    run_result(graph_module, trial, outcome, encoder)


def drawn_twice(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function of tensors that draws random numbers: called twice in each run, and so its trace.

    Nothing is seeded between the two calls.
    """

    def twice(call: Answer) -> Answer:
        return lambda *args: (call(*args), call(*args))

    for inputs in trial.inputs:
        record = run_recorded(twice(answer), answer, inputs, trial, encoder)
        outcome.runs.append({"eager": record})
    try:
        graph_module = fx.symbolic_trace(answer)
    except Exception as error:
        if is_stub(error):
            raise
        outcome.value = {"trace_error": record_of(error)}
        return
    outcome.value = encode_result(graph_module, trial, encoder)
    with bounded_output(0):  # FX prints whole tracebacks when a graph's code fails
        for record, inputs in zip(outcome.runs, trial.inputs, strict=True):
            calls: dict[Way, Any] = {
                "forward": graph_module, "interpreter": fx.Interpreter(graph_module).run
            }  # fmt: skip
            for way, call in calls.items():
                record[way] = run_recorded(twice(call), graph_module, inputs, trial, encoder)


def each_node(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function of a node, called on every node of the case's graph module."""
    (gm,) = trial.args
    nodes = nodes_of(gm.graph)
    index = {id(node): i for i, node in enumerate(nodes)}
    encoder.node = lambda n: {"node": index[id(n)]} if id(n) in index else {"foreign": str(n.name)}
    rows = []
    with watching(trial, outcome):  # once: to look at the whole graph for each node takes long
        for node in nodes:
            rows.append(encoder.encode(answer(node, **trial.kwargs)))
            outcome.value = {"list": rows}


def counted_transform(answer: Any, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A pass that returns ``(graph module, count)``.

    The description of the module becomes the value, as for a pass; the count stands beside
    it, under ``"count"``. Anything else that comes back is recorded as it is.
    """
    result = call_watched(answer, trial, outcome)
    outcome.value = encode_result(result, trial, encoder)
    if not isinstance(result, tuple) or tuple.__len__(result) != 2:
        return
    graph_module = tuple.__getitem__(result, 0)
    if isinstance(graph_module, fx.GraphModule):
        module, count = outcome.value["tuple"]
        outcome.value = {**module, "count": count}
        run_result(graph_module, trial, outcome, encoder)
