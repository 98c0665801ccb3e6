"""Replaces calls in a graph by what rules record: Python functions that are run on Proxies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import fx
from torch.fx.node import map_arg
from torch.fx.proxy import GraphAppendingTracer

Rules = Mapping[Callable[..., Any], Callable[..., Any]]
RECORDED = "recorded by a rule"
"""The key under which a node's ``meta`` names the function whose rule has recorded it."""


def decomposed_graph(gm: fx.GraphModule, rules: Rules) -> fx.Graph:
    """A copy of a module's graph with each call of a function in `rules` replaced.

    Raises:
        Exception: whatever a rule raises.
    """
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    values: dict[fx.Node, Any] = {}

    def proxy_of(node: fx.Node) -> Any:
        value = values[node]
        return fx.Proxy(value, tracer) if isinstance(value, fx.Node) else value

    for node in gm.graph.nodes:
        if node.op != "call_function" or node.target not in rules:
            values[node] = graph.node_copy(node, values.__getitem__)
            continue
        known = len(graph.nodes)
        result = rules[node.target](*map_arg(node.args, proxy_of), **map_arg(node.kwargs, proxy_of))
        values[node] = result.node if isinstance(result, fx.Proxy) else result
        for new in list(graph.nodes)[known:]:
            new.meta[RECORDED] = node.target
    return graph
