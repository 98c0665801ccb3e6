"""Transformers.

A subclass of `fx.Transformer` that makes a new graph module from a given one.

**Input.** A graph module, when an object of your class is made.

**Result.** A new graph module, from `transform()`.

* The check describes and runs the new graph, as for a pass. It looks at the `meta` of the nodes,
  for the keys that the given nodes have.
* Your class must not change the given graph module.
"""

from __future__ import annotations

from typing import Any

from torch import fx

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Change, Outcome, Part
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.canary import of_trace
from autograder.runner.kinds import transform
from autograder.runner.kinds.interpreter import as_it_was_raised, is_made_from

RIGHT = """\
class NAME(fx.Transformer):
    def call_function(self, target, args, kwargs):
        target = torch.sigmoid if target is torch.relu else target
        return super().call_function(target, args, kwargs)
"""


def run(answer: Any, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a subclass of `fx.Transformer`; the result of its `transform()` is treated as a pass's.

    The nodes' ``meta`` is described too, for the keys of the case's nodes.
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
            raise as_it_was_raised(error) from None
        return results[0]

    transform.run(made, trial, outcome, encoder)
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


KIND = AnswerKind(run, canary_trial=of_trace, has_film=True)
