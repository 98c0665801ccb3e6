"""Hidden cases of `build_with_proxies`."""

from __future__ import annotations

import torch

from autograder.authoring.question import T
from autograder.exercises.ch05_proxy.build_with_proxies.cases import inputs_case

REDRAWS = (
    inputs_case("two dtypes", "inputs", (T(3, dtype=torch.float32), T(2))),
    inputs_case("two vectors", "task", (T(5), T(1))),
)
