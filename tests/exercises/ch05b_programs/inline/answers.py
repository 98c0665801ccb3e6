"""Answers for `inline`."""

from __future__ import annotations

import copy
import inspect
import operator

from torch import fx, nn

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
    aggregate=fx.node.map_arg,
    outer=traced,
    ops=("call_module",),
):
    """A new graph with each call of `target` replaced; wrong answers replace one part of this."""
    sub = model.get_submodule(target)
    gm = outer(model, target)
    inner = trace(sub)
    graph, env, inside = fx.Graph(), {}, {}
    for node in gm.graph.nodes:
        called = node.op in ops and node.target == target
        if not called or (wanted is not None and not wanted(node)):
            env[node] = graph.node_copy(node, lambda n: env[n])
            continue
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), lambda n: env[n])
        inside = bind(inner, args, kwargs)
        for n in inner.nodes:
            if n.op == "output":
                env[node] = aggregate(n.args[0], lambda m, inside=inside: inside[m])
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
    return copy_graphs(model, target, model.get_submodule)


def copy_graphs(model, target, get_submodule):
    gm = traced(model, target)
    submodule = (get_submodule or gm.get_submodule)(target)
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


@wrong("a tuple of nodes only", "crashed")
def tuple_of_nodes(model, target):
    def aggregate(value, fn):
        return tuple(fn(n) for n in value) if isinstance(value, tuple) else fn(value)

    return open_calls(model, target, aggregate=aggregate)


@wrong("a tuple, one level deep", "foreign-node")
def one_level(model, target):
    def one(value, fn):
        return fn(value) if isinstance(value, fx.Node) else value

    def aggregate(value, fn):
        return tuple(one(v, fn) for v in value) if isinstance(value, tuple) else one(value, fn)

    return open_calls(model, target, aggregate=aggregate)


@wrong("names with a dot left as they are", "crashed", clause="dotted")
def dotted_left(model, target):
    def rename(target, node):
        return node.target if "." in node.target else f"{target}.{node.target}"

    return open_calls(model, target, rename=rename)


@wrong("no prefix at all", "wrong-name")
def no_prefix(model, target):
    return open_calls(model, target, rename=lambda target, n: n.target)


@wrong("parameters without a prefix", "wrong-name")
def parameters_without(model, target):
    return open_calls(model, target, renamed=("call_module",))


@wrong("inner layers without a prefix", "wrong-name", clause="inner-leaves")
def layers_without(model, target):
    return open_calls(model, target, renamed=("get_attr",))


@wrong("a prefix where the name is missing from the model", "wrong-name")
def prefix_if_missing(model, target):
    def rename(target, node):
        known = {name for name, _ in model.named_parameters()}
        known |= {name for name, _ in model.named_modules()}
        return node.target if node.target in known else f"{target}.{node.target}"

    return open_calls(model, target, rename=rename)


@wrong("no prefix where the name begins like the target's", "crashed")
def prefix_unless_alike(model, target):
    def rename(target, node):
        return node.target if node.target.startswith(target) else f"{target}.{node.target}"

    return open_calls(model, target, rename=rename)


@wrong("the last part of the name as the prefix", "wrong-name")
def short_prefix(model, target):
    last = target.rpartition(".")[2]
    return open_calls(model, target, rename=lambda _, n: f"{last}.{n.target}")


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


@wrong("registered under dotted keys", "dotted-name")
def dotted_keys(model, target):
    gm = open_calls(model, target)
    for name, module in list(model.named_modules()):
        if name.startswith(f"{target}.") and not list(module.children()):
            gm._modules[name] = module
    return gm


# ------------------------------------------------------------------ wrong: sharing


@wrong("a copy of the model", "not-shared")
def copied_model(model, target):
    return open_calls(copy.deepcopy(model), target)


@wrong("a copy of the submodule", "not-shared", clause="shared")
def copied_submodule(model, target):
    gm = open_calls(model, target)
    gm.add_submodule(target, copy.deepcopy(model.get_submodule(target)))
    gm.recompile()
    return gm


@wrong("copied parameters, shared layers", "not-shared")
def copied_parameters(model, target):
    gm = open_calls(model, target)
    if isinstance(gm.get_submodule(target), nn.Module):
        inner = gm.get_submodule(target)
        for name, parameter in list(inner._parameters.items()):
            if inner is not model.get_submodule(target) and parameter is not None:
                inner._parameters[name] = nn.Parameter(parameter.detach().clone())
    return gm


