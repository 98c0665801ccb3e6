"""Hidden cases of `share_scales`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch14b_sharing.share_scales import models
from autograder.exercises.ch14b_sharing.share_scales.cases import case

REDRAWS = (
    case("joined", "task", models.FirstIsLargest, (T(5, 2),)),
    case("a tiny scale", "task", models.TinyScale),
    case("close scales", "task", models.CloseScales),
    case("in a row", "together", models.InARow, (T(1, 3, 6, 4),)),
    case("alone", "alone", models.OnlySome, (T(4),)),
)
