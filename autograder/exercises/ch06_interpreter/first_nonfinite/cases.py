"""Exercise 6.3: the node where a NaN or an infinity begins."""

from __future__ import annotations

import torch

from autograder.authoring.question import Aspect, Exercise, RandomModels, T, Vocabulary, ops
from autograder.exercises.ch06_interpreter.cases import IMAGE, KINDS, OTHERS, X, run_case
from autograder.exercises.ch06_interpreter.first_nonfinite import models
from autograder.exercises.ch06_interpreter.first_nonfinite.models import INF, NAN
from autograder.models import networks
from autograder.models.running import Exactly

HINTS = (
    "Nodes run in order, and every value that a node reads was computed before. "
    "So what can you say about the values that come before the *first* one that is not finite?",
    "`torch.isfinite(tensor).all()` works for every dtype; `math.isfinite` is for Python floats. "
    "You need the same walk into lists, tuples and dictionaries as in `record_shapes`.",
    "```python\n"
    "def is_finite(value):\n"
    "    ...  # a tensor, a float, a container; anything else is finite\n\n"
    "class Finder(fx.Interpreter):\n"
    "    found = None\n\n"
    "    def run_node(self, n):\n"
    "        value = ...\n"
    "        if self.found is None and ...:\n"
    "            self.found = ...\n"
    "        return value\n"
    "```",
)

VOCABULARY = Vocabulary(
    ops(
        "torch.log({a})",
        "{a}.sqrt()",
        "torch.exp({a} * 1000)",
        "{a} / ({b} - {a})",
        "torch.log(torch.relu({a}))",
        "{a} / torch.relu({b})",
        "{x} * ({a}.sum().item() * 1e200 * 1e200)",
        "({a} * 60_000).half().to({a}.dtype)",
        "torch.where(torch.isfinite({a}), {a}, {n})",
        "torch.full_like({x}, 3e38)",
        "{a}.clamp(min=-1.0, max=1.0)",
        "{x} + [nn.Parameter(torch.ones(()))]",
        "{a} * [nn.Parameter(torch.ones(()))]",
        "{x} + [buffer(torch.ones(()))]",
        "{x} * ({a} > 0).sum()",
        "torch.where({a} > 0, {a}, 1 / torch.relu({a}))",
        "{x} + torch.var_mean({a}.reshape(-1)[:1], dim=0)[1]",
        "torch.std_mean({a}.reshape(-1)[:1], dim=0)[1] * {x}",
        "-torch.log(torch.relu({a}))",
    )
    + ops(
        "{x} + {a}[:0].sum()",
        "{x} * torch.var_mean({a}[..., :1], dim=-1, keepdim=True)[1]",
        "{x} + torch.log({a}).unbind(0)[0].sum()",
        "torch.stack([torch.log({x}), {y}]).unbind(0)[1]",
        dims=(1, 4),
    )
    + OTHERS,
    inputs=KINDS,
    dtypes=(torch.float64, torch.float32),
)


EXERCISE = Exercise(
    number=3,
    title="Where a NaN begins",
    stars=2,
    minutes=10,
    points=4,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "the first node that makes a NaN or an infinity of finite values"),
        Aspect("clean", 1, "`None` for a run without one; integers and booleans are finite"),
        Aspect("sources", 1, "an input or a parameter that is not finite, at its own node"),
        Aspect("nested", 1, "values in tuples, lists and dictionaries, and Python floats"),
        Aspect("networks", 1, "real networks"),
    ),
    cases=(
        run_case("an overflow", "task", models.Overflow, Exactly(1.0, 800.0)),
        run_case("a value that nobody reads", "task", models.Unread, Exactly(-1.0)),
        run_case("two places", "task", models.TwoSources, Exactly(900.0), Exactly(900.0)),
        run_case("no overflow", "clean", models.Overflow, T(4)),
        run_case(
            "integers, booleans and nothing",
            "clean",
            models.AllFinite,
            Exactly(1.5, 2.5, 3.5, 0.5),
            Exactly(0, 1, 1, dtype=torch.int64),
        ),
        run_case("large numbers", "clean", models.Large, Exactly(1.5e308, -1e308, 1e308)),
        run_case("an input that is infinite", "sources", models.Overflow, Exactly(0.0, INF)),
        run_case(
            "a mask of minus infinity",
            "sources",
            models.WithParameter,
            X,
            prepare=models.spoil_mask,
        ),
        run_case(
            "a layer with a bad weight", "sources", models.Layers, X, prepare=models.spoil_weight
        ),
        run_case("the second of a tuple", "nested", models.Pieces, Exactly((1.0, 2.0))),
        run_case(
            "a list in a dictionary",
            "nested",
            models.Gathered,
            {"parts": [Exactly(1.0), Exactly(NAN)]},
        ),
        run_case(
            "a dictionary, half of it finite",
            "nested",
            models.Gathered,
            {"parts": [Exactly(1.0), Exactly(2.0)], "weight": Exactly(1.0, NAN)},
        ),
        run_case("a tuple with names", "nested", models.Volume, Exactly(0.0, shape=(2, 2))),
        run_case("a Python float", "nested", models.AsFloat, Exactly(1e200), 1e200),
        run_case("an infinity that the result is given", "nested", models.WithLimit, X),
        run_case(
            "MobileNetV2",
            "networks",
            networks.mobilenet,
            IMAGE,
            prepare=models.spoil_norm,
            network=True,
        ),
    ),
    fine_print={
        "Integers and booleans are finite, as tensors too.": ("integers, booleans and nothing",),
        "Python floats count as tensors do.": (
            "a Python float",
            "an infinity that the result is given",
        ),
        "Report a weight of a leaf module at the call of that module.": (
            "a layer with a bad weight",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.perhaps_spoiled),
)