# ------------------------------------------------------------------ wrong: calls to inline


@wrong("only symbolic_trace", "missed-call")
def only_traced(model, target):
    model.get_submodule(target)
    return fx.symbolic_trace(model)


@wrong("only traced with a leaf", "missed-call")
def only_leaf(model, target):
    model.get_submodule(target)
    return traced(model, target)


@wrong("only the first call", "missed-call", clause="every-call")
def first_call(model, target):
    seen = []

    def wanted(node):
        seen.append(node)
        return len(seen) == 1

    return open_calls(model, target, wanted=wanted)


@wrong("only the last call", "missed-call")
def last_call(model, target):
    count = sum(n.target == target for n in traced(model, target).graph.nodes)
    seen = []

    def wanted(node):
        seen.append(node)
        return len(seen) == count

    return open_calls(model, target, wanted=wanted)


@wrong("calls that nobody reads left out", "missed-call")
def read_calls(model, target):
    return open_calls(model, target, wanted=lambda node: bool(node.users))


@wrong("the call left beside its replacement", "missed-call")
def call_left(model, target):
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
    gm.recompile()
    return gm


@wrong("every module opened", "wrong-name")
def all_opened(model, target):
    model.get_submodule(target)

    class Through(fx.Tracer):
        def is_leaf_module(self, m, qualname):
            return False

    return fx.GraphModule(model, Through().trace(model))


@wrong("layers inside the target opened, too", "wrong-name")
def opened_below(model, target):
    model.get_submodule(target)

    class Through(fx.Tracer):
        def is_leaf_module(self, m, qualname):
            inside = qualname == target or qualname.startswith(f"{target}.")
            return not inside and super().is_leaf_module(m, qualname)

    return fx.GraphModule(model, Through().trace(model))


@wrong("all modules whose name begins alike", "wrong-name")
def begins_alike(model, target):
    model.get_submodule(target)

    class Through(fx.Tracer):
        def is_leaf_module(self, m, qualname):
            return not qualname.startswith(target) and super().is_leaf_module(m, qualname)

    return fx.GraphModule(model, Through().trace(model))


@wrong("all modules of that class", "wrong-name")
def same_class(model, target):
    wanted = type(model.get_submodule(target))

    class Through(fx.Tracer):
        def is_leaf_module(self, m, qualname):
            return type(m) is not wanted and super().is_leaf_module(m, qualname)

    return fx.GraphModule(model, Through().trace(model))


@wrong("user modules kept as leaves, too", "wrong-name")
def all_leaves(model, target):
    sub = model.get_submodule(target)

    class Keep(fx.Tracer):
        def is_leaf_module(self, m, qualname):
            return m is not sub and not isinstance(m, nn.Sequential)

    return fx.GraphModule(model, Keep().trace(model))


@wrong("the target as a graph module of its own", "missed-call")
def own_graph_module(model, target):
    gm = traced(model, target)
    if any(n.target == target for n in gm.graph.nodes):
        gm.add_submodule(target, fx.symbolic_trace(model.get_submodule(target)))
    else:
        model.get_submodule(target)
    return gm


@wrong("a graph module under another name", "unknown-target")
def renamed_graph_module(model, target):
    gm = traced(model, target)
    sub = model.get_submodule(target)
    for node in gm.graph.nodes:
        if node.op == "call_module" and node.target == target:
            gm.add_submodule("inlined", fx.symbolic_trace(sub))
            node.target = "inlined"
    gm.recompile()
    return gm


# ------------------------------------------------------------------ wrong: values


@wrong("keywords ignored", "crashed", clause="keyword-calls")
def keywords_ignored(model, target):
    return open_calls(model, target, bind=lambda inner, args, kwargs: by_name(inner, args, {}))


@wrong("keywords in the order of the call", "wrong-result")
def keywords_in_order(model, target):
    def bind(inner, args, kwargs):
        return by_name(inner, [*args, *kwargs.values()], {})

    return open_calls(model, target, bind=bind)


@wrong("keywords found by the node's name", "crashed")
def by_node_name(model, target):
    def bind(inner, args, kwargs):
        named = {n.target: kwargs[n.name] for n in inner.nodes if n.name in kwargs}
        return by_name(inner, args, named)

    return open_calls(model, target, bind=bind)


