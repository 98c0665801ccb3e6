"""Exercise 5.3: rules that are right for every number."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from autograder.authoring.question import Aspect, Case, Exercise
from autograder.exercises.ch05_proxy.decomposition_rules import models

INF, NAN = float("inf"), float("nan")
F32, F64 = torch.float32, torch.float64

HINTS = (
    """**Where to look.** Section 5.4 takes `torch.tanh` apart three times, and the third time
is right for every number. Its table of traps says where a NaN comes from, and where one gets
lost.""",
    """**What to use.** ReLU: which elementary operation puts a floor under a value and keeps a NaN?
Or which side of a comparison does a NaN take?
SiLU is `x * sigmoid(x)`.
Softmax does not change if you subtract the same number from all entries of a slice:
which number makes every exponent harmless?""",
    """**A skeleton.**

```python
def relu_rule(x):
    ...


def silu_rule(x, inplace=False):
    ...


def softmax_rule(x, dim):
    ...                                    # subtract something, with keepdim=True
    ...                                    # then exp, and divide by the sum along dim


return {torch.relu: relu_rule, ...}
```""",
)


def values_case(
    name: str,
    aspect: str,
    model: Callable[[], nn.Module],
    *values: object,
    dtypes: tuple[torch.dtype, ...] = (F32, F64),
) -> Case:
    """A case of `decomposition_rules`: a model, and inputs as nested lists, in each dtype."""

    return Case(name, aspect, models.ValuesTrial(model, values, dtypes))


SMALL = [-2.5, -1.0, -0.1, 0.0, 0.1, 1.0, 2.5]
LARGE = [-3e38, -1e6, -1000.0, -90.0, -20.0, -12.0, 12.0, 20.0, 90.0, 1000.0, 1e6, 3e38]
HUGE = [-1.5e308, -1e300, 1e300, 1.5e308]
ODD = [INF, 1.0, -INF, NAN, -1.0, 0.0, -0.0]
ROWS = [[0.5, -1.0, 2.0], [3.0, 0.0, -2.0]]
FAR = [[1000.0, 1001.0, 999.0], [-1000.0, -1001.0, -999.5], [0.0, 3e38, -3e38]]
LOST = [[INF, 1.0, 2.0], [-INF, -INF, -INF], [1.0, NAN, 2.0], [INF, -INF, INF], [1.0, 2.0, 0.5]]
CUBE = [[[0.5, 1.0], [2.0, -1.0]], [[-300.0, 0.0], [300.0, 1.0]], [[90.0, 80.0], [0.0, 800.0]]]

EXERCISE = Exercise(
    number=3,
    title="Three rules for every number",
    stars=2,
    minutes=15,
    points=4,
    kind="decomposition_rules",
    aspects=(
        Aspect("task", 2, "three rules of elementary operations, right for ordinary numbers"),
        Aspect("large", 1, "right for large numbers"),
        Aspect("relu", 1, "`torch.relu` at the infinities and at NaN"),
        Aspect("silu", 1, "`F.silu` at the infinities and at NaN"),
        Aspect("softmax", 1, "`torch.softmax` along each dimension, and with infinities and NaN"),
    ),
    cases=(
        values_case("relu", "task", models.Relu, SMALL, [SMALL, SMALL], -0.5),
        values_case("softmax, read again", "task", models.SoftmaxReadAgain, ROWS),
        values_case("all three", "task", models.AllThree, ROWS, dtypes=(F64,)),
        values_case("relu of large numbers", "large", models.Relu, LARGE),
        values_case("relu of huge numbers", "large", models.Relu, HUGE, dtypes=(F64,)),
        values_case("silu of large numbers", "large", models.Silu, LARGE),
        values_case("softmax of large numbers", "large", models.SoftmaxLast, FAR, LARGE),
        values_case("relu of infinity and NaN", "relu", models.Relu, ODD, -INF, NAN),
        values_case("silu of infinity and NaN", "silu", models.Silu, ODD, -INF, NAN),
        values_case(
            "softmax along the first dimension",
            "softmax",
            models.SoftmaxFirst,
            ROWS,
            FAR,
            [1.0, 2.0],
        ),
        values_case("softmax of infinity and NaN", "softmax", models.SoftmaxLast, LOST),
    ),
    hints=HINTS,
    not_random="it takes no model: its rules are tried on the numbers that are hard for them",
)
