"""Answers for `derivative`."""

from __future__ import annotations

import operator

import torch
from torch import fx, nn
from torch.fx.proxy import GraphAppendingTracer

from tests.exercises import right, wrong

KINDS = {
    **dict.fromkeys((operator.add, torch.add, "add"), "add"),
    **dict.fromkeys((operator.sub, torch.sub, "sub"), "sub"),
    **dict.fromkeys((operator.mul, torch.mul, "mul"), "mul"),
    **dict.fromkeys((operator.neg, torch.neg, "neg"), "neg"),
    **dict.fromkeys((torch.sin, "sin"), "sin"),
    **dict.fromkeys((torch.cos, "cos"), "cos"),
    **dict.fromkeys((torch.exp, "exp"), "exp"),
    **dict.fromkeys((torch.ones_like, torch.zeros_like), "constant"),
}

RULES = {
    "add": lambda a, b, da, db: da + db,
    "sub": lambda a, b, da, db: da - db,
    "mul": lambda a, b, da, db: da * b + a * db,
    "neg": lambda a, da: -da,
    "sin": lambda a, da: torch.cos(a) * da,
    "cos": lambda a, da: -torch.sin(a) * da,
    "exp": lambda a, da: torch.exp(a) * da,
    "constant": lambda a, da: torch.zeros_like(da),
}


def arguments_of(node):
    return [*node.args, *(node.kwargs[k] for k in ("input", "other") if k in node.kwargs)]


def forward_mode(
    fn,
    *,
    rules=None,
    kinds=KINDS,
    name=lambda node: node.target,
    seed=torch.ones_like,
    zero=torch.zeros_like,
    arguments=arguments_of,
    number_slope=0,
    alpha=True,
):
    """Forward mode with tensors everywhere: the slope of the parameter is a tensor of ones."""
    rules = {**RULES, **(rules or {})}
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    value, slope = {}, {}
    for node in fx.symbolic_trace(fn).graph.nodes:
        if node.op == "placeholder":
            parameter = value[node] = fx.Proxy(graph.placeholder(name(node)), tracer)
            slope[node] = seed(parameter)
        elif node.op == "output":
            (result,) = node.args
            graph.output((slope[result] if isinstance(result, fx.Node) else zero(parameter)).node)
        else:
            args = arguments(node)
            values = [value.get(a, a) if isinstance(a, fx.Node) else a for a in args]
            slopes = [
                slope.get(a, number_slope) if isinstance(a, fx.Node) else number_slope for a in args
            ]
            value[node] = fx.Proxy(graph.node_copy(node, lambda n: value[n].node), tracer)
            if alpha and "alpha" in node.kwargs:
                slopes[1] = slopes[1] * node.kwargs["alpha"]
            slope[node] = rules[kinds[node.target]](*values, *slopes)
    return fx.GraphModule(nn.Module(), graph)


def with_rule(**rules):
    """A wrong answer with other rules."""
    return lambda fn: forward_mode(fn, rules=rules)


# ------------------------------------------------------------------ right


@right("forward mode, tensors everywhere")
def forward(fn):
    return forward_mode(fn)


@right("reverse mode", debrief=True)
def reverse(fn):
    old = fx.symbolic_trace(fn)
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    value, grads = {}, {}
    for node in old.graph.nodes:
        if node.op != "output":
            value[node] = fx.Proxy(graph.node_copy(node, lambda n: value[n].node), tracer)
    parameter = next(iter(value))
    (result,) = old.graph.output_node().args

    def give(node, gradient):
        if isinstance(node, fx.Node):
            grads[node] = grads[node] + gradient if node in grads else gradient

    give(result, torch.ones_like(value[parameter]))
    for node in reversed(old.graph.nodes):
        if node.op in ("placeholder", "output") or node not in grads:
            continue
        g, kind, args = grads[node], KINDS[node.target], arguments_of(node)
        v = [value[a] if isinstance(a, fx.Node) else a for a in args]
        if kind in ("add", "sub"):
            give(args[0], g)
            g = g * node.kwargs.get("alpha", 1)
            give(args[1], g if kind == "add" else -g)
        elif kind == "mul":
            give(args[0], g * v[1])
            give(args[1], g * v[0])
        elif kind == "neg":
            give(args[0], -g)
        elif kind == "sin":
            give(args[0], g * v[0].cos())
        elif kind == "cos":
            give(args[0], -(g * v[0].sin()))
        elif kind == "exp":
            give(args[0], g * value[node])
    found = grads.get(parameter)
    graph.output((torch.zeros_like(value[parameter]) if found is None else found).node)
    return fx.GraphModule(old, graph)


