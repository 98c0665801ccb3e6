"""Hidden cases of `replace_until_done`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from autograder.authoring.question import Case, T
from autograder.exercises.ch04_replace_pattern.models import ReluChain
from autograder.exercises.ch04_replace_pattern.replace_until_done import models
from autograder.exercises.ch04_replace_pattern.replace_until_done.cases import until_case


def by_module(case: Case) -> Case:
    """The case with a replacement that is a module."""
    return replace(case, make=models.ByModule(case.make))


REDRAWS = (
    until_case(
        "limit by default, one round too few",
        "limit",
        partial(models.Passing, 101),
        models.PASS_BY,
        None,
    ),
    until_case(
        "limit by default, as many rounds as allowed",
        "limit",
        partial(models.Passing, 100),
        models.PASS_BY,
        100,
    ),
    until_case("five rounds", "limit", partial(models.Passing, 5), models.PASS_BY, 5, limit=(5,)),
    until_case("a longer chain", "task", partial(ReluChain, 7), models.COLLAPSE, 6),
    by_module(
        until_case("the replacement is a module", "modes", models.NegChain, models.CANCEL, 2)
    ),
    until_case("modes", "modes", models.Normed, models.CANCEL, 1, (T(5, 3),), training=True),
    until_case("an odd chain", "count", partial(models.NegChain, 7), models.CANCEL, 3),
)
