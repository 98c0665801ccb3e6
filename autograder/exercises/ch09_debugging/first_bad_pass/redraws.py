"""Hidden cases of `first_bad_pass`."""

from __future__ import annotations

from autograder.exercises.ch09_debugging.first_bad_pass import models
from autograder.exercises.ch09_debugging.first_bad_pass.cases import passed

REDRAWS = (
    passed("another shape", "task", models.tidy, models.add_a_dimension),
    passed("large and small entries", "task", models.retrace, models.add_one, make=models.FarApart),
    passed("another key", "task", models.retrace, models.mean_to_average, make=models.Described),
    passed(
        "another number", "task", models.retrace, models.columns_for_rows, make=models.Described
    ),
    passed(
        "one pass twice", "chain", models.clamp_to_abs, models.relu_to_clamp, models.clamp_to_abs
    ),
    passed("one that finds nothing", "raises", models.find_nothing, models.remove_norm),
    passed(
        "a part in train mode",
        "modes",
        models.retrace,
        models.remove_dropout,
        prepare=models.drop_in_training,
    ),
)