@right("an Interpreter with pairs of Proxies")
def dual(fn):
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)

    class Dual(fx.Interpreter):
        def placeholder(self, target, args, kwargs):
            self.x = fx.Proxy(graph.placeholder(target), tracer)
            return self.x, torch.ones_like(self.x)

        def _call(self, target, args, kwargs):
            args = [*args, *(kwargs[k] for k in ("input", "other") if k in kwargs)]
            pairs = [a if isinstance(a, tuple) else (a, 0) for a in args]
            v, d = [p[0] for p in pairs], [p[1] for p in pairs]
            kind = KINDS[target]
            if kind == "constant":
                return (torch.ones_like if target is torch.ones_like else torch.zeros_like)(
                    v[0]
                ), torch.zeros_like(v[0])
            own = getattr(torch, kind)
            if kind in ("add", "sub", "mul"):
                own = getattr(operator, kind)
            if "alpha" in kwargs:
                v[1], d[1] = v[1] * kwargs["alpha"], d[1] * kwargs["alpha"]
            return own(*v), RULES[kind](*v, *d)

        call_function = call_method = _call

        def output(self, target, args, kwargs):
            (found,) = args
            return found[1] if isinstance(found, tuple) else torch.zeros_like(self.x)

    result = Dual(fx.symbolic_trace(fn)).run(0)
    graph.output(result.node)
    return fx.GraphModule(nn.Module(), graph)


@right("a recursion over nodes")
def recursive(fn):
    gm = fx.symbolic_trace(fn)
    graph = gm.graph
    output = graph.output_node()
    (x,) = (n for n in graph.nodes if n.op == "placeholder")
    done = {}

    def call(function, *args):
        return graph.call_function(function, args)

    def slope(node):
        if not isinstance(node, fx.Node):
            return 0.0
        if node not in done:
            done[node] = of(node)
        return done[node]

    def of(node):
        if node is x:
            return 1.0
        if node.target in (torch.full_like, torch.zeros_like):
            return 0.0
        kind, (a, *more) = KINDS[node.target], arguments_of(node)
        if kind in ("add", "sub"):
            second = call(operator.mul, slope(more[0]), node.kwargs.get("alpha", 1))
            return call(getattr(operator, kind), slope(a), second)
        if kind == "mul":
            left = call(operator.mul, slope(a), more[0])
            return call(operator.add, left, call(operator.mul, a, slope(more[0])))
        if kind == "neg":
            return call(operator.neg, slope(a))
        if kind == "sin":
            return call(operator.mul, call(torch.cos, a), slope(a))
        if kind == "cos":
            return call(operator.neg, call(operator.mul, call(torch.sin, a), slope(a)))
        return call(operator.mul, node, slope(a))

    with graph.inserting_before(output):
        found = slope(output.args[0])
        zero = graph.call_function(torch.zeros_like, (x,))
        output.args = (graph.call_function(operator.add, (zero, found)),)
    gm.recompile()
    return gm


@right("zero made of the input")
def input_times_zero(fn):
    return forward_mode(fn, seed=lambda x: x * 0 + 1, zero=lambda x: x * 0)


@right("a graph module edited, methods, dead code deleted")
def tidy(fn):
    rules = {
        "sin": lambda a, da: a.cos().mul(da),
        "cos": lambda a, da: a.sin().neg().mul(da),
        "exp": lambda a, da: da.mul(a.exp()),
        "neg": lambda a, da: da.neg(),
    }
    gm = forward_mode(fn, rules=rules)
    gm.graph.eliminate_dead_code()
    gm.graph.lint()
    gm.recompile()
    return gm


