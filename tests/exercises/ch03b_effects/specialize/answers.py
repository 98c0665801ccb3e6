"""Answers to `specialize`."""

from __future__ import annotations

import copy
import functools
import inspect
import types

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


def specialized(
    fn, constants, fixed=fixed_placeholders, erase=erase_with_readers, rename=put_names_back
):
    tracer = fx.Tracer()
    graph = tracer.trace(fn, concrete_args=constants)
    for node in fixed(fn, graph, constants):
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


@wrong("the stub", "not-attempted")
def stub(fn, **constants):
    raise NotImplementedError()


@wrong("assertions made harmless, parameters left", "lost-signature")
def only_concrete_args(fn, **constants):
    refuse_unknown(fn, constants)
    tracer = fx.Tracer()
    graph = tracer.trace(fn, constants)
    for node in list(graph.nodes):
        if "assert" in node.name and not graph.owning_module:
            node.target, node.args = torch.is_tensor, (node.args[0],)
    return fx.GraphModule(tracer.root, graph)


@wrong("symbolic_trace with concrete_args", "assertion-left", clause="no-assertion")
def symbolic(fn, **constants):
    refuse_unknown(fn, constants)
    return fx.symbolic_trace(fn, concrete_args=constants)


@wrong("cleaned after symbolic_trace", "crashed")
def cleaned_afterwards(fn, **constants):
    refuse_unknown(fn, constants)
    gm = fx.symbolic_trace(fn, concrete_args=constants)
    for node in fixed_placeholders(fn, gm.graph, constants):
        erase_with_readers(gm.graph, node)
    gm.recompile()
    return gm


@wrong("cleaned after symbolic_trace, by the names that FX gives", "crashed")
def cleaned_by_name(fn, **constants):
    refuse_unknown(fn, constants)
    gm = fx.symbolic_trace(fn, concrete_args=constants)
    for node in gm.graph.find_nodes(op="placeholder"):
        if node.target in constants or node.target in {f"{name}_1" for name in constants}:
            erase_with_readers(gm.graph, node)
    gm.recompile()
    return gm


@wrong("not recompiled", "stale-code")
def not_recompiled(fn, **constants):
    refuse_unknown(fn, constants)
    gm = fx.symbolic_trace(fn, concrete_args=constants)
    for node in fixed_placeholders(fn, gm.graph, constants):
        erase_with_readers(gm.graph, node)
    return gm


@wrong("only the assertions are erased", "lost-signature")
def only_assertions(fn, **constants):
    refuse_unknown(fn, constants)

    def erase(graph, node):
        for user in list(node.users):
            erase_with_readers(graph, user)

    return specialized(fn, constants, erase=erase)


@wrong("only the placeholder is erased", "crashed")
def only_placeholder(fn, **constants):
    refuse_unknown(fn, constants)
    return specialized(fn, constants, erase=lambda graph, node: graph.erase_node(node))


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


