"""How answers are exercised that are classes: interpreters, timers and transformers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from torch import fx

from autograder.core.codec import Encoder, Plain
from autograder.core.execution import run_once
from autograder.core.exercise import Trial
from autograder.core.outcome import Change, Outcome, Part
from autograder.runner.call import call_watched
from autograder.runner.exceptions import is_stub, record_of
from autograder.runner.functions import transform

SLOWEST_ASKED = (1, 2, 3, 0, 1_000)
"""The arguments with which a timer's `slowest` is asked."""


def interpreter(answer: Any, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A subclass of `fx.Interpreter`: one object of it runs all inputs, one after the other."""
    if not is_made_from(fx.Interpreter, answer, outcome):
        return

    def work(gm: fx.GraphModule) -> None:
        runner = answer(gm)
        for inputs in trial.inputs:
            outcome.runs.append({"forward": _run(runner.run, inputs, trial, encoder)})

    call_watched(work, trial, outcome)


def timer(answer: Any, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """An interpreter that keeps times and counts, which are noted after each run.

    All inputs are run on one object, then the first one on another object of the class.
    """
    if not is_made_from(fx.Interpreter, answer, outcome):
        return

    def work(gm: fx.GraphModule) -> None:
        runner = answer(gm)
        for inputs in trial.inputs:
            outcome.runs.append(_timed_run(runner, inputs, trial, encoder))
        outcome.runs.append(_timed_run(answer(gm), trial.inputs[0], trial, encoder))

    call_watched(work, trial, outcome)


def transformer(answer: Any, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A subclass of `fx.Transformer`: what its `transform()` returns is a pass's result.

    The nodes' ``meta`` is described too, as far as the case's own nodes have the keys.
    """
    if not is_made_from(fx.Transformer, answer, outcome):
        return
    (gm,) = trial.args
    keys = list(dict.fromkeys(key for node in gm.graph.nodes for key in node.meta))
    before = [dict(node.meta) for node in gm.graph.nodes]
    results: list[Any] = []

    def made(module: fx.GraphModule) -> Any:
        try:
            results.append(answer(module).transform())
        except NotImplementedError as error:
            raise _as_it_was_raised(error) from None
        return results[0]

    transform(made, trial, outcome, encoder)
    for node, meta in zip(gm.graph.nodes, before, strict=False):
        if dict(node.meta) != meta:
            words = f"the meta of node `{node.name}` was changed"
            outcome.changed.append(Change(Part.META, words))
    if isinstance(results[0], fx.GraphModule):
        given = {id(node.meta): node.name for node in gm.graph.nodes}
        shared = [given[id(n.meta)] for n in results[0].graph.nodes if id(n.meta) in given]
        for name in shared[:1]:
            words = f"the `meta` of node `{name}` is also that of a node of the result"
            outcome.changed.append(Change(Part.META, words))
        outcome.value["graph_module"]["meta"] = [
            {key: encoder.encode(node.meta[key]) for key in keys if key in node.meta}
            for node in results[0].graph.nodes
        ]


def is_made_from(base: type, answer: Any, outcome: Outcome) -> bool:
    """Whether the answer is a class of the right kind; if not, the outcome says what it is."""
    if isinstance(answer, type) and issubclass(answer, base):
        return True
    name = f"`fx.{base.__name__}`"
    if isinstance(answer, type):
        outcome.value = f"a class that is not made from {name}"
    else:
        outcome.value = f"a `{type(answer).__name__}`, not a class made from {name}"
    return False


def _run(call: Callable[..., Any], inputs: Any, trial: Trial, encoder: Encoder) -> Plain:
    def on_error(error: Exception) -> Plain:
        error = _as_it_was_raised(error)
        if is_stub(error):
            raise error
        return record_of(error)

    return run_once(call, inputs, encoder, owner=trial.model, log=trial.log, on_error=on_error)


def _as_it_was_raised(error: Exception) -> Exception:
    """An untouched stub's error without the report that `Interpreter.run` adds to it."""
    if type(error) is NotImplementedError and str(error).startswith("While executing"):
        error.args = ()
    return error


def _timed_run(runner: Any, inputs: Any, trial: Trial, encoder: Encoder) -> Plain:
    walls = [0.0]

    def call(*args: Any) -> Any:
        start = time.perf_counter()
        try:
            return runner.run(*args)
        finally:
            walls.append(time.perf_counter() - start)

    record = _run(call, inputs, trial, encoder)
    return {
        "forward": record,
        "timer": {
            "wall": walls[-1],
            "seconds": encoder.encode(runner.seconds),
            "calls": encoder.encode(runner.calls),
            "slowest": [[n, encoder.encode(runner.slowest(n))] for n in SLOWEST_ASKED],
        },
    }
