"""Graphs of ATen operators with fake values in their `meta`; some sizes may be symbolic."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx, nn

from autograder.core.torch_private import OpOverload, fake_tensor_mode

aten = torch.ops.aten


def aten_graph(
    model: nn.Module, inputs: tuple[Any, ...], symbolic: tuple[tuple[int, ...], ...]
) -> fx.GraphModule:
    """The graph of a module that calls ATen operators, with a fake value in each node's `meta`.

    Args:
        model: the module.
        inputs: the example inputs.
        symbolic: for each input, the dimensions whose sizes are symbolic.
    """
    traced = fx.symbolic_trace(model)
    fakes = fakes_of(inputs, symbolic)
    given = iter(fakes)
    mode = fakes[0].fake_mode
    graph = fx.Graph()
    made: dict[fx.Node, fx.Node] = {}
    for node in traced.graph.nodes:
        target = node.target
        if isinstance(target, OpOverload):
            name = target.overloadpacket.__name__
        else:
            name = node.name
        args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: made[n])
        made[node] = graph.create_node(node.op, target, args, kwargs, name)
        if node.op == "placeholder":
            made[node].meta["val"] = next(given)
        elif node.op == "get_attr":
            real = operator.attrgetter(target)(traced)
            made[node].meta["val"] = mode.from_tensor(real, static_shapes=True)
        elif node.op == "call_function":
            args, kwargs = fx.map_arg((args, kwargs), lambda n: n.meta["val"])
            with mode:
                made[node].meta["val"] = _value(target, args, kwargs)
    return fx.GraphModule(traced, graph)


def _value(target: Any, args: Any, kwargs: Any) -> Any:
    """The result of an operator on fake values.

    A view with symbolic sizes is not run: it would add a guard that compares them to the input's.
    """
    if target in (aten.view.default, aten.reshape.default):
        tensor, sizes = args
        if any(isinstance(size, torch.SymInt) for size in sizes) and -1 not in map(_plain, sizes):
            return tensor.new_empty(sizes)
    return target(*args, **kwargs)


def _plain(size: Any) -> Any:
    return size if type(size) is int else None


def fakes_of(inputs: tuple[Any, ...], symbolic: tuple[tuple[int, ...], ...]) -> list[Any]:
    """Fake tensors like the inputs, of one mode, with independent symbolic sizes."""
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental import symbolic_shapes as shapes

    mode = fake_tensor_mode()(shape_env=shapes.ShapeEnv(duck_shape=False))
    found = []
    for i, (tensor, places) in enumerate(zip(inputs, symbolic, strict=True)):
        kinds = (shapes.DimDynamic.STATIC, shapes.DimDynamic.DYNAMIC)
        sizes = [kinds[dim in places] for dim in range(tensor.ndim)]
        context = shapes.StatelessSymbolicContext(sizes)  # type: ignore[arg-type]
        source = ConstantSource(f"input_{i}")
        found.append(mode.from_tensor(tensor, source=source, symbolic_context=context))
    return found


def known_of(gm: fx.GraphModule) -> list[str]:
    """The known facts about the symbolic sizes of a graph: guards and replacements."""
    for node in gm.graph.nodes:
        mode = getattr(node.meta.get("val"), "fake_mode", None)
        env = getattr(mode, "shape_env", None)
        if env is not None:
            guards = [str(guard.expr) for guard in env.guards]
            return [*guards, *(f"{old} is {new}" for old, new in env.replacements.items())]
    return []