@wrong("no defaults", "crashed", clause="defaults")
def no_defaults(model, target):
    def bind(inner, args, kwargs):
        holders = [n for n in inner.nodes if n.op == "placeholder"]
        values = dict(zip(holders, args, strict=False))
        values.update({n: kwargs[n.target] for n in holders if n.target in kwargs})
        return values

    return open_calls(model, target, bind=bind)


@wrong("a default in place of zero", "wrong-result")
def falsy(model, target):
    def bind(inner, args, kwargs):
        holders = [n for n in inner.nodes if n.op == "placeholder"]
        given = {**dict(zip([n.target for n in holders], args, strict=False)), **kwargs}
        return {n: given.get(n.target) or (n.args[0] if n.args else 0) for n in holders}

    return open_calls(model, target, bind=bind)


@wrong("a default in place of None", "wrong-result")
def none_is_missing(model, target):
    def bind(inner, args, kwargs):
        values = by_name(inner, args, kwargs)
        return {n: n.args[0] if v is None and n.args else v for n, v in values.items()}

    return open_calls(model, target, bind=bind)


@wrong("the default in place of what is given", "wrong-result")
def default_first(model, target):
    def bind(inner, args, kwargs):
        values = by_name(inner, args, kwargs)
        return {n: n.args[0] if n.args else v for n, v in values.items()}

    return open_calls(model, target, bind=bind)


@wrong("every placeholder is the first argument", "wrong-result")
def first_argument(model, target):
    def bind(inner, args, kwargs):
        values = by_name(inner, args, kwargs)
        first = next(iter(values.values()))
        return {n: first if isinstance(v, fx.Node) else v for n, v in values.items()}

    return open_calls(model, target, bind=bind)


@wrong("found by the same name outside", "wrong-result")
def same_names(model, target):
    sub = model.get_submodule(target)
    gm = traced(model, target)
    inner = fx.Tracer().trace(sub)
    graph, env = fx.Graph(), {}

    def outside(node):
        return env[node.name]

    for node in gm.graph.nodes:
        if node.op != "call_module" or node.target != target:
            env[node.name] = graph.node_copy(node, outside)
            continue
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), outside)
        env.update({n.name: v for n, v in by_name(inner, args, kwargs).items()})
        for n in inner.nodes:
            if n.op == "output":
                env[node.name] = fx.node.map_arg(n.args[0], outside)
            elif n.op != "placeholder":
                env[n.name] = graph.node_copy(n, outside)
                if n.op in ("get_attr", "call_module"):
                    env[n.name].target = f"{target}.{n.target}"
    return fx.GraphModule(gm, graph)


@wrong("one set of values for all calls", "wrong-result")
def values_kept(model, target):
    kept = {}

    def bind(inner, args, kwargs):
        if not kept:
            kept.update(by_name(inner, args, kwargs))
        return kept

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


@wrong("a list in place of the tuple", "wrong-structure")
def list_for_tuple(model, target):
    gm = open_calls(model, target)
    output = gm.graph.output_node()
    if isinstance(output.args[0], tuple):
        output.args = (list(output.args[0]),)
    gm.recompile()
    return gm


@wrong("the first of a tuple", "wrong-structure")
def first_of_tuple(model, target):
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
            node.replace_all_uses_with(result[0] if isinstance(result, tuple) else result)
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@wrong("a tuple of one value is that value", "wrong-shape", clause="tuples")
def one_unpacked(model, target):
    def aggregate(value, fn):
        alone = isinstance(value, tuple) and len(value) == 1
        return fx.node.map_arg(value[0] if alone else value, fn)

    return open_calls(model, target, aggregate=aggregate)


@wrong("put behind everything else", "use-before-definition")
def at_the_end(model, target):
    sub = model.get_submodule(target)
    gm = traced(model, target)
    for node in list(gm.graph.nodes):
        if node.op == "call_module" and node.target == target:
            inner = fx.Tracer().trace(sub)
            values = by_name(inner, node.args, node.kwargs)
            with gm.graph.inserting_before(gm.graph.output_node()):
                result = gm.graph.graph_copy(inner, values)
            for n in inner.nodes:
                if n.op in ("get_attr", "call_module"):
                    values[n].target = f"{target}.{n.target}"
            rewire(node, result)
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@wrong("put in front of its first reader", "wrong-result")
def at_first_reader(model, target):
    sub = model.get_submodule(target)
    gm = traced(model, target)
    for node in reversed(list(gm.graph.nodes)):
        if node.op == "call_module" and node.target == target:
            inner = fx.Tracer().trace(sub)
            values = by_name(inner, node.args, node.kwargs)
            order = {n: i for i, n in enumerate(gm.graph.nodes)}
            place = min(node.users, key=order.get, default=gm.graph.output_node())
            with gm.graph.inserting_before(place):
                result = gm.graph.graph_copy(inner, values)
            for n in inner.nodes:
                if n.op in ("get_attr", "call_module"):
                    values[n].target = f"{target}.{n.target}"
            rewire(node, result)
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


