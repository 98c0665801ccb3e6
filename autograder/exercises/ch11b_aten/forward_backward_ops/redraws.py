"""Hidden cases of `forward_backward_ops`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch11b_aten.forward_backward_ops import models
from autograder.exercises.ch11b_aten.forward_backward_ops.cases import X, case

REDRAWS = (
    case("a layer that nobody calls", "needed", models.OneUnused, X),
    case("two layers", "task", models.TwoLayers, T(4, 3)),
)
