"""Answers for `record_shapes`."""

from __future__ import annotations

import operator

import torch
from torch import fx
from torch.fx.node import map_arg
from torch.fx.passes.shape_prop import ShapeProp

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


def exact_types(value):
    if type(value) in (list, tuple):
        return type(value)(map(exact_types, value))
    if type(value) is dict:
        return {key: exact_types(item) for key, item in value.items()}
    return flat(value)


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


def empty_none(value):
    return shape_of(value) if isinstance(value, torch.Tensor) or value else None


def no_constants(value):
    if isinstance(value, dict):
        return {k: no_constants(v) for k, v in value.items() if shape_of(v) is not None}
    return shape_of(value)


def plain_tensors(value):
    """The shape of a value, except of parameters inside containers."""

    def within(item):
        if isinstance(item, torch.nn.Parameter):
            return None
        if isinstance(item, dict):
            return {key: within(part) for key, part in item.items()}
        if isinstance(item, (list, tuple)):
            return (list if isinstance(item, list) else tuple)(map(within, item))
        return shape_of(item)

    return shape_of(value) if torch.is_tensor(value) else within(value)


def one_shape_unpacked(value):
    shape = shape_of(value)
    alone = isinstance(value, tuple) and len(value) == 1 and torch.is_tensor(value[0])
    return shape[0] if alone else shape


def whatever_has_a_shape(value):
    return tuple(value.shape) if hasattr(value, "shape") else shape_of(value)


wrong("whatever has an attribute shape", "wrong-shape", clause="none")(
    recorder(whatever_has_a_shape)
)
wrong("tensors only", "wrong-shape")(recorder(flat))
wrong("dictionaries are left out", "wrong-shape", clause="dicts")(recorder(without(dict)))
wrong("lists are left out", "wrong-shape")(recorder(without(list)))
wrong("one level of nesting", "wrong-shape")(recorder(one_level))
wrong("type(value) is list", "wrong-shape")(recorder(exact_types))
wrong("lists become tuples", "wrong-shape", clause="nesting")(recorder(all_tuples))
wrong("shapes are lists", "wrong-shape", clause="tuple")(recorder(shapes_as_lists))
wrong("numbers have the shape ()", "wrong-shape", clause="none")(recorder(numbers_too))
wrong("None for a tensor without dimensions", "wrong-shape")(recorder(scalars_none))
wrong("None for what has no items", "wrong-shape")(recorder(empty_none))
wrong("constants in a dictionary are dropped", "wrong-shape")(recorder(no_constants))
wrong("a Parameter within a list is no tensor", "wrong-shape")(recorder(plain_tensors))
wrong("a tuple of one shape is that shape", "wrong-shape")(recorder(one_shape_unpacked))
wrong("no entry for the output", "missing-node", clause="output")(
    recorder(shape_of, keep=lambda n: n.op != "output")
)
wrong("calls only", "missing-node", clause="every-node")(
    recorder(shape_of, keep=lambda n: n.op.startswith("call"))
)
wrong("nodes with readers only", "missing-node")(
    recorder(shape_of, keep=lambda n: n.users or n.op == "output")
)
wrong("targets as keys", "missing-node")(recorder(shape_of, key=lambda n: str(n.target)))
wrong("nodes as keys", "missing-node")(recorder(shape_of, key=lambda n: n))


@wrong("the tutorial's class: a stale output", "wrong-shape")
def tutorial(model, *inputs):
    gm = fx.symbolic_trace(model)
    feed, env, shapes, value = iter(inputs), {}, {}, None
    for node in gm.graph.nodes:
        args, kwargs = map_arg((node.args, node.kwargs), env.__getitem__)
        if node.op == "placeholder":
            value = list(feed) if node.target.startswith("*") else next(feed, *args[:1])
        elif node.op == "get_attr":
            value = operator.attrgetter(node.target)(gm)
        elif node.op == "call_function":
            value = node.target(*args, **kwargs)
        elif node.op == "call_method":
            value = getattr(args[0], node.target)(*args[1:], **kwargs)
        elif node.op == "call_module":
            value = gm.get_submodule(node.target)(*args, **kwargs)
        env[node] = value
        shapes[node.name] = shape_of(value)
    return shapes


@wrong("ShapeProp's own notes", "wrong-shape")
def shape_prop(model, *inputs):
    gm = fx.symbolic_trace(model)
    ShapeProp(gm).propagate(*inputs)

    def measure(note):
        if hasattr(note, "shape"):
            return tuple(note.shape)
        if isinstance(note, dict):
            return {k: measure(v) for k, v in note.items()}
        if isinstance(note, (list, tuple)):
            return type(note)(map(measure, note)) if type(note) in (list, tuple) else None
        return None

    return {n.name: measure(n.meta.get("tensor_meta")) for n in gm.graph.nodes}


@wrong("a given graph module is not traced again", "missing-node")
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


@wrong("inputs that are None are left out, and the next one moves up", "wrong-shape")
def without_none(model, *inputs):
    return recorder(shape_of)(model, *(value for value in inputs if value is not None))


@wrong("None for *args that are not given", "wrong-shape", clause="star")
def none_for_no_arguments(model, *inputs):
    class Strict(fx.Interpreter):
        def placeholder(self, target, args, kwargs):
            value = super().placeholder(target, args, kwargs)
            return value or None if target.startswith("*") else value

    interpreter = Strict(fx.symbolic_trace(model), garbage_collect_values=False)
    interpreter.run(*inputs)
    return {node.name: shape_of(value) for node, value in interpreter.env.items()}


@wrong("the last call of a module counts for all its calls", "wrong-shape")
def by_module(model, *inputs):
    interpreter = fx.Interpreter(fx.symbolic_trace(model), garbage_collect_values=False)
    interpreter.run(*inputs)
    key = {node: node.target if node.op == "call_module" else node for node in interpreter.env}
    shapes = {key[node]: shape_of(value) for node, value in interpreter.env.items()}
    return {node.name: shapes[key[node]] for node in interpreter.env}


@wrong("the model itself becomes float32", "caller-changed")
def changes_the_model(model, *inputs):
    model.float()
    inputs = [i.float() if torch.is_tensor(i) and i.is_floating_point() else i for i in inputs]
    return recorder(shape_of)(model, *inputs)


@wrong("a list of shapes", "wrong-kind")
def as_list(model, *inputs):
    return list(recorder(shape_of)(model, *inputs).items())


@wrong("None is returned", "returned-none")
def nothing(model, *inputs):
    recorder(shape_of)(model, *inputs)


@wrong("the stub", "not-attempted")
def stub(model, *inputs):
    raise NotImplementedError


BEYOND = {
    "inputs that are None are left out, and the next one moves up": (
        "no input of a random model is None"
    ),
    "None for *args that are not given": "random models with `*args` read what is given there",
    "the last call of a module counts for all its calls": (
        "a layer of a random model that is called twice gets values of one shape"
    ),
    "a Parameter within a list is no tensor": "random models do not return their parameters",
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
