"""Exercise 5.3: rules that are right for every number."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from autograder.core.exercise import Aspect, Case, Exercise, Trial
from autograder.models import fresh
from autograder.models import rules as zoo
from autograder.rubric.rules import (
    a_dictionary_of_rules,
    elementary_operations,
    right_wherever_finite,
    rules_take_the_arguments,
)
from autograder.rules.wellformed import known_targets, wellformed

INF, NAN = float("inf"), float("nan")
F32, F64 = torch.float32, torch.float64

HINTS = (
    """**Where to look.** Section 5.4 takes `torch.tanh` apart twice: once so that it fails for
large numbers, and once so that it does not. Its list of traps says where a NaN comes from,
and where one is lost.""",
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
    hidden: bool = False,
) -> Case:
    """A case of `decomposition_rules`: a model, and inputs as nested lists, in each dtype."""

    def trial(seed: int) -> Trial:
        made = tuple((torch.tensor(v, dtype=dtype),) for v in values for dtype in dtypes)
        return Trial(model=fresh(model, seed), inputs=made)

    return Case(name, aspect, trial, hidden)


SMALL = [-2.5, -1.0, -0.1, 0.0, 0.1, 1.0, 2.5]
LARGE = [-3e38, -1e6, -1000.0, -90.0, -20.0, -12.0, 12.0, 20.0, 90.0, 1000.0, 1e6, 3e38]
HUGE = [-1.5e308, -1e300, 1e300, 1.5e308]
ODD = [INF, 1.0, -INF, NAN, -1.0, 0.0, -0.0]
ROWS = [[0.5, -1.0, 2.0], [3.0, 0.0, -2.0]]
FAR = [[1000.0, 1001.0, 999.0], [-1000.0, -1001.0, -999.5], [0.0, 3e38, -3e38]]
MASKED = [[-INF, 1.0, 2.0], [-INF, 0.0, -INF]]
LOST = [[INF, 1.0, 2.0], [-INF, -INF, -INF], [1.0, NAN, 2.0], [INF, -INF, INF], [1.0, 2.0, 0.5]]
CUBE = [[[0.5, 1.0], [2.0, -1.0]], [[-300.0, 0.0], [300.0, 1.0]], [[90.0, 80.0], [0.0, 800.0]]]

DECOMPOSITION_RULES = Exercise(
    name="decomposition_rules",
    chapter="05_proxy",
    title="Three rules for every number",
    stars=2,
    minutes=15,
    points=4,
    procedure="rules",
    aspects=(
        Aspect("task", 2, "three rules of elementary operations, right for ordinary numbers"),
        Aspect("large", 1, "right for large numbers"),
        Aspect("relu", 1, "`torch.relu` at the infinities and at NaN"),
        Aspect("silu", 1, "`F.silu` at the infinities and at NaN"),
        Aspect("softmax", 1, "`torch.softmax` along each dimension, and with infinities and NaN"),
    ),
    cases=(
        values_case("relu", "task", zoo.Relu, SMALL, [SMALL, SMALL], -0.5),
        values_case("silu", "task", zoo.Silu, SMALL, [SMALL, SMALL], -0.5),
        values_case("softmax", "task", zoo.SoftmaxSecond, ROWS),
        values_case("softmax, dim by position", "task", zoo.SoftmaxByPosition, ROWS),
        values_case("relu, read again", "task", zoo.ReluReadAgain, SMALL),
        values_case("silu, read again", "task", zoo.SiluReadAgain, SMALL),
        values_case("softmax, read again", "task", zoo.SoftmaxReadAgain, ROWS),
        values_case("all three", "task", zoo.AllThree, ROWS, dtypes=(F64,)),
        values_case("relu of large numbers", "large", zoo.Relu, LARGE),
        values_case("relu of huge numbers", "large", zoo.Relu, HUGE, dtypes=(F64,)),
        values_case("silu of large numbers", "large", zoo.Silu, LARGE),
        values_case("silu of huge numbers", "large", zoo.Silu, HUGE, dtypes=(F64,)),
        values_case("softmax of large numbers", "large", zoo.SoftmaxLast, FAR, LARGE),
        values_case("softmax of huge numbers", "large", zoo.SoftmaxLast, HUGE, dtypes=(F64,)),
        values_case("relu of infinity and NaN", "relu", zoo.Relu, ODD, -INF, NAN),
        values_case("silu of infinity and NaN", "silu", zoo.Silu, ODD, -INF, NAN),
        values_case("softmax along the first dimension", "softmax", zoo.SoftmaxFirst,
                    ROWS, FAR, [1.0, 2.0]),
        values_case("softmax along the last dimension", "softmax", zoo.SoftmaxLast,
                    CUBE, [0.5, 2.0]),
        values_case("softmax in the middle", "softmax", zoo.SoftmaxSecond, CUBE),
        values_case("softmax counted from the end", "softmax", zoo.SoftmaxFromTheEnd, CUBE, ROWS),
        values_case("softmax of masked scores", "softmax", zoo.SoftmaxLast, MASKED),
        values_case("softmax of infinity and NaN", "softmax", zoo.SoftmaxLast, LOST),
        values_case("redraw: three at once", "task", zoo.AllThree, [[1.0, -3.0, 0.2]],
                    dtypes=(F64,), hidden=True),
        values_case("redraw: large", "large", zoo.SoftmaxSecond,
                    [[800.0, 801.0], [-800.0, -801.0]], hidden=True),
        values_case("redraw: relu", "relu", zoo.Relu, [[-INF, 2.0], [NAN, INF]], hidden=True),
        values_case("redraw: silu", "silu", zoo.Silu, [[-INF, 2.0], [NAN, INF]], hidden=True),
        values_case("redraw: softmax", "softmax", zoo.SoftmaxFirst,
                    [[-INF, INF, 1.0], [2.0, 0.0, NAN]], hidden=True),
    ),
    rubric=(
        a_dictionary_of_rules.because("says what came back, or which rule is missing"),
        rules_take_the_arguments.because("without it, there is no graph that could be judged"),
        wellformed,
        known_targets,
        elementary_operations,
        right_wherever_finite,
    ),
    hints=HINTS,
    not_random="it takes no model: its rules are tried on the numbers that are hard for them",
)  # fmt: skip
