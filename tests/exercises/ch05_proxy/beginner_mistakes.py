"""Beginners' mistakes in chapter 05."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import fx, nn
from torch.fx.proxy import GraphAppendingTracer

from tests.exercises.mistakes import UNSTICKS, mistake


@mistake("build_with_proxies", "the Proxy itself is put out", UNSTICKS)
def proxy_out(*_):
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    x, y = (fx.Proxy(graph.placeholder(name), tracer) for name in ("x", "y"))
    graph.output(torch.neg(torch.tanh(torch.cat([x, y]))))
    return fx.GraphModule(nn.Module(), graph)


@mistake("build_with_proxies", "a tracer for each Proxy", UNSTICKS)
def two_tracers():
    graph = fx.Graph()
    x, y = (fx.Proxy(graph.placeholder(name), GraphAppendingTracer(graph)) for name in ("x", "y"))
    graph.output(torch.neg(torch.tanh(torch.cat([x, y]))).node)
    return fx.GraphModule(nn.Module(), graph)


@mistake("build_with_proxies", "computes with nodes", UNSTICKS)
def with_nodes():
    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    graph.output(torch.neg(torch.tanh(torch.cat([x, y]))))
    return fx.GraphModule(nn.Module(), graph)


@mistake("decompose", "keyword arguments forgotten", UNSTICKS)
def no_kwargs(model, rules):
    gm = fx.symbolic_trace(model)
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    env = {}
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target in rules:
            args = fx.node.map_arg(node.args, lambda n: fx.Proxy(env[n], tracer))
            env[node] = rules[node.target](*args).node
        else:
            env[node] = graph.node_copy(node, env.__getitem__)
    return fx.GraphModule(gm, graph)


@mistake("decompose", "rules get nodes", UNSTICKS)
def rules_get_nodes(model, rules):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.target in rules:
            with gm.graph.inserting_before(node):
                node.replace_all_uses_with(rules[node.target](*node.args, **node.kwargs))
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@mistake("decomposition_rules", "relu by a branch", UNSTICKS)
def branch():
    return {
        torch.relu: lambda x: x if x > 0 else 0,
        F.silu: lambda x, inplace=False: x * torch.sigmoid(x),
        torch.softmax: lambda x, dim: torch.exp(x) / torch.exp(x).sum(dim, keepdim=True),
    }


@mistake("decomposition_rules", "softmax without its maximum", UNSTICKS)
def no_maximum():
    return {
        torch.relu: lambda x: x.clamp(min=0),
        F.silu: lambda x, inplace=False: x * torch.sigmoid(x),
        torch.softmax: lambda x, dim: torch.exp(x) / torch.exp(x).sum(dim, keepdim=True),
    }
