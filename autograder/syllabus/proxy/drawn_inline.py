"""The random models of `inline`, and which of their submodules is to be opened."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import fx, nn

from autograder.core.exercise import Trial
from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.fuzz.recipe import Recipe
from autograder.judge.oracles import model_itself
from autograder.models import inlining as zoo

PARTS = (
    zoo.Scale, zoo.Block, zoo.Tower, zoo.Mix, zoo.Clip, zoo.KeywordOnly, zoo.Join, zoo.Waves,
    zoo.Swap, zoo.Keep, zoo.Bump,
)  # fmt: skip

VOCABULARY = Vocabulary(
    ops(
        "[Scale()]({x}) - [=Scale()]({y})",
        "[Block()]({x})",
        "[Block()]([=Block()]({x}))",
        "[Tower()]({x})",
        "[Mix()]({x}, b={y}, scale={n})",
        "[Mix()](b={x}, a={y})",
        "[Mix()]({x}, {y}, 0)",
        "[Clip()]({a}, None, 0.5)",
        "[Clip()](low=0.25, high=None, x={a})",
        "[KeywordOnly()]({a}, scale={b})",
        "[KeywordOnly()]({x}, shift={y}, scale=2)",
        "[Join()]([{x}, {y}]).sum() * {x}",
        "[Waves()]({x})[1]",
        "[Swap()]({x}, b={y})[0]",
        "[Keep()]({x})",
        "[Bump()]({x})",
        "[nn.Linear(3, 3)](input={x})",
        "[nn.ReLU()]({a}) - [=nn.ReLU()]({b})",
        "[nn.Sequential(nn.Linear(3, 3), nn.Tanh())]({x})",
        "[nn.Sequential(nn.Tanh(), Block())]({x})",
        "[Block()]({x}) * [Block()]({y})",
        "[Clip()](high=[Keep()]({a}), x={x})",
        "{a} * [nn.Parameter(torch.ones(3))]",
    )
    + ops("[Waves()]({x})", "[Swap()]({x}, {y})", outs=2)
    + ops("[Scale()]({x})", "[Bump()]({x})", outs=0)
    + COMMON[:5],
    shapes=((2, 3), (3,), (2, 1, 3)),
    training=True,
    traced=False,
    second_names=False,
    namesakes=("first", "weight", "act"),
    names={part.__name__: part for part in PARTS},
)


def with_target(trial: Trial, choice: int) -> Trial:
    """The trial with the name of a submodule, or with one that leads nowhere."""
    model: nn.Module = trial.model
    if choice % 6 == 4:
        model = fx.symbolic_trace(model)
    names = _openable(model)
    if choice % 9 == 1 or not names:
        model.add_module("spare", nn.Sequential(nn.Linear(3, 3)))
        names = _openable(model)
    # What the model itself calls is more often of interest than what is deep inside.
    own = [name for name in names if "." not in name] if choice % 3 else names
    target = own[choice * len(own) // 64] if own else names[0]
    if choice % 8 == 7:
        target = f"{target}.missing" if choice % 16 == 7 else "missing"
    zoo.TARGETS[model] = target
    return replace(trial, args=(model, target), model=model)


def _openable(model: nn.Module) -> list[str]:
    """Names of the submodules; in a trace, some are mere containers, and compute nothing."""
    return [name for name, m in model.named_modules() if name and type(m) is not nn.Module]


def trace_around_target(model: nn.Module) -> fx.GraphModule:
    """The trace of a model in which the submodule to be opened is one node a call."""
    return zoo.trace_with(zoo.TARGETS[model], model)


def expected(recipe: Recipe) -> dict[str, Any]:
    """How the model is traced, and what is to come of a name that leads nowhere."""
    missing = {
        "raises": "AttributeError",
        "look": "What does `model.get_submodule` do with a name that leads nowhere?",
    }
    return {"trace": trace_around_target, **(missing if recipe.choice % 8 == 7 else {})}


INLINE = RandomModels(VOCABULARY, model_itself, with_target, expecting=expected)
