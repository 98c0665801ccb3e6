"""Hidden cases of `keep_dynamic`."""

from __future__ import annotations

from autograder.authoring.question import TracedInPart
from autograder.exercises.ch08_limits.keep_dynamic import models
from autograder.exercises.ch08_limits.keep_dynamic.cases import keep

REDRAWS = (
    keep("a dozen parts", "task", models.Many),
    keep("a part of a part", "deep", models.PartOfAPart),
    keep("names with one end", "deep", models.SameEnds),
    keep("a graph module with leaves", "deep", TracedInPart(models.OneDynamic)),
)
