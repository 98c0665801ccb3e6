"""How answers are exercised that take a graph module as it is, and return a new one."""

from __future__ import annotations

from typing import Any

from torch import fx

from autograder.core.codec import Encoder, Plain
from autograder.core.exercise import Trial
from autograder.core.outcome import Change, Outcome, Part
from autograder.runner.call import Answer
from autograder.runner.functions import transform


def rewrite(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function of a graph module, the case's first argument, that returns another one.

    The nodes' ``meta`` is described too, as far as the case's own nodes have the keys; and it is
    noted whether the result has a graph of its own.
    """
    gm: fx.GraphModule = trial.args[0]
    graph = gm.graph
    keys = list(dict.fromkeys(key for node in graph.nodes for key in node.meta))
    before = _metas(gm)
    results: list[Any] = []

    def made(*args: Any, **kwargs: Any) -> Any:
        results.append(answer(*args, **kwargs))
        return results[0]

    try:
        transform(made, trial, outcome, encoder)
    finally:
        after = _metas(gm)
        changed = [name for name, meta in before.items() if after.get(name, meta) != meta]
        for name in changed[:1]:
            words = f"the meta of node `{name}` was changed"
            outcome.changed.append(Change(Part.META, words))
    (result,) = results
    if isinstance(result, fx.GraphModule):
        outcome.value["new"] = result is not gm and result.graph is not graph
        outcome.value["graph_module"]["meta"] = [
            {key: encoder.encode(node.meta[key]) for key in keys if key in node.meta}
            for node in result.graph.nodes
        ]


def _metas(gm: fx.GraphModule) -> dict[str, Plain]:
    return {node.name: Encoder().encode(dict(node.meta)) for node in gm.graph.nodes}