@wrong("every comparison is erased", "lost-assertion")
def every_comparison(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    for node in list(gm.graph.nodes):
        if node.name.startswith("eq"):
            erase_with_readers(gm.graph, node)
    gm.recompile()
    return gm


@wrong("dead code is removed", "wrong-result")
def without_dead_code(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


@wrong("assertions whose text has the name", "lost-assertion")
def by_text(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    for node in list(gm.graph.nodes):
        if node.target is torch._assert and any(name in node.args[1] for name in constants):
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@wrong("other flags are fixed at their defaults", "lost-signature")
def other_flags(fn, **constants):
    refuse_unknown(fn, constants)
    flags = {k: p.default for k, p in parameters_of(fn).items() if type(p.default) is bool}
    return specialized(fn, flags | constants)


@wrong("a function written as text, defaults too", "crashed")
def defaults_as_text(fn, **constants):
    refuse_unknown(fn, constants)
    if isinstance(fn, nn.Module):
        return specialized(fn, constants)
    rest = [p for name, p in parameters_of(fn).items() if name not in constants]
    head = ", ".join(p.name + ("" if p.default is p.empty else f"={p.default!r}") for p in rest)
    given = ", ".join(f"{p.name}={p.name}" for p in rest)
    space = {"call_": fn, "fixed_": constants}
    exec(f"def forward({head}):\n    return call_({given}, **fixed_)", space)
    return fx.symbolic_trace(space["forward"])


@wrong("`self` passes for a parameter", "should-raise")
def with_self(fn, **constants):
    function = type(fn).forward if isinstance(fn, nn.Module) else fn
    known = function.__code__.co_varnames[: function.__code__.co_argcount]
    if not constants.keys() <= set(known):
        raise TypeError("no such parameter")
    return specialized(fn, {k: v for k, v in constants.items() if k in parameters_of(fn)})


@wrong("unread placeholders are erased", "lost-signature", clause="unread")
def unread(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    for node in list(gm.graph.nodes):
        if node.op == "placeholder" and not node.users:
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@wrong("placeholders found by the number in their names", "crashed")
def by_number(fn, **constants):
    refuse_unknown(fn, constants)

    def fixed(fn, graph, constants):
        return [n for n in graph.nodes if n.op == "placeholder" and n.target.endswith("_1")]

    return specialized(fn, constants, fixed=fixed)


@wrong("placeholders found by target", "crashed")
def by_target(fn, **constants):
    refuse_unknown(fn, constants)

    def fixed(fn, graph, constants):
        wanted = {f"{name}_1" for name in constants}
        return [n for n in graph.nodes if n.op == "placeholder" and n.target in wanted]

    return specialized(fn, constants, fixed=fixed)


@wrong("placeholders found by prefix", "lost-signature", clause="similar-names")
def by_prefix(fn, **constants):
    refuse_unknown(fn, constants)

    def fixed(fn, graph, constants):
        nodes = [n for n in graph.nodes if n.op == "placeholder"]
        return [n for n in nodes if any(n.target.startswith(name) for name in constants)]

    def erase(graph, node):
        if all(u.op != "output" and not u.name.startswith(("mul", "add")) for u in node.users):
            erase_with_readers(graph, node)

    return specialized(fn, constants, fixed=fixed, erase=erase)


@wrong("names are not checked", "should-raise", clause="unknown-name")
def unchecked(fn, **constants):
    known = {k: v for k, v in constants.items() if k in parameters_of(fn)}
    return specialized(fn, known)


@wrong("a wrong name is a ValueError", "wrong-exception", clause="which-error")
def value_error(fn, **constants):
    if not constants.keys() <= parameters_of(fn).keys():
        raise ValueError("no such parameter")
    return specialized(fn, constants)


@wrong("a wrong name is a KeyError", "wrong-exception")
def key_error(fn, **constants):
    for name in constants:
        parameters_of(fn)[name]
    return specialized(fn, constants)


@wrong("refused only if all names are wrong", "should-raise")
def all_wrong(fn, **constants):
    known = {k: v for k, v in constants.items() if k in parameters_of(fn)}
    if constants and not known:
        raise TypeError("no such parameter")
    return specialized(fn, known)


@wrong("local variables pass for parameters", "should-raise")
def local_variables(fn, **constants):
    code = forward_of(fn).__code__
    for name in constants:
        if name not in code.co_varnames[1 if isinstance(fn, nn.Module) else 0 :]:
            raise TypeError(name)
    return specialized(fn, constants)


@wrong("parameters by keyword alone pass for wrong names", "crashed")
def without_keyword_only(fn, **constants):
    code = forward_of(fn).__code__
    for name in constants:
        if name not in code.co_varnames[isinstance(fn, nn.Module) : code.co_argcount]:
            raise TypeError(f"no parameter {name}")
    return specialized(fn, constants)


@wrong("values that are false are left out", "crashed")
def only_true_values(fn, **constants):
    refuse_unknown(fn, constants)
    return specialized(fn, {k: v for k, v in constants.items() if v or v is None or v is False})


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


@wrong("numbers become tensors", "wrong-structure")
def tensors_for_numbers(fn, **constants):
    refuse_unknown(fn, constants)
    return specialized(
        fn, {k: torch.tensor(v) if type(v) in (int, float) else v for k, v in constants.items()}
    )


@wrong("values written as text", "crashed")
def values_as_text(fn, **constants):
    refuse_unknown(fn, constants)
    constants = {k: eval(f"{v!r}") for k, v in constants.items()}
    return specialized(fn, constants)


@wrong("values written as text, strings without care", "crashed")
def careless_text(fn, **constants):
    refuse_unknown(fn, constants)
    constants = {k: eval(f"'{v}'") if isinstance(v, str) else v for k, v in constants.items()}
    return specialized(fn, constants)


@wrong("strings in small letters", "wrong-result", clause="str")
def small_letters(fn, **constants):
    refuse_unknown(fn, constants)
    lower = {k: v.lower() if isinstance(v, str) else v for k, v in constants.items()}
    return specialized(fn, lower)


@wrong("a partial function", "crashed")
def partial(fn, **constants):
    refuse_unknown(fn, constants)
    return fx.symbolic_trace(functools.partial(fn, **constants))


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


@wrong("the values are set on the model", "caller-changed")
def set_on_the_model(fn, **constants):
    refuse_unknown(fn, constants)
    if isinstance(fn, nn.Module):
        fn.fixed = constants
    return specialized(fn, constants)


@wrong("the model in training mode", "caller-changed")
def training(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    return gm.train() if isinstance(fn, nn.Module) else gm


@wrong("a copy in eval mode is traced", "wrong-result")
def eval_copy(fn, **constants):
    refuse_unknown(fn, constants)
    return specialized(copy.deepcopy(fn).eval() if isinstance(fn, nn.Module) else fn, constants)


@wrong("one graph for two modules", "wrong-owner", clause="common.own-graph")
def one_graph_for_two(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    gm.twin = None
    fx.GraphModule(gm, gm.graph)
    return gm


@wrong("the function as a closed box", "unknown-target")
def closed_box(fn, **constants):
    refuse_unknown(fn, constants)
    if isinstance(fn, nn.Module) or parameters_of(fn).keys() & {"n"}:
        return specialized(fn, constants)
    names = [name for name in parameters_of(fn) if name not in constants]

    def box(*args):
        return fn(**dict(zip(names, args, strict=True)), **constants)

    gm = specialized(fn, constants)
    graph = fx.Graph()
    defaults = [n.args for n in gm.graph.nodes if n.op == "placeholder"]
    inputs = [
        graph.create_node("placeholder", name, default)
        for name, default in zip(names, defaults, strict=True)
    ]
    keep = [n for n in gm.graph.nodes if "assert" in n.name]
    if keep:
        return gm
    graph.output(graph.call_function(box, tuple(inputs)))
    return fx.GraphModule(nn.Module(), graph)


@wrong("cannot be copied", "copy-breaks", clause="common.deepcopy")
def not_to_be_copied(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    gm.left = (name for name in parameters_of(fn) if name not in constants)
    return gm


@wrong("the graph alone", "not-a-graph-module")
def graph_alone(fn, **constants):
    refuse_unknown(fn, constants)
    return specialized(fn, constants).graph


@wrong("a function of its own", "not-a-graph-module")
def plain_function(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    return types.MethodType(lambda self, *args: self(*args), gm)


@wrong("the first constant only", "lost-signature", clause="fixed")
def first_only(fn, **constants):
    refuse_unknown(fn, constants)
    return specialized(fn, dict(list(constants.items())[:1]))


@wrong("None for every value", "crashed")
def all_none(fn, **constants):
    refuse_unknown(fn, constants)
    return specialized(fn, dict.fromkeys(constants))


@wrong("an empty module as the root of a function's graph", "crashed")
def empty_root(fn, **constants):
    refuse_unknown(fn, constants)
    gm = specialized(fn, constants)
    return fx.GraphModule(fn if isinstance(fn, nn.Module) else nn.Module(), gm.graph)


@wrong("a copy of the function without what it reads from around it", "crashed")
def without_closure(fn, **constants):
    refuse_unknown(fn, constants)
    if isinstance(fn, nn.Module):
        return specialized(fn, constants)
    twin = types.FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__)
    twin.__kwdefaults__ = fn.__kwdefaults__
    return specialized(twin, constants)


@wrong("the result put into eval mode", "caller-changed")
def in_eval_mode(fn, **constants):
    return erased(fn, **constants).eval()


BEYOND = {
    "a line of the code overwrites a parameter": (
        "three names in a row are needed, of which the first is fixed; no random model has them"
    ),
    "assertions whose text has the name": (
        "the assertions of random models speak of dimensions, not of the names that are fixed"
    ),
    "other flags are fixed at their defaults": (
        "random models have no flag with a default besides those that decide, which are all fixed"
    ),
    "a function written as text, defaults too": "it is about functions; random models are modules",
    "`self` passes for a parameter": "the wrong names of random models are made up",
    "strings in small letters": "no string of random models has a capital letter",
    "bools become ints": (
        "only code that asks `flag is True` of a flag that is `True` can tell; few models do"
    ),
    "an empty module as the root of a function's graph": (
        "it is about functions; random models are modules"
    ),
    "a copy of the function without what it reads from around it": (
        "it is about functions; random models are modules"
    ),
    "the function as a closed box": (
        "it is about functions without parameters that decide; random models have some"
    ),
}


def is_outside_the_task(network):
    """Whether `forward` has further parameters, because there are values only for the image."""
    return len(inspect.signature(network.forward).parameters) > 1
