"""Hidden cases of `node_table`."""

from __future__ import annotations

from autograder.authoring.question import model_case
from autograder.models import tracing as models

REDRAWS = (
    model_case("star arguments", "task", models.StarArguments),
    model_case("names of builtins", "users", models.BuiltinNames),
)
