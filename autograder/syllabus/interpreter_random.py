"""Chapter 06: the random models of its exercises, and what must come of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import fx, nn
from torch.overrides import TorchFunctionMode

from autograder.core.exercise import Trial
from autograder.core.outcome import Reference
from autograder.core.torch_private import codegen_of, rename
from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.judge.oracles import answer_of, exchanging, runs_of
from autograder.syllabus.manipulation import add_to_mul

KINDS = ("", "tensor", "row", "default", "star")


def on_a_trace(trial: Trial, choice: int) -> Trial:
    """The case of a class that is given a graph module: the model, traced."""
    gm = fx.symbolic_trace(trial.model)
    return replace(trial, args=(gm,), model=gm)


def with_inputs(trial: Trial, choice: int) -> Trial:
    """The case of ``answer(model, *inputs)``."""
    given = trial.inputs[-(choice % 4 == 1)]
    if isinstance(trial.model, fx.GraphModule) and choice % 4 > 1:
        renamed(trial.model)
    return replace(trial, args=(trial.model, *given), inputs=(given,))


def renamed(gm: fx.GraphModule) -> None:
    """Give the nodes names that they do not have in a fresh trace."""
    for i, node in enumerate(gm.graph.nodes):
        if node.op not in ("placeholder", "output"):
            rename(node, f"value_{i}")
    gm.recompile()


# ------------------------------------------------------------------ NegSigmSwap


class _Exchanged(TorchFunctionMode):
    """While it is active, `neg` and `sigmoid` are each other, except inside of layers."""

    table = {torch.neg: torch.sigmoid, torch.sigmoid: torch.neg}
    methods = {torch.Tensor.neg: torch.sigmoid, torch.Tensor.sigmoid: torch.neg}
    inside = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Called in place of every function of PyTorch."""
        other = func if self.inside else (self.table | self.methods).get(func, func)
        return other(*args, **(kwargs or {}))

    def enter(self, *_: Any) -> None:
        """A layer begins."""
        self.inside += 1

    def leave(self, *_: Any) -> None:
        """A layer ends."""
        self.inside -= 1


def exchanged(trial: Trial) -> Reference:
    """What the model computes, called as it is, while two functions are exchanged."""
    mode = _Exchanged()
    for module in trial.model.modules():
        if fx.Tracer().is_leaf_module(module, ""):
            module.register_forward_pre_hook(mode.enter)
            module.register_forward_hook(mode.leave)

    def call(*args: Any) -> Any:
        with mode:
            return trial.model(*args)

    return runs_of(call, trial)


SWAP = RandomModels(
    Vocabulary(
        ops(
            "torch.neg({a})",
            "{a}.sigmoid()",
            "torch.sigmoid({a})",
            "{a}.neg()",
            "torch.sigmoid(input={a})",
            "[nn.Sigmoid()]({a})",
            "torch.special.expit({a})",
            "F.logsigmoid({a})",
            "{a}.clamp(min={n})",
            "torch.sub(input={a}, other={b}, alpha=3)",
            "torch.sum({x}, dim=-1, keepdim=True) + {x}",
            "{x} + {y}.sum(dim=-1, keepdim=True)",
            "[nn.Sigmoid()](input={a})",
            "{x}.mul_({b})",
        )
        + COMMON,
        inputs=KINDS,
    ),
    exchanged,
    on_a_trace,
)

# ------------------------------------------------------------------ record_shapes


def values_of(model: nn.Module, *inputs: Any) -> dict[str, Any]:
    """The value of each node: those of a graph whose code returns all of them at once."""
    gm = fx.symbolic_trace(model)
    graph = fx.Graph()
    copies: dict[fx.Node, fx.Node] = {}
    result = graph.graph_copy(gm.graph, copies)
    graph.output(({node.name: copy for node, copy in copies.items()}, result))
    graph.set_codegen(codegen_of(gm.graph))
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values, result = fx.GraphModule(gm, graph)(*inputs)
    (output,) = gm.graph.find_nodes(op="output")
    return {**values, output.name: result}


