"""Answers for `inline`."""

from __future__ import annotations

import copy
import inspect
import operator

from torch import fx

from tests.exercises import GRAPH, right, wrong


def keeping(target):
    class Keep(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return module_qualified_name == target or super().is_leaf_module(
                m, module_qualified_name
            )

    return Keep()


def traced(model, target):
    tracer = keeping(target)
    graph = tracer.trace(model)
    return fx.GraphModule(tracer.root, graph)


def by_name(inner, args, kwargs):
    """The value of each placeholder."""
    given, values = list(args), {}
    for node in inner.nodes:
        if node.op == "placeholder":
            if given:
                values[node] = given.pop(0)
            elif node.target in kwargs:
                values[node] = kwargs[node.target]
            else:
                values[node] = node.args[0]
    return values


def rewire_one(user, node, result):
    user.args, user.kwargs = fx.node.map_arg(
        (user.args, user.kwargs), lambda n: result if n is node else n
    )


def rewire(node, result):
    """Make all readers of a node read `result`, which may be a tuple of nodes."""
    for user in list(node.users):
        rewire_one(user, node, result)


def prefixed(target, node):
    return f"{target}.{node.target}"


def open_calls(
    model,
    target,
    *,
    bind=by_name,
    rename=prefixed,
    renamed=("get_attr", "call_module"),
    wanted=None,
    trace=lambda sub: fx.Tracer().trace(sub),
):
    """A new graph with each call of `target` replaced; wrong answers replace one part of this."""
    sub = model.get_submodule(target)
    gm = traced(model, target)
    inner = trace(sub)
    graph, env, inside = fx.Graph(), {}, {}
    for node in gm.graph.nodes:
        called = node.op == "call_module" and node.target == target
        if not called or (wanted is not None and not wanted(node)):
            env[node] = graph.node_copy(node, lambda n: env[n])
            continue
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), lambda n: env[n])
        inside = bind(inner, args, kwargs)
        for n in inner.nodes:
            if n.op == "output":
                env[node] = fx.node.map_arg(n.args[0], lambda m, inside=inside: inside[m])
            elif n.op != "placeholder":
                inside[n] = graph.node_copy(n, lambda m, inside=inside: inside[m])
                if n.op in renamed:
                    inside[n].target = rename(target, n)
    return fx.GraphModule(gm, graph)


# ------------------------------------------------------------------ right


@right("a new graph")
def new_graph(model, target):
    return open_calls(model, target)


@right("graph_copy at the place of the call")
def graph_copied(model, target):
    gm = traced(model, target)
    submodule = model.get_submodule(target)
    for node in list(gm.graph.nodes):
        if not (node.op == "call_module" and node.target == target):
            continue
        inner = fx.symbolic_trace(submodule).graph
        names = [n for n in inner.nodes if n.op == "placeholder"]
        bound = inspect.signature(submodule.forward).bind(*node.args, **node.kwargs)
        bound.apply_defaults()
        values = {n: bound.arguments[n.target] for n in names}
        with gm.graph.inserting_before(node):
            result = gm.graph.graph_copy(inner, values)
        for n in inner.nodes:
            if n.op in ("get_attr", "call_module"):
                values[n].target = f"{target}.{n.target}"
        rewire(node, result)
        gm.graph.erase_node(node)
    gm.recompile()
    return gm


@right("a tracer that goes through the target", debrief=True)
def transparent(model, target):
    model.get_submodule(target)

    class Through(fx.Tracer):
        def is_leaf_module(self, m, qualname):
            return qualname != target and super().is_leaf_module(m, qualname)

    tracer = Through()
    graph = tracer.trace(model)
    return fx.GraphModule(tracer.root, graph)


