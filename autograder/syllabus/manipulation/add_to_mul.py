"""Exercise 3.2: additions in every spelling become multiplications."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

from autograder.core.exercise import Aspect, Exercise
from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.judge.oracles import exchanging
from autograder.models import T, model_case
from autograder.models import additions as zoo
from autograder.rules.edits import additions_replaced
from autograder.rules.passes import PASS

X, WIDE = T(2, 3), T(4, 3)

HINTS = (
    """**Where to look.** The table in section 3.2 shows how a subtraction is recorded in each of
its spellings. An addition is recorded in the same ways. Print the graph of the model on your
card and look for the node that you missed.""",
    """**What to use.** `operator.add` and `torch.add` are targets of `call_function` nodes,
the string `"add"` is the target of a `call_method` node.
Ask `node.kwargs.get("alpha", 1)` before you change anything, and give `node.kwargs` a new
dictionary where `alpha` must go.""",
    """**A skeleton.**

```python
gm = ...
for node in gm.graph.nodes:
    if ...:                                # an addition that is to stay
        continue
    if node.op == "call_function" and ...:
        node.target = ...
    elif node.op == "call_method" and ...:
        node.target = ...
    else:
        continue
    node.kwargs = ...                      # without `alpha`
...
```""",
)

VOCABULARY = Vocabulary(
    ops(
        "torch.add({a}, {b})",
        "{a} + {b}",
        "{a}.add({b})",
        "{n} + {a}",
        "{a} + {n}",
        "torch.add(input={a}, other={b})",
        "{a}.add(other={b})",
        "torch.add({a}, {b}, alpha=2)",
        "{a}.add({b}, alpha=0.5)",
        "torch.add({a}, {b}, alpha=1)",
        "{a}.add({b}, alpha=1)",
        "torch.add({a}, {b}, alpha=0)",
        "torch.add({a}, {b}, alpha=1.5)",
        "{x}.add_({b})",
        "[nn.Parameter(torch.ones(()))] + {a}",
        "[buffer(torch.ones(()))] + {a}",
        "torch.addcmul({a}, {b}, {c})",
        "{a}.addcmul({b}, {c})",
    )
    + COMMON,
    training=True,
    namesakes=("add", "add_scale"),
)


class AddsByMultiplying(fx.Interpreter):
    """Computes what a model does, but multiplies where it adds."""

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Functions and operators."""
        if target in (torch.add, operator.add):
            return _added(target, *args, **kwargs)
        return super().call_function(target, args, kwargs)

    def call_method(self, target: str, args: Any, kwargs: Any) -> Any:
        """Methods."""
        if target == "add":
            return _added(torch.add, *args, **kwargs)
        return super().call_method(target, args, kwargs)


def _added(target: Any, input: Any, other: Any, alpha: Any = 1) -> Any:
    return input * other if alpha == 1 else target(input, other, alpha=alpha)


ADD_TO_MUL = Exercise(
    name="add_to_mul",
    chapter="03_manipulation",
    title="Every spelling of an addition",
    stars=2,
    minutes=12,
    points=4,
    procedure="transform",
    aspects=(
        Aspect("function", 2, "`torch.add(a, b)` becomes a multiplication"),
        Aspect("operator", 2, "so does `a + b`, with numbers on either side"),
        Aspect("method", 2, "so does `a.add(b)`, also of a buffer"),
        Aspect("alpha", 2, "`alpha=1` goes, any other `alpha` keeps the addition"),
        Aspect("in place", 1, "additions in place, and what is no addition, stay"),
        Aspect("rest", 1, "models of every kind"),
    ),
    cases=(
        model_case("torch.add", "function", zoo.OneAdd, (X, X), (X, T(3))),
        model_case("torch.add, by keyword", "function", zoo.KeywordAdd, (X, X)),
        model_case("the operator", "operator", zoo.OperatorAdd, (X, X), (WIDE, T(3))),
        model_case("numbers", "operator", zoo.ReflectedAdd, (X,), (T(5),)),
        model_case("a total", "operator", zoo.PlusEquals, (X, X)),
        model_case("a parameter", "operator", zoo.ParameterAdd, (X,)),
        model_case("the method", "method", zoo.MethodAdd, (X, X), (WIDE, T(3))),
        model_case("the method, by keyword", "method", zoo.MethodKeywordAdd, (X, X)),
        model_case("a buffer", "method", zoo.BufferAdd, (X,)),
        model_case("an alpha", "alpha", zoo.AlphaFunction, (X, X)),
        model_case("an alpha in a method", "alpha", zoo.AlphaMethod, (X, X)),
        model_case("an alpha of 1", "alpha", zoo.AlphaOne, (X, X)),
        model_case("keywords and an alpha of 1", "alpha", zoo.AlphaOneKeywords, (X, X)),
        model_case("an alpha of 0, and of -1", "alpha", zoo.AlphaZero, (X, X)),
        model_case("an alpha of 1.5, and of 1.25", "alpha", zoo.AlphaFraction, (X, X)),
        model_case("in place", "in place", zoo.InPlaceAdd, (X, X)),
        model_case("an operator in place", "in place", zoo.InPlaceOperator, (X, X)),
        model_case("names with `add` in them", "in place", zoo.Namesakes, (X, X), (WIDE, WIDE)),
        model_case("all three together", "rest", zoo.OtherAdds, (X, X)),
        model_case("a constant", "rest", zoo.ConstantAdd, (X,)),
        model_case("nested modules", "rest", zoo.NestedAdds, (X,), (WIDE,)),
        model_case("parameters with defaults", "rest", zoo.DefaultAdd, (X,), (X, 3.0)),
        model_case("a default on the left", "rest", zoo.DefaultOnTheLeft, (X,), (X, 3.0)),
        model_case("two equal sums", "rest", zoo.EqualSums, (X, X)),
        model_case("any number of inputs", "rest", zoo.RestAdd, (X, X, X)),
        model_case("a graph module", "rest", zoo.traced_adds, (X, X)),
        model_case("integers", "rest", zoo.SumOfSums, (T(3, dtype=torch.int64),) * 2),
        model_case("a model in training mode", "rest", zoo.NormedAdd, (WIDE, WIDE), training=True),
        model_case("redraw: torch.add", "function", zoo.LaterMul, (T(5), T(5)), hidden=True),
        model_case("redraw: the operator", "operator", zoo.SumOfSums, (T(5), T(5)), hidden=True),
        model_case("redraw: the method", "method", zoo.MethodStays, (T(5), T(5)), hidden=True),
        model_case("redraw: an alpha", "alpha", zoo.NegativeReluOfSum, (X, X), hidden=True),
        model_case("redraw: in place", "in place", zoo.InPlaceAdd, (T(5), T(5)), hidden=True),
        model_case("redraw: nested", "rest", zoo.NestedAdds, (T(1, 3),), hidden=True),
    ),
    rubric=(*PASS, additions_replaced),
    hints=HINTS,
    random=RandomModels(VOCABULARY, exchanging(AddsByMultiplying)),
)
