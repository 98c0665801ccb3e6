"""Hidden cases of `share_scales`."""

from __future__ import annotations

from autograder.exercises.ch14b_sharing.share_scales import models
from autograder.exercises.ch14b_sharing.share_scales.cases import case

REDRAWS = (
    case("a tiny scale", "task", models.TinyScale),
    case("close scales", "task", models.CloseScales),
)
