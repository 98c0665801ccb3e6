"""Names for the ``cases.py`` of an exercise: the card, its cases, and random models.

Nothing here leads to an answer key.
"""

from __future__ import annotations

from autograder.core.exercise import Aspect, Case, Exercise, Expect
from autograder.fuzz.calls import CALL_OPS, INPUT_KINDS, MISLEADING_NAMES
from autograder.fuzz.codegen import program_of
from autograder.fuzz.grammar import COMMON, ONE_DTYPE, SMOOTH, Op, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.fuzz.recipe import Recipe
from autograder.fuzz.wrapped import Wrapped
from autograder.models.build import InEvaluation, T, Traced, TracedInPart, model_case
from autograder.models.duels import duel
from autograder.models.renaming import perhaps_renamed, renumbered

__all__ = [
    # the card, and requirements of a case beyond its reference
    "Aspect", "Case", "Exercise", "Expect",
    # cases about models
    "InEvaluation", "T", "Traced", "TracedInPart", "model_case", "perhaps_renamed",
    "renumbered",
    # a duel: the answer is a model on which a given pass is wrong
    "duel",
    # the grammar of random models: operations in each spelling, as templates of code
    "COMMON", "ONE_DTYPE", "SMOOTH", "Op", "Vocabulary", "ops", "Wrapped",
    # calls in every form, for exercises about all calls of a graph
    "CALL_OPS", "INPUT_KINDS", "MISLEADING_NAMES",
    # random models, and the numbers that choose one
    "RandomModels", "Recipe", "program_of",
]  # fmt: skip
