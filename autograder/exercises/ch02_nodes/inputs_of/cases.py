"""Chapters 00 to 02: the random models of the exercises that look at a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import fx, nn

from autograder.core.exercise import Trial
from autograder.core.outcome import Reference
from autograder.core.torch_private import rename
from autograder.fuzz.grammar import COMMON, Op, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.fuzz.wrapped import wrapped
from autograder.judge.oracles import answer_of

KINDS = ("", "tensor", "row", "default", "star")
OWN_LIST = ((fx.Node, "all_input_nodes"), (fx.Node, "_input_nodes"))
NO_ELIMINATION = ((fx.Graph, "eliminate_dead_code", "anywhere"),)

# ------------------------------------------------------------------ parts of all of them


class _Noting(fx.Tracer):
    """Notes each node where it is made."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[fx.Node] = []

    def create_node(self, *args: Any, **kwargs: Any) -> fx.Node:
        """Called for each node."""
        node = super().create_node(*args, **kwargs)
        self.made.append(node)
        return node


def _made(model: nn.Module) -> list[fx.Node]:
    tracer = _Noting()
    tracer.trace(model)
    return tracer.made


def perhaps_renamed(trial: Trial, choice: int) -> Trial:
    """The nodes of some graph modules have names that a fresh trace does not give them."""
    if isinstance(trial.model, fx.GraphModule) and choice % 4 > 1:
        for i, node in enumerate(trial.model.graph.nodes):
            if node.op not in ("placeholder", "output"):
                rename(node, f"value_{i}")
        trial.model.recompile()
    return trial


# Calls of every kind, in models whose nodes depend on their mode.
CALLS = (
    *ops(
        "torch.relu({a})",
        "[nn.ReLU()]({a})",
        "{a}.relu()",
        "torch.tanh(torch.tanh({a}) * 2)",
        "{a} + [nn.Parameter(torch.ones(()))]",
        "{a} + {b}",
        "{a} + {a}",
        "F.dropout({a}, 0.5, self.training)",
        "{a} + torch.rand_like({a}) if self.training else {a} * 1",
        "torch.add(other={a}, input={b})",
        "torch.where({a} > 0, input={a}, other={b})",
        "torch.stack([{x}, {y}, {x}]).mean(dim=0)",
        "[nn.Sequential(nn.Identity(), nn.Sequential(nn.ReLU()))]({a})",
        "{a} - [buffer(torch.ones(()))]",
    ),
    *ops(
        "{x}[{y}.dim() - {y}.dim() : {y}.shape[0]]", "F.pad({x}, [0, {a}.dim() * 0])", dims=(1, 4)
    ),
)
MISLEADING = ("max", "input", "relu_1", "add")

# ------------------------------------------------------------------ node_names

NAMES = RandomModels(
    Vocabulary(CALLS + COMMON, inputs=KINDS, training=True, namesakes=MISLEADING),
    answer_of(lambda model: [node.name for node in _made(model)]),
    perhaps_renamed,
)

# ------------------------------------------------------------------ node_table


def _leaves(value: Any) -> Iterator[Any]:
    """What stands in nested arguments, from left to right."""
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _reads(node: fx.Node) -> list[fx.Node]:
    leaves = _leaves((node.args, node.kwargs))
    return list(dict.fromkeys(leaf for leaf in leaves if isinstance(leaf, fx.Node)))


def _rows(model: nn.Module) -> list[tuple[str, str, int, int]]:
    nodes = _made(model)
    readers = Counter(read for node in nodes for read in _reads(node))
    return [(node.op, node.name, len(_reads(node)), readers[node]) for node in nodes]


TABLE = RandomModels(
    Vocabulary(CALLS + COMMON, inputs=KINDS, training=True, namesakes=MISLEADING),
    answer_of(_rows),
    perhaps_renamed,
)

# ------------------------------------------------------------------ count_ops

OPCODES = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")


def _counted(model: nn.Module) -> dict[str, int]:
    counts = Counter(node.op for node in _made(model))
    return {op: counts[op] for op in OPCODES}


COUNTS = RandomModels(
    Vocabulary(CALLS + COMMON, inputs=KINDS, training=True, namesakes=("get_attr", "placeholder")),
    answer_of(_counted),
    perhaps_renamed,
)

# ------------------------------------------------------------------ inputs_of


def nested(*values: Any, **named: Any) -> Any:
    """A function that takes anything; its value is the sum of the tensors in it."""
    return sum(leaf for leaf in _leaves((values, named)) if isinstance(leaf, torch.Tensor))


