"""Answers for `build_with_proxies`."""

from __future__ import annotations

import torch
from torch import fx, nn
from torch.fx.proxy import GraphAppendingTracer, Proxy

from tests.exercises import right, wrong


def built(formula, names=("x", "y"), root=None):
    """A module recorded from a formula on Proxies."""
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    proxies = [Proxy(graph.placeholder(name), tracer) for name in names]
    graph.output(formula(*proxies).node)
    return fx.GraphModule(nn.Module() if root is None else root, graph)


@right("step by step")
def _():
    graph = fx.Graph()
    raw_x, raw_y = graph.placeholder("x"), graph.placeholder("y")
    tracer = GraphAppendingTracer(graph)
    x, y = fx.Proxy(raw_x, tracer), fx.Proxy(raw_y, tracer)
    joined = torch.cat([x, y])
    graph.output(torch.neg(torch.tanh(joined)).node)
    graph.lint()
    return fx.GraphModule(torch.nn.Module(), graph)


@right("a function run on Proxies, a dictionary as root")
def _():
    def formula(x, y):
        return torch.neg(torch.tanh(torch.cat([x, y])))

    return built(formula, root={})


@right("the second Proxy takes the tracer of the first")
def _():
    graph = fx.Graph()
    x = Proxy(graph.placeholder("x"))
    y = Proxy(graph.placeholder("y"), x.tracer)
    graph.output(torch.neg(torch.tanh(torch.cat((x, y)))).node)
    return fx.GraphModule({}, graph, "Built")


@right("operators and methods, dim by keyword")
def _():
    return built(lambda x, y: -torch.concat([x, y], dim=0).tanh())


@right("the tracer makes every Proxy", debrief=True)
def _():
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    x = tracer.create_proxy("placeholder", "x", (), {})
    y = tracer.create_proxy("placeholder", "y", (), {})
    result = tracer.create_proxy("call_function", torch.cat, ([x, y],), {})
    result = torch.neg(torch.tanh(result))
    tracer.create_proxy("output", "output", (result,), {})
    return fx.GraphModule(nn.Module(), graph)


@right("a tracer of its own, an unused line erased again")
def _():
    class MyTracer(GraphAppendingTracer):
        """A GraphAppendingTracer with another name."""

    graph = fx.Graph()
    tracer = MyTracer(graph)
    x, y = (tracer.proxy(graph.placeholder(name)) for name in "xy")
    both = torch.cat([x, y])
    unused = both + 1
    graph.output(torch.neg(torch.tanh(both)).node)
    graph.erase_node(unused.node)
    return fx.GraphModule(nn.Module(), graph)


@right("joined last")
def _():
    return built(lambda x, y: torch.cat([-torch.tanh(x), -torch.tanh(y)]))


@right("dead code eliminated, recompiled")
def _():
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    x, y = (Proxy(graph.create_node("placeholder", name), tracer) for name in "xy")
    both = torch.cat([x, y])
    torch.exp(both)
    graph.output(torch.negative(torch.tanh(both)).node)
    gm = fx.GraphModule(nn.Module(), graph)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


# ------------------------------------------------------------------ wrong


@wrong("traced", "forbidden", clause="no-tracing")
def _():
    return fx.symbolic_trace(lambda x, y: torch.neg(torch.tanh(torch.cat([x, y]))))


@wrong("node by node, without Proxies", "no-proxies", clause="proxies")
def _():
    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    both = graph.call_function(torch.cat, ([x, y],))
    graph.output(graph.call_function(torch.neg, (graph.call_function(torch.tanh, (both,)),)))
    return fx.GraphModule(nn.Module(), graph)


@wrong("a line that nobody needs", "unused-node", clause="nothing-unused")
def _():
    def formula(x, y):
        c = torch.cat([x, y])
        torch.add(c, c)
        return torch.neg(torch.tanh(c))

    return built(formula)


@wrong("other names", "lost-signature", clause="signature")
def _():
    return built(lambda a, b: torch.neg(torch.tanh(torch.cat([a, b]))), ("a", "b"))


@wrong("the second input gets the dtype of the first", "wrong-dtype", clause="value")
def _():
    return built(lambda x, y: torch.neg(torch.tanh(torch.cat([x, y.type_as(x)]))))


@wrong("joined along the last dimension", "result-raises", clause="value")
def _():
    return built(lambda x, y: torch.neg(torch.tanh(torch.cat([x, y], dim=-1))))


@wrong("no neg", "wrong-result", clause="value")
def _():
    return built(lambda x, y: torch.tanh(torch.cat([x, y])))


@wrong("a tracer for each Proxy", "crashed", clause="proxies")
def _():
    graph = fx.Graph()
    x, y = Proxy(graph.placeholder("x")), Proxy(graph.placeholder("y"))
    graph.output(torch.neg(torch.tanh(torch.cat([x, y]))).node)
    return fx.GraphModule(nn.Module(), graph)


@wrong("finished after the module was made", "stale-code", clause="common.recompiled")
def _():
    gm = built(lambda x, y: torch.tanh(torch.cat([x, y])))
    tanh = list(gm.graph.nodes)[-2]
    with gm.graph.inserting_after(tanh):
        neg = gm.graph.call_function(torch.neg)
    tanh.replace_all_uses_with(neg)
    neg.args = (tanh,)
    return gm


TYPOS_ARE_RECORDED = "its answers call methods of a Proxy, which fail when the graph runs"
