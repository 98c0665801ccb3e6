"""Models drawn at random: what they are made of, how they are drawn, and the cases they make.

`recipe` is what is drawn: small numbers, nothing else. `vocabulary` says what the numbers
choose from. `program` turns a recipe into a class that a person can read and paste.
`draw` has Hypothesis draw recipes, and shrink one. `cases` makes cases of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.fuzz.random_models import RandomModels
    from autograder.judge.oracles import answer_of, exchanging, model_itself
    from autograder.fuzz.grammar import COMMON, Op, Vocabulary, ops
    from autograder.fuzz.wrapped import wrapped

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

_HOME = (
    dict.fromkeys(("COMMON", "Op", "Vocabulary", "ops"), "vocabulary")
    | dict.fromkeys(("answer_of", "exchanging", "model_itself"), "oracles")
    | {"RandomModels": "cases", "wrapped": "wrapping"}
)


def __getattr__(name: str) -> Any:
    # Imported when first asked for: a student's process needs `builder`, and must not get oracles.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
