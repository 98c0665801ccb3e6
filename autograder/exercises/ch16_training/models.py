"""Step graphs from ATen code: the builders of cases about the graph of a training step.

The code of a case is a module that calls ATen operators. What it calls within `backward()` is
marked, as in a captured step.
"""

from __future__ import annotations

import copy
import operator
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import (
    T,
    Trial,
    argument_trees,
    codegen_of,
    fake_tensor_mode,
    fresh,
    pytree,
    tensor_of,
)
from autograder.models.graph_reports import SameTrial

aten = torch.ops.aten
MARK = {"phase": "backward"}


def backward() -> Any:
    """Mark the calls that are recorded in the block: they belong to the backward pass."""
    from torch.fx.traceback import annotate

    return annotate(MARK)


def step_of(model: nn.Module, inputs: tuple[Any, ...]) -> fx.GraphModule:
    """The graph of a module that calls ATen operators, with fake values and its marks.

    Args:
        model: the module.
        inputs: example inputs, which may be nested; then the graph takes nested ones, too.
    """
    from torch.fx.traceback import preserve_node_meta

    nested = any(not isinstance(given, torch.Tensor) for given in inputs)
    names = list(model.forward.__code__.co_varnames[1 : len(inputs) + 1])
    places = pytree.tree_map(lambda _: fx.PH, inputs)
    with preserve_node_meta():
        traced = fx.symbolic_trace(model, dict(zip(names, places, strict=True)) if nested else None)
    graph, made = fx.Graph(), dict[fx.Node, fx.Node]()
    for node in traced.graph.nodes:
        packet = getattr(node.target, "overloadpacket", None)
        name = node.name if packet is None else packet.__name__
        args, kwargs = fx.map_arg((node.args, node.kwargs), made.__getitem__)
        made[node] = graph.create_node(node.op, node.target, args, kwargs, name)
        if "custom" in node.meta:
            made[node].meta["custom"] = dict(node.meta["custom"])
    if argument_trees(traced.graph) is not None:
        graph.set_codegen(codegen_of(traced.graph))
    return with_vals(fx.GraphModule(traced, graph), inputs)


def with_vals(gm: fx.GraphModule, inputs: tuple[Any, ...]) -> fx.GraphModule:
    """Note a fake value in the `meta` of each node."""
    mode = fake_tensor_mode()()
    given = iter([mode.from_tensor(tensor) for tensor in pytree.tree_leaves(inputs)])
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            node.meta["val"] = next(given)
        elif node.op == "get_attr":
            node.meta["val"] = mode.from_tensor(operator.attrgetter(node.target)(gm).detach())
        elif node.op == "call_function":
            args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
            with mode:
                node.meta["val"] = node.target(*args, **kwargs)
    return gm


@dataclass(frozen=True, eq=False)
class OnStep:
    """Builds the trial of an answer that takes the graph of a step.

    Attributes:
        make: builds a module that calls ATen operators.
        inputs: its inputs, tensors as `T`.
        more: further arguments of the answer.
        stays: whether the answer must leave the graph as it is.
        prepare: changes the graph module in the end.
    """

    make: Callable[[], nn.Module]
    inputs: tuple[Any, ...]
    more: tuple[Any, ...] = ()
    stays: bool = True
    prepare: Callable[[fx.GraphModule], Any] | None = None

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed, dtype=torch.float32)
        generator = torch.Generator().manual_seed(seed + 1)

        def tensor(spec: T) -> torch.Tensor:
            return tensor_of(spec, generator, torch.float32)

        inputs = pytree.tree_map(tensor, self.inputs)
        gm = step_of(model, inputs)
        if self.prepare is not None:
            self.prepare(gm)
        more = copy.deepcopy(self.more)
        return Trial(
            args=(gm, *more), model=gm if self.stays else None, inputs=(inputs,), watch=more,
            noted=self.stays,
        )  # fmt: skip


def itself(gm: nn.Module) -> fx.GraphModule:
    """Return the graph module unchanged."""
    assert isinstance(gm, fx.GraphModule)
    return gm


# ------------------------------------------------------------------ random graphs


def with_backward(trial: Trial, choice: int) -> fx.GraphModule:
    """The graph of a random model, and calls after it that read some of its values.

    These calls are marked. They are not a derivative: only which values they read matters.
    """
    gm = copy.deepcopy(_recorded(SameTrial(trial)))
    draw = random.Random(choice)
    graph = gm.graph
    (output,) = graph.find_nodes(op="output")
    values = [node for node in graph.nodes if isinstance(node.meta.get("val"), torch.Tensor)]
    floats = [node for node in values if node.meta["val"].is_floating_point()]
    read = [node for node in floats if draw.random() < 0.4] or floats[-1:]
    mode = floats[-1].meta["val"].fake_mode
    made: list[fx.Node] = []
    with graph.inserting_before(output):
        for node in reversed(read):
            like = [one for one in made if one.meta["val"].shape == node.meta["val"].shape]
            calls: list[tuple[Any, tuple[Any, ...]]] = [
                (aten.neg.default, (node,)),
                (aten.mul.Tensor, (node, draw.choice(like or [node]))),
                (aten.stack.default, ([node, node],)),
                (aten.add.Tensor, (node, 1)),
            ]
            target, args = draw.choice(calls)
            with mode:
                val = target(*fx.map_arg(args, lambda n: n.meta["val"]))
            new = graph.call_function(target, args)
            new.meta |= {"val": val, "custom": dict(MARK)}
            made.append(new)
    output.args = ([*pytree.tree_leaves(output.args), *made],)
    gm.recompile()
    return gm


@lru_cache(maxsize=32)
def _recorded(same: SameTrial) -> fx.GraphModule:
    from torch.fx.experimental.proxy_tensor import make_fx

    trial = same.trial
    model, inputs = copy.deepcopy((trial.model, trial.inputs[0]))
    with torch.no_grad():
        gm = make_fx(model, tracing_mode="fake", _allow_non_fake_inputs=True)(*inputs)
    return with_vals(gm, inputs)
