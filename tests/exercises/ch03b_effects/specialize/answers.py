"""Answers to `specialize`."""

from __future__ import annotations

import inspect

import torch
from torch import fx, nn

from tests.exercises import right, wrong

# ------------------------------------------------------------------ parts


def forward_of(fn):
    return fn.forward if isinstance(fn, nn.Module) else fn


def parameters_of(fn):
    return inspect.signature(forward_of(fn)).parameters


def refuse_unknown(fn, constants):
    for name in constants:
        if name not in parameters_of(fn):
            raise TypeError(f"no parameter {name}")


def erase_with_readers(graph, node):
    for user in list(node.users):
        erase_with_readers(graph, user)
    graph.erase_node(node)


def fixed_placeholders(fn, graph, constants):
    nodes = [n for n in graph.nodes if n.op == "placeholder"]
    return [n for n, name in zip(nodes, parameters_of(fn), strict=True) if name in constants]


def put_names_back(fn, graph):
    for node in graph.nodes:
        if node.op == "placeholder" and node.name in parameters_of(fn):
            node.name = node.target


def specialized(fn, constants, erase=erase_with_readers, rename=put_names_back):
    tracer = fx.Tracer()
    graph = tracer.trace(fn, concrete_args=constants)
    for node in fixed_placeholders(fn, graph, constants):
        erase(graph, node)
    rename(fn, graph)
    return fx.GraphModule(tracer.root, graph)


# ------------------------------------------------------------------ right


@right("the chain behind each placeholder is erased")
def erased(fn, **constants):
    refuse_unknown(fn, constants)
    return specialized(fn, constants)


@right("a function written as text")
def as_text(fn, **constants):
    left, unknown = [], set(constants) - set(parameters_of(fn))
    if unknown:
        raise TypeError(str(unknown))
    space = {"call_": fn, "fixed_": constants}
    for i, p in enumerate(p for n, p in parameters_of(fn).items() if n not in constants):
        space[f"default_{i}_"] = p.default
        left.append(p.name if p.default is p.empty else f"{p.name}=default_{i}_")
    given = ", ".join(f"{p.split('=')[0]}={p.split('=')[0]}" for p in left)
    if isinstance(fn, nn.Module):
        text = f"def forward(self, {', '.join(left)}):\n    return self.inner({given}, **fixed_)"
        exec(text, space)
        holder = type("Holder", (nn.Module,), {"forward": space["forward"]})()
        holder.inner = fn
        holder.train(fn.training)
        return fx.symbolic_trace(holder)
    exec(f"def forward({', '.join(left)}):\n    return call_({given}, **fixed_)", space)
    return fx.symbolic_trace(space["forward"])


@right("a tracer that makes no placeholder for what is fixed")
def own_tracer(fn, **constants):
    bound = parameters_of(fn)
    if not constants.keys() <= bound.keys():
        raise TypeError("not a parameter")

    class Fixing(fx.Tracer):
        def create_args_for_root(self, root_fn, is_module, concrete_args=None):
            root_fn, args = super().create_args_for_root(root_fn, is_module)
            first = 1 if is_module else 0
            for i, name in enumerate(bound):
                if name in constants:
                    self.graph.erase_node(args[first + i].node)
                    args[first + i] = constants[name]
            return root_fn, args

    tracer = Fixing()
    graph = tracer.trace(fn)
    return fx.GraphModule(tracer.root, graph, "Specialized")


@right("copied into a graph of its own", debrief=True)
def copied(fn, **constants):
    for name in constants:
        if name not in list(parameters_of(fn)):
            raise TypeError(name)
    tracer = fx.Tracer()
    old = tracer.trace(fn, concrete_args=dict(constants))
    skip = set(fixed_placeholders(fn, old, constants))
    new, env = fx.Graph(), {}
    for node in old.nodes:
        if skip & set(node.all_input_nodes):
            skip.add(node)
        if node not in skip and node.op == "placeholder":
            env[node] = new.create_node("placeholder", node.target, node.args)  # a fresh name
        elif node not in skip:
            env[node] = new.node_copy(node, lambda n: env[n])
    return fx.GraphModule(tracer.root, new)


