"""Hidden cases of `source_of`."""

from __future__ import annotations

from autograder.exercises.ch09c_sources.source_of import models
from autograder.exercises.ch09c_sources.source_of.cases import written

REDRAWS = (
    written("two lines", "task", models.Again),
    written("code that another file wrote", "inside", models.from_a_template),
    written("deep, and Python's library", "inside", models.InSequences),
    written("a Sequential of its own", "inside", models.InAResidual),
    written("names of helpers", "inside", models.NamedLikeATracer),
    written("after one that fails", "traces", models.Inner, models.Undecided),
)
