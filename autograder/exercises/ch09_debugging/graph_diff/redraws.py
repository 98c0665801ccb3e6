"""Hidden cases of `graph_diff`."""

from __future__ import annotations

from autograder.exercises.ch09_debugging.graph_diff import models
from autograder.exercises.ch09_debugging.graph_diff.cases import edited

REDRAWS = (
    edited(
        "the other way round", "task", first=models.several_inserted, second=models.another_target
    ),
    edited("two traces with other parts", "fields", models.other_parts, make=models.Cut),
    edited("small changes", "arguments", models.small_changes, make=models.Cut),
    edited(
        "nothing, and next to nothing",
        "fields",
        models.none_and_other_orders,
        first=models.zero_and_nearly_zero,
    ),
    edited(
        "what looks like a node",
        "arguments",
        models.rows_by_what_looks_like_a_key,
        first=models.rows_by_key,
    ),
)
