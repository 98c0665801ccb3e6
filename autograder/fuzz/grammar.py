"""The grammar of random models: operations as templates of code."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

SHAPES: tuple[tuple[int, ...], ...] = ((2, 3), (3,), (), (2, 1, 3), (1, 2, 4, 4))

HOLE = re.compile(r"\{#?(\w)\}")
"""A hole in a template, to be filled with a value or a number."""


@dataclass(frozen=True)
class Op:
    """One operation in one spelling.

    Attributes:
        text: a template. ``{a}``, ``{b}``, ``{c}`` are values whose shape can be broadcast to the
            model's, ``{x}``, ``{y}`` values of exactly the model's shape, ``{n}`` is a number.
            ``{#x}`` gives only a number to the result, whose shape is that of the others.
            Brackets contain an attribute of the model: ``[nn.ReLU()]({a})``,
            ``{a} * [nn.Parameter(torch.ones(D))]``; there, ``D`` is the size of the last dimension
            and ``C`` that of the second. ``[Block()]({x})``: a class among the vocabulary's names;
            ``[=nn.ReLU()]``: the latest existing one, which is called again.
        dims: the smallest and the largest number of dimensions of the model's shape.
        column: whether the last dimension of the result is 1.
        outs: number of results: several are a tuple, none makes a statement.
    """

    text: str
    dims: tuple[int, int] = (0, 4)
    column: bool = False
    outs: int = 1

    def is_narrow(self, read: Mapping[str, bool]) -> bool:
        """Whether the last dimension of the result may differ from the model's.

        Args:
            read: the same for the values that it reads, by their letters.
        """
        return self.column or all(
            read[letter] for letter in re.findall(r"\{([abcxy])\}", self.text)
        )

    @cached_property
    def layers(self) -> tuple[str, ...]:
        """The attributes that it needs, each as the code that makes it."""
        return tuple(re.findall(r"\[((?:=?nn\.|buffer|=?[A-Z]\w*\()[^\]]*)\]", self.text))


def ops(*texts: str, dims: tuple[int, int] = (0, 4), outs: int = 1) -> tuple[Op, ...]:
    """Make operations that consist of a template only."""
    return tuple(Op(text, dims, outs=outs) for text in texts)


@dataclass(frozen=True)
class Vocabulary:
    """The parts of an exercise's random models.

    Attributes:
        ops: the operations, beginning with those that the exercise is about.
        shapes: shapes of the first input.
        dtypes: dtypes of parameters and inputs.
        results: kinds of results: ``value``, ``tuple``, ``dict``, ``nested``, ``nothing``.
        inputs: kinds of further parameters: ``""``, ``tensor``, ``row``, ``default``, ``star``;
            or their text, if the exercise itself makes the inputs.
        training: whether models may be in training mode.
        traced: whether models may be graph modules.
        namesakes: misleading names for attributes and parameters.
        dead: whether there may be unused nodes. Without them, a dead node of the model cannot be
            mistaken for one that the pass left.
        parts: whether a model may have a module with a ``forward`` of its own.
        second_names: whether one module may have two names.
        names: names that the templates may use in addition to `torch`, `nn`, `F` and `operator`.
        most: the largest number of steps.
    """

    ops: tuple[Op, ...]
    shapes: tuple[tuple[int, ...], ...] = SHAPES
    dtypes: tuple[torch.dtype, ...] = (torch.float64, torch.float32)
    results: tuple[str, ...] = ("value", "tuple", "dict", "nested")
    inputs: tuple[str, ...] = ("", "tensor", "row", "default")
    training: bool = False
    traced: bool = True
    namesakes: tuple[str, ...] = ()
    dead: bool = True
    parts: bool = True
    second_names: bool = True
    names: dict[str, Callable[..., Any]] = field(default_factory=dict)
    most: int = 8

    def usable(self, shape: tuple[int, ...]) -> tuple[Op, ...]:
        """The operations that work on this shape."""
        return tuple(op for op in self.ops if op.dims[0] <= len(shape) <= op.dims[1])


# Operations that any model may contain next to those that an exercise is about.
COMMON: tuple[Op, ...] = (
    *ops(
        "torch.sigmoid({a})",
        "{a} * {b}",
        "{a} - {n}",
        "{a}.tanh()",
        "torch.neg(input={a})",
        "torch.where({a} > {n}, {a}, {b})",
        "torch.stack([{x}, {y}]).sum(0)",
        "torch.maximum({a}, other={b})",
        "{a}.clone()",
        "[nn.Tanh()]({a})",
        "{a} * [buffer(torch.ones(()))]",
    ),
    *ops(
        "{x}.reshape({x}.shape)",
        "[nn.Linear(D, D)]({x})",
        "[nn.Linear(D, D, bias=False)](input={x})",
        "F.linear({x}, [nn.Parameter(torch.ones(D, D))])",
        dims=(1, 4),
    ),
    Op("{a}.mean(dim=-1, keepdim=True)", (1, 4), column=True),
    Op("torch.cat([{x}, {y}], dim=-1).chunk(2, dim=-1)", (1, 4), outs=2),
    Op("{x}[..., :1]", (1, 4), column=True),
    Op("torch.max({x}, dim=-1, keepdim=True)[0]", (1, 4), column=True),
)

# Without step functions, because rounding may differ.
SMOOTH = tuple(op for op in COMMON if "torch.where" not in op.text)
ONE_DTYPE = (torch.float64,)
