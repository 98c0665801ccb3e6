"""Exercise 5b.2: the derivative of a function, as a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograder.authoring.question import Aspect, Case, Exercise, RandomModels, T, Vocabulary, ops
from autograder.exercises.ch05b_programs.derivative import models
from autograder.exercises.ch05b_programs.derivative.models import as_function

X, POINT, CUBE = T(5), T(), T(2, 1, 3)
SINGLE = T(4, dtype=torch.float32)

HINTS = (
    """**Where to look.** `bound` in section 5b.2 walks through a graph once and keeps *two* things
for each node: its value, and something about it. Here the second thing is the slope.
Which rule of the table belongs to `+`, to `*`, to `sin`?
Go through the function on your card with the table, line by line.""",
    """**What to use.** Keep two dictionaries, `value` and `slope`, from the nodes of the old graph
to Proxies or numbers. A number among the arguments has a value, too, and the slope 0.

All spellings of one operation have one rule, so find out first which operation a node is.
Arguments may come by keyword (`input`, `other`).

At the end the slope may be a plain number. What gives it the shape and dtype of the input?
And which operations does your function meet if it differentiates its own result?""",
    """**A skeleton.**

```python
rules = {                                  # operation: from values and slopes to a slope
    "add": lambda a, b, da, db: ...,
    "mul": lambda a, b, da, db: ...,
    "sin": lambda a, da: ...,
    ...
}
old = ...
graph = fx.Graph()
tracer = ...
value, slope = {}, {}
for node in old.graph.nodes:
    if node.op == "placeholder":
        value[node] = fx.Proxy(graph.placeholder(node.target), tracer)
        slope[node] = ...
    elif node.op == "output":
        result = ...                       # the slope of what is returned, as a tensor
    else:
        ...                                # the operation, its arguments, and their slopes
        value[node] = ...
        slope[node] = ...
...
```""",
)


# Exponentials only of small values, so that slopes are comparable.
VOCABULARY = Vocabulary(
    ops(
        "{a} + {b}",
        "{a} * {b}",
        "{a} - {b}",
        "-{a}",
        "torch.sin({a})",
        "torch.cos({a})",
        "torch.exp(torch.sin({a}))",
        "torch.exp(-x * x)",
        "torch.exp(input=-1 * torch.cos({a}))",
        "torch.neg({a})",
        "torch.add({a}, {b})",
        "torch.sub({a}, {b})",
        "{a}.sin()",
        "{a}.cos()",
        "{a}.cos().exp()",
        "{a}.neg()",
        "{a}.sub({b})",
        "{a}.mul({b})",
        "{a} - {n}",
        "{a} * {n}",
        "{n} + {a}",
        "{n} - {a}",
        "torch.sub(other=x, input={a}) * {b}",
        "{n} - torch.sin({a})",
        "torch.sub(other={a}, input={n} - x)",
        "torch.cos({a}) * ({n} - {b})",
        "{n} * {a}",
        "torch.add({a}, {n})",
        "torch.mul({a}, {n})",
        "{a}.sub({n})",
        "{a}.mul({n})",
        "torch.sin(input={a})",
        "torch.neg(input={a})",
        "torch.add(input={a}, other={b})",
        "torch.sub(other={a}, input={b})",
        "torch.mul({a}, other={n})",
        "{a}.mul(other={b})",
        "{a}.sub(other={n})",
        "torch.add({a}, {b}, alpha={n}).sin()",
        "torch.sub({n}, {a}, alpha=2) * x",
    ),
    results=("value",),
    inputs=("",),
    parts=False,
    most=10,
)


def slope_case(
    name: str,
    aspect: str,
    fn: Callable[[Any], Any],
    *specs: T,
    times: int = 1,
    traced: bool = False,
) -> Case:
    """A case that passes a function of one tensor to the answer.

    Args:
        name: the case's name.
        aspect: the aspect it belongs to.
        fn: the function.
        specs: the tensors on which the result runs, one after the other.
        times: how often the answer differentiates.
        traced: whether the answer gets the trace of the function.
    """

    return Case(name, aspect, models.FunctionTrial(fn, specs, times, traced))


EXERCISE = Exercise(
    number=2,
    title="Symbolic differentiation",
    stars=4,
    minutes=40,
    points=8,
    kind="repeated_transform",
    aspects=(
        Aspect("rules", 3, "the derivative of each operation"),
        Aspect("twice", 2, "a value that is used twice counts twice"),
        Aspect("chains", 1, "functions of functions"),
        Aspect("spellings", 2, "functions, operators, methods and keyword calls"),
        Aspect("constants", 2, "constant functions, slopes that are numbers, and shapes"),
        Aspect("again", 2, "a derivative can be differentiated"),
        Aspect("rest", 1, "names of parameters, unused values, graph modules"),
    ),
    cases=(
        slope_case("a sine", "rules", models.sine, X, POINT),
        slope_case("a square", "twice", models.square, X, CUBE),
        slope_case("one value, read twice", "twice", models.twice, X),
        slope_case("a function of a function", "chains", models.inside, X),
        slope_case("a bell", "chains", models.bell, X, T(3, 2)),
        slope_case("functions", "spellings", models.functions, X),
        slope_case("methods", "spellings", models.methods, X),
        slope_case("numbers on the left", "spellings", models.reflected, X),
        slope_case("keyword calls", "spellings", models.keywords, X),
        slope_case("an alpha, twice", "again", models.alphas, X, times=2),
        slope_case("an alpha next to keywords", "spellings", models.alphas_beside_keywords, X),
        slope_case("a straight line", "constants", models.line, X, POINT),
        slope_case("a whole number", "constants", models.whole_number, T(2, 3), SINGLE),
        slope_case("another name", "rest", models.swing, X),
        slope_case("a parameter called input", "rest", models.reserved, X),
        slope_case("a graph module", "rest", models.product, X, traced=True),
    ),
    fine_print={
        (
            "The `alpha` of `add` and `sub` is a factor of the second value: `torch.add(x, "
            "y, alpha=2)` is `x + 2 * y`."
        ): (
            "an alpha, twice",
            "an alpha next to keywords",
            "redraw: an alpha",
            "redraw: two alphas",
        ),
        "The function itself may be constant, such as `lambda x: 3.0`; its derivative is zero.": (
            "a whole number",
        ),
        "The parameter keeps its name.": (
            "another name",
            "a parameter called input",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, as_function, count=30),
)
