"""Exercise 16.1: capture a training step as one graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from autograder.authoring.question import (
    Aspect,
    Case,
    Exercise,
    RandomModels,
    T,
    Vocabulary,
    ops,
)
from autograder.exercises.ch16_training.capture_step import models

X, Y = T(2, 3), T(2, 2)

HINTS = (
    "**Where to look.** Write the step as an ordinary function of `params, buffers, x, y`, and "
    "call it without a trace first. In it, no tensor may come from the model: which function calls "
    "a module with other tensors in place of its own?",
    "**What to use.** `torch.func.functional_call(model, (params, buffers), (x,))` calls the "
    "model. `torch.autograd.grad(value, tensors, materialize_grads=True)` gives gradients, and "
    "zeros for what was not used; at least one tensor must have been used. "
    "`detach().requires_grad_(True)` makes a "
    "tensor that gets a gradient. `annotate({'phase': 'backward'})` marks the calls that "
    "are recorded in its `with` block, but only within `preserve_node_meta()`.",
    "**A skeleton.**\n\n"
    "```python\n"
    "params, buffers = ...               # two dictionaries\n"
    "trains = ...                        # names of the parameters that require a gradient\n\n"
    "def step(params, buffers, x, y):\n"
    "    leaves = ...                    # the parameters, as tensors that get a gradient\n"
    "    value = loss(functional_call(...), y)\n"
    "    with annotate(...):\n"
    "        grads = ...                 # if there is anything to compute; else zeros\n"
    "    return value.detach(), ...\n\n"
    "with preserve_node_meta():\n"
    "    return make_fx(step, tracing_mode=...)(params, buffers, x, y)\n"
    "```",
)


def step(
    name: str, aspect: str, make: Callable[[], nn.Module], y: Any = Y, x: T = X, **more: Any
) -> Case:
    """A case: a model, and a batch."""
    return Case(name, aspect, models.Training(make, x, y, **more))


IMAGES: dict[str, Any] = {"x": T(2, 2, 5, 5), "y": 3, "loss": F.cross_entropy}
LONG: dict[str, Any] = {"x": T(2, 3, 4), "y": T(2, 3, 4)}

EXERCISE = Exercise(
    number=1,
    title="One graph for a training step",
    stars=2,
    minutes=20,
    points=6,
    kind="step_graph",
    aspects=(
        Aspect("task", 3, "the value and the gradients, in one graph of ATen calls"),
        Aspect("marks", 2, "calls of the backward pass are marked, and no others"),
        Aspect("params", 2, "a gradient for each parameter that requires one"),
        Aspect("buffers", 2, "buffers are updated in the tensors given; the mode counts"),
        Aspect("draws", 1, "random numbers, and tensors that `forward` makes"),
        Aspect("stays", 1, "model, gradients, batch and random state stay"),
    ),
    cases=(
        step("two layers", "task", models.TwoLayers),
        step("doubles", "task", models.Twice, T(2, 3), dtype=torch.float64),
        step("classes", "task", models.Images, **IMAGES),
        step("attention", "marks", models.Attention, **LONG),
        step("tied weights", "params", models.Tied, T(2, 3)),
        step("an unused parameter", "params", models.Unused),
        step("a frozen layer", "params", models.TwoLayers, prepare=models.half_frozen),
        step("all frozen", "params", models.TwoLayers, prepare=models.frozen),
        step("only a frozen layer is used", "marks", models.OnlyFrozenUsed, dtype=torch.float64),
        step("a batch norm", "buffers", models.Norm, T(2, 4)),
        step("a model in evaluation mode", "buffers", models.Norm, T(2, 4), training=False),
        step("a norm in evaluation mode", "buffers", models.Norm, T(2, 4),
             prepare=models.with_frozen_norm),
        step("a counter", "buffers", models.Counter),
        step("dropout", "draws", models.Dropout, T(2, 3)),
        step("noise", "draws", models.Noise, training=False),
        step("its own tensors", "draws", models.OwnTensors, T(2, 4)),
        step("gradients from before", "stays", models.TwoLayers, prepare=models.with_gradients),
    ),
    fine_print={
        "A model of any floating dtype works.": ("doubles",),
        "The calls that make zeros for unused parameters are marked, too.": (
            "only a frozen layer is used",
        ),
        "A constant that `forward` makes may be an attribute of the graph module.": (
            "its own tensors",
        ),
    },
    hints=HINTS,
    random=RandomModels(
        Vocabulary(
            ops(
                "torch.tanh({a})",
                "torch.sigmoid({a})",
                "{a} * {b}",
                "{a} - {n}",
                "torch.maximum({a}, {b})",
                "torch.stack([{x}, {y}]).sum(0)",
                "{a} * [nn.Parameter(torch.ones(()))]",
                "{a} + [buffer(torch.ones(()))]",
                "torch.where({a} > {n}, {a}, {b})",
                "{a} * torch.rand_like({a})",
                "{x}.reshape(-1).reshape({x}.shape)",
                "F.dropout({a}, 0.3, True)",
            )
            + ops("[nn.Linear(D, D)]([=nn.Linear(D, D)]({x}))", dims=(1, 4)),
            results=("value",),
            inputs=("",),
            traced=False,
            training=True,
            most=6,
        ),
        models.of_random_model,
        count=10,
    ),
)  # fmt: skip