@right("a tracer that calls forward itself")
def calls_forward(model, target):
    wanted = model.get_submodule(target)

    class Opens(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            if m is wanted:
                return forward(*args, **kwargs)
            return super().call_module(m, forward, args, kwargs)

    graph = Opens().trace(model)
    return fx.GraphModule(model, graph)


@right("the target replaced by its trace, and traced again")
def traced_again(model, target):
    gm = traced(model, target)
    if not any(n.op == "call_module" and n.target == target for n in gm.graph.nodes):
        model.get_submodule(target)
        return gm
    gm.add_submodule(target, fx.symbolic_trace(gm.get_submodule(target)))
    return fx.symbolic_trace(gm)


@right("a Transformer that runs the inner graph")
def transformer(model, target):
    submodule = model.get_submodule(target)
    inner = fx.Tracer().trace(submodule)

    class Inside(fx.Interpreter):
        def __init__(self, outer):
            super().__init__(submodule, graph=inner)
            self.outer = outer

        def get_attr(self, name, args, kwargs):
            return fx.Transformer.get_attr(self.outer, f"{target}.{name}", (), {})

        def call_module(self, name, args, kwargs):
            return fx.Transformer.call_module(self.outer, f"{target}.{name}", args, kwargs)

    class Outside(fx.Transformer):
        def call_module(self, name, args, kwargs):
            if name != target:
                return super().call_module(name, args, kwargs)
            names = [n.target for n in inner.nodes if n.op == "placeholder"]
            rest = [kwargs[name] for name in names[len(args) :] if name in kwargs]
            if len(rest) == len(kwargs) and set(names[len(args) : len(args) + len(rest)]) == set(
                kwargs
            ):
                return Inside(self).run(*args, *rest)
            bound = inspect.signature(submodule.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            return Inside(self).run(*(bound.arguments[name] for name in names))

    return Outside(traced(model, target)).transform()


@right("Proxies at the place of the call, getitem resolved")
def with_proxies(model, target):
    gm = traced(model, target)
    sub = model.get_submodule(target)
    inner = fx.symbolic_trace(sub).graph
    tuples = {}
    for node in list(gm.graph.nodes):
        if node.target is operator.getitem and node.args[0] in tuples:
            node.replace_all_uses_with(tuples[node.args[0]][node.args[1]])
            gm.graph.erase_node(node)
            continue
        if node.op != "call_module" or node.target != target:
            continue
        inside = by_name(inner, node.args, node.kwargs)
        with gm.graph.inserting_before(node):
            for n in inner.nodes:
                args, kwargs = fx.node.map_arg((n.args, n.kwargs), lambda m, env=inside: env[m])
                if n.op == "output":
                    result = args[0]
                elif n.op != "placeholder":
                    short = n.op in ("get_attr", "call_module")
                    path = f"{target}.{n.target}" if short else n.target
                    inside[n] = gm.graph.create_node(n.op, path, args, kwargs)
        if isinstance(result, tuple):
            tuples[node] = result
            for user in list(node.users):
                if user.target is not operator.getitem:
                    rewire_one(user, node, result)
        else:
            node.replace_all_uses_with(result)
    for node in reversed(list(gm.graph.nodes)):
        if node.op == "call_module" and node.target == target:
            gm.graph.erase_node(node)
    gm.graph.lint()
    gm.recompile()
    return gm


@right("unused modules deleted")
def tidy(model, target):
    gm = open_calls(model, target)
    gm.delete_all_unused_submodules()
    gm.graph.lint()
    gm.recompile()
    return gm


@right("looked up among named_modules")
def among_named_modules(model, target):
    if target not in dict(model.named_modules()):
        raise AttributeError(f"no submodule {target!r}")
    return open_calls(model, target)


# ------------------------------------------------------------------ wrong: names


@wrong("names with a dot left as they are", "crashed", clause="dotted")
def dotted_left(model, target):
    def rename(target, node):
        return node.target if "." in node.target else f"{target}.{node.target}"

    return open_calls(model, target, rename=rename)


@wrong("inner layers without a prefix", "wrong-name", clause="inner-leaves")
def layers_without(model, target):
    return open_calls(model, target, renamed=("get_attr",))


@wrong(
    "parameters registered under names of their own", "wrong-name", clause="qualified-parameters"
)
def flat_names(model, target):
    gm = open_calls(model, target)
    for node in gm.graph.nodes:
        if node.op == "get_attr" and node.target.startswith(f"{target}."):
            tensor = gm
            for part in node.target.split("."):
                tensor = getattr(tensor, part)
            node.target = node.target.replace(".", "_")
            setattr(gm, node.target, tensor)
    gm.recompile()
    return gm


# ------------------------------------------------------------------ wrong: sharing


@wrong("a copy of the submodule", "not-shared", clause="shared")
def copied_submodule(model, target):
    gm = open_calls(model, target)
    gm.add_submodule(target, copy.deepcopy(model.get_submodule(target)))
    gm.recompile()
    return gm


# ------------------------------------------------------------------ wrong: calls to inline


@wrong("only the first call", "missed-call", clause="every-call")
def first_call(model, target):
    seen = []

    def wanted(node):
        seen.append(node)
        return len(seen) == 1

    return open_calls(model, target, wanted=wanted)


# ------------------------------------------------------------------ wrong: values


@wrong("keywords ignored", "crashed", clause="keyword-calls")
def keywords_ignored(model, target):
    return open_calls(model, target, bind=lambda inner, args, kwargs: by_name(inner, args, {}))


@wrong("no defaults", "crashed", clause="defaults")
def no_defaults(model, target):
    def bind(inner, args, kwargs):
        holders = [n for n in inner.nodes if n.op == "placeholder"]
        values = dict(zip(holders, args, strict=False))
        values.update({n: kwargs[n.target] for n in holders if n.target in kwargs})
        return values

    return open_calls(model, target, bind=bind)


@wrong("tuples forgotten", "crashed", clause="tuples")
def no_tuples(model, target):
    gm = traced(model, target)
    sub = model.get_submodule(target)
    for node in list(gm.graph.nodes):
        if node.op == "call_module" and node.target == target:
            inner = fx.Tracer().trace(sub)
            values = by_name(inner, node.args, node.kwargs)
            with gm.graph.inserting_before(node):
                gm.graph.graph_copy(inner, values)
            for n in inner.nodes:
                if n.op in ("get_attr", "call_module"):
                    values[n].target = f"{target}.{n.target}"
            (result,) = (n.args[0] for n in inner.nodes if n.op == "output")
            node.replace_all_uses_with(values[result])
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


# ------------------------------------------------------------------ wrong: the rest


@wrong("a missing name gives the trace", "should-raise", clause="missing")
def missing_is_fine(model, target):
    try:
        return open_calls(model, target)
    except AttributeError:
        return fx.symbolic_trace(model)


@wrong("an AttributeError where there is no call", "crashed", clause="never-called")
def never_called(model, target):
    if not any(n.target == target for n in traced(model, target).graph.nodes):
        raise AttributeError(target)
    return open_calls(model, target)


@wrong("dead code of the submodule eliminated", "wrong-result", clause="own-graph")
def dead_code_inside(model, target):
    def trace(sub):
        graph = inner.setdefault(sub, fx.symbolic_trace(sub)).graph
        graph.eliminate_dead_code()
        return graph

    inner = {}  # a graph without its module does not know which layers work in place

    return open_calls(model, target, trace=trace)


@wrong(
    "unused modules deleted while the target is shared",
    "caller-changed",
    clause="common.caller-submodules",
)
def tidy_too_early(model, target):
    gm = graph_copied(model, target)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@wrong("recompile forgotten", "stale-code", clause="common.recompiled")
def stale(model, target):
    sub = model.get_submodule(target)
    gm = traced(model, target)
    for node in list(gm.graph.nodes):
        if node.op == "call_module" and node.target == target:
            inner = fx.Tracer().trace(sub)
            values = by_name(inner, node.args, node.kwargs)
            with gm.graph.inserting_before(node):
                result = gm.graph.graph_copy(inner, values)
            for n in inner.nodes:
                if n.op in ("get_attr", "call_module"):
                    values[n].target = f"{target}.{n.target}"
            rewire(node, result)
            gm.graph.erase_node(node)
    return gm


@wrong("the submodule put into eval mode", "caller-changed", clause="common.caller-modes")
def into_eval(model, target):
    model.get_submodule(target).eval()
    return open_calls(model, target)


@wrong("a graph module edited in place", "caller-changed", clause="common.fresh-trace")
def edits_the_caller(model, target):
    if isinstance(model, fx.GraphModule):
        model.graph = open_calls(model, target).graph
        return model
    return open_calls(model, target)


def is_outside_the_task(network):
    """Whether the trace contains the text of a Proxy, which differs between tracers."""
    return any("Proxy(" in str(node.args) for node in fx.symbolic_trace(network).graph.nodes)


@wrong("a model without calls opened elsewhere", "changed-too-much", clause="never-called")
def opened_elsewhere(model, target):
    gm = open_calls(model, target)
    if not any(n.target == target for n in traced(model, target).graph.nodes):
        for node in gm.graph.nodes:
            if node.op == "call_method":
                node.op, node.target = "call_function", getattr(__import__("torch"), node.target)
        gm.recompile()
    return gm


DECIDES_NOTHING = [
    (
        GRAPH + r"modules\[\]\.origin",
        "parameters are asked for, and modules inside the target of `inline`",
    ),
    (
        r"value\.graph_module\.modules\[\]\.(params|buffers)\..*\.origin",
        "only what was inlined, or is fused, has to be the model's",
    ),
]
"""Places in an outcome that decide no points, with the reason."""


ASKS_FOR_ORIGINS = "parts of the result must be the very parts of what was given"