@right("the signature is cut before tracing")
def cut_signature(fn, **constants):
    signature = inspect.signature(forward_of(fn))
    try:
        signature.bind_partial(**constants)
    except TypeError as error:
        raise TypeError("wrong name") from error
    graph_module = None
    tracer = fx.Tracer()
    graph = tracer.trace(fn, constants)
    todo = [n for n in graph.nodes if n.op == "placeholder"]
    for name, node in reversed(list(zip(signature.parameters, todo, strict=True))):
        if name not in constants:
            continue
        (reader,) = node.users  # eq or _assert_is_none
        if reader.users:
            graph.erase_node(next(iter(reader.users)))
        graph.erase_node(reader)
        graph.erase_node(node)
    put_names_back(fn, graph)
    graph.lint()
    graph_module = fx.GraphModule(tracer.root, graph)
    graph_module.recompile()
    return graph_module


@right("parameters renamed for tracing")
def renamed(fn, **constants):
    names = list(parameters_of(fn))
    if any(name not in names for name in constants):
        raise TypeError("unknown")
    tracer = fx.Tracer()
    values = [constants.get(name, fx.PH) for name in names]
    is_fixed = [name in constants for name in names]
    # PH leaves a parameter free; FX also renames it, so names and targets are restored.
    graph = tracer.trace(fn, concrete_args=dict(zip(names, values, strict=True)))
    nodes = [n for n in graph.nodes if n.op == "placeholder"]
    for name, node, gone in zip(names, nodes, is_fixed, strict=True):
        if gone:
            erase_with_readers(graph, node)
        else:
            node.target = node.name = name
    return fx.GraphModule(tracer.root, graph)


# ------------------------------------------------------------------ wrong


@wrong("symbolic_trace with concrete_args", "assertion-left", clause="no-assertion")
def symbolic(fn, **constants):
    refuse_unknown(fn, constants)
    return fx.symbolic_trace(fn, concrete_args=constants)


@wrong("not recompiled", "stale-code", clause="common.recompiled")
def not_recompiled(fn, **constants):
    refuse_unknown(fn, constants)
    gm = fx.symbolic_trace(fn, concrete_args=constants)
    for node in fixed_placeholders(fn, gm.graph, constants):
        erase_with_readers(gm.graph, node)
    return gm


def with_value_for(graph, node, value):
    for user in list(node.users):
        if user.op == "output":
            continue
        user.args = fx.map_arg(user.args, lambda n: value if n is node else n)
        user.kwargs = fx.map_arg(user.kwargs, lambda n: value if n is node else n)
    graph.erase_node(node)


@wrong(
    "the value stands in a comparison that nobody reads", "comparison-left", clause="no-comparison"
)
def comparison_left(fn, **constants):
    refuse_unknown(fn, constants)
    tracer = fx.Tracer()
    graph = tracer.trace(fn, concrete_args=constants)
    names = [*parameters_of(fn)]
    for name, node in zip(names, graph.find_nodes(op="placeholder"), strict=False):
        if name not in constants:
            continue
        for user in list(node.users):
            for check in [user, *user.users]:
                if "assert" in check.name:
                    graph.erase_node(check)
        with_value_for(graph, node, constants[name])
    put_names_back(fn, graph)
    return fx.GraphModule(tracer.root, graph)


@wrong("a line of the code overwrites a parameter", "wrong-result", clause="similar-names")
def overwritten(fn, **constants):
    refuse_unknown(fn, constants)
    return specialized(fn, constants, rename=lambda fn, graph: None)


@wrong("every assertion is erased", "lost-assertion", clause="own-assertions")
def every_assertion(fn, **constants):
    refuse_unknown(fn, constants)
    tracer = fx.Tracer()
    graph = tracer.trace(fn, constants)
    for node in list(graph.nodes):
        if "assert" in node.name:
            graph.erase_node(node)
    for node in reversed(list(graph.nodes)):
        if node.op != "placeholder" and node.op != "output" and not node.users:
            graph.erase_node(node)
    for node in fixed_placeholders(fn, graph, constants):
        graph.erase_node(node)
    put_names_back(fn, graph)
    return fx.GraphModule(tracer.root, graph)


