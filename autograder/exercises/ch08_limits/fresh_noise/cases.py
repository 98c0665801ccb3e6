"""Exercise 8.2: fresh noise in every call."""

from __future__ import annotations

import math

import torch

from autograder.authoring.question import Aspect, Case, Exercise, T
from autograder.exercises.ch08_limits.fresh_noise.models import Tensors

HINTS = (
    "Print `fx.symbolic_trace(fresh_noise).code`. How is the noise written there: as a call, or "
    "as a constant? Section 8.6 says what makes the difference.",
    "A call is recorded only if a Proxy is among its arguments. What has the shape and the dtype "
    "of the input, if not the input itself? There is a function of PyTorch that takes both from a "
    "tensor.",
    """```python
noise = ...            # a call in which the Proxy takes part
return ...             # a new tensor: x itself stays as it is
```""",
)


HUGE = (1e300, -1e300, math.inf, -math.inf, math.nan)


def run_on(name: str, aspect: str, *specs: T) -> Case:
    """A case with one run per tensor."""
    return Case(name, aspect, Tensors(specs))


EXERCISE = Exercise(
    number=2,
    title="Fresh noise in every call",
    stars=1,
    minutes=5,
    points=2,
    kind="random_function",
    aspects=(
        Aspect("task", 2, "every call of the trace draws new noise, as the function itself does"),
        Aspect("shapes", 1, "of the shape of the input"),
        Aspect("dtypes", 1, "of the dtype of the input"),
        Aspect("normal", 1, "standard normal noise, each entry on its own"),
    ),
    cases=(
        run_on("two shapes", "task", T(2, 3), T(4, 3), T(3, 3)),
        run_on("other numbers of dimensions", "shapes", T(5), T(2, 1, 3), T(1, 2, 2, 2)),
        run_on("no dimension, and no entry", "shapes", T(), T(0), T(2, 0)),
        run_on("float32", "dtypes", T(2, 3, dtype=torch.float32)),
        run_on("small floats", "dtypes", T(3, dtype=torch.float16), T(2, 2, dtype=torch.bfloat16)),
        run_on("many entries", "normal", T(70, 60)),
        Case("large entries", "normal", Tensors((T(60, 70),), scale=1_000.0)),
        Case("next to huge numbers", "task", Tensors((T(2, 4),), first=HUGE)),
    ),
    hints=HINTS,
    not_random="it takes a tensor, no model",
)  # fmt: skip
