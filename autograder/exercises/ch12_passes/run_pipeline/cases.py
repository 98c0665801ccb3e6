"""Exercise 12.3: a pipeline that undoes passes that break a check."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from autograder.authoring.question import (
    Aspect,
    Case,
    Exercise,
    Expect,
    RandomModels,
    Vocabulary,
    ops,
)
from autograder.exercises.ch12_passes.run_pipeline import models
from autograder.exercises.ch12_passes.run_pipeline.models import Check, Net, Pass, ThreeSins

HINTS = (
    "**Where to look.** Three things can go wrong: a pass raises, it returns something else, "
    "or a check raises afterwards. All three end alike. What must you have kept *before* the pass, "
    "so that you can go on as if it had never been called?",
    "**What to use.** `copy.deepcopy(current)` copies graph, layers and weights: give the pass the "
    "copy, and take over what it returns only when all checks are through. `except Exception` lets "
    "`KeyboardInterrupt` pass. `getattr(each, '__name__', ...)` helps where there is no name.",
    "**A skeleton.**\n\n"
    "```python\n"
    "current, report = copy.deepcopy(gm), []\n"
    "left = list(passes)                   # those that are still tried\n"
    "for _ in range(limit):\n"
    "    modified = False\n"
    "    for each in list(left):\n"
    "        try:\n"
    "            result = ...              # on a copy\n"
    "            ...                       # TypeError for what is no PassResult; the checks\n"
    "        except Exception as error:\n"
    "            ...                       # undone, reported, not tried again\n"
    "        else:\n"
    "            ...                       # it holds\n"
    "    if not modified:\n"
    "        return ...\n"
    "raise RuntimeError(...)\n"
    "```",
)


def piped(
    name: str,
    aspect: str,
    *passes: Pass,
    make: Callable[[], nn.Module] = Net,
    checks: tuple[Check, ...] = (),
    limit: int | None = None,
    training: bool = False,
    expect: Expect = Expect(),  # noqa: B008 - it is frozen
) -> Case:
    """A case: a model and its passes."""
    return Case(name, aspect, models.Piped(make, passes, checks, limit, training), expect)


TOO_LONG = Expect(
    raises="RuntimeError",
    advice="Count the rounds: what should happen when round number `limit` still modifies?",
    still_holds=("caller untouched",),
)

ALL = (models.in_order, models.no_exp, models.small_weights)

EXERCISE = Exercise(
    number=4,
    title="A pipeline that undoes what fails",
    stars=3,
    minutes=25,
    points=8,
    kind="compiler_backend",
    aspects=(
        Aspect("task", 2, "all passes, round after round, until none says `modified`"),
        Aspect("believed", 1, "what a pass says of itself is believed"),
        Aspect("undone", 3, "what a pass did that fails is undone: graph, layers, weights"),
        Aspect("checks", 2, "all checks run after every pass, on what it returned"),
        Aspect("report", 2, "each failure is reported once, in order, by name"),
        Aspect("limit", 1, "a pipeline that reaches no fixed point is a `RuntimeError`"),
    ),
    cases=(
        piped("one pass", "task", models.sin_to_cos),
        piped("two passes, the other way round", "task", models.cos_to_tanh, models.sin_to_cos),
        piped("another module", "task", models.in_a_copy, models.cos_to_tanh),
        piped("in training mode", "task", models.sin_to_cos, models.tidy,
              make=models.WithBuffers, training=True),
        piped("a quiet pass", "believed", models.sin_to_cos, models.quiet_tanh_to_sin,
              make=models.OnlyTanh),
        piped("a failure is not a change", "believed", models.one_more_quietly, models.to_exp,
              checks=(models.no_exp,)),
        piped("raises halfway", "undone", models.half_done),
        piped("raises halfway, between others", "undone", models.sin_to_cos, models.half_done,
              models.cos_to_tanh, make=models.WithBuffers),
        piped("a plain tuple", "undone", models.gives_a_pair),
        piped("looks like a result", "undone", models.gives_what_looks_like_one),
        piped("weights", "undone", models.large_weights, models.sin_to_cos,
              checks=(models.small_weights,)),
        piped("out of order, quietly", "checks", models.out_of_order, models.cos_to_tanh,
              checks=(models.in_order,)),
        piped("another module that breaks a check", "checks", models.to_exp_in_a_copy,
              models.sin_to_cos, checks=ALL),
        piped("a check that gives False", "checks", models.sin_to_cos, checks=(models.says_no,)),
        piped("two failures", "report", models.asserts, models.sin_to_cos, models.half_done),
        piped("two of one name", "report", models.other_tidy, models.tidy,
              models.sin_to_cos, make=models.Unread),
        piped("two of one name, and the second fails", "report", models.tidy, models.other_tidy,
              make=models.Unread),
        piped("interrupted", "report", models.sin_to_cos, models.is_interrupted),
        piped("interrupted in a check", "report", models.sin_to_cos,
              checks=(models.is_interrupted_without_sin,)),
        piped("classes in a class", "report", models.Torn.Swap(torch.sin, torch.cos),
              models.sin_to_cos),
        piped("a round too many", "limit", models.first_sin_to_cos, make=ThreeSins, limit=3,
              expect=TOO_LONG),
        piped("just enough", "limit", models.first_sin_to_cos, make=ThreeSins, limit=4),
        piped("twelve rounds, and one more", "limit", models.first_sin_to_cos,
              make=models.TwelveSins),
        piped("a failure, and a round too many", "limit", models.refuses_tanh,
              models.first_sin_to_cos, models.cos_to_tanh, make=ThreeSins, limit=3,
              expect=TOO_LONG),
    ),
    fine_print={
        (
            "A pass is called with a graph module, changes it or not, and returns a `PassResult`, "
            "whose module may be another one."
        ): ("another module",),
        "What a pass says is believed.": (
            "a quiet pass",
        ),
        (
            "A text of the report has the name of the function or of the object's class, the type "
            "of the exception, and its text."
        ): ("classes in a class",),
        "A return value that is not a `PassResult` is reported as a `TypeError`, with any text.": (
            "a plain tuple",
            "looks like a result",
        ),
        (
            "**Raise** a `RuntimeError` if the last allowed round, number `limit`, still changes "
            "something."
        ): (
            "a round too many",
            "just enough",
            "a failure, and a round too many",
        ),
        "`KeyboardInterrupt` is not a failure of a pass: let it through.": (
            "interrupted",
            "interrupted in a check",
        ),
        "Two passes may have the same name.": (
            "two of one name",
            "two of one name, and the second fails",
        ),
    },
    hints=HINTS,
    random=RandomModels(
        Vocabulary(
            ops("torch.sin({a})", "torch.cos({a})", "torch.tanh({a})",
                "torch.sin(torch.sin({a}))", "torch.tanh(torch.cos({a}))",
                "torch.sin(torch.cos({a}))", "[nn.Linear(D, D)]({x})",
                "{a} * [nn.Parameter(torch.ones(()))]", "{x} - {y}"),
            shapes=((2, 3), (3,)),
            inputs=("", "tensor"),
            most=6,
        ),
        models.with_passes,
        count=12,
    ),
)  # fmt: skip