@wrong("a KeyError", "wrong-exception")
def key_error(model, target):
    dict(model.named_modules())[target]
    return open_calls(model, target)


@wrong("looked up in the trace, where a module without calls is missing", "crashed")
def looked_up_in_the_trace(model, target):
    return copy_graphs(model, target, None)


@wrong("only the first part of the name looked for", "wrong-exception")
def first_part(model, target):
    if not hasattr(model, target.split(".")[0]):
        raise AttributeError(target)
    module = model
    for part in target.split("."):
        module = module._modules[part]
    return open_calls(model, target)


@wrong("an AttributeError where there is no call", "crashed", clause="never-called")
def never_called(model, target):
    if not any(n.target == target for n in traced(model, target).graph.nodes):
        raise AttributeError(target)
    return open_calls(model, target)


@wrong("looked up among attributes, where a parameter is one, too", "should-raise")
def among_attributes(model, target):
    if not isinstance(operator.attrgetter(target)(model), nn.Module):
        return traced(model, target)
    return open_calls(model, target)


@wrong("the model comes back where there is no call", "not-a-graph-module")
def model_back(model, target):
    if not any(n.target == target for n in traced(model, target).graph.nodes):
        model.get_submodule(target)
        return model
    return open_calls(model, target)


@wrong("a model without calls opened elsewhere", "changed-too-much")
def opened_elsewhere(model, target):
    gm = open_calls(model, target)
    if not any(n.target == target for n in traced(model, target).graph.nodes):
        for node in gm.graph.nodes:
            if node.op == "call_method":
                node.op, node.target = "call_function", getattr(__import__("torch"), node.target)
        gm.recompile()
    return gm


@wrong("dead code eliminated", "wrong-result")
def dead_code(model, target):
    gm = open_calls(model, target)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


@wrong("dead code of the submodule eliminated", "wrong-result")
def dead_code_inside(model, target):
    def trace(sub):
        graph = inner.setdefault(sub, fx.symbolic_trace(sub)).graph
        graph.eliminate_dead_code()
        return graph

    inner = {}  # a graph without its module does not know which layers work in place

    return open_calls(model, target, trace=trace)


@wrong("a copy of the submodule traced in eval mode", "wrong-result")
def traced_in_eval(model, target):
    def trace(sub):
        return fx.Tracer().trace(copy.deepcopy(sub).eval())

    return open_calls(model, target, trace=trace)


@wrong("unused modules deleted while the target is shared", "caller-changed")
def tidy_too_early(model, target):
    gm = copy_graphs(model, target, model.get_submodule)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@wrong("recompile forgotten", "stale-code")
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


@wrong("the caller's submodule replaced", "caller-changed")
def caller_replaced(model, target):
    parent, _, name = target.rpartition(".")
    sub = fx.symbolic_trace(model.get_submodule(target))
    setattr(model.get_submodule(parent), name, sub)
    return fx.symbolic_trace(model)


@wrong("the submodule put into eval mode", "caller-changed")
def into_eval(model, target):
    model.get_submodule(target).eval()
    return open_calls(model, target)


@wrong("a graph module edited in place", "caller-changed")
def edits_the_caller(model, target):
    if isinstance(model, fx.GraphModule):
        model.graph = open_calls(model, target).graph
        return model
    return open_calls(model, target)


@wrong("defaults of the model lost", "lost-signature")
def signature_lost(model, target):
    gm = open_calls(model, target)
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            node.args = ()
    gm.recompile()
    return gm


@wrong("the submodule's forward as a function", "unknown-target", clause="own-graph")
def forward_as_function(model, target):
    gm = traced(model, target)
    forward = model.get_submodule(target).forward
    for node in gm.graph.nodes:
        if node.op == "call_module" and node.target == target:
            node.op, node.target = "call_function", forward
    gm.recompile()
    return gm


