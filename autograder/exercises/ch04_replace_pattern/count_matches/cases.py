"""Exercise 4.1: count the places where a pattern matches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from torch import nn

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    RandomModels,
    Traced,
    TracedInPart,
    Vocabulary,
    model_case,
    ops,
)
from autograder.exercises.ch04_replace_pattern.count_matches import models
from autograder.exercises.ch04_replace_pattern.models import (
    OneWave,
    ReluChain,
    relu_of_relu,
)

HINTS = (
    "`replace_pattern` returns a list with one entry for each place that it rewrote. "
    "But it works on the module that you hand it, so hand it one of your own.",
    "It needs a replacement, and you want none. Look for one with the same parameters and the "
    "same number of results as any pattern.",
    "```python\n"
    "gm = ...  # a graph of your own\n"
    "matches = fx.replace_pattern(gm, pattern, ...)\n"
    "return ...\n"
    "```",
)


def count_case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    pattern: models.Pattern,
    *,
    training: bool = False,
    prepare: Callable[[nn.Module], None] | None = None,
) -> Case:
    """A case of `count_matches`: the places of one pattern in one model."""
    plain = model_case(name, aspect, make, training=training, prepare=prepare)
    return replace(plain, make=models.Counted(plain.make, pattern))


VOCABULARY = Vocabulary(
    ops(
        "torch.relu(torch.relu({a}))",
        "{a} + {b}",
        "torch.exp(torch.neg({a}))",
        "{a} * {b} + {c}",
        "torch.relu({a})",
        "torch.relu(torch.relu(torch.relu({a}))) + {b}",
        "torch.relu(torch.relu(torch.relu({a})))",
        "{a} * 2",
        "torch.neg({a})",
        "torch.exp({a})",
        "{a} * 2 + {n}",
        "{n} + {a}",
        "{a} * 2.0",
        "torch.add({a}, {b})",
        "{a}.relu()",
        "[nn.ReLU()]({a})",
        "torch.relu(input={a})",
    )
    + ops(
        "torch.exp(lower := torch.neg({a})) * lower",
        "torch.exp(lower := torch.neg({a})) + torch.relu(lower)",
    )
    + ops(
        "(lower := torch.neg({a})), torch.exp(lower)",
        "(first := torch.relu({a})), torch.relu(first)",
        outs=2,
    )
    + COMMON[:6],
)


EXERCISE = Exercise(
    number=1,
    title="Count the places",
    stars=1,
    minutes=5,
    points=2,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "the places where a pattern matches are counted"),
        Aspect("rules", 2, "a place counts exactly if `replace_pattern` would rewrite it"),
        Aspect("caller", 1, "neither the model nor the pattern is changed"),
    ),
    cases=(
        count_case("one place", "task", OneWave, models.sin_plus),
        count_case("no place", "task", OneWave, relu_of_relu),
        count_case("a chain of two", "rules", partial(ReluChain, 2), relu_of_relu),
        count_case("places that overlap", "rules", ReluChain, relu_of_relu),
        count_case("other numbers", "rules", models.OtherNumbers, models.doubled),
        count_case("an inner value is read elsewhere", "rules", models.Escapes, models.exp_of_neg),
        count_case("an inner value is returned", "rules", models.InnerReturned, models.exp_of_neg),
        count_case("modules in the pattern", "rules", models.NamedAlike, models.ActThenNorm),
        count_case(
            "places that overlap, in a tree", "rules", models.TreeOfSums, models.sum_of_sums
        ),
        count_case(
            "in training mode", "caller", models.MoreWhileTraining, models.sin_plus, training=True
        ),
        count_case(
            "in training mode, except for a part",
            "caller",
            models.MoreWhileTraining,
            models.sin_plus,
            training=True,
            prepare=models.head_in_eval,
        ),
        count_case("a graph module", "caller", TracedInPart(models.Residual), models.sin_plus),
        count_case(
            "model and pattern are graph modules",
            "caller",
            Traced(models.NamedAlike),
            Traced(models.ActThenNorm),
        ),
    ),
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.with_pattern),
)