@wrong("dead code is removed", "wrong-result", clause="fixed")
def without_dead_code(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


@wrong("unread placeholders are erased", "lost-signature", clause="unread")
def unread(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    for node in list(gm.graph.nodes):
        if node.op == "placeholder" and not node.users:
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@wrong("names are not checked", "should-raise", clause="unknown-name")
def unchecked(fn, **constants):
    known = {k: v for k, v in constants.items() if k in parameters_of(fn)}
    return specialized(fn, known)


@wrong("parameters by keyword alone pass for wrong names", "crashed", clause="keyword-alone")
def without_keyword_only(fn, **constants):
    code = forward_of(fn).__code__
    for name in constants:
        if name not in code.co_varnames[isinstance(fn, nn.Module) : code.co_argcount]:
            raise TypeError(f"no parameter {name}")
    return specialized(fn, constants)


@wrong("None is left out", "lost-signature", clause="none")
def without_none(fn, **constants):
    refuse_unknown(fn, constants)
    return specialized(fn, {k: v for k, v in constants.items() if v is not None})


@wrong("bools become ints", "wrong-structure", clause="bool")
def bools_as_ints(fn, **constants):
    refuse_unknown(fn, constants)
    return specialized(fn, {k: int(v) if isinstance(v, bool) else v for k, v in constants.items()})


@wrong("ints become floats", "crashed", clause="int")
def ints_as_floats(fn, **constants):
    refuse_unknown(fn, constants)
    return specialized(fn, {k: float(v) if type(v) is int else v for k, v in constants.items()})


@wrong("values written as text, strings without care", "crashed", clause="str")
def careless_text(fn, **constants):
    refuse_unknown(fn, constants)
    constants = {k: eval(f"'{v}'") if isinstance(v, str) else v for k, v in constants.items()}
    return specialized(fn, constants)


@wrong("a wrapper that forgets defaults", "lost-signature", clause="defaults")
def no_defaults(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            node.args = ()
    gm.recompile()
    return gm


@wrong("fixed parameters become defaults", "lost-signature", clause="gone")
def as_defaults(fn, **constants):
    refuse_unknown(fn, constants)

    def erase(graph, node):
        for user in list(node.users):
            erase_with_readers(graph, user)
        node.args = (next(iter(constants.values())),)

    return specialized(fn, constants, erase=erase)


@wrong("the remaining parameters are renamed", "lost-signature", clause="names")
def renamed_wrongly(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            node.target = node.name
    gm.recompile()
    return gm


@wrong("parameters in alphabetical order", "lost-signature", clause="order")
def reordered(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    nodes = [n for n in gm.graph.nodes if n.op == "placeholder"]
    for node in sorted(nodes, key=lambda n: n.target, reverse=True):
        gm.graph._root.append(node)
    gm.recompile()
    return gm


@wrong("the model in training mode", "caller-changed", clause="common.caller-modes")
def training(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    return gm.train() if isinstance(fn, nn.Module) else gm


@wrong("one graph for two modules", "wrong-owner", clause="common.own-graph")
def one_graph_for_two(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    gm.twin = None
    fx.GraphModule(gm, gm.graph)
    return gm


@wrong("cannot be copied", "copy-breaks", clause="common.deepcopy")
def not_to_be_copied(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    gm.left = (name for name in parameters_of(fn) if name not in constants)
    return gm


@wrong("an empty module as the root of a function's graph", "crashed", clause="around-it")
def empty_root(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    return fx.GraphModule(fn if isinstance(fn, nn.Module) else nn.Module(), gm.graph)


BEYOND = {
    "a line of the code overwrites a parameter": (
        "three names in a row are needed, of which the first is fixed; no random model has them"
    ),
    "bools become ints": (
        "only code that asks `flag is True` of a flag that is `True` can tell; few models do"
    ),
    "an empty module as the root of a function's graph": (
        "it is about functions; random models are modules"
    ),
}


def is_outside_the_task(network):
    """Whether `forward` has further parameters, because there are values only for the image."""
    return len(inspect.signature(network.forward).parameters) > 1


@wrong("every comparison is erased", "lost-assertion", clause="own-assertions")
def every_comparison(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    for node in list(gm.graph.nodes):
        if node.name.startswith("eq"):
            erase_with_readers(gm.graph, node)
    gm.recompile()
    return gm


@wrong("assertions whose text has the name", "lost-assertion", clause="similar-names")
def by_text(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    for node in list(gm.graph.nodes):
        if node.target is torch._assert and any(name in node.args[1] for name in constants):
            gm.graph.erase_node(node)
    gm.recompile()
    return gm
