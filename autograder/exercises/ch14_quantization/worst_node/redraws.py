"""Hidden cases of `worst_node`."""

from __future__ import annotations

import torch

from autograder.exercises.ch14_quantization.worst_node import models
from autograder.exercises.ch14_quantization.worst_node.cases import NUMBERS, THIRDS, case
from autograder.models.running import Exactly

SMALL_ROW = Exactly((3.0, -2.0, 1.0), (0.01, 0.02, -0.01), dtype=torch.float32)
CENTRED = Exactly((3.0, -2.0, -1.0), (1.5, 0.5, 2.0), dtype=torch.float32)

REDRAWS = (
    case("one after the other", "task", models.SideBySide),
    case("an input in a list", "computed", models.ChangesANestedInput, {"pair": [NUMBERS, THIRDS]}),
    case("changed through a view", "computed", models.ChangedThroughAView),
    case("a row of small numbers", "measure", models.RowsApart, SMALL_ROW),
    case("numbers that add up to zero", "which", models.RowsApart, CENTRED),
    case("a call in one graph alone", "which", models.CallOrParameter),
    case("small errors", "which", models.NearlyRight, Exactly(1.0, 1.0)),
)
