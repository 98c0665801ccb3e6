"""Tracers.

A subclass of `fx.Tracer` that decides what becomes a leaf.

**Input.** The arguments of your class, as the task describes them.

**Result.** Graphs, by `trace`.

* The check makes all tracers of a case first. Then each one traces in turn, so they must share
  nothing.
* It describes and runs each graph. Names of nodes do not count.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import fx, nn

from autograder.core.codec import Encoded, Encoder
from autograder.core.exercise import Trial
from autograder.core.graph_record import describe_nodes
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import call_watched
from autograder.runner.canary import one_tracer
from autograder.runner.kinds.interpreter import is_made_from
from autograder.runner.tensor_text import tensor_text

RIGHT = """\
class NAME(fx.Tracer):
    def is_leaf_module(self, module, path):
        return True
"""
SPOILT = ("True", "False")


def run(answer: Any, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a subclass of `fx.Tracer`: make all tracers first, then trace with each in turn.

    The trial's arguments are the positional and keyword arguments of each tracer, and the turns:
    pairs of a tracer's index and a model. The record leaves out names of nodes, because they depend
    on earlier attempts of a tracer.
    """
    if not is_made_from(fx.Tracer, answer, outcome):
        return

    def work(made: Any, turns: Any) -> None:
        tracers = [answer(*args, **kwargs) for args, kwargs in made]
        for place, model in turns:
            graph = tracers[place].trace(model)
            if not isinstance(graph, fx.Graph):
                outcome.value = f"a class whose `trace` gives a `{type(graph).__name__}`"
                return
            outcome.runs.append({"forward": {"value": instructions(graph, encoder)}})

    call_watched(work, trial, outcome)


def instructions(graph: fx.Graph, encoder: Encoder) -> Encoded:
    """A graph as a list of ``[op, target, args, kwargs]``, in plain form."""
    rows = describe_nodes(graph, encoder)
    told = [[row["op"], row["target"], row["args"], row["kwargs"]] for row in rows]
    return {"list": [{"list": row} for row in told]}


def call(name: str, trial: Trial) -> str:
    """The calls that make the tracers, and their calls of `trace`, in order."""
    made, turns = trial.args
    models: list[nn.Module] = []

    def word(value: Any) -> str:
        if isinstance(value, tuple):
            return f"({', '.join(map(word, value))}{',' * (len(value) == 1)})"
        if isinstance(value, torch.Tensor):
            return tensor_text(value)
        return getattr(value, "__name__", None) or repr(value)

    lines = []
    for place, (args, kwargs) in enumerate(made):
        given = [*map(word, args), *(f"{key}={word(value)}" for key, value in kwargs.items())]
        lines.append(f"tracer_{place} = {name}({', '.join(given)})")
    for place, model in turns:
        if all(model is not known for known in models):
            models.append(model)
        number = next(i for i, known in enumerate(models) if known is model)
        lines.append(f"tracer_{place}.trace({'model' if not number else f'model_{number}'})")
    return "\n".join(lines)


KIND = AnswerKind(run, canary_trial=one_tracer, call=call)