@right("numbers as slopes, a full tensor at the end")
def numbers(fn):
    kinds = {**KINDS, torch.full_like: "full"}

    def result(slope, parameter):
        return slope if isinstance(slope, fx.Proxy) else torch.full_like(parameter, slope)

    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    pairs = {}
    for node in fx.symbolic_trace(fn).graph.nodes:
        if node.op == "placeholder":
            parameter = fx.Proxy(graph.placeholder(node.target), tracer)
            pairs[node] = (parameter, 1.0)
        elif node.op == "output":
            (found,) = node.args
            slope = pairs[found][1] if isinstance(found, fx.Node) else 0.0
            graph.output(result(slope, parameter).node)
        else:
            copied = fx.Proxy(graph.node_copy(node, lambda n: pairs[n][0].node), tracer)
            own = [pairs[a] if isinstance(a, fx.Node) else (a, 0.0) for a in arguments_of(node)]
            v, d = [p[0] for p in own], [p[1] for p in own]
            if "alpha" in node.kwargs:
                d[1] = d[1] * node.kwargs["alpha"]
            kind = kinds[node.target]
            pairs[node] = (copied, 0.0 if kind == "full" else RULES[kind](*v, *d))
    return fx.GraphModule(nn.Module(), graph)


# ------------------------------------------------------------------ wrong: the rules

half_product_rule = with_rule(
    mul=lambda a, b, da, db: da * b if isinstance(a, fx.Proxy) else a * db
)
no_chain_rule = with_rule(sin=lambda a, da: torch.cos(a))


@wrong("alpha forgotten", "wrong-result", clause="alpha")
def no_alpha(fn):
    return forward_mode(fn, alpha=False)


@wrong("half of the product rule", "wrong-result", clause="rules")
def half_product(fn):
    return half_product_rule(fn)


@wrong("no chain rule for sin", "wrong-result", clause="chain-rule")
def chainless(fn):
    return no_chain_rule(fn)


@wrong("a number has the slope 1", "wrong-result", clause="numbers")
def numbers_move(fn):
    return forward_mode(fn, number_slope=1)


# ------------------------------------------------------------------ wrong: used twice


@wrong("reverse mode, the last path counts", "wrong-result", clause="twice")
def last_path(fn):
    old = fx.symbolic_trace(fn)
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    value, grads = {}, {}
    for node in old.graph.nodes:
        if node.op != "output":
            value[node] = fx.Proxy(graph.node_copy(node, lambda n: value[n].node), tracer)
    parameter = next(iter(value))
    (result,) = old.graph.output_node().args
    if isinstance(result, fx.Node):
        grads[result] = torch.ones_like(value[parameter])
    signs = {"add": (1, 1), "sub": (1, -1)}
    for node in reversed(old.graph.nodes):
        if node.op in ("placeholder", "output") or node not in grads:
            continue
        g, kind, args = grads[node], KINDS[node.target], arguments_of(node)
        v = [value[a] if isinstance(a, fx.Node) else a for a in args]
        if kind in signs:
            local = [g * sign for sign in signs[kind]]
        elif kind == "mul":
            local = [g * v[1], g * v[0]]
        elif kind == "constant":
            local = [torch.zeros_like(g)]
        else:
            local = [RULES[kind](v[0], g)]
        for arg, gradient in zip(args, local, strict=True):
            if isinstance(arg, fx.Node):
                grads[arg] = gradient
    if parameter not in grads:
        grads[parameter] = torch.zeros_like(value[parameter])
    graph.output(grads[parameter].node)
    return fx.GraphModule(old, graph)


# ------------------------------------------------------------------ wrong: spellings


def without(*targets):
    return {target: kind for target, kind in KINDS.items() if target not in targets}


@wrong("no methods", "crashed", clause="methods")
def no_methods(fn):
    return forward_mode(fn, kinds=without("add", "sub", "mul", "neg", "sin", "cos", "exp"))