@wrong("the submodule run on Proxies", "raw-tensor")
def run_on_proxies(model, target):
    sub = model.get_submodule(target)
    gm = traced(model, target)
    graph, env = fx.Graph(), {}
    tracer = fx.proxy.GraphAppendingTracer(graph)
    for node in gm.graph.nodes:
        if node.op != "call_module" or node.target != target:
            env[node] = graph.node_copy(node, lambda n: env[n])
            continue
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), lambda n: fx.Proxy(env[n], tracer))
        env[node] = fx.node.map_aggregate(
            sub.forward(*args, **kwargs), lambda p: p.node if isinstance(p, fx.Proxy) else p
        )
    return fx.GraphModule(gm, graph)


@wrong("a method of the module", "wrong-name")
def method_of_module(model, target):
    gm = traced(model, target)
    model.get_submodule(target)
    for node in list(gm.graph.nodes):
        if node.op == "call_module" and node.target == target:
            with gm.graph.inserting_before(node):
                module = gm.graph.get_attr(target)
                new = gm.graph.call_method("forward", (module, *node.args), dict(node.kwargs))
            node.replace_all_uses_with(new)
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@wrong("methods of the target's name are opened, too", "wrong-result")
def methods_of_that_name(model, target):
    return open_calls(model, target, ops=("call_module", "call_method"))


@wrong("inputs of the target's name are opened, too", "lost-signature")
def inputs_of_that_name(model, target):
    def bind(inner, args, kwargs):
        return by_name(inner, args if args or kwargs else (2.0,), kwargs)

    return open_calls(model, target, ops=("call_module", "placeholder"), bind=bind)


@wrong("equal calls are opened once", "wrong-result")
def equal_calls_once(model, target):
    def merged(model, target):
        gm, first = traced(model, target), {}
        for node in list(gm.graph.nodes):
            if node.op == "call_module" and node.target == target:
                one = first.setdefault(str((node.args, node.kwargs)), node)
                if one is not node:
                    node.replace_all_uses_with(one)
                    gm.graph.erase_node(node)
        return gm

    return open_calls(model, target, outer=merged)


@wrong("a list by keyword is passed over", "crashed")
def lists_by_keyword(model, target):
    def bind(inner, args, kwargs):
        alone = {k: v for k, v in kwargs.items() if not isinstance(v, (list, tuple))}
        return by_name(inner, args, alone)

    return open_calls(model, target, bind=bind)


@wrong("nothing returned", "returned-none")
def none_returned(model, target):
    open_calls(model, target)


@wrong("untouched", "not-attempted")
def untouched(model, target):
    raise NotImplementedError


@wrong("the target's name is a leaf inside it, too", "wrong-name", clause="own-graph")
def leaf_inside(model, target):
    return open_calls(model, target, trace=keeping(target).trace)


@wrong("traced from a shallow copy, which gets the constants", "crashed")
def shallow_copy(model, target):
    return open_calls(model, target, trace=lambda sub: fx.Tracer().trace(copy.copy(sub)))


@wrong("parameters that are arguments get the prefix", "crashed")
def prefixed_arguments(model, target):
    def bind(inner, args, kwargs):
        values = by_name(inner, args, kwargs)
        for value in values.values():
            if isinstance(value, fx.Node) and value.op == "get_attr":
                value.target = prefixed(target, value)
        return values

    return open_calls(model, target, bind=bind)


@wrong("traced in the mode of the model", "wrong-result", clause="own-graph")
def mode_of_the_model(model, target):
    def trace(sub):
        return fx.Tracer().trace(copy.deepcopy(sub).train(model.training))

    return open_calls(model, target, trace=trace)


BEYOND = {
    "a tuple of one value is that value": "no part that is drawn returns a tuple of one value",
    "traced in the mode of the model": "random models are in one mode",
    "traced from a shallow copy, which gets the constants": "no part that is drawn makes tensors",
    "the target's name is a leaf inside it, too": "no part that is drawn holds a namesake",
    "a copy of the submodule traced in eval mode": (
        "no submodule that is drawn branches on its mode"
    ),
}


def is_outside_the_task(network):
    """Whether the trace contains the text of a Proxy, which differs between tracers."""
    return any("Proxy(" in str(node.args) for node in fx.symbolic_trace(network).graph.nodes)


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
