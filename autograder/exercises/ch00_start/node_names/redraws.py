"""Hidden cases of `node_names`."""

from __future__ import annotations

from autograder.authoring.question import model_case
from autograder.models import tracing as models

REDRAWS = (
    model_case("another model", "task", models.ManyReaders),
    model_case("a layer called output", "places", models.NamedOutput),
    model_case("a graph module within", "places", models.TracedWithin),
)
