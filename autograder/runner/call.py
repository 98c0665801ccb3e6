"""Calls an answer, records what it changes, and runs the graph module that it returned."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from torch import fx

from autograder.core.codec import Encoded, Encoder
from autograder.core.execution import RUN_SEED, CallResult, ErrorRecord, run_once, seed_all
from autograder.core.exercise import Trial
from autograder.core.graph_record import describe, nodes_of
from autograder.core.limits import bounded_output
from autograder.core.outcome import Change, Outcome, Part, ResultRecord
from autograder.runner.exceptions import is_stub, record_of
from autograder.runner.forbidden import spying_on
from autograder.runner.snapshot import Snapshot

Answer = Callable[..., Any]


def call_watched(answer: Answer, trial: Trial, outcome: Outcome, *args: Any) -> Any:
    """Call the answer, and record its changes to the case's objects and its forbidden uses."""
    with watching(trial, outcome):
        return answer(*(args or trial.args), **trial.kwargs)


@contextmanager
def watching(trial: Trial, outcome: Outcome) -> Iterator[None]:
    """Set the seed, and record changes to the case's objects and uses of forbidden attributes."""
    seed_all(RUN_SEED)
    watched = [Snapshot(value) for value in (trial.model, *trial.watch) if value is not None]
    metas = _metas(trial)
    with spying_on(trial.forbidden) as used:
        try:
            yield
        finally:
            outcome.used += [name for name in used if name not in outcome.used]
            for snapshot in watched:
                outcome.changed += [c for c in snapshot.changes() if c not in outcome.changed]
            if _metas(trial) != metas:
                outcome.changed.append(Change(Part.META, "the `meta` of its nodes was changed"))


def _metas(trial: Trial) -> list[Encoded]:
    """The `meta` of the nodes of a case's graph module, if the case compares it."""
    if not (trial.noted and isinstance(trial.model, fx.GraphModule)):
        return []
    return [repr(Encoder().encode(node.meta)) for node in nodes_of(trial.model.graph)]


def meta_keys(trial: Trial) -> list[str]:
    """The keys of the ``meta`` of a case's nodes."""
    assert isinstance(trial.model, fx.GraphModule)
    return list(dict.fromkeys(key for node in nodes_of(trial.model.graph) for key in node.meta))


def encode_result(value: Any, trial: Trial, encoder: Encoder) -> ResultRecord:
    """Encode a result; graph modules become descriptions, also inside tuples."""
    if isinstance(value, fx.GraphModule):
        described = describe(value, encoder, trial.model)
        if trial.noted:
            keys = meta_keys(trial)
            described["meta"] = [
                {key: encoder.encode(node.meta[key]) for key in keys if key in node.meta}
                for node in nodes_of(value.graph)
            ]
        return {"graph_module": described}
    if isinstance(value, tuple):  # including named tuples, whose class does not tell their content
        return {"tuple": [encode_result(item, trial, encoder) for item in tuple.__iter__(value)]}
    return cast(ResultRecord, encoder.encode(value))


def run_result(gm: fx.GraphModule, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a graph module on the inputs: directly, in an Interpreter, and as a copy if asked."""
    with bounded_output(0):  # FX prints whole tracebacks when a graph's code fails
        _run_on_inputs(gm, trial, outcome, encoder)


def _run_on_inputs(gm: fx.GraphModule, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    for i, inputs in enumerate(trial.inputs):
        if len(outcome.runs) <= i:
            outcome.runs.append({})
        record = outcome.runs[i]
        record["forward"] = run_recorded(gm, gm, inputs, trial, encoder)
        record["interpreter"] = run_recorded(_interpret(gm), gm, inputs, trial, encoder)
        if i == 0 and trial.copied:
            record["copy"] = run_recorded(_run_copy(gm), gm, inputs, trial, encoder)


def _interpret(gm: fx.GraphModule) -> Answer:
    return lambda *args: fx.Interpreter(gm).run(*args)


def _run_copy(gm: fx.GraphModule) -> Answer:
    return lambda *args: copy.deepcopy(gm)(*args)


def run_recorded(
    call: Answer, owner: Any, inputs: tuple[Any, ...], trial: Trial, encoder: Encoder
) -> CallResult:
    """Run once on fresh inputs, and record the value or the exception."""

    def on_error(error: Exception) -> ErrorRecord:
        if is_stub(error):
            raise error
        return record_of(error)

    return run_once(call, inputs, encoder, owner=owner, log=trial.log, on_error=on_error)
