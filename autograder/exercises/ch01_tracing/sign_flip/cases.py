"""Exercise 1.3: a branch that can be traced."""

from __future__ import annotations

import math
from typing import Any

import torch

from autograder.authoring.question import Aspect, Case, Exercise, T
from autograder.exercises.ch01_tracing.sign_flip.models import Tensors

F64, F32, F16, BF16 = torch.float64, torch.float32, torch.float16, torch.bfloat16
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
INF, NAN = math.inf, math.nan

HINTS = (
    "The `if` asks a Proxy for its value. Which operation on tensors chooses between two tensors, "
    "and decides only when it runs?",
    "Section 1.6 rewrites `shrink` in this way. If your answer is traced but differs for some "
    "input, look at how it treats a sum that is zero or NaN, an infinite entry, and a tensor "
    "without dimensions.",
    """```python
condition = ...        # a tensor, not a bool
return ...             # an operation that takes the condition and both results
```""",
)


def tensors_case(name: str, aspect: str, *values: Any) -> Case:
    """A case with one run for each tensor, given as `T` or as a list with a dtype."""
    return Case(name, aspect, Tensors(values))


EXERCISE = Exercise(
    number=3,
    title="A branch that can be traced",
    stars=1,
    minutes=10,
    points=2,
    kind="traced_function",
    aspects=(
        Aspect("task", 1, "the sign is flipped unless the sum is above zero, again for each input"),
        Aspect("sums", 1, "sums that are zero, NaN or infinite"),
        Aspect("shapes", 1, "tensors without dimensions or entries, and transposed ones"),
        Aspect("dtypes", 1, "every floating and integer dtype is kept, and summed without loss"),
    ),
    cases=(
        tensors_case("sums of both signs", "task", ([1.0, 2.0], F64), ([-1.0, -2.0], F64)),
        tensors_case(
            "entries of both signs",
            "task",
            ([[3.0, -1.0], [-0.5, 0.25]], F64),
            ([[-3.0, 1.0], [0.5, 0.0]], F64),
            ([3.0, -1.0], F32),
            ([-3.0, 1.0], F32),
            ([-1.0, -1.0, 3.0], F64),
        ),
        tensors_case(
            "zero sums", "sums", ([2.0, -2.0], F64), ([0.0, 0.0], F32), ([1, -1], INTEGERS[0])
        ),
        tensors_case(
            "NaN sums", "sums", ([NAN, 1.0], F64), ([2.0, NAN, -1.0], F32), ([INF, -INF, 3.0], F64)
        ),
        tensors_case("infinite sums", "sums", ([INF, -1.0], F64), ([-INF, 1.0, 2.0], F64)),
        tensors_case("no dimension", "shapes", (2.0, F64), (-2.0, F64), (0.0, F64), (NAN, F64)),
        tensors_case(
            "no dimension, other dtypes",
            "shapes",
            *((-3.0, dtype) for dtype in (F32, F16, BF16)),
            *((value, dtype) for dtype in INTEGERS for value in (3, 0)),
            *((-3, dtype) for dtype in INTEGERS[:4]),
        ),
        tensors_case("no entry", "shapes", T(0), T(2, 0), T(0, dtype=torch.int32)),
        Case(
            "a transposed matrix",
            "shapes",
            Tensors((([[3.0, -1.0], [-0.5, 0.25]], F64), ([[-3, 1], [1, 0]], INTEGERS[0])), True),
        ),
        tensors_case(
            "small floats",
            "dtypes",
            ([1.5, -0.5], F16),
            ([-1.5, 0.5], F16),
            ([1.5, -0.5], BF16),
            ([-1.5, 0.5], BF16),
        ),
        tensors_case(
            "sums above the dtype's range",
            "dtypes",
            ([100, 100], torch.int8),
            ([200, 56], torch.uint8),
        ),
        tensors_case(
            "sums that need every digit",
            "dtypes",
            ([1.0 + 1e-12, -1.0], F64),
            ([2**53 + 1, -(2**53)], torch.int64),
            ([1e-200, 0.0], F64),
        ),
    ),
    hints=HINTS,
    not_random="it takes a tensor, no model",
)
