"""The random models of `decompose`, and rules for the functions that they call."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F

from autograder.core.exercise import Trial
from autograder.core.outcome import Reference
from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.judge.oracles import exchanging
from autograder.models import decomposing as zoo

Rules = dict[Callable[..., Any], Callable[..., Any]]

VOCABULARY = Vocabulary(
    ops(
        "torch.square({a})",
        "torch.square({a}) * torch.square({a})",
        "torch.sub({a}, {b}) * torch.sub({a}, {b})",
        "torch.sub({a}, other={b}, alpha=3)",
        "torch.sub(other={a}, input={b})",
        "torch.add({a}, {b}, alpha={n})",
        "torch.mul({a}, torch.mul({b}, {c}))",
        "torch.addcmul({a}, {b}, tensor2={c}, value=3)",
        "torch.addcmul({a}, {b}, {b})",
        "torch.stack([{x}, {y}, {x}])[1]",
        "torch.stack(tensors=[{x}, {y}], dim=-1).sum(-1)",
        'torch.div({a}, {b}, rounding_mode="floor")',
        "torch.div({a}, {b}, rounding_mode=None)",
        "torch.pow({a}, 3)",
        "torch.pow({a}, exponent=2)",
        "torch.pow({a}, torch.numel({b}))",
        "{x} * torch.mean({a})",
        "torch.clamp({a}, torch.amin({x}), {y})",
        "{x} + torch.argmax({y})",
        "torch.positive({a})",
        "torch.tanh({a})",
        "torch.exp({a}).sin()",
        "{a} / {b}",
        "{n} / ({a} + 4)",
        "F.relu({a})",
        "{a} + {b}",
        "{a} - {b}",
        "{a}.square()",
        "{a}.sub({b})",
        "{a}.exp().add(1)",
        "{a} * [nn.Parameter(torch.ones(()))]",
        "{x}.mul_({b})",
    )
    + ops("{x}.mul_(0.5)", "{x}.add_({b})", "torch.square({a})", "torch.sub({a}, {b})", outs=0)
    + COMMON,
    training=True,
    namesakes=("square", "sub", "mul"),
)


# For each function the rules that fit the way in which the models call it.
RULES: dict[Callable[..., Any], tuple[Callable[..., Any], ...]] = {
    torch.square: (zoo.square_rule, zoo.exp_twice_rule),
    torch.sub: (zoo.sub_rule,),
    torch.add: (zoo.add_rule,),
    torch.mul: (zoo.mul_rule,),
    torch.addcmul: (zoo.addcmul_rule,),
    torch.stack: (zoo.stack_rule,),
    torch.div: (zoo.div_rule,),
    torch.pow: (zoo.pow_rule,),
    torch.numel: (zoo.three_rule,),
    torch.mean: (zoo.two_rule, zoo.zero_rule),
    torch.amin: (zoo.none_rule,),
    torch.argmax: (zoo.zero_rule,),
    torch.positive: (zoo.itself_rule,),
    torch.tanh: (zoo.tanh_rule,),
    torch.exp: (zoo.exp_twice_rule,),
    operator.truediv: (zoo.quotient_rule,),
    F.relu: (zoo.relu_rule,),
}


def with_rules(trial: Trial, choice: int) -> Trial:
    """The trial with rules for all functions that its model calls, or for some of them."""
    model = trial.model
    called = _called(model) if isinstance(model, fx.GraphModule) else _called_in(type(model))
    rules: Rules = {}
    for place, (function, kinds) in enumerate(RULES.items()):
        if function in called and (choice % 4 != 3 or (place + choice // 4) % 2):
            rules[function] = kinds[choice // 4 % len(kinds)]
    if torch.pow in rules:  # its rule has a loop, for which it needs a number
        rules[torch.numel] = zoo.three_rule
    return replace(trial, args=(trial.model, rules))


@lru_cache(maxsize=64)
def _called_in(cls: type[nn.Module]) -> set[Any]:
    return _called(fx.symbolic_trace(cls()))


def _called(gm: fx.GraphModule) -> set[Any]:
    return {node.target for node in gm.graph.nodes}


def by_rules(trial: Trial) -> Reference:
    """The model under an Interpreter that gives the values to the rules, and records nothing."""
    rules: Rules = trial.args[1]

    class ByRules(fx.Interpreter):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_function(rules.get(target, target), args, kwargs)

    return exchanging(ByRules)(trial)


DECOMPOSE = RandomModels(VOCABULARY, by_rules, with_rules)
