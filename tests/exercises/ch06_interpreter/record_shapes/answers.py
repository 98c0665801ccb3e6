"""Answers for `record_shapes`."""

from __future__ import annotations

import operator

import torch
from torch import fx
from torch.fx.node import map_arg

from tests.exercises import right, wrong


def shape_of(value):
    if isinstance(value, torch.Tensor):
        return tuple(value.shape)
    if isinstance(value, dict):
        return {key: shape_of(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape_of(item) for item in value]
    if isinstance(value, tuple):
        return tuple(shape_of(item) for item in value)
    return None


def recorder(measure, *, keep=lambda n: True, key=lambda n: n.name):
    """An answer that records `measure(value)` of each node."""

    def record_shapes(model, *inputs):
        shapes = {}

        class Recorder(fx.Interpreter):
            def run_node(self, n):
                value = super().run_node(n)
                if keep(n):
                    shapes[key(n)] = measure(value)
                return value

        Recorder(fx.symbolic_trace(model)).run(*inputs)
        return shapes

    return record_shapes


right("run_node")(recorder(shape_of))


@right("torch.Size as it is, in a dictionary made at the end")
def from_env(model, *inputs):
    def measure(value):
        if torch.is_tensor(value):
            return value.size()
        if isinstance(value, (list, tuple)):
            items = (measure(item) for item in value)
            return list(items) if isinstance(value, list) else tuple(items)
        return {k: measure(v) for k, v in value.items()} if isinstance(value, dict) else None

    interpreter = fx.Interpreter(fx.symbolic_trace(model), garbage_collect_values=False)
    interpreter.run(*inputs)
    return {node.name: measure(value) for node, value in interpreter.env.items()}


@right("notes in meta")
def in_meta(model, *inputs):
    class Noting(fx.Interpreter):
        def run_node(self, n):
            n.meta["value"] = super().run_node(n)
            return n.meta["value"]

    gm = fx.symbolic_trace(model)
    with torch.no_grad():
        Noting(gm).run(*inputs)
    return {n.name: shape_of(n.meta["value"]) for n in gm.graph.nodes}


@right("a loop of our own; *args as a tuple", debrief=True)
def own_loop(model, *inputs):
    gm = fx.symbolic_trace(model)
    left, env, shapes = list(inputs), {}, {}
    for node in gm.graph.nodes:
        args, kwargs = map_arg((node.args, node.kwargs), env.__getitem__)
        if node.op == "placeholder" and str(node.target).startswith("*"):
            value = tuple(left)
        elif node.op == "placeholder":
            value = left.pop(0) if left else args[0]
        elif node.op == "get_attr":
            value = operator.attrgetter(node.target)(gm)
        elif node.op == "call_function":
            value = node.target(*args, **kwargs)
        elif node.op == "call_method":
            value = getattr(args[0], node.target)(*args[1:], **kwargs)
        elif node.op == "call_module":
            value = gm.get_submodule(node.target)(*args, **kwargs)
        else:
            value = args[0]
        env[node] = value
        shapes[node.name] = shape_of(value)
    return shapes


@right("every handler overridden")
def handlers(model, *inputs):
    gm = fx.symbolic_trace(model)
    shapes, names = {}, iter([n.name for n in gm.graph.nodes])

    def noting(name):
        def handler(self, target, args, kwargs):
            value = getattr(fx.Interpreter, name)(self, target, args, kwargs)
            shapes[next(names)] = shape_of(value)
            return value

        return handler

    kinds = "placeholder get_attr call_function call_method call_module output".split()
    type("Noting", (fx.Interpreter,), {kind: noting(kind) for kind in kinds})(gm).run(*inputs)
    return shapes


# ------------------------------------------------------------------ wrong


def flat(value):
    return tuple(value.shape) if isinstance(value, torch.Tensor) else None


def without(kind):
    def measure(value):
        if isinstance(value, kind):
            return None
        if isinstance(value, torch.Tensor):
            return tuple(value.shape)
        if isinstance(value, dict):
            return {key: measure(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            items = [measure(item) for item in value]
            return items if isinstance(value, list) else tuple(items)
        return None

    return measure


def one_level(value):
    if isinstance(value, (list, tuple)):
        return type(value)(map(flat, value)) if type(value) in (list, tuple) else None
    return {k: flat(v) for k, v in value.items()} if isinstance(value, dict) else flat(value)


def all_tuples(value):
    if isinstance(value, (list, tuple)):
        return tuple(map(all_tuples, value))
    if isinstance(value, dict):
        return {key: all_tuples(item) for key, item in value.items()}
    return flat(value)


def shapes_as_lists(value):
    return list(value.shape) if isinstance(value, torch.Tensor) else shape_of(value)


def numbers_too(value):
    return () if isinstance(value, (int, float)) else shape_of(value)


def scalars_none(value):
    return shape_of(value) or None


def no_constants(value):
    if isinstance(value, dict):
        return {k: no_constants(v) for k, v in value.items() if shape_of(v) is not None}
    return shape_of(value)


def whatever_has_a_shape(value):
    return tuple(value.shape) if hasattr(value, "shape") else shape_of(value)


wrong("whatever has an attribute shape", "wrong-shape", clause="none")(
    recorder(whatever_has_a_shape)
)
wrong("tensors only", "wrong-shape", clause="nesting")(recorder(flat))
wrong("dictionaries are left out", "wrong-shape", clause="dicts")(recorder(without(dict)))
wrong("one level of nesting", "wrong-shape", clause="nesting")(recorder(one_level))
wrong("lists become tuples", "wrong-shape", clause="nesting")(recorder(all_tuples))
wrong("shapes are lists", "wrong-shape", clause="tuple")(recorder(shapes_as_lists))
wrong("numbers have the shape ()", "wrong-shape", clause="none")(recorder(numbers_too))
wrong("None for a tensor without dimensions", "wrong-shape", clause="no-dimensions")(
    recorder(scalars_none)
)
wrong("constants in a dictionary are dropped", "wrong-shape", clause="dicts")(
    recorder(no_constants)
)
wrong("no entry for the output", "missing-node", clause="output")(
    recorder(shape_of, keep=lambda n: n.op != "output")
)
wrong("calls only", "missing-node", clause="every-node")(
    recorder(shape_of, keep=lambda n: n.op.startswith("call"))
)
wrong("targets as keys", "missing-node", clause="names")(
    recorder(shape_of, key=lambda n: str(n.target))
)


@wrong("a given graph module is not traced again", "missing-node", clause="common.fresh-trace")
def not_traced(model, *inputs):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    interpreter = fx.Interpreter(gm, garbage_collect_values=False)
    interpreter.run(*inputs)
    return {node.name: shape_of(value) for node, value in interpreter.env.items()}


@wrong("defaults are not known", "crashed", clause="defaults")
def no_defaults(model, *inputs):
    class Strict(fx.Interpreter):
        def placeholder(self, target, args, kwargs):
            return super().placeholder(target, (), kwargs)

    interpreter = Strict(fx.symbolic_trace(model), garbage_collect_values=False)
    interpreter.run(*inputs)
    return {node.name: shape_of(value) for node, value in interpreter.env.items()}


@wrong("None for *args that are not given", "wrong-shape", clause="star")
def none_for_no_arguments(model, *inputs):
    class Strict(fx.Interpreter):
        def placeholder(self, target, args, kwargs):
            value = super().placeholder(target, args, kwargs)
            return value or None if target.startswith("*") else value

    interpreter = Strict(fx.symbolic_trace(model), garbage_collect_values=False)
    interpreter.run(*inputs)
    return {node.name: shape_of(value) for node, value in interpreter.env.items()}


BEYOND = {
    "None for *args that are not given": "random models with `*args` read what is given there",
    "whatever has an attribute shape": "random models have no values of NumPy",
    "constants in a dictionary are dropped": (
        "random models return values, and no constants beside them"
    ),
}


ADVICE_ON = [
    (
        {
            "type": "RecursionError",
            "message": "maximum recursion depth exceeded",
            "text": "value = self.run_node(n)",
        },
        "the class that yours comes from",
    ),
]
"""Errors in an answer, and a part of the advice that its card gives."""
