"""How an answer is exercised that returns decomposition rules: they are run on Proxies."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx, nn
from torch.fx.node import map_arg
from torch.fx.proxy import GraphAppendingTracer
from torch.nn import functional as F

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome
from autograder.runner.call import Answer, call_watched, run_result
from autograder.runner.exceptions import is_stub, record_of
from autograder.runner.functions import encode_result

_WITH_RULES = torch.relu, F.silu, torch.softmax
"""What rules are asked for. No others are used, so that this here is no answer to `decompose`."""


def rules(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function that returns a dictionary of rules.

    They are applied to the case's model, and the result is described and run as a pass's is. The
    functions that have rules stand beside it, under ``"keys"``. If a rule raises, its exception
    is recorded in place of a result.
    """
    found = call_watched(answer, trial, outcome)
    if not isinstance(found, dict):
        outcome.value = encode_result(found, trial, encoder)
        return
    keys = {"list": [encoder.encode(key) for key in found]}
    try:
        result = _applied(found, trial)
    except Exception as error:
        if is_stub(error):
            raise
        outcome.value = {"rule_error": record_of(error), "keys": keys}
        return
    outcome.value = encode_result(result, trial, encoder) | {"keys": keys}
    run_result(result, trial, outcome, encoder)


def _applied(found: dict[Any, Any], trial: Trial) -> fx.GraphModule:
    """The case's model, decomposed by an answer's rules.

    The judge's `exercises.ch05_proxy.rubric` does this for any rules; the box must not have that.
    """
    if not isinstance(trial.model, nn.Module):
        raise TypeError("a case of rules has a model")
    gm = fx.symbolic_trace(trial.model)
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    values: dict[fx.Node, Any] = {}

    def proxy_of(node: fx.Node) -> Any:
        value = values[node]
        return fx.Proxy(value, tracer) if isinstance(value, fx.Node) else value

    for node in gm.graph.nodes:
        if node.target in _WITH_RULES and node.target in found:
            result = found[node.target](*map_arg(node.args, proxy_of), **node.kwargs)
            values[node] = result.node if isinstance(result, fx.Proxy) else result
        else:
            values[node] = graph.node_copy(node, values.__getitem__)
    return fx.GraphModule(gm, graph)
