"""Exercise 5.5: the derivative of a function, as a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx

from autograder.core.exercise import Aspect, Case, Exercise, Trial
from autograder.models import T
from autograder.models import derivatives as zoo
from autograder.models.build import arguments
from autograder.rubric.derivatives import parameter_kept, right_slope
from autograder.rules.passes import (
    caller_untouched,
    copies,
    returns_graph_module,
    runs,
    same_result,
)
from autograder.rules.wellformed import known_targets, wellformed
from autograder.syllabus.proxy import drawn_derivative

X, POINT, CUBE = T(5), T(), T(2, 1, 3)
SINGLE = T(4, dtype=torch.float32)

HINTS = (
    """**Where to look.** `bound` in section 5.6 walks through a graph once and keeps *two* things
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


def slope_case(
    name: str,
    aspect: str,
    fn: Callable[[Any], Any],
    *specs: T,
    times: int = 1,
    traced: bool = False,
    hidden: bool = False,
) -> Case:
    """A case that hands the answer a function of one tensor.

    Args:
        name: the case's name.
        aspect: the aspect it belongs to.
        fn: the function.
        specs: the tensors on which the result is run, one after the other.
        times: how often it is differentiated.
        traced: whether the answer is given a `GraphModule` in its place.
        hidden: tried only when grading.
    """

    def trial(seed: int) -> Trial:
        generator = torch.Generator().manual_seed(seed + 1)
        model = fx.symbolic_trace(fn) if traced else None
        return Trial(
            args=(model or fn,),
            model=model,
            inputs=tuple(arguments((spec,), generator, torch.float64) for spec in specs),
            times=times,
        )

    return Case(name, aspect, trial, hidden)


DERIVATIVE = Exercise(
    name="derivative",
    chapter="05_proxy",
    title="Symbolic differentiation",
    stars=4,
    minutes=40,
    points=8,
    procedure="repeated transform",
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
        slope_case("a sine", "rules", zoo.sine, X, POINT),
        slope_case("a cosine", "rules", zoo.cosine, X),
        slope_case("an exponential", "rules", zoo.exponential, X, CUBE),
        slope_case("a negation", "rules", zoo.minus_sine, X),
        slope_case("numbers", "rules", zoo.scaled, X, POINT),
        slope_case("a sum", "rules", zoo.both, X),
        slope_case("a product", "rules", zoo.product, X, T(2, 3)),
        slope_case("a difference", "rules", zoo.difference, X),
        slope_case("a square", "twice", zoo.square, X, CUBE),
        slope_case("one value, read twice", "twice", zoo.twice, X),
        slope_case("two paths", "twice", zoo.diamond, X),
        slope_case("a power, by a loop", "twice", zoo.powers, X),
        slope_case("a function of a function", "chains", zoo.inside, X),
        slope_case("a bell", "chains", zoo.bell, X, T(3, 2)),
        slope_case("a long chain", "chains", zoo.long_chain, X),
        slope_case("functions", "spellings", zoo.functions, X),
        slope_case("numbers in functions", "spellings", zoo.numbers_in_functions, X),
        slope_case("methods", "spellings", zoo.methods, X),
        slope_case("numbers in methods", "spellings", zoo.numbers_in_methods, X),
        slope_case("numbers on the left", "spellings", zoo.reflected, X),
        slope_case("keyword calls", "spellings", zoo.keywords, X),
        slope_case("a running total", "spellings", zoo.total, X),
        slope_case("a straight line", "constants", zoo.line, X, POINT),
        slope_case("the input, negated", "constants", zoo.minus, X),
        slope_case("a number", "constants", zoo.number, X, POINT, CUBE),
        slope_case("a whole number", "constants", zoo.whole_number, T(2, 3), SINGLE),
        slope_case("nothing times the input", "constants", zoo.times_zero, X),
        slope_case("the input minus itself", "constants", zoo.cancels, X, POINT),
        slope_case("the input itself", "constants", zoo.identity, X, POINT, CUBE),
        slope_case("a slope of 1, in float32", "constants", zoo.add_one, SINGLE, X),
        slope_case("a product in float32", "constants", zoo.product, SINGLE),
        slope_case("a line, twice", "again", zoo.line, X, SINGLE, times=2),
        slope_case("a sine, twice", "again", zoo.sine, X, times=2),
        slope_case("a square, twice", "again", zoo.square, X, POINT, times=2),
        slope_case("a number, twice", "again", zoo.number, CUBE, times=2),
        slope_case("a product, twice", "again", zoo.product, X, SINGLE, times=2),
        slope_case("a bell, twice", "again", zoo.bell, X, times=2),
        slope_case("two paths, twice", "again", zoo.diamond, X, times=2),
        slope_case("another name", "rest", zoo.swing, X),
        slope_case("a parameter called input", "rest", zoo.reserved, X),
        slope_case("a parameter called sin", "rest", zoo.shadow, X),
        slope_case("a value that is not used", "rest", zoo.unused, X),
        slope_case("a graph module", "rest", zoo.product, X, traced=True),
        slope_case("redraw: rules", "rules", zoo.difference, T(1, 4), hidden=True),
        slope_case("redraw: used twice", "twice", zoo.cubic, X, hidden=True),
        slope_case("redraw: chains", "chains", zoo.damped, X, hidden=True),
        slope_case("redraw: spellings", "spellings", zoo.total, T(2, 2), hidden=True),
        slope_case("redraw: constants", "constants", zoo.add_one, CUBE, hidden=True),
        slope_case("redraw: again", "again", zoo.damped, X, times=2, hidden=True),
        slope_case("redraw: a parameter", "rest", zoo.reserved, POINT, hidden=True),
    ),  # fmt: skip
    rubric=(
        returns_graph_module,
        caller_untouched,
        wellformed,
        known_targets,
        parameter_kept,
        runs,
        right_slope.because("says where the slope is wrong, and what it is there"),
        same_result,
        copies,
    ),
    hints=HINTS,
    random=drawn_derivative.DERIVATIVE,
)