@wrong("no operators", "crashed", clause="operators")
def no_operators(fn):
    kinds = without(operator.add, operator.sub, operator.mul, operator.neg)
    return forward_mode(fn, kinds=kinds)


@wrong("no torch.sub", "crashed", clause="functions")
def no_sub(fn):
    return forward_mode(fn, kinds=without(torch.sub))


@wrong("keywords in the order of the call", "wrong-result", clause="keyword-calls")
def keywords_in_order(fn):
    return forward_mode(fn, arguments=lambda node: [*node.args, *node.kwargs.values()])


# ------------------------------------------------------------------ wrong: constants, dtypes


def plain_numbers(fn, finish=lambda slope, parameter: slope):
    """Forward mode with numbers as slopes; `finish` converts the number that is the result."""
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    pairs = {}
    constants = (torch.full_like, torch.zeros_like, torch.ones_like, torch.ones, torch.full)
    for node in fx.symbolic_trace(fn).graph.nodes:
        if node.op == "placeholder":
            parameter = fx.Proxy(graph.placeholder(node.target), tracer)
            pairs[node] = (parameter, 1.0)
        elif node.op == "output":
            (found,) = node.args
            slope = pairs[found][1] if isinstance(found, fx.Node) else 0.0
            slope = slope if isinstance(slope, fx.Proxy) else finish(slope, parameter)
            graph.output(slope.node if isinstance(slope, fx.Proxy) else slope)
        else:
            copied = fx.Proxy(graph.node_copy(node, lambda n: pairs[n][0].node), tracer)
            own = [pairs[a] if isinstance(a, fx.Node) else (a, 0.0) for a in arguments_of(node)]
            v, d = [p[0] for p in own], [p[1] for p in own]
            known = node.target in KINDS and node.target not in constants
            pairs[node] = (copied, RULES[KINDS[node.target]](*v, *d) if known else 0.0)
    return fx.GraphModule(nn.Module(), graph)


@wrong("a tensor without dimensions for a constant slope", "wrong-shape", clause="shape")
def no_shape(fn):
    def finish(slope, parameter):
        return parameter.new_tensor(slope)

    return plain_numbers(fn, finish)


@wrong("always float64", "wrong-dtype", clause="dtype")
def always_double(fn):
    def finish(slope, parameter):
        return torch.full_like(parameter, slope, dtype=torch.float64)

    return plain_numbers(fn, finish)


@wrong("a constant function stays", "wrong-result", clause="constant")
def constant_stays(fn):
    (result,) = fx.symbolic_trace(fn).graph.output_node().args
    if not isinstance(result, fx.Node):
        return forward_mode(fn, zero=lambda x: torch.full_like(x, result))
    return forward_mode(fn)


# ------------------------------------------------------------------ wrong: again, and the rest


@wrong("its own results not understood", "crashed", clause="again")
def once_only(fn):
    return forward_mode(fn, kinds=without(torch.ones_like, torch.zeros_like))


@wrong("the parameter is called x", "lost-signature", clause="parameter")
def called_x(fn):
    return forward_mode(fn, name=lambda node: "x")


@wrong("a given graph module edited", "caller-changed", clause="common.fresh-trace")
def edits_the_caller(fn):
    result = forward_mode(fn)
    if isinstance(fn, fx.GraphModule):
        fn.graph = result.graph
        fn.recompile()
        return fn
    return result


@wrong("recompile forgotten", "stale-code", clause="common.recompiled")
def stale(fn):
    gm = fx.symbolic_trace(fn)
    gm.graph.output_node().args = forward_mode(fn).graph.output_node().args
    gm._graph = forward_mode(fn).graph
    gm._graph.owning_module = gm
    return gm


BEYOND = {
    "always float64": "random inputs are float64, where right formulas agree",
}


NOT_ON_NETWORKS = "it takes functions of numbers"


DECIDES_NOTHING = [
    (
        r"value\.graph_module\.nodes\[\]\.kwargs\.dict.*",
        "a sum whose value no slope reads may have any alpha",
    ),
]
"""Places in an outcome that decide no points, with the reason."""
