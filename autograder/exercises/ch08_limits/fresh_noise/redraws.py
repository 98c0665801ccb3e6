"""Hidden cases of `fresh_noise`."""

from __future__ import annotations

import torch

from autograder.authoring.question import Case, T
from autograder.exercises.ch08_limits.fresh_noise.cases import run_on
from autograder.exercises.ch08_limits.fresh_noise.models import Tensors, laid_out_otherwise

REDRAWS = (
    Case("zeros", "normal", Tensors((T(60, 70),), scale=0.0)),
    Case("laid out in another way", "shapes", laid_out_otherwise),
    run_on("many entries", "normal", T(60, 70), T(70, 60, dtype=torch.bfloat16)),
)
