"""The random models of `split_at`, and where they are cut."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import fx

from autograder.core.exercise import Trial
from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.fuzz.recipe import Recipe
from autograder.judge.oracles import model_itself
from autograder.syllabus.interpreter_random import renamed

VOCABULARY = Vocabulary(
    ops(
        "torch.sin({a})",
        "{x}.mul_({n})",
        "[nn.ReLU()]([=nn.ReLU()]({a}))",
        "[nn.Sigmoid()]({a}) - [=nn.Sigmoid()]({b})",
        "[nn.ReLU(inplace=True)]({x})",
        "{a} * [nn.Parameter(torch.ones(()))]",
        "[nn.Parameter(torch.ones(()))] - {a}",
        "{a} + [buffer(torch.ones(()))]",
        "{x} + {b}.dim()",
        "torch.stack([{x}, {y}, {x}])[1]",
    )
    + ops("torch.exp({a})", "{x}.add_({b})", "[nn.Tanh()]({a})", outs=0)
    + ops(
        "{x}.size(-1) * {y}",
        "{x} * [nn.Linear(D, D)].weight.sum()",
        "torch.relu_({x}[..., :1]) + {y}",
        "{x}.view({x}.shape).neg()",
        dims=(1, 4),
    )
    + COMMON,
    inputs=("", "default", "star", "tensor", "default", "row"),
    training=True,
    namesakes=("sin", "mul_1"),
)


def cut_somewhere(trial: Trial, choice: int) -> Trial:
    """The trial with a name, mostly that of a node at which the model can be cut."""
    if isinstance(trial.model, fx.GraphModule) and choice % 2:
        renamed(trial.model)
    nodes = list(fx.symbolic_trace(trial.model).graph.nodes)
    places = [n.name for n in nodes if n.op not in ("placeholder", "output")]
    others = ["x", "no_such_node", "output"]
    if choice % 5 == 4 or not places:
        return replace(trial, args=(trial.model, others[choice // 5 % len(others)]))
    return replace(trial, args=(trial.model, places[choice * len(places) // 64]))


def refusals(recipe: Recipe) -> dict[str, Any]:
    """That there is nothing to cut at, where `cut_somewhere` finds it so."""
    if recipe.choice % 5 != 4 and (recipe.steps or recipe.part):
        return {}
    look = "Only a node that computes something, or reads a parameter, can end the head."
    return {"raises": "ValueError", "look": look}


# `tail(*head(*args))` is the model's result: no more is to be known for the rubric.
SPLIT = RandomModels(VOCABULARY, model_itself, cut_somewhere, expecting=refusals)
