"""Functions of a node.

A function that is called on every node of a graph.

**Input.** One node.

**Result.** Data about this node.

* The check tries all nodes of a case's graph module, one after the other. The card names the first
  node with a wrong value.
* The graph must not change.
"""

from __future__ import annotations

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.graph_record import nodes_of
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer, watching
from autograder.runner.canary import of_trace

RIGHT = """\
def NAME(node):
    return node.op
"""
SPOILT = ("node.op", "node.op.upper()")


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a function of a node on every node of the case's graph module."""
    (gm,) = trial.args
    nodes = nodes_of(gm.graph)
    index = {id(node): i for i, node in enumerate(nodes)}
    encoder.node = lambda n: {"node": index[id(n)]} if id(n) in index else {"foreign": str(n.name)}
    rows = []
    with watching(trial, outcome):  # once, because comparing the whole graph is slow
        for node in nodes:
            rows.append(encoder.encode(answer(node, **trial.kwargs)))
            outcome.value = {"list": rows}


KIND = AnswerKind(
    run,
    canary_trial=of_trace,
    call="{}(node), for each node of the model".format,
    calls=lambda trial: [((node,), {}) for node in trial.args[0].graph.nodes],
)