def _recorded(*calls: str) -> tuple[Op, ...]:
    return ops(*(f'{call}  # recorded: fx.wrap("{call.partition("(")[0]}")' for call in calls))


def _inputs_of_each_node(gm: fx.GraphModule) -> list[list[dict[str, int]]]:
    """PyTorch's own list for each node, which the exercise forbids."""
    place = {node: i for i, node in enumerate(gm.graph.nodes)}
    return [[place[read] for read in node.all_input_nodes] for node in gm.graph.nodes]


def _each_node(trial: Trial) -> Any:
    rows = _inputs_of_each_node(*trial.args)
    return Reference({"list": [{"list": [{"node": i} for i in row]} for row in rows]})


def _traced(trial: Trial, choice: int) -> Trial:
    gm = trial.model
    if not isinstance(gm, fx.GraphModule):
        gm = fx.symbolic_trace(gm)
    return replace(trial, args=(gm,), model=gm, forbidden=OWN_LIST)


INPUTS = RandomModels(
    Vocabulary(
        ops(
            "torch.relu({a})",
            "torch.where({a} > {b}, {a}, {b})",
            "torch.add(other={a}, input={b})",
            "torch.where({a} > 0, other={b}, input={a})",
            "torch.maximum({a}, other={a})",
            "torch.stack([{x}, {y}, {x}]).mean(dim=0)",
            "torch.einsum('...,...->...', {x}, {y})",
            "{a}.clamp(min={b}, max={a})",
        )
        + ops(
            "{x}[{x}.dim() - {x}.dim() : {y}.size(0)]",
            "{x}[0 : {x}.size(0) : {y}.dim()].sum() * {y}",
            "torch.cat([{x}, {y}], {x}.dim() - 1).sum() + {a}",
            "F.pad({x}, [0, {a}.dim() * 0])",
            dims=(1, 4),
        )
        + _recorded(
            "nested([{a}, {b}], {c})",
            'nested({"b": {a}, "a": [{b}, {c}]}, {b})',
            "nested({b}, last=({a}, [{c}]), first={b})",
            "nested({a}, slice({b}, {c}, {a}), 'some text')",
            "nested([[{a}]], (({b}, {c}), [{a}]), {b})",
            "nested(table={'rows': slice({b}, {a}, None)}, other={a})",
            "nested(last={c}, first={a})",
            "nested({a}, slice(None, None, {b}), slice({c}, None))",
        )
        + CALLS[4:6]
        + COMMON,
        inputs=KINDS,
        names={"nested": wrapped(nested)},
    ),
    _each_node,
    _traced,
    count=14,
)

# ------------------------------------------------------------------ dead_nodes


def _eliminated(model: nn.Module) -> list[str]:
    """What PyTorch's own elimination takes away where nothing has a side effect."""
    gm = fx.symbolic_trace(model)
    names = [node.name for node in gm.graph.nodes]
    gm.graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output"))
    left = {node.name for node in gm.graph.nodes}
    return [name for name in names if name not in left]


def _without_elimination(trial: Trial, choice: int) -> Trial:
    return replace(perhaps_renamed(trial, choice), forbidden=NO_ELIMINATION)


DEAD = RandomModels(
    Vocabulary(
        ops(
            "torch.relu({a})",
            "{a}.relu()",
            "[nn.ReLU()]({a})",
            "[nn.Parameter(torch.ones(()))] * {a}",
            "torch.add({a}, other={b})",
            "torch.stack([{x}, {y}]).mean(0)",
            "torch.zeros(3).sum() * {a} * [buffer(torch.ones(()))]",
        )
        + ops(
            "torch.exp(torch.neg({a}))",
            "[nn.Parameter(torch.ones(()))].exp().neg()",
            "[nn.ReLU()]({a}).abs()",
            "[buffer(torch.ones(()))] + 1",
            "[{a}.neg(), {'one': {b}.abs()}]",
            outs=0,
        )
        + ops(
            "{x}[{x}.dim() - {x}.dim() : {y}.size(0)]",
            "F.pad({x}, [0, {a}.dim() * 0])",
            dims=(1, 4),
        )
        + COMMON,
        results=("value", "tuple", "dict", "nested", "nothing"),
        inputs=KINDS,
        namesakes=("unused", "dead"),
    ),
    answer_of(_eliminated),
    _without_elimination,
    count=14,
)
