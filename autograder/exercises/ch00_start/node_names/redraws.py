"""Hidden cases of `node_names`."""

from __future__ import annotations

from dataclasses import replace

from autograder.authoring.question import model_case
from autograder.models import tracing as models

# Cases with `hidden=True` keep their names; the others get the prefix `redraw: `.
REDRAWS = (
    replace(model_case("another model", "task", models.ManyReaders), hidden=True),
    model_case("a layer called output", "places", models.NamedOutput),
    replace(model_case("another graph", "places", models.KeywordCalls), hidden=True),
    model_case("a graph module within", "places", models.TracedWithin),
)
