"""Exercise 3.3: a relu after every sum, for all of its readers."""

from __future__ import annotations

import operator

import torch

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Exercise,
    InEvaluation,
    RandomModels,
    T,
    Vocabulary,
    Wrapped,
    model_case,
    ops,
)
from autograder.models import additions

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

# There is no case with a buffer on the left of `+`.
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
    names={"iadd": Wrapped(operator.iadd)},
)


EXERCISE = Exercise(
    number=3,
    title="A relu after every sum",
    stars=2,
    minutes=12,
    points=4,
    kind="transform",
    aspects=(
        Aspect("task", 2, "a relu follows `torch.add`"),
        Aspect("operator", 1, "and the operator `+`"),
        Aspect("readers", 2, "all readers of the sum read the relu"),
        Aspect("every", 2, "one relu for each sum, even in chains"),
        Aspect("others", 1, "everything else stays"),
        Aspect("rest", 1, "models of every kind"),
    ),
    cases=(
        model_case("torch.add", "task", additions.OneAdd, (X, X), (WIDE, T(3))),
        model_case("the operator", "operator", additions.OperatorAdd, (X, X)),
        model_case("what is transposed", "operator", additions.TransposedAdd, (X,)),
        model_case("several readers", "readers", additions.SeveralReaders, (X, X), (WIDE, T(3))),
        model_case("read in a slice", "readers", additions.ReadInSlice, (X, PLACE, PLACE)),
        model_case("read for its shape", "readers", additions.ReadForItsShape, (X, X)),
        model_case("two equal sums", "every", additions.EqualSums, (X, X)),
        model_case("a relu of a sum", "every", additions.ReluOfSum, (X, X)),
        model_case(
            "an alpha that is computed", "every", additions.AlphaComputed, (X, X), (X, X, 3)
        ),
        model_case("sums that nobody reads", "every", additions.DeadAdd, (X, X)),
        model_case("the method stays", "others", additions.MethodStays, (X, X)),
        model_case("an operator in place", "others", additions.InPlaceOperator, (X, X)),
        model_case(
            "another function called add",
            "others",
            additions.OwnAdd,
            (X, X),
            functions={"add": additions.add},
        ),
        model_case("a graph module", "rest", additions.traced_adds, (X, X)),
        model_case(
            "a part that does not train",
            "rest",
            additions.NormedAdd,
            (WIDE, WIDE),
            training=True,
            prepare=InEvaluation("norm"),
        ),
        model_case("a size, added to a tensor", "every", additions.SizeAdded, (T(5),)),
    ),
    hints=HINTS,
    random=RandomModels(VOCABULARY),
)
