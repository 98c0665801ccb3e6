"""Rewrites of a graph module.

A function that takes a graph module and returns another one.

**Input.** A graph module. It is not traced again, so its nodes still have their `meta`.

**Result.** A new graph module with a graph of its own.

* The check describes and runs the new graph, as for a pass.
* It also looks at the `meta` of the new nodes, for the keys that the given nodes have.
* Your function must not change the given graph module.
"""

from __future__ import annotations

from typing import Any

from torch import fx

from autograder.core.codec import Encoded, Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Change, Outcome, Part
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer
from autograder.runner.canary import of_trace
from autograder.runner.kinds import transform

RIGHT = """\
def NAME(gm):
    return with_function(fx.symbolic_trace(gm), torch.sigmoid)
"""


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a function of a graph module, the case's first argument, that returns another one.

    The nodes' ``meta`` is described too, for the keys of the case's nodes. ``new`` says whether the
    result has a graph of its own.
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
        transform.run(made, trial, outcome, encoder)
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


def _metas(gm: fx.GraphModule) -> dict[str, Encoded]:
    return {node.name: Encoder().encode(dict(node.meta)) for node in gm.graph.nodes}


KIND = AnswerKind(run, canary_trial=of_trace, has_film=True)
