"""Exercise 4.3: replace a pattern until it no longer matches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    Expect,
    RandomModels,
    T,
    TracedInPart,
    Vocabulary,
    model_case,
    ops,
)
from autograder.exercises.ch04_replace_pattern.models import OneWave, ReluChain
from autograder.exercises.ch04_replace_pattern.replace_until_done import models

HINTS = (
    "Section 4.4 has a loop that ends when a round makes no replacement. "
    "Yours needs a bound, a sum, and a graph of its own.",
    "With `limit=3`, three rounds may rewrite something. "
    "Only a fourth round can tell you whether the pattern still matches.",
    "```python\n"
    "gm = ...\n"
    "count = 0\n"
    "for _ in range(...):\n"
    "    matches = fx.replace_pattern(gm, pattern, replacement)\n"
    "    if not matches:\n"
    "        return ...\n"
    "    count += ...\n"
    'raise RuntimeError("...")\n'
    "```",
)


@dataclass(frozen=True)
class Counts(Expect):
    """The expectation of a case of `replace_until_done`.

    Attributes:
        count: the number of replacements; ``None``: the reference computes it.
    """

    count: int | None = None


_STILL = (
    "After `limit` rounds the pattern still matches here. Which line of yours runs then, and does "
    "it look once more?"
)


def until_case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    pair: models.Pair,
    count: int | None,
    *inputs: tuple[T, ...],
    limit: tuple[int, ...] = (),
    **more: Any,
) -> Case:
    """A case of `replace_until_done`; if `count` is ``None``, the answer must raise."""
    expect = Counts(raises="RuntimeError", advice=_STILL) if count is None else Counts(count=count)
    inputs = () if count is None else inputs or ((T(3),),)
    return model_case(name, aspect, make, *inputs, extra=(*pair, *limit), expect=expect, **more)


VOCABULARY = Vocabulary(
    ops(
        "torch.relu(torch.relu({a}))",
        "torch.relu({a})",
        "torch.neg({a})",
        "torch.neg(torch.neg({a}))",
        "torch.relu(torch.relu(torch.relu(torch.relu({a}))))",
        "torch.neg(torch.neg(torch.neg(torch.neg({a}))))",
        "torch.neg(torch.relu(torch.neg(torch.neg({a}))))",
        "{a}.relu()",
        "[nn.ReLU()]({a})",
        "-{a}",
    )
    + COMMON[:6],
    training=True,
)


EXERCISE = Exercise(
    number=3,
    title="Until nothing matches",
    stars=2,
    minutes=10,
    points=4,
    kind="counted_transform",
    aspects=(
        Aspect("task", 2, "the pattern is replaced until it matches nowhere"),
        Aspect("count", 2, "the replacements of all rounds are counted"),
        Aspect("modes", 1, "the result is in the mode of the model, part by part"),
        Aspect("limit", 2, "after `limit` rounds it ends: with the result, or a `RuntimeError`"),
    ),
    cases=(
        until_case("two rounds", "task", ReluChain, models.COLLAPSE, 2),
        until_case(
            "a graph module",
            "task",
            TracedInPart(models.PairAndBranches),
            models.COLLAPSE,
            8,
            (T(2, 3),),
        ),
        until_case("nothing to replace", "count", OneWave, models.COLLAPSE, 0, (T(2), T(2))),
        until_case("one round, two places", "count", models.NegChain, models.CANCEL, 2),
        until_case(
            "a model in training mode",
            "modes",
            models.Normed,
            models.CANCEL,
            1,
            (T(4, 3),),
            training=True,
        ),
        until_case(
            "a frozen part",
            "modes",
            models.Normed,
            models.CANCEL,
            1,
            (T(4, 3),),
            training=True,
            prepare=models.norm_in_eval,
        ),
        until_case(
            "as many rounds as allowed", "limit", models.Passing, models.PASS_BY, 3, limit=(3,)
        ),
        until_case(
            "more places than rounds",
            "limit",
            models.Branches,
            models.COLLAPSE,
            7,
            (T(2, 3),),
            limit=(2,),
        ),
        until_case("one round too few", "limit", models.Passing, models.PASS_BY, None, limit=(2,)),
        until_case(
            "one round, none allowed", "limit", models.NegChain, models.CANCEL, None, limit=(0,)
        ),
    ),
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.with_pair, count=12),
)
