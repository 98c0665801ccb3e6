"""Hidden cases of `replace_until_done`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from autograder.authoring.question import Case
from autograder.exercises.ch04_replace_pattern.replace_until_done import models
from autograder.exercises.ch04_replace_pattern.replace_until_done.cases import until_case


def by_module(case: Case) -> Case:
    """The case with a replacement that is a module."""
    return replace(case, make=models.ByModule(case.make))


REDRAWS = (
    until_case("a longer chain", "task", models.ReluChainThenSine, models.COLLAPSE, 6),
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
    by_module(
        until_case("the replacement is a module", "modes", models.NegChain, models.CANCEL, 2)
    ),
)
