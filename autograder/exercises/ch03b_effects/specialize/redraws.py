"""Hidden cases of `specialize`."""

from __future__ import annotations

from autograder.exercises.ch03b_effects.specialize import models
from autograder.exercises.ch03b_effects.specialize.cases import X, fixed

REDRAWS = (
    fixed("changed in place", "task", models.Smooth, {"rounds": 3}, (X,), (X, 2.0)),
    fixed("flag_1", "names", models.flags_in_a_row, {"flag": False, "flag_2": 1.0}, (X, 2.0, 5.0)),
)