def shapes_of(model: nn.Module, *inputs: Any) -> dict[str, Any]:
    """What `record_shapes` is to return."""

    def shape(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: shape(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            kind = list if isinstance(value, list) else tuple
            return kind(shape(item) for item in value)
        return tuple(value.shape) if isinstance(value, torch.Tensor) else None

    return {name: shape(value) for name, value in values_of(model, *inputs).items()}


SHAPES = RandomModels(
    Vocabulary(
        ops(
            "torch.relu({a})",
            "{x} * {a}.sum()",
            "{x} + {b}.numel()",
            "{x} * {b}.sum().item()",
            "{a} + [nn.Parameter(torch.ones(()))]",
            "{x} + [nn.Parameter(torch.ones(()))]",
            "{x} + (torch.ones_like({b}) > 0).sum()",
            "torch.stack([{x}, {y}, {x}])[0]",
        )
        + ops("torch.frexp({a})[0]")
        + ops(
            "{x}.size(-1) * {y}",
            "{x} + torch.stack({a}.unbind(0)).sum()",
            "{x} - {a}.max(dim=-1, keepdim=True).values",
            "{x} * torch.topk({a}, 1, dim=-1)[0]",
            "{x} + {a}[:0].sum()",
            "{x}.flip({a}[:0].unbind(0))",
            dims=(1, 4),
        )
        + ops("[nn.LSTM(D, D)]({x})[0]", "[nn.GRU(D, D)]({x})[1][0] + {y}", dims=(2, 3))
        + COMMON,
        inputs=KINDS,
        results=("value", "nested", "dict", "tuple"),
    ),
    answer_of(shapes_of),
    with_inputs,
)

# ------------------------------------------------------------------ OpTimer


def timed(trial: Trial, choice: int) -> Trial:
    """Several runs of one trace, some of them on an input that may not fit."""
    trial = on_a_trace(trial, choice)
    first, *others = trial.inputs[0]
    runs = [trial.inputs[0], trial.inputs[-1]]
    if first.dim() and choice:
        runs += [(torch.cat([first, first], dim=-1), *others), trial.inputs[0]]
    return replace(trial, inputs=tuple(runs))


def ran_twice(trial: Trial) -> Reference:
    """What the model itself gives: on each input, and on the first once more."""
    trial = replace(trial, inputs=(*trial.inputs, trial.inputs[0]))
    return runs_of(trial.model.forward, trial)


TIMER = RandomModels(
    Vocabulary(
        ops(
            "torch.relu({a})",
            "{a}.abs()",
            "[nn.ReLU()]({a})",
            "{x} + [nn.Parameter(torch.ones(()))]",
            "{x}.mul_({b})",
        )
        + ops("torch._assert({a}.dim() < 9, 'too many')", outs=0)
        + ops("[nn.Sequential(nn.Linear(D, D), nn.ReLU())]({x})", dims=(1, 4))
        + COMMON,
        inputs=KINDS,
        namesakes=("relu", "add"),
    ),
    ran_twice,
    timed,
    expect={"ranked": True, "second timer": True, "may raise": True},
)

# ------------------------------------------------------------------ AddToMul


def tag_all(gm: fx.GraphModule) -> None:
    """Give every node a mark and a size."""
    for i, node in enumerate(gm.graph.nodes):
        node.meta["mark"] = f"made for {node.name}"
        node.meta["size"] = (i, [i + 1])
        node.meta["_note"] = -i


def tag_some(gm: fx.GraphModule) -> None:
    """Give every second node a mark of its own."""
    for i, node in enumerate(gm.graph.nodes):
        if i % 2 == 0:
            node.meta["mark"] = {"place": i}


def tagged(trial: Trial, choice: int) -> Trial:
    """The case of a class that is given a graph module, with something in its nodes' meta."""
    trial = on_a_trace(trial, choice)
    tags: tuple[Callable[[fx.GraphModule], None], ...] = (tag_all, tag_some)
    tags[choice % 2](trial.model)
    return trial


# An `alpha` that is a parameter is a Proxy here, which no `if` can look at.
ADDITIONS = replace(
    add_to_mul.VOCABULARY,
    ops=tuple(
        replace(op, text=op.text.replace("alpha={n}", "alpha=2"))
        for op in add_to_mul.VOCABULARY.ops
    ),
)
ADD_TO_MUL = RandomModels(ADDITIONS, exchanging(add_to_mul.AddsByMultiplying), tagged, count=16)
