"""Decomposition rules.

A function that returns a dictionary of rules: for a function of PyTorch, what to compute instead.

**Input.** Nothing.

**Result.** A dictionary from functions to rules. A rule is a function of the same arguments.

* For each call that has a rule, the check runs the rule on Proxies in a graph of its own. It looks
  at the recorded calls, and runs them.
* The check itself puts the rules into the model's graph, so a mistake in a pass cannot hide a
  mistake in a rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import fx, nn
from torch.fx.node import map_arg
from torch.fx.proxy import GraphAppendingTracer

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.graph_record import CallRecord, call_of, describe_nodes
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer, call_watched, encode_result
from autograder.runner.canary import Small, small_inputs
from autograder.runner.exceptions import is_stub, record_of

RIGHT = """\
def NAME():
    return {torch.relu: lambda x: torch.sigmoid(x)}
"""


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a function that returns a dictionary of rules.

    For each call, in the trace of the case's model, of a function with a rule, the rule runs on
    Proxies for the call's arguments. The recorded graphs, one for each call, are described under
    ``"rules"``, and the functions with rules are under ``"keys"``. If a rule raises, its exception
    is recorded instead. The judge, not this function, puts the nodes into the model's graph.
    """
    found = call_watched(answer, trial, outcome)
    if not isinstance(found, dict):
        outcome.value = encode_result(found, trial, encoder)
        return
    if not isinstance(trial.model, nn.Module):
        raise TypeError("a case of rules has a model")
    keys = {"list": [encoder.encode(key) for key in found]}
    calls = [node for node in fx.symbolic_trace(trial.model).graph.nodes if node.target in found]
    try:
        graphs = [_record_rule(found[call.target], call) for call in calls]
    except Exception as error:
        if is_stub(error):
            raise
        outcome.value = {"rule_error": record_of(error), "keys": keys}
        return
    outcome.value = {"rules": [_describe(graph, encoder) for graph in graphs], "keys": keys}


def _describe(graph: fx.Graph, encoder: Encoder) -> list[CallRecord]:
    """Describe a graph's nodes without their links, which the judge computes."""
    return [call_of(row) for row in describe_nodes(graph, encoder)]


def _record_rule(rule: Callable[..., Any], call: fx.Node) -> fx.Graph:
    """Run a rule on a call's arguments, with Proxies for nodes, and return the recorded graph."""
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    given: dict[fx.Node, Any] = {
        node: fx.Proxy(graph.placeholder(node.name), tracer) for node in call.all_input_nodes
    }
    args, kwargs = map_arg((call.args, call.kwargs), given.__getitem__)
    result = rule(*args, **kwargs)
    graph.output(result.node if isinstance(result, fx.Proxy) else result)
    return graph


def _canary_trial(seed: int) -> Trial:
    return Trial(model=Small(), inputs=small_inputs())


KIND = AnswerKind(run, canary_trial=_canary_trial)
