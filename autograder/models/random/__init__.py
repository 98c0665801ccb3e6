"""Models drawn at random: what they are made of, how they are drawn, and the cases they make.

`recipe` is what is drawn: small numbers, nothing else. `vocabulary` says what the numbers
choose from. `program` turns a recipe into a class that a person can read and paste.
`draw` has Hypothesis draw recipes, and shrink one. `cases` makes cases of them.
"""

from autograder.models.random.cases import RandomModels
from autograder.models.random.oracles import (
    answer_of,
    exchanging,
    model_itself,
)
from autograder.models.random.vocabulary import COMMON, Op, Vocabulary, ops
from autograder.models.random.wrapped import wrapped

__all__ = [
    "COMMON",
    "Op",
    "RandomModels",
    "Vocabulary",
    "answer_of",
    "exchanging",
    "model_itself",
    "ops",
    "wrapped",
]
