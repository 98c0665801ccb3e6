"""The kinds of models in a hunt, among which the caller chooses."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import nn

from autograder.fuzz.grammar import COMMON, SMOOTH, Vocabulary, ops

DOUBLE = (torch.float64,)

PLAIN = ops(
    "{a} * {b}",
    "{a} - {n}",
    "{a}.tanh()",
    "torch.add({a}, {b})",
    "torch.exp({a} * 0.1)",
    "{a}.clone()",
    "torch.relu({a})",
)

EFFECTS = Vocabulary(
    ops(
        "{x}.mul_({n})",
        "{x}.add_({b})",
        "torch.relu_({x})",
        "F.relu({x}, inplace=True)",
        "[nn.ReLU(inplace=True)]({x})",
        "torch.mul({x}, {n}, out={y})",
        "{x}[...].zero_()",
        "{x}.copy_({y})",
        "torch.neg_({x})",
        outs=0,
    )
    + ops("{x}.add_({n})", "torch.sigmoid_({x})", "F.relu({x}, inplace=True)")
    + ops("{x}.view(-1)[0:1].mul_({n})", "{x}[0].fill_({n})", dims=(1, 4), outs=0)
    + ops("[nn.BatchNorm1d(C)]({x})", dims=(2, 3))
    + ops("[nn.BatchNorm1d(C)]({x})", dims=(2, 3), outs=0)
    + PLAIN
    + ops("torch.matmul({x}, [nn.Parameter(torch.ones(D, D))])", dims=(2, 4)),
    shapes=((2, 3), (3,), (2, 3, 4)),
    dtypes=DOUBLE,
    training=True,
    inputs=("", "tensor"),
    most=6,
)


LITERALS = Vocabulary(
    ops(
        "({n}) ** {a}.long()",
        "({n}) - {a}",
        "{a} ** 2",
        "{a} + 1",
        "{a} + 1.0",
        "({a} * 4).long() + 1",
        "({a} * 4).long() + 1.0",
        "({a} * 4).long() + True",
        "{a} * 0.0",
        "{a} * -0.0",
        "torch.atan2({a} * 0.0, {b})",
        "torch.atan2({a} * -0.0, {b})",
        "torch.add({a}, {b}, alpha={n})",
        "torch.sub({a}, {b}, alpha=2)",
        "torch.div({a}, {b}, rounding_mode='floor')",
        "torch.div({a}, 2)",
        "torch.mul({a}, {n})",
        "torch.remainder({a}, 2)",
        "torch.floor_divide({a}, 2)",
        "torch.add({n}, {a})",
        "torch.eq({a}, {b})",
        "~({a} > 0)",
        "-{a}",
        "{a} * float('inf')",
        "torch.nan_to_num({a}, nan=float('nan'), posinf=1.0)",
        "torch.full_like({a}, -0.0)",
        "{a}.to(torch.float32)",
        "({a} > {n}) | ({b} > 0)",
        "torch.clamp({a}, min=-1, max=True)",
        "({a} * 4).long() << 1",
        "({a} * 4).long() % -3",
        "{a} // -2",
        "abs({a})",
        "torch.where({a} > 0, {n}, {b})",
        "torch.where({a} > 0, -0.0, {b})",
        "{a} * complex(0.5, -0.0)",
        "torch.pow({n}, {a})",
        "torch.rsub({a}, {b}, alpha={n})",
        "torch.lerp({a}, {b}, {n})",
        "torch.addcmul({a}, {b}, {c}, value={n})",
        "F.leaky_relu({a}, {n})",
        "F.elu({a}, alpha=0.5)",
        "F.hardtanh({a}, -1, 0.5)",
        "F.threshold({a}, 0.1, -1)",
        "torch.cumsum({a}, -1)",
    )
    + ops("{x}[:, 0:-1]", "{x}[-1:]", "{x}[..., None]", "{x}[:, ::2]", dims=(2, 4))
    + ops("torch.std({x}, 0, correction=0)", "torch.sum({x}, [0, -1], True)", dims=(2, 4))
    + ops("torch.max({x}, -1)", "torch.topk({x}, 1, dim=-1)", dims=(1, 4), outs=2),
    shapes=((2, 3), (3,), ()),
    dtypes=DOUBLE,
    inputs=("", "tensor", "default"),
    most=5,
)

RANDOM = Vocabulary(
    ops(
        "torch.rand_like({a})",
        "torch.randn_like({a})",
        "F.dropout({a}, 0.5)",
        "[nn.Dropout(0.5)]({a})",
        "torch.sigmoid({a}).bernoulli()",
        "torch.bernoulli(torch.sigmoid({a}))",
        "torch.normal({a}, 1.0)",
        "F.rrelu({a}, training=True)",
    )
    + ops("torch.rand_like({a})", "F.dropout({a}, 0.5)", outs=0)
    + PLAIN,
    shapes=((2, 3), (3,)),
    dtypes=DOUBLE,
    training=True,
    most=6,
)

CONSTANTS = Vocabulary(
    ops(
        "[buffer(torch.ones(()))].add_(1)",
        "([buffer(torch.ones(()))] + 0).add_({a})",
        "{a} * [buffer(torch.ones(()))].dim()",
        "{a} + torch.relu([buffer(torch.ones(()))])",
        "{a} * ([nn.Parameter(torch.ones(()))] * 2)",
        "{a} - [nn.Parameter(torch.ones(()))].exp()",
        "{a} * torch.sigmoid([buffer(torch.ones(()))]).bernoulli()",
        "{a} * F.dropout([nn.Parameter(torch.ones(()))])",
        "{a} + [nn.ReLU()]([buffer(torch.ones(()))])",
        "torch.full_like([buffer(torch.ones(()))], {n}) + {a}",
        "torch.maximum([buffer(torch.ones(()))], {a})",
    )
    + ops("[buffer(torch.ones(()))].mul_({n})", "{x}.add_({n})", outs=0)
    + ops(
        "{a} * [nn.Parameter(torch.ones(D))].size(0)",
        "{x} + [nn.Parameter(torch.ones(D, D))].sum(0)",
        "F.linear({x}, [nn.Parameter(torch.ones(D, D))].t())",
        "{x} + [nn.Linear(D, D)]([nn.Parameter(torch.ones(D))])",
        "{a} + [nn.Parameter(torch.ones(D))].chunk(1)[0]",
        dims=(1, 4),
    )
    + PLAIN,
    shapes=((2, 3), (3,)),
    dtypes=DOUBLE,
    inputs=("", "tensor", "default"),
    training=True,
    most=5,
)


def hooked(layer: nn.Module) -> nn.Module:
    """A layer with a hook that changes its result."""
    layer.register_forward_hook(_doubled)
    return layer


def _doubled(layer: nn.Module, args: tuple[torch.Tensor, ...], out: torch.Tensor) -> torch.Tensor:
    return 2 * out


LAYERS = Vocabulary(
    ops(
        "[nn.BatchNorm1d(C)]([nn.Linear(D, D)]({x}))",
        "[nn.BatchNorm1d(C)]([nn.Conv1d(C, C, 1)]({x}))",
        "[nn.Linear(D, D)]({x}[:, 0])",
        "[nn.LayerNorm(D)]({x})",
        "[nn.GroupNorm(1, C)]({x})",
        "[Hooked(nn.BatchNorm1d(C))]([nn.Conv1d(C, C, 1)]({x}))",
        "[nn.BatchNorm1d(C)]([Hooked(nn.Conv1d(C, C, 1))]({x}))",
        "[nn.BatchNorm1d(C, affine=False)]([nn.Linear(D, D)]({x}))",
        "[nn.BatchNorm1d(C)]([=nn.Linear(D, D)]({x}))",
        dims=(3, 3),
    )
    + ops(
        "[nn.BatchNorm1d(D)]([nn.Linear(D, D)]({x}))",
        "[nn.BatchNorm1d(D)]([=nn.Linear(D, D)]({x}))",
        "[nn.BatchNorm1d(D)]([nn.Linear(D, D, bias=False)](input={x}))",
        "[Hooked(nn.Linear(D, D))]({x})",
        dims=(2, 2),
    )
    + ops("[nn.BatchNorm1d(D)]([nn.Conv1d(C, C, 1)]({x}[0]))", dims=(3, 3))
    + ops(
        "[nn.BatchNorm2d(C)]([nn.Conv2d(C, C, 1)]({x}))",
        "[nn.BatchNorm2d(C)]([=nn.Conv2d(C, C, 1)]({x}))",
        "[nn.BatchNorm2d(C)]([nn.Conv2d(C, C, 3, padding=1, padding_mode='reflect')]({x}))",
        "[nn.Conv2d(C, C, 1)]({x}) * [=nn.Conv2d(C, C, 1)].weight.sum()",
        "[nn.ConvTranspose2d(C, C, 1)]({x})",
        "[nn.AvgPool2d(1)]({x})",
        dims=(4, 4),
    )
    + tuple(op for op in SMOOTH if "[:1]" not in op.text)[:10],
    shapes=((2, 3), (3, 4, 4), (2, 4, 4), (1, 2, 4, 4)),
    dtypes=DOUBLE,
    training=True,
    namesakes=("block_0", "linear_0"),
    names={"Hooked": hooked},
    most=4,
)

NAMES = (
    "nan", "inf", "device", "class", "self_1", "torch", "slice", "getattr", "code", "block_0",
    'say "hi"', "a\\tb",
)  # fmt: skip
"""Names that a user may choose and that have a meaning in generated code."""


def names(first: str) -> Vocabulary:
    """Models whose parameters and attributes have names that collide with generated code."""
    return Vocabulary(
        ops(
            "{a} * float('inf')",
            "torch.nan_to_num({a}, posinf=float('nan'))",
            "[nn.Tanh()]({a})",
            "{a} + [nn.Parameter(torch.ones(()))]",
            "{a} * [buffer(torch.ones(()))]",
            "{a}.to(torch.device('cpu'))",
            "[nn.Sequential(nn.Tanh(), nn.Sigmoid())]({a})",
            "{a} * {x}.shape.numel()",
        )
        + ops("{x}[1:]", "[nn.Linear(D, D)]({x})", "{x}.reshape({x}.shape)", dims=(1, 4))
        + PLAIN,
        shapes=((2, 3), (3,)),
        dtypes=DOUBLE,
        inputs=("", "tensor", "default", "star"),
        namesakes=(first, *(name for name in NAMES if name != first)),
        most=5,
    )


SIZES = Vocabulary(
    ops(
        "{x}.reshape({x}.size(0), -1)",
        "{a} * {x}.size(-1)",
        "{x}.view({x}.shape)",
        "{x}.expand({x}.shape[0], -1, -1)[0]",
        "torch.zeros({x}.shape[0]).sum() + {a}",
        "torch.arange({x}.shape[-1]) * {x}",
        "{x}[: {y}.shape[0]]",
        "{x}.flatten(0)",
        "torch.stack([{x}, {y}], dim={x}.dim())",
        "{x}.unsqueeze(-1).squeeze(-1)",
        "F.pad({x}, [1, {x}.shape[0]])",
        "{x}.new_zeros({x}.size()) + {a}",
        dims=(1, 4),
    )
    + ops("{x}.mT @ {y}", "torch.matmul({x}, {y}.transpose(0, 1))", dims=(2, 2))
    + ops("torch.chunk({x}, 2, dim=0)", "{x}.split(1)", dims=(2, 2), outs=2)
    + PLAIN
    + COMMON,
    shapes=((2, 3), (3,), (2, 2, 3)),
    inputs=("", "tensor", "row", "default", "star"),
    dtypes=DOUBLE,
    most=6,
)

CONVOLUTIONS = Vocabulary(
    ops(
        "[nn.Conv2d(C, C, 3, padding=1)]({x})",
        "[nn.Conv2d(C, C, 1, bias=False)]({x})",
        "[nn.BatchNorm2d(C)]({x})",
        "[nn.BatchNorm2d(C)]([nn.Conv2d(C, C, 3, padding=1, groups=C)]({x}))",
        "[nn.Sequential(nn.Conv2d(C, C, 1), nn.BatchNorm2d(C), nn.ReLU(inplace=True))]({x})",
        "[=nn.Conv2d(C, C, 3, padding=1)]({x})",
        "[=nn.BatchNorm2d(C)]({x})",
        "[nn.ReLU()]({a})",
        "[nn.ReLU(inplace=True)]({x})",
        "[=nn.ReLU()]({a})",
        "F.relu({a})",
        "torch.relu({a})",
        "{a}.relu()",
        "F.relu({x}, inplace=True)",
        "[nn.SiLU()]({a})",
        "F.silu({a})",
        "[nn.GELU()]({a})",
        "[nn.Hardswish()]({a})",
        "[nn.ReLU6()]({a})",
        "[nn.Dropout(0.5)]({a})",
        "[nn.Dropout2d(0.5)]({x})",
        "F.dropout({a}, 0.5, self.training)",
        "{x} * torch.sigmoid([nn.Conv2d(C, C, 1)]({x}.mean((2, 3), keepdim=True)))",
        "{x} + {y}",
        "{x} * [nn.Parameter(torch.ones(C, 1, 1))]",
        "[nn.AvgPool2d(3, stride=1, padding=1)]({x})",
        "F.avg_pool2d({x}, 1)",
        "[nn.Identity()]({a})",
        "[nn.GroupNorm(1, C)]({x})",
        "[nn.ConvTranspose2d(C, C, 1)]({x})",
        "{x}.flatten(1).reshape({x}.shape)",
        "{x}.clone()",
        dims=(4, 4),
    )
    + ops("torch.cat([{x}, {y}], dim=1).chunk(2, dim=1)", dims=(4, 4), outs=2),
    shapes=((1, 2, 3, 3), (2, 3, 2, 4)),
    dtypes=DOUBLE,
    inputs=("", "tensor"),
    training=True,
    namesakes=("relu", "bn"),
    most=6,
)

IDENTITIES = Vocabulary(
    ops(
        "{a} + 0",
        "0 + {a}",
        "torch.add({a}, 0)",
        "{a} - 0",
        "{a} * 1",
        "{a}.mul(1)",
        "{a} / 1",
        "{a} ** 1",
        "torch.neg(-{a})",
        "({a} > 0) + 0",
        "({a} > 0) * 1",
        "({a} * 4).long() + 0.0",
        "({a} * 4).long() * 1.0",
        "({a} * 4).long() / 1",
        "torch.add(({a} * 4).long(), 0.0)",
        "-(-({a} * 4).long())",
    )
    + PLAIN,
    shapes=((2, 3), (3,)),
    dtypes=DOUBLE,
    inputs=("", "tensor", "default"),
    most=5,
)
"""Calls that seem to do nothing. On tensors of bool or int they change the dtype."""

ARITHMETIC = Vocabulary(COMMON, dtypes=DOUBLE, namesakes=("max", "add_1"), most=6)


def as_models(vocabularies: dict[str, Vocabulary]) -> dict[str, Vocabulary]:
    """The same vocabularies without traces: a mistake of tracing is not a mistake of a pass."""
    return {name: replace(words, traced=False) for name, words in vocabularies.items()}


KINDS: dict[str, Vocabulary] = as_models(
    {
        "arithmetic": ARITHMETIC,
        "literals": LITERALS,
        "layers": LAYERS,
        "convolutions": CONVOLUTIONS,
        "constants": CONSTANTS,
        "sizes": SIZES,
        "effects": EFFECTS,
        "random": RANDOM,
        "names": names("inf"),
        "identities": IDENTITIES,
    }
)
"""The kinds of models, by name."""

SAYS: dict[str, str] = {
    "arithmetic": "operations of every spelling, tuples, dictionaries, default arguments",
    "literals": "numbers of every type and sign, and keyword arguments",
    "layers": "linear layers, norms and convolutions, shared, with hooks, on odd shapes",
    "convolutions": "networks for images: blocks, branches, activations in every spelling",
    "constants": "parameters and buffers that are computed with, and written to",
    "sizes": "sizes of tensors, and tensors that are made from them",
    "effects": "operations in place, views, `out=`, BatchNorms in training mode",
    "random": "random numbers and dropout",
    "names": "parameters and attributes with names that mislead",
    "identities": "`x + 0`, `x * 1` and the like, on floats, integers and bools",
}
"""A few words about each kind."""
