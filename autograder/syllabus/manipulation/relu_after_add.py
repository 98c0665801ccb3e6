"""Exercise 3.3: a relu after every sum, for all that read it."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

from autograder.core.exercise import Aspect, Exercise
from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.fuzz.wrapped import wrapped
from autograder.judge.oracles import exchanging
from autograder.models import T, model_case
from autograder.models import additions as zoo
from autograder.rules.edits import one_relu_for_each_sum
from autograder.rules.passes import PASS

X, WIDE = T(2, 3), T(4, 3)
PLACE = T(dtype=torch.int64)

HINTS = (
    """**Where to look.** `clamp_after_exp` in section 3.3 has the same shape.
What must the new node read after `replace_all_uses_with`? Print `new.args` and see.""",
    """**What to use.** `graph.inserting_after(node)`, `graph.call_function`,
`node.replace_all_uses_with`, and one of the three cures for the self-loop.
Loop over `list(gm.graph.nodes)`.""",
    """**A skeleton.**

```python
gm = ...
for node in list(gm.graph.nodes):
    if ...:                                # both functions that add
        with gm.graph.inserting_after(...):
            relu = ...
        ...                                # all readers read the relu
        ...                                # the relu reads the sum
...
```""",
)

# A buffer on the left of `+` is not tried.
VOCABULARY = Vocabulary(
    ops(
        "torch.add({a}, {b})",
        "{a} + {b}",
        "{n} + {a}",
        "{a} + {n}",
        "torch.add({a}, other={b})",
        "torch.add(input={a}, other={b})",
        "torch.add({a}, {b}, alpha={n})",
        "torch.add({a}, {n})",
        "[nn.Parameter(torch.ones(()))] + {a}",
        "{a} + [buffer(torch.ones(()))]",
        "torch.relu({a} + {b})",
        'iadd({x}, {b})  # recorded: fx.wrap("iadd")',
        "torch.relu({a})",
        "{a}.relu()",
        "{a}.add({b})",
        "{a}.add({b}, alpha={n})",
        "{x}.add_({b})",
        'iadd({x}, {b})  # recorded: fx.wrap("iadd")',
        "{x}.mul_({n})",
        "torch.sub({a}, {b})",
        "torch.addcmul({a}, {b}, {c})",
    )
    + COMMON,
    training=True,
    namesakes=("add", "add_1"),
    names={"iadd": wrapped(operator.iadd)},
)


class ReluAfterAdding(fx.Interpreter):
    """Computes what a model does, and the relu of each sum."""

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Functions and operators."""
        value = super().call_function(target, args, kwargs)
        return value.clamp(min=0) if target in (torch.add, operator.add) else value


RELU_AFTER_ADD = Exercise(
    name="relu_after_add",
    chapter="03_manipulation",
    title="A relu after every sum",
    stars=2,
    minutes=12,
    points=4,
    procedure="transform",
    aspects=(
        Aspect("task", 2, "a relu follows `torch.add`"),
        Aspect("operator", 1, "and the operator `+`"),
        Aspect("readers", 2, "all readers of the sum read the relu"),
        Aspect("every", 2, "one relu for each sum, also in chains"),
        Aspect("others", 1, "everything else stays"),
        Aspect("rest", 1, "models of every kind"),
    ),
    cases=(
        model_case("torch.add", "task", zoo.OneAdd, (X, X), (WIDE, T(3))),
        model_case("torch.add, by keyword", "task", zoo.KeywordAdd, (X, X)),
        model_case("the operator", "operator", zoo.OperatorAdd, (X, X)),
        model_case("numbers", "operator", zoo.ReflectedAdd, (X,), (T(5),)),
        model_case("a total", "operator", zoo.PlusEquals, (X, X)),
        model_case("several readers", "readers", zoo.SeveralReaders, (X, X), (WIDE, T(3))),
        model_case("read twice", "readers", zoo.ReadTwice, (X, X)),
        model_case("read in lists", "readers", zoo.ReadInLists, (X, X)),
        model_case("read in a slice", "readers", zoo.ReadInSlice, (X, PLACE, PLACE)),
        model_case("two equal sums", "every", zoo.EqualSums, (X, X)),
        model_case("changed in place afterwards", "readers", zoo.ChangedAfterwards, (X, X)),
        model_case("sums of sums", "every", zoo.SumOfSums, (X, X), (WIDE, WIDE)),
        model_case("a relu of a sum", "every", zoo.ReluOfSum, (X, X)),
        model_case("an alpha", "every", zoo.NegativeReluOfSum, (X, X)),
        model_case("sums that nobody reads", "every", zoo.DeadAdd, (X, X)),
        model_case("the method stays", "others", zoo.MethodStays, (X, X)),
        model_case("in place", "others", zoo.InPlaceAdd, (X, X)),
        model_case("an operator in place", "others", zoo.InPlaceOperator, (X, X)),
        model_case("names with `add` in them", "others", zoo.Namesakes, (X, X)),
        model_case("a parameter", "rest", zoo.ParameterAdd, (X,)),
        model_case("a constant", "rest", zoo.ConstantAdd, (X,)),
        model_case("nested modules", "rest", zoo.NestedAdds, (X,), (WIDE,)),
        model_case("parameters with defaults", "rest", zoo.DefaultAdd, (X,), (X, -3.0)),
        model_case("any number of inputs", "rest", zoo.RestAdd, (X, X, X)),
        model_case("a graph module", "rest", zoo.traced_adds, (X, X)),
        model_case("a model in training mode", "rest", zoo.NormedAdd, (WIDE, WIDE), training=True),
        model_case("redraw: torch.add", "task", zoo.OneAdd, (T(5), T(1)), hidden=True),
        model_case("redraw: the operator", "operator", zoo.ParameterAdd, (WIDE,), hidden=True),
        model_case("redraw: readers", "readers", zoo.SeveralReaders, (T(5), T(5)), hidden=True),
        model_case("redraw: chains", "every", zoo.LaterMul, (T(5), T(5)), hidden=True),
        model_case("redraw: others", "others", zoo.AlphaMethod, (T(5), T(5)), hidden=True),
    ),
    rubric=(*PASS, one_relu_for_each_sum),
    hints=HINTS,
    random=RandomModels(VOCABULARY, exchanging(ReluAfterAdding)),
)
