"""The vocabularies of the hunt's models: its own, and those of all exercises."""

from __future__ import annotations

import operator

import torch

from autograder.exercises import EXERCISES
from autograder.fuzz.grammar import Op, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.fuzz.wrapped import Wrapped
from autograder.hunt.vocabularies import DOUBLE, KINDS, PLAIN, as_models, names


def _recorded(*texts: str, outs: int = 1) -> tuple[Op, ...]:
    calls = (f'{text}  # recorded: fx.wrap("{text.partition("(")[0]}")' for text in texts)
    return ops(*calls, outs=outs)


RECORDS = Vocabulary(
    _recorded("iadd({x}, {b})", "imul({x}, {n})", "isub({x}, {n})", "iadd({a}.dim(), 1) * {x}")
    + _recorded("setitem({x}, ..., {b})", "iadd({x}, {b})", outs=0)
    + ops("{a} * {x}.dim()", "{a} + {a}.dim()")
    + PLAIN,
    shapes=((2, 3), (3,)),
    dtypes=DOUBLE,
    names={name: Wrapped(getattr(operator, name)) for name in ("iadd", "imul", "isub", "setitem")},
    inputs=("", "tensor"),
    most=6,
)
"""Operators in place, as Dynamo records them; a trace of Python code contains none."""

RANDOM_FUNCTIONS = Vocabulary(
    ops(
        "torch.rand_like({a})",
        "torch.randn_like({a})",
        "torch.randint_like({a}, 9)",
        "torch.bernoulli(torch.sigmoid({a}))",
        "torch.normal({a}, 1.0)",
        "torch.poisson({a}.abs())",
        "torch.randn({a}.shape)",
        "torch.rand({a}.shape) + {a}",
    )
    + PLAIN,
    shapes=((2, 3), (3,)),
    dtypes=DOUBLE,
    parts=False,
    most=5,
)

MATMULS = Vocabulary(
    ops(
        "torch.matmul({x}, [nn.Parameter(torch.ones(D, D))])",
        "torch.matmul({x}, [=nn.Parameter(torch.ones(D, D))])",
        "torch.matmul({x}.mul_({n}), [=nn.Parameter(torch.ones(D, D))])",
        "torch.matmul({x}[:1], [=nn.Parameter(torch.ones(D, D))])",
        dims=(2, 4),
    )
    + ops("{x}.add_({n})", outs=0)
    + PLAIN,
    shapes=((2, 3), (2, 2, 3)),
    dtypes=DOUBLE,
    inputs=("", "tensor"),
    most=6,
)

ATEN = Vocabulary(
    ops(
        "torch.sin({a})",
        "{a} * {b}",
        "{a} + {b}",
        "torch.where({a} > 0, {a}, {b})",
        "F.gelu({a})",
        "F.softplus({a}, beta=2)",
        "F.hardswish({a})",
        "F.silu({a})",
        "F.mish({a})",
        "F.celu({a}, 0.5)",
        "F.logsigmoid({a})",
        "F.softshrink({a}, 0.1)",
        "F.hardshrink({a}, 0.1)",
        "torch.logit({a}.sigmoid(), eps=0.1)",
        "torch.xlogy({a}, {b}.exp())",
        "torch.sinc({a})",
        "torch.heaviside({a}, {b})",
        "torch.nan_to_num({a} / 0.0)",
        "torch.fmax({a}, {b})",
        "torch.copysign({a}, {b})",
        "torch.sgn({a})",
        "torch.frac({a})",
        "torch.trunc({a} * 3)",
        "torch.round({a} * 3, decimals=1)",
        "torch.floor_divide({a}, 0.3)",
        "torch.fmod({a}, 0.3)",
        "torch.remainder({a}, -0.3)",
        "torch.div({a}, {b}, rounding_mode='trunc')",
        "torch.logaddexp({a}, {b})",
        "torch.hypot({a}, {b})",
        "torch.addcdiv({a}, {b}, {c}.exp(), value={n})",
        "torch.lerp({a}, {b}, {c})",
        "({a} * 4).int() / 2",
        "({a} * 4).int() ** 2",
        "({a} > 0) * {b}",
        "F.smooth_l1_loss({a}, {b}.expand_as({a}), beta=0.5)"
        " if {a}.shape == {b}.shape else {a} * 2",
        "F.mse_loss({x}, {y})",
        "F.huber_loss({x}, {y}, delta=0.5)",
        "F.kl_div({x}, {y}.exp())",
    )
    + ops(
        "torch.softmax({x}, -1)",
        "torch.logsumexp({x}, 0)",
        "torch.cumsum({x}, 0)",
        "torch.std_mean({x}, 0, correction=0)[0]",
        "torch.var({x}, -1, correction=0)",
        "torch.linalg.vector_norm({x}, 1.5, dim=-1)",
        "torch.roll({x}, 1, 0)",
        "torch.flip({x}, [0])",
        "torch.tril({x}.reshape(1, -1), 1)",
        "F.layer_norm({x}, {x}.shape[-1:])",
        "torch.cdist({x}.reshape(1, -1), {y}.reshape(1, -1))",
        "F.normalize({x}, dim=-1)",
        "F.cosine_similarity({x}, {y}, dim=-1)",
        "F.glu(torch.cat([{x}, {y}], -1))",
        "torch.amax({x}, -1)",
        "torch.unfold_copy({x}, 0, 1, 1)",
        "{x}.index_select(0, torch.tensor([0, 0]))",
        "{x}.masked_fill({x} > 0, {n})",
        dims=(1, 4),
    ),
    shapes=((2, 3), (3,), (), (2, 1, 3)),
    dtypes=(torch.float64, torch.float32),
    inputs=("", "tensor"),
    most=4,
)

OWN: dict[str, Vocabulary] = {
    **{name: words for name, words in KINDS.items() if name != "names"},
    **as_models(
        {
            "records": RECORDS,
            "random functions": RANDOM_FUNCTIONS,
            "matmuls": MATMULS,
            "aten": ATEN,
            **{f"names, {n}": names(n) for n in ("nan", "inf", "class", "slice", "block_0")},
        }
    ),
}
"""The hunt's own vocabularies, by name."""


def of_exercises() -> dict[str, Vocabulary]:
    """The vocabularies of all exercises with random models, by the exercise's name."""
    return as_models(
        {
            name: exercise.random.vocabulary
            for name, exercise in EXERCISES.items()
            if isinstance(exercise.random, RandomModels)
        }
    )
